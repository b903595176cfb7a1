package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ais_bench/evaluators/sandbox"
	"ais_bench/models/simulator"
)

// The commands are tested by the scripts in testdata, which read as
// documentation. Scripts may start servers: `serve KIND` for one that
// misbehaves in a known way, `simulate [root=PATH] [model=NAME…] [ANSWERS ACCURACY]` for the simulator;
// both put the address into $URL.
func TestMain(m *testing.M) {
	sandbox.MaybeChild()
	testscript.Main(m, programs)
}

// programs are what the test binary is under other names.
var programs = map[string]func(){"ais_bench": main}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"serve": serve, "simulate": simulate, "exit": exitCode, "oneline": oneErrorLine,
			"edit": edit, "flip": flip, "calm": calm, "hold": hold, "release": release, "atmost": atMost, "await": await,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("AIS_BENCH_DATASETS_CACHE", "")
			env.Setenv("TZ", "UTC") // run folders are named after local time, which runs backwards once a year
			env.Values[barrierKey{}] = new(*barrier)
			return nil
		},
	})
}

// exitCode runs the program and checks its exit code: exit CODE ARGS…
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exit CODE ais_bench ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// oneErrorLine checks that the last program printed exactly one line that
// starts with "error: ".
func oneErrorLine(ts *testscript.TestScript, neg bool, args []string) {
	n := 0
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		if strings.HasPrefix(line, "error: ") {
			n++
		}
	}
	if n != 1 {
		ts.Fatalf("%d error lines, want 1", n)
	}
}

// oneFile is the only file a pattern matches.
func oneFile(ts *testscript.TestScript, pattern string) string {
	found, err := filepath.Glob(ts.MkAbs(pattern))
	if err != nil || len(found) != 1 {
		ts.Fatalf("%s matches %d files (%v), want 1", pattern, len(found), err)
	}
	return found[0]
}

// edit replaces the first place of a text in a file: edit PATTERN FROM TO
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit PATTERN FROM TO")
	}
	path := oneFile(ts, args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	if !strings.Contains(string(b), args[1]) {
		ts.Fatalf("%s does not hold %q", path, args[1])
	}
	ts.Check(os.WriteFile(path, []byte(strings.Replace(string(b), args[1], args[2], 1)), 0o644))
}

// await waits until a shell's command succeeds: await COMMAND
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await COMMAND")
	}
	// So long that only what never happens is given up.
	for until := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c := exec.Command("sh", "-c", args[0])
		c.Dir = ts.MkAbs(".")
		out, err := c.CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(until) {
			ts.Fatalf("still %v: %s", err, out)
		}
	}
}

// flip changes one bit in the middle of a file: flip PATTERN
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip PATTERN")
	}
	path := oneFile(ts, args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	b[len(b)/2] ^= 1
	ts.Check(os.WriteFile(path, b, 0o644))
}

// boundVerdict is the verdict on the client's health in a manifest or a point.
var boundVerdict = regexp.MustCompile(`("client_bound": *)"(no|suspect|yes)"`)

// calm takes the load of the machine out of run folders: calm PATTERN… writes into
// their manifests that the client was not the bottleneck. Scripts that compare or
// judge runs call it first, because how busy the machine of the test is decides
// what a real run says of its client, and with it whether the run may be compared.
func calm(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: calm PATTERN…")
	}
	for _, pattern := range args {
		path := oneFile(ts, filepath.Join(pattern, "manifest.json"))
		b, err := os.ReadFile(path)
		ts.Check(err)
		if !boundVerdict.Match(b) {
			ts.Fatalf("%s holds no verdict on the client", path)
		}
		ts.Check(os.WriteFile(path, boundVerdict.ReplaceAll(b, []byte(`$1"no"`)), 0o644))
	}
}

