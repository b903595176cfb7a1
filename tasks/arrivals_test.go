package tasks

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ais_bench/datasets"
	"ais_bench/models"
	"ais_bench/models/simulator"
	"ais_bench/outputs"
	"ais_bench/tasks/load"
)

// timedTask is a task of samples that arrive at the times given in ms; < 0 =
// none.
func timedTask(repeats int, ms ...int64) (*Task, *datasets.Set) {
	set := &datasets.Set{Config: datasets.Config{Abbr: "trace", N: repeats}, Subsets: []string{""}}
	for i, at := range ms {
		set.Samples = append(set.Samples, datasets.Sample{ID: fmt.Sprint(i), ArriveNS: at * 1e6})
	}
	m := models.Config{Abbr: "m", UseTimestamp: true, BatchSize: 3}
	return &Task{Model: ModelChoice{Name: "m", Config: m}, Dataset: DatasetChoice{Name: "trace", Config: set.Config}, ModelAbbr: "m", DatasetAbbr: "trace"}, set
}

// TestReplayAsksEveryQuestionAtItsTime: whatever the order of the rows; equal
// times keep it, and repeats are further passes.
func TestReplayAsksEveryQuestionAtItsTime(t *testing.T) {
	task, set := timedTask(2, 1040, 1010, 1030, 1010)
	todo := allQuestions(task, set)
	cfg, err := loadConfig(task, &Options{ReplaySpeed: 2}, task.Model.Config, todo)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.MaxConcurrency != 0 || cfg.Count != 8 {
		t.Errorf("%+v: a trace has no cap and one arrival a question", cfg)
	}
	var got []string
	i := 0
	for at := range cfg.Schedule.Arrivals() {
		got = append(got, fmt.Sprintf("%s#%d@%s", todo[i].sample.ID, todo[i].repeat, at))
		i++
	}
	want := "1#0@0s 3#0@0s 2#0@10ms 0#0@15ms 1#1@20ms 3#1@20ms 2#1@30ms 0#1@35ms" // 30 ms and a mean gap of 10, twice as fast
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	// A resumed run replays what is left, at once.
	cfg, _ = loadConfig(task, &Options{}, task.Model.Config, slices.Clone(todo[3:5]))
	var left []time.Duration
	for at := range cfg.Schedule.Arrivals() {
		left = append(left, at)
	}
	if len(left) != 2 || left[0] != 0 || left[1] != 30*time.Millisecond { // 1010 a pass of 60 ms later, after 1040
		t.Errorf("the rest is replayed at %v", left)
	}
}

// TestReplayForATime goes through the trace again and again.
func TestReplayForATime(t *testing.T) {
	task, set := timedTask(1, 0, 10, 20)
	todo := allQuestions(task, set)
	cfg, err := loadConfig(task, &Options{Duration: time.Hour}, task.Model.Config, todo)
	if err != nil {
		t.Fatal(err)
	}
	want := time.Duration(0)
	i := 0
	for at := range cfg.Schedule.Arrivals() {
		if at != want || i == 100 {
			break
		}
		want += 10 * time.Millisecond
		i++
	}
	if i != 100 || cfg.Count != 0 {
		t.Errorf("arrival %d is not due at %s", i, want)
	}
}

