package main

import (
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ais_bench/tasks/launch"
)

// TestLaunchScripts gives each script a free port in $PORT, and the commands
// `answers` and `gone`, which wait until an engine is, or is no longer, there.
func TestLaunchScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "launch"), RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exit": exitCode, "oneline": oneErrorLine, "await": await,
			"answers": func(ts *testscript.TestScript, neg bool, args []string) { waitFor(ts, args, true) },
			"gone":    func(ts *testscript.TestScript, neg bool, args []string) { waitFor(ts, args, false) },
		},
		Setup: func(env *testscript.Env) error {
			port, free, err := launch.ReservePort()
			if err != nil {
				return err
			}
			env.Defer(free)
			env.Setenv("PORT", strconv.Itoa(port))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("TZ", "UTC")
			return nil
		}})
}

// waitFor waits until something answers on a port, or until nothing does.
func waitFor(ts *testscript.TestScript, args []string, there bool) {
	if len(args) != 1 {
		ts.Fatalf("usage: answers PORT, gone PORT")
	}
	// So long that only what never happens is given up.
	for until := time.Now().Add(5 * time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		res, err := http.Get("http://127.0.0.1:" + args[0] + "/health")
		if err == nil {
			res.Body.Close()
		}
		if (err == nil) == there {
			return
		}
	}
	ts.Fatalf("port %s: still there=%v", args[0], !there)
}
