package tasks

import (
	"fmt"
	"testing"
	"time"

	"ais_bench/models/simulator"
)

// TestRequestsMadeAheadAreTheSameRequests: more rounds than the window holds, by
// many slots at once: every question gets its own answer, and
// every record the prompt that was sent.
func TestRequestsMadeAheadAreTheSameRequests(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	set.Config.N = 10
	_, url := startSim(t, set, simulator.Config{Accuracy: 1, Seed: 3})
	m := modelAt(url, set)
	m.Config.BatchSize = 16
	out, task := runOnce(t, m, set, Options{})
	if s := task.Accuracy.Overall; task.Err != nil || s.N != 200 || s.Right != 200 {
		t.Errorf("%v, %s", task.Err, counts(s))
	}
	prompts := map[string]string{}
	for i := range task.Estimate.Set.Samples {
		s := &task.Estimate.Set.Samples[i]
		prompts[s.Key()] = promptText(newRequest(m.Config, set.Config, s, s.Prompt))
	}
	for _, r := range measured(t, out.Run, task.Task) {
		if r.Prompt != prompts[r.SampleID] || r.PromptSHA256 != sha256Hex(r.Prompt) {
			t.Errorf("the record of sample %s has prompt %.60q", r.SampleID, r.Prompt)
		}
	}
	// Again and again through the data, to a time; and the maker ends with the run.
	_, task = runOnce(t, m, set, Options{Mode: ModePerf, Duration: 100 * time.Millisecond})
	if task.Err != nil || task.Inference.Answered == 0 {
		t.Errorf("%v, %+v", task.Err, task.Inference)
	}
}

// BenchmarkLongPromptLag is how late requests with prompts of 230 KB leave, one
// after the other.
//
//	go test -run '^$' -bench LongPromptLag -benchtime 1x ./tasks
func BenchmarkLongPromptLag(b *testing.B) {
	sim, err := simulator.New(simulator.Config{Preset: "instant", OutputLen: 8})
	if err != nil {
		b.Fatal(err)
	}
	defer sim.Close()
	url, err := sim.Start("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	_, set := timedTask(1, make([]int64, 100)...)
	for i := range set.Samples {
		text := make([]byte, 0, 230_000)
		for len(text) < 230_000 {
			text = fmt.Appendf(text, "%d words of sample %d, ", len(text), i)
		}
		set.Samples[i].Prompt.Text, set.Samples[i].ArriveNS = string(text), -1
	}
	m := modelAt(url, DatasetChoice{Config: set.Config})
	m.Config.BatchSize = 1
	plan, err := NewPlan([]ModelChoice{m}, []DatasetChoice{{Name: "trace", Config: set.Config, Set: set}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		out, err := Run(b.Context(), plan, Options{Mode: ModePerf, WorkDir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		in := out.Tasks[0].Inference
		if in == nil || in.Answered != 100 {
			b.Fatal(out.Tasks[0].Err, in)
		}
		b.ReportMetric(*in.Health.ScheduleLag.P50*1e3, "p50-lag-µs")
		b.ReportMetric(*in.Health.ScheduleLag.P99*1e3, "p99-lag-µs")
	}
}
