package main

import (
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestLaunchScripts gives each script a free port in $PORT, and the commands
// `answers` and `gone`, which wait until an engine is, or is no longer, there.
func TestLaunchScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "launch"), RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exit": exitCode, "oneline": oneErrorLine,
			"answers": func(ts *testscript.TestScript, neg bool, args []string) { waitFor(ts, args, true) },
			"gone":    func(ts *testscript.TestScript, neg bool, args []string) { waitFor(ts, args, false) },
		},
		Setup: func(env *testscript.Env) error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			defer l.Close()
			_, port, err := net.SplitHostPort(l.Addr().String())
			env.Setenv("PORT", port)
			env.Setenv("HOME", env.WorkDir)
			return err
		}})
}

// waitFor waits until something answers on a port, or until nothing does.
func waitFor(ts *testscript.TestScript, args []string, there bool) {
	if len(args) != 1 {
		ts.Fatalf("usage: answers PORT, gone PORT")
	}
	for range 3000 {
		res, err := http.Get("http://127.0.0.1:" + args[0] + "/health")
		if err == nil {
			res.Body.Close()
		}
		if (err == nil) == there {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("port %s: still there=%v", args[0], !there)
}
