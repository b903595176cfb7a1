package main

import (
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
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
			port, free, err := reservePort()
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

// reservePort finds a port of the loopback address that is the caller's until free:
// no other test is given it, because its UDP namesake is held meanwhile, and no
// connection or listener is by chance, because it lies below the ports that systems
// choose from (from 32768 on Linux, 49152 elsewhere).
func reservePort() (port int, free func(), err error) {
	for range 1000 {
		port = 10000 + rand.IntN(20000)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		var held net.PacketConn
		if held, err = net.ListenPacket("udp", address); err != nil {
			continue
		}
		var l net.Listener
		if l, err = net.Listen("tcp", address); err == nil {
			err = l.Close()
			return port, func() { _ = held.Close() }, err // nothing was sent on it
		}
		held.Close()
	}
	return 0, nil, err
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
