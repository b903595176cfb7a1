package observe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ais_bench/models/inspect"
	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// collector is a sink.
type collector struct {
	mu   sync.Mutex
	rows []outputs.ServerSample
}

func (c *collector) add(rows []outputs.ServerSample) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = append(c.rows, rows...)
	return nil
}

func (c *collector) values(series string) (v []float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.rows {
		if r.Series == series {
			v = append(v, r.Value)
		}
	}
	return v
}

func text(format string, args ...any) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return []byte(fmt.Sprintf(format, args...)), nil }
}

func TestMarksAreKeptOnTheRunsClock(t *testing.T) {
	var c collector
	clock := transport.NewClock()
	n := 0
	get := func(context.Context) ([]byte, error) {
		n++
		return []byte(fmt.Sprintf("vllm:num_requests_running{engine=\"0\"} %d\nvllm:request_success_total{finished_reason=\"stop\"} %d\n", n, 10*n)), nil
	}
	before := clock.Now()
	r, err := Start(context.Background(), Config{Clock: clock, Maps: inspect.BuiltinMaps(), Session: 3, Sink: c.add, Sources: []Source{{Name: "own", Get: get}}})
	if err != nil {
		t.Fatal(err)
	}
	r.Mark(context.Background())
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(c.values("requests_running")); got != "[1 2]" {
		t.Errorf("running %s", got)
	}
	first, _ := r.First("requests_finished")
	last, _ := r.Latest("requests_finished")
	if first != 10 || last != 20 {
		t.Errorf("finished from %v to %v", first, last)
	}
	for i, row := range c.rows {
		if row.T < before || row.T > clock.Now() || row.Session != 3 || row.Source != "own" {
			t.Errorf("row %d: %+v", i, row)
		}
	}
	sources, events := r.Report()
	if len(sources) != 1 || sources[0].Polls != 2 || sources[0].Failed != 0 || !sources[0].Engine || sources[0].RoundTripMaxMS == nil || len(events) != 0 {
		t.Errorf("report %+v %v", sources, events)
	}
}