// simulate starts the simulator: simulate [root=PATH] [model=NAME…] [slots=N] [step=DURATION] [ANSWERS ACCURACY]
func simulate(ts *testscript.TestScript, neg bool, args []string) {
	cfg := simulator.Config{Preset: "instant"}
	for len(args) > 0 && strings.Contains(args[0], "=") {
		key, value, _ := strings.Cut(args[0], "=")
		switch key {
		case "root":
			cfg.RootPath = value
		case "model":
			cfg.ServedModelNames = append(cfg.ServedModelNames, value)
		case "dev": // dev=off: without vLLM's development endpoints
			cfg.NoDevMode = value == "off"
		case "slots":
			n, err := strconv.Atoi(value)
			ts.Check(err)
			cfg.MaxNumSeqs = n
		case "step":
			d, err := time.ParseDuration(value)
			ts.Check(err)
			cfg.StepBase = d
		default:
			ts.Fatalf("simulate: unknown option %s", args[0])
		}
		args = args[1:]
	}
	if len(args) == 1 && args[0] == "uncached" {
		cfg.DisablePrefixCaching = true
	}
	if len(args) == 2 {
		cfg.Answers = ts.MkAbs(args[0])
		if _, err := fmt.Sscan(args[1], &cfg.Accuracy); err != nil {
			ts.Fatalf("accuracy: %v", err)
		}
	}
	srv, err := simulator.New(cfg)
	ts.Check(err)
	url, err := srv.Start("127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { srv.Close() })
	ts.Setenv("URL", url)
}

// serve starts a server that misbehaves: serve KIND
func serve(ts *testscript.TestScript, neg bool, args []string) {
	models := `{"object":"list","data":[{"id":"qwen-eval","object":"model"}]}`
	answers := map[string]http.HandlerFunc{
		"401": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, `{"error":{"message":"Incorrect API key provided"}}`, http.StatusUnauthorized)
		},
		"404": func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
		"nochoices": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("content-type", "application/json")
			if strings.HasSuffix(r.URL.Path, "/models") {
				io.WriteString(w, models)
				return
			}
			io.WriteString(w, `{"id":"x","object":"chat.completion","result":"hello"}`)
		},
		"html": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("content-type", "text/html")
			io.WriteString(w, "<!DOCTYPE html><html><title>Sign in</title>OAuth</html>")
		},
		"echokey": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("content-type", "application/json")
			if strings.HasSuffix(r.URL.Path, "/models") {
				io.WriteString(w, models)
				return
			}
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":"bad header %s"}}`, r.Header.Get("authorization"))
		},
	}
	if len(args) != 1 || answers[args[0]] == nil {
		ts.Fatalf("usage: serve KIND")
	}
	srv := httptest.NewServer(answers[args[0]])
	ts.Defer(srv.Close)
	ts.Setenv("URL", srv.URL)
}

func TestNormalizeArgs(t *testing.T) {
	app := newApp(io.Discard, io.Discard)
	for _, c := range []struct{ in, want string }{
		{"--models a b --datasets c -m perf", "--models=a --models=b --datasets=c --mode=perf"},
		{"--models a --reuse", "--models=a --reuse=latest"},
		{"--models a -r 20260101_000000 --debug", "--models=a --reuse=20260101_000000 --debug"},
		{"--max_num_workers 2", "--max-num-workers=2"},
		{"--generation-kwargs top_p=0.9 seed=1 --dry-run", "--generation-kwargs=top_p=0.9 --generation-kwargs=seed=1 --dry-run"},
		{"datasets info gsm8k_gen --dataset-path x", "datasets info --dataset-path=x -- gsm8k_gen"},
		{"--max-concurrency=4", "--batch-size=4"},
		{"bench sweep --by-length-bucket s.json --reuse", "bench sweep --by-length-bucket=128,1024 --reuse=latest -- s.json"},
		{"bench sweep --by-length-bucket 50,90 s.json", "bench sweep --by-length-bucket=50,90 -- s.json"},
	} {
		got, err := normalizeArgs(app, strings.Fields(c.in))
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s\n got %s (%v)\nwant %s", c.in, strings.Join(got, " "), err, c.want)
		}
	}
	for in, want := range map[string]string{
		"--modles a":          `did you mean "--models"?`,
		"--models":            `needs a value`,
		"score --predicton x": `did you mean "--prediction`,
	} {
		if _, err := normalizeArgs(app, strings.Fields(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

func TestSurroundingCommitOutsideOfGit(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if c := surroundingCommit(); c != nil && !isInsideGit(dir) {
		t.Errorf("commit %s outside of a repository", *c)
	}
	if err := os.MkdirAll(".git/refs/heads", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/packed-refs": "# pack-refs\nabc123 refs/heads/main\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if c := surroundingCommit(); c == nil || *c != "abc123" {
		t.Errorf("packed ref: %v", c)
	}
	if err := os.WriteFile(".git/refs/heads/main", []byte("def456\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if c := surroundingCommit(); c == nil || *c != "def456" {
		t.Errorf("loose ref: %v", c)
	}
}

func isInsideGit(dir string) bool {
	for _, up := range strings.SplitAfter(dir, "/") {
		if _, err := os.Stat(up + ".git"); err == nil {
			return true
		}
	}
	return false
}
