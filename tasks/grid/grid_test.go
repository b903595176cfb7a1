package grid

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ais_bench/outputs"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
	"ais_bench/tasks/launch"
	"ais_bench/tasks/sweep"
)

func TestParseParams(t *testing.T) {
	got, err := ParseParams([]string{"max-num-seqs=16, 32", "mnbt=2048"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Name != "max_num_seqs" || !slices.Equal(got[0].Values, []string{"16", "32"}) || got[1].Name != "mnbt" {
		t.Errorf("%+v", got)
	}
	many := "n=x"
	for i := range MaxCombinations {
		many += ",v" + sweep.Number(float64(i))
	}
	for _, c := range []struct {
		list []string
		says string
	}{
		{nil, "--param is missing"},
		{[]string{"a"}, "write NAME=V1,V2"},
		{[]string{"1a=2"}, `"1a" is no name`},
		{[]string{"port=1"}, "{port} is the address"},
		{[]string{"a=1", "a=2"}, "a is given twice"},
		{[]string{"a=1,,2"}, "a value is empty"},
		{[]string{"a=1,1"}, "1 is given twice"},
		{[]string{many}, "1001 combinations are too many"},
	} {
		if _, err := ParseParams(c.list); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40q: %v, want %q", c.list, err, c.says)
		}
	}
}

func TestCombinationsAndCommands(t *testing.T) {
	params := []Param{{"a", []string{"1", "2"}}, {"b", []string{"x", "y"}}}
	var names []string
	for _, c := range Combinations(params) {
		names = append(names, Name(c))
	}
	if got := strings.Join(names, "; "); got != "a 1, b x; a 1, b y; a 2, b x; a 2, b y" {
		t.Error(got)
	}
	const command = "serve --a {a} --b {b} --port {port}"
	if err := CheckCommand(command, params); err != nil {
		t.Error(err)
	}
	if got, err := Command(command, Combinations(params)[1]); err != nil || got != "serve --a 1 --b y --port {port}" {
		t.Errorf("%q, %v", got, err)
	}
	if err := CheckCommand("serve --a {a}", params); err == nil || !strings.Contains(err.Error(), "does not use b") {
		t.Errorf("a parameter without a placeholder: %v", err)
	}
	if err := CheckCommand(command+" {c}", params); err == nil || !strings.Contains(err.Error(), "{c} has no value") {
		t.Errorf("a placeholder without a parameter: %v", err)
	}
}

// TestPoints: what is done is what the store says, and the runs keep their numbers.
func TestPoints(t *testing.T) {
	s, err := sweep.Create(t.TempDir(), sweep.Spec{Kind: Kind}, nil, outputs.ToolInfo{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(outputs.StateDone, "")
	p := Plan{Params: []Param{{"a", []string{"1", "2"}}}, Runs: 3}
	all := Combinations(p.Params)
	if err := s.Finish(sweep.Point{Settings: all[0], Run: 2}, sweep.Measured{Requests: 5}); err != nil {
		t.Fatal(err)
	}
	done, missing, err := p.Points(s, all[0])
	if err != nil || len(done) != 1 || done[0].Point.Run != 2 || len(missing) != 2 || missing[0].Run != 1 || missing[1].Run != 3 {
		t.Errorf("%+v, %+v, %v", done, missing, err)
	}
	if m, err := done[0].Measured(); err != nil || m.Requests != 5 {
		t.Errorf("%+v, %v", m, err)
	}
	for _, store := range []*sweep.Store{s, nil} {
		if done, missing, err := p.Points(store, all[1]); err != nil || len(done) != 0 || len(missing) != 3 {
			t.Errorf("%+v, %+v, %v", done, missing, err)
		}
	}
}

// heard keeps what is said.
type heard struct {
	tasks.Observer
	notes []string
}

func (h *heard) Note(line string) { h.notes = append(h.notes, line) }

// An interrupt between two combinations starts no engine.
func TestInterruptedGridStartsNoEngine(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	var h heard
	r := Runner{Plan: Plan{Params: []Param{{"x", []string{"1"}}}, Runs: 1}, Engine: launch.Spec{Command: "false {x}", WorkDir: t.TempDir()},
		Options: bench.Options{Observer: &h, Stop: stop}}
	if _, err := r.Run(t.Context()); !errors.Is(err, sweep.ErrInterrupted) || len(h.notes) > 0 {
		t.Errorf("%v, %q", err, h.notes)
	}
}

// What concerns the folder ends the grid: every further engine would be started for
// nothing. What concerns an engine does not.
func TestTheFolderEndsTheGrid(t *testing.T) {
	disk := &tasks.EnvironmentError{Err: fmt.Errorf("write records: %w", syscall.ENOSPC)}
	for _, c := range []struct {
		err  error
		ends bool
	}{
		{&sweep.StoreError{Err: &tasks.EnvironmentError{Err: errors.New("no room for report.html")}}, true},
		{fmt.Errorf("x 1: %w", disk), true},
		{&tasks.EnvironmentError{Err: &launch.FolderError{Err: errors.New("--work-dir")}}, true},
		{&tasks.EnvironmentError{Err: errors.New("the engine ended before it was ready")}, false},
		{errors.New("every request failed"), false},
	} {
		if got := folderError(c.err); got != c.ends {
			t.Errorf("%v: ends the grid: %v", c.err, got)
		}
	}

	// A log that cannot be written is the same for every engine.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var h heard
	r := Runner{Plan: Plan{Params: []Param{{"x", []string{"1", "2"}}}, Runs: 1}, Engine: launch.Spec{Command: "exit {x}", WorkDir: filepath.Join(file, "below")},
		Options: bench.Options{Backend: "openai", BaseURL: "http://127.0.0.1:9", Observer: &h}}
	all, err := r.Run(t.Context())
	var env *tasks.EnvironmentError
	if !errors.As(err, &env) || all[0].Failure != "" || len(h.notes) != 1 {
		t.Errorf("%v, %+v, %q", err, all, h.notes)
	}
}