// A scrape that hangs is ended by its time-out; polls that were due meanwhile
// are counted and not made up for.
func TestPollsThatAreLateAreLeftOut(t *testing.T) {
	var c collector
	var calls atomic.Int64
	slow := make(chan struct{})
	get := func(ctx context.Context) ([]byte, error) {
		if calls.Add(1) == 2 { // the first poll
			<-ctx.Done()
			close(slow)
			return nil, ctx.Err()
		}
		return []byte("vllm:num_requests_running 1\n"), nil
	}
	r, err := Start(context.Background(), Config{Clock: transport.NewClock(), Maps: inspect.BuiltinMaps(), Interval: 2 * time.Millisecond, Timeout: 40 * time.Millisecond,
		Sink: c.add, Sources: []Source{{Name: "own", Get: get}}})
	if err != nil {
		t.Fatal(err)
	}
	r.Poll()
	<-slow
	for calls.Load() < 4 {
		time.Sleep(time.Millisecond)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	sources, _ := r.Report()
	if s := sources[0]; s.Failed != 1 || s.Skipped < 1 || s.Polls < 3 || !strings.Contains(s.Error, "deadline") {
		t.Errorf("report %+v", s)
	}
}

// Stop does not wait for a server that hangs.
func TestStopEndsAScrape(t *testing.T) {
	var calls atomic.Int64
	hung := make(chan struct{})
	get := func(ctx context.Context) ([]byte, error) {
		if calls.Add(1) == 1 {
			return []byte("vllm:num_requests_running 1\n"), nil
		}
		close(hung)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	r, err := Start(context.Background(), Config{Clock: transport.NewClock(), Maps: inspect.BuiltinMaps(), Interval: time.Millisecond, Timeout: time.Hour,
		Sink: new(collector).add, Sources: []Source{{Name: "own", Get: get}}})
	if err != nil {
		t.Fatal(err)
	}
	r.Poll()
	<-hung
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if sources, _ := r.Report(); sources[0].Failed != 0 {
		t.Errorf("a scrape that the end cut off counts as failed: %+v", sources[0])
	}
}

func TestRestartsAreTold(t *testing.T) {
	for name, scrapes := range map[string][2]string{
		"start time": {"vllm:num_requests_running 1\nprocess_start_time_seconds 5\n", "vllm:num_requests_running 1\nprocess_start_time_seconds 9\n"},
		"counter":    {"vllm:prompt_tokens_total 50\n", "vllm:prompt_tokens_total 20\n"},
	} {
		var notes []string
		i := -1
		get := func(context.Context) ([]byte, error) { i++; return []byte(scrapes[min(i, 1)]), nil }
		r, err := Start(context.Background(), Config{Clock: transport.NewClock(), Maps: inspect.BuiltinMaps(), Sink: new(collector).add,
			Note: func(s string) { notes = append(notes, s) }, Sources: []Source{{Name: "own", Get: get}}})
		if err != nil {
			t.Fatal(err)
		}
		r.Mark(context.Background())
		r.Mark(context.Background())
		_, events := r.Report()
		if len(events) != 1 || len(notes) != 1 || !strings.Contains(events[0].Text, "restarted") {
			t.Errorf("%s: events %v, notes %v", name, events, notes)
		}
		r.Close()
	}
}

// A source that fails after it worked: told once, kept with the time it began, and
// what cannot be is left out, told once a series.
func TestScrapesThatFailInMidRun(t *testing.T) {
	var c collector
	var notes []string
	i := -1
	answers := []string{"vllm:num_requests_running -5\nvllm:num_requests_waiting 2\n", "vllm:num_requests_running -6\nvllm:num_requests_waiting 3\n", "<html>", "go_threads 5\n"}
	get := func(context.Context) ([]byte, error) { i++; return []byte(answers[min(i, 3)]), nil }
	r, err := Start(context.Background(), Config{Clock: transport.NewClock(), Maps: inspect.BuiltinMaps(), Sink: c.add,
		Note: func(s string) { notes = append(notes, s) }, Sources: []Source{{Name: "own", Get: get}}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 3 {
		r.Mark(context.Background())
	}
	sources, _ := r.Report()
	s := sources[0]
	if s.Polls != 2 || s.Failed != 2 || s.FailingFrom == nil || !strings.Contains(s.Error, "no map knows") || len(s.Nonsense) != 1 || s.Nonsense[0] != "vllm:num_requests_running -5 is below 0" {
		t.Errorf("report %+v", s)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "scraping own failed at t=") || !strings.Contains(notes[0], "<html>") {
		t.Errorf("notes %q", notes)
	}
	if got := fmt.Sprint(c.values("requests_waiting"), c.values("requests_running"), c.values(outputs.SeriesUp)); got != "[2 3] [] [0 0]" {
		t.Errorf("rows %s", got)
	}
}

func TestSourcesThatGiveNothing(t *testing.T) {
	start := func(s Source) (*Recorder, error) {
		return Start(context.Background(), Config{Clock: transport.NewClock(), Maps: inspect.BuiltinMaps(), Sink: new(collector).add, Sources: []Source{s}})
	}
	refused := func(context.Context) ([]byte, error) { return nil, errors.New("connection refused") }
	for name, get := range map[string]func(context.Context) ([]byte, error){"refused": refused, "html": text("<html>"), "unknown": text("my_own_metric 1\n")} {
		r, err := start(Source{Name: "x", Get: get})
		if err != nil || r.Watching() {
			t.Errorf("%s: an optional source: %v", name, err)
		}
		_, err = start(Source{Name: "http://x/metrics", Get: get, MustWork: true})
		if err == nil || !strings.HasPrefix(err.Error(), "http://x/metrics: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := start(Source{Name: "x", Get: text("my_own_metric 1\n"), MustWork: true}); !strings.Contains(err.Error(), "my_own_metric") || !strings.Contains(err.Error(), "metrics/NAME.yaml") {
		t.Errorf("error %v", err)
	}
}

func TestSinkErrorEndsTheRecording(t *testing.T) {
	full := errors.New("disk full")
	r, err := Start(context.Background(), Config{Clock: transport.NewClock(), Maps: inspect.BuiltinMaps(), Sink: func([]outputs.ServerSample) error { return full },
		Sources: []Source{{Name: "own", Get: text("vllm:num_requests_running 1\n")}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}