func TestArrivalsThatCannotBeMeant(t *testing.T) {
	stages := []load.Stage{{Rate: 1, For: time.Second}}
	for _, c := range []struct {
		name string
		opts Options
		ms   []int64
		want string // "" = fine
	}{
		{"a trace", Options{}, []int64{1, 2, 3}, ""},
		{"a gap", Options{}, []int64{1, -1, 3}, "only 2 of 3 rows of data set trace have a time stamp; sample 1 has none"},
		{"no times", Options{}, []int64{-1, -1}, "data set trace has no time stamps"},
		{"clients", Options{Pressure: true}, []int64{1}, "use_timestamp and --pressure exclude each other"},
		{"stages", Options{Stages: stages}, []int64{1}, "use_timestamp and --stages exclude each other"},
		{"cool-down", Options{Cooldown: 1}, []int64{1}, "use_timestamp and --cooldown exclude each other"},
	} {
		task, set := timedTask(1, c.ms...)
		err := checkLoad(task, set, &c.opts)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	task, set := timedTask(1, 1, 2)
	task.Model.Config.UseTimestamp = false
	if err := checkLoad(task, set, &Options{Stages: stages, Cooldown: 2}); err == nil || !strings.Contains(err.Error(), "--stages and --cooldown") {
		t.Errorf("stages and cool-down: %v", err)
	}
	if w := unusedTimestamps(task, set, &Options{Mode: ModePerf}); !strings.Contains(w, "use_timestamp=true") {
		t.Errorf("nobody is told of time stamps that are not used: %q", w)
	}
}

// TestRampTakesTheWholeRun: by count, by time, or by whichever ends the run first.
func TestRampTakesTheWholeRun(t *testing.T) {
	task, set := timedTask(1, make([]int64, 50)...)
	m := task.Model.Config
	m.UseTimestamp, m.TrafficCfg = false, models.TrafficCfg{RampUpStrategy: "linear", RampUpStartRPS: 10, RampUpEndRPS: 10}
	for _, c := range []struct {
		name string
		opts Options
		over float64 // ramp_up_duration_s
		want int
	}{
		{"by count", Options{}, 0, 50},
		{"the cool-down comes after it", Options{Cooldown: 7}, 0, 50},
		{"by time", Options{Duration: 20 * time.Second}, 0, 200},
		{"both, the count ends it", Options{Duration: 20 * time.Second, CountAndDuration: true}, 0, 50},
		{"both, the time ends it", Options{Duration: 2 * time.Second, CountAndDuration: true}, 0, 20},
		{"of its own length", Options{Duration: 20 * time.Second}, 4, 40},
		{"of its own length, by count", Options{}, 100, 1000},
		{"of clients", Options{Pressure: true, Duration: 20 * time.Second}, 0, 3},
	} {
		m.TrafficCfg.RampUpDurationS = c.over
		cfg, err := loadConfig(task, &c.opts, m, allQuestions(task, set))
		if err != nil {
			t.Fatal(c.name, err)
		}
		if r, ok := cfg.Schedule.(load.Ramp); !ok || r.Count != c.want {
			t.Errorf("%s: %v, want a ramp over %d requests", c.name, cfg.Schedule, c.want)
		}
	}
}

// TestWhicheverComesFirst: a number of questions and a duration end a run together.
func TestWhicheverComesFirst(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	_, url := startSim(t, set, simulator.Config{})
	_, task := runOnce(t, modelAt(url, set), set, Options{Mode: ModePerf, Duration: time.Hour, CountAndDuration: true})
	if in := task.Inference; task.Err != nil || in.Answered != 20 || in.Asked != 20 || in.NotAsked != 0 || in.Stopped {
		t.Errorf("%v: %+v", task.Err, in)
	}
	m := modelAt(url, set)
	m.Config.BatchSize = 1
	m.Config.RequestRate, m.Config.TrafficCfg.Burstiness = 100, 1e9
	_, task = runOnce(t, m, set, Options{Mode: ModePerf, Duration: 50 * time.Millisecond, CountAndDuration: true})
	if in := task.Inference; task.Err != nil || in.Answered >= 20 || in.NotAsked != 0 || in.Stopped {
		t.Errorf("%v: %+v", task.Err, in)
	}
}

// TestCooldownFollowsTheLastRound and no other.
func TestCooldownFollowsTheLastRound(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	_, url := startSim(t, set, simulator.Config{})
	out, task := runOnce(t, modelAt(url, set), set, Options{Mode: ModePerf, Batch: 6, Cooldown: 3})
	if in := task.Inference; task.Err != nil || in.Answered != 20 || in.Load.Measured != 20 || in.Load.Dispatched != 23 {
		t.Fatalf("%v, %+v", task.Err, in)
	}
	var last int64
	for _, r := range measured(t, out.Run, task.Task) {
		last = max(last, r.Sent)
	}
	n := 0
	for rec, err := range out.Run.Records(task.Task.ModelAbbr, task.Task.DatasetAbbr) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Phase == outputs.PhaseCooldown {
			n++
			if rec.Scheduled > last {
				t.Errorf("a request of the cool-down is due %v after the last measured one was sent", time.Duration(rec.Scheduled-last))
			}
		}
	}
	if n != 3 {
		t.Errorf("%d requests of cool-down", n)
	}
}

// TestCustomTimestampsAreReplayed: the column of the user's own file arrives in
// the records.
func TestCustomTimestampsAreReplayed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.jsonl")
	writeFile(t, path, `{"question":"second","answer":"2","timestamp":520.5}
{"question":"first","answer":"1","timestamp":"500"}
{"question":"third","answer":"3","timestamp":530}
`)
	cfg, err := datasets.Custom(path, datasets.CustomOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := DatasetChoice{Name: cfg.Abbr, Origin: path, Config: cfg}
	_, url := startSim(t, set, simulator.Config{})
	m := modelAt(url, set)
	m.Config.UseTimestamp = true
	out, task := runOnce(t, m, set, Options{Mode: ModePerf})
	if task.Err != nil {
		t.Fatal(task.Err)
	}
	var due []string
	records := measured(t, out.Run, task.Task)
	zero := records[0].Scheduled
	for _, r := range records {
		zero = min(zero, r.Scheduled)
	}
	for _, r := range records {
		due = append(due, fmt.Sprintf("%s@%s", r.SampleID, time.Duration(r.Scheduled-zero)))
	}
	slices.Sort(due)
	if want := []string{"0@20.5ms", "1@0s", "2@30ms"}; !slices.Equal(due, want) {
		t.Errorf("due %v, want %v", due, want)
	}
}
