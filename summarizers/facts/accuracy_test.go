package facts

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"ais_bench/evaluators"
	"ais_bench/outputs"
)

// scoredRun writes a run folder of scored answers alone. right says whether a
// question was answered rightly the r-th time.
func scoredRun(t *testing.T, model, dataset string, questions, repeats int, right func(q, r int) bool) *outputs.Run {
	t.Helper()
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	addScores(t, run, model, dataset, questions, repeats, func(q, r int) float64 {
		if right(q, r) {
			return 1
		}
		return 0
	})
	return run
}

func addScores(t *testing.T, run *outputs.Run, model, dataset string, questions, repeats int, score func(q, r int) float64) {
	t.Helper()
	w, err := run.Predictions(model, dataset)
	if err != nil {
		t.Fatal(err)
	}
	var scored []evaluators.Scored
	for q := range questions {
		for r := range repeats {
			s := score(q, r)
			outcome := evaluators.Right
			if s == 0 {
				outcome = evaluators.Wrong
			}
			id := fmt.Sprintf("q%03d", q)
			subset := []string{"algebra", "geometry"}[q%2]
			f1 := s / 2
			p := &outputs.Prediction{DataAbbr: dataset, ID: q, Success: true, SampleID: id, Subset: subset, Repeat: int32(r), Outcome: string(outcome), Score: &s,
				Parts: map[string]*float64{"f1": &f1}}
			if err := w.Append(p); err != nil {
				t.Fatal(err)
			}
			scored = append(scored, evaluators.Scored{ItemID: id, Subset: subset, Repeat: r, Verdict: evaluators.Verdict{Outcome: outcome, Score: s, Parts: map[string]float64{"f1": f1}}})
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	res := evaluators.Result{Model: model, Dataset: dataset, Metric: "accuracy", Overall: evaluators.Summarize(scored)}
	var members []evaluators.Member
	for name, sum := range evaluators.SummarizeBySubset(scored) {
		res.Subsets = append(res.Subsets, evaluators.SubsetResult{Name: dataset + "-" + name, Subset: name, Summary: sum})
		members = append(members, evaluators.Member{Value: *sum.Accuracy, StdErr: sum.StdErr})
	}
	g, err := evaluators.Group(evaluators.NaiveAverage, members)
	if err != nil {
		t.Fatal(err)
	}
	group := evaluators.GroupResult{Name: dataset + "-average", Metric: evaluators.NaiveAverage, Value: g, N: len(scored)}
	if se, ok := evaluators.GroupStdErr(evaluators.NaiveAverage, members); ok {
		group.StdErr = &se
	}
	res.Groups = append(res.Groups, group)
	if err := run.WriteResults(model, dataset, res); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, o Options, runs ...*outputs.Run) *Set {
	t.Helper()
	s, err := Open(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func row(t *testing.T, s *Set, keys ...string) (*Fact, [2]float64) {
	t.Helper()
	f, err := s.Lookup(append(Path{"accuracy"}, keys...))
	if err != nil {
		t.Fatal(err)
	}
	i, err := f.Interval(0.95)
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return f, [2]float64{i.Lo, i.Hi}
}

func TestAccuracyOfOneRun(t *testing.T) {
	s := open(t, Options{}, scoredRun(t, "m", "maths", 100, 1, func(q, _ int) bool { return q%5 != 0 }))
	f, i := row(t, s, "maths", "value")
	if *f.Value != 0.8 || f.N != 100 || math.Abs(i[0]-0.7112) > 1e-3 || math.Abs(i[1]-0.8666) > 1e-3 { // Wilson, 80 of 100
		t.Errorf("%v of %d, %v", *f.Value, f.N, i)
	}
	if f, _ := row(t, s, "maths-algebra", "value"); f.N != 50 || *f.Value != 0.8 {
		t.Errorf("a sub-set: %v of %d", *f.Value, f.N)
	}
	if f, i := row(t, s, "maths-average", "value"); *f.Value != 0.8 || !(i[0] > 0.7 && i[1] < 0.9) || f.Kind != Mean {
		t.Errorf("a group: %v in %v (%s)", *f.Value, i, f.Kind)
	}
	if f, i := row(t, s, "maths", "f1"); *f.Value != 0.4 || !(i[0] < 0.4 && i[1] > 0.4) || f.Method != "t" {
		t.Errorf("a part of the verdict: %v in %v (%s)", *f.Value, i, f.Method)
	}
	if f, _ := row(t, s, "m/maths", "extract_rate"); *f.Value != 1 || f.Name != `accuracy["maths"].extract_rate` {
		t.Errorf("%s = %v", f.Name, *f.Value)
	}
	if f, _ := row(t, s, "maths", "wrong"); *f.Value != 20 || f.Kind != Observed {
		t.Errorf("wrong answers: %v", *f.Value)
	}
	for path, want := range map[string]string{"maths.valu": `did you mean accuracy["maths"].value?`, "math.value": `did you mean "maths"?`, "maths-average.right": "value and n", "maths": "name one figure"} {
		if _, err := s.Lookup(append(Path{"accuracy"}, strings.Split(path, ".")...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := s.Lookup(Path{"perf", "ttft", "p99_ms"}); err == nil || !strings.Contains(err.Error(), "no records") {
		t.Errorf("scores without records: %v", err)
	}
}

// Repeats of a question say less than other questions would.
func TestRepeatsAreNotIndependent(t *testing.T) {
	each := func(q, _ int) bool { return q%5 != 0 } // every repeat alike
	once := scoredRun(t, "m", "maths", 100, 1, each)
	again := scoredRun(t, "m", "maths", 100, 8, each)
	_, a := row(t, open(t, Options{}, once), "maths", "value")
	f, b := row(t, open(t, Options{}, again), "maths", "value")
	if f.N != 800 || math.Abs((b[1]-b[0])/(a[1]-a[0])-1) > 0.03 {
		t.Errorf("eight equal repeats: %v, one: %v", b, a)
	}
	f, c := row(t, open(t, Options{}, once, scoredRun(t, "m", "maths", 100, 1, each)), "maths", "value")
	if f.N != 200 || math.Abs((c[1]-c[0])/(a[1]-a[0])-1) > 0.03 {
		t.Errorf("the same run twice: %v, once: %v", c, a)
	}
	mixed := scoredRun(t, "m", "maths", 100, 8, func(q, r int) bool { return (q+r*37)%5 != 0 })
	if _, d := row(t, open(t, Options{}, mixed), "maths", "value"); d[1]-d[0] > 0.6*(a[1]-a[0]) {
		t.Errorf("eight different repeats: %v, one: %v", d, a)
	}
	all := open(t, Options{}, scoredRun(t, "m", "maths", 20, 10, func(int, int) bool { return true }))
	if _, i := row(t, all, "maths", "value"); i[0] > 0.85 {
		t.Errorf("20 questions, all right ten times: %v is more than 20 answers can show", i)
	}
	if f, i := row(t, all, "maths", "pass^10"); *f.Value != 1 || i[0] > 0.85 {
		t.Errorf("pass^10: %v in %v", *f.Value, i)
	}
	if f, i := row(t, open(t, Options{}, mixed), "maths", "pass@2"); !(*f.Value > 0.85 && i[0] < *f.Value) {
		t.Errorf("pass@2: %v in %v", *f.Value, i)
	}
}

func TestGradedScores(t *testing.T) {
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	addScores(t, run, "m", "summaries", 60, 1, func(q, _ int) float64 { return 0.2 + 0.01*float64(q) })
	f, i := row(t, open(t, Options{}, run), "summaries", "value")
	if f.Kind != Mean || math.Abs(*f.Value-0.495) > 1e-9 || !(i[0] > 0.44 && i[1] < 0.55) {
		t.Errorf("%v in %v (%s)", *f.Value, i, f.Kind)
	}
}

func TestSeveralModelsAreNamed(t *testing.T) {
	run := scoredRun(t, "a", "maths", 20, 1, func(q, _ int) bool { return q > 3 })
	addScores(t, run, "b", "maths", 20, 1, func(q, _ int) float64 { return 1 })
	s := open(t, Options{}, run)
	if _, err := s.Lookup(Path{"accuracy", "maths", "value"}); err == nil || !strings.Contains(err.Error(), `accuracy["b/maths"].value`) && !strings.Contains(err.Error(), `accuracy["a/maths"].value`) {
		t.Errorf("two models under one name: %v", err)
	}
	if f, _ := row(t, s, "b/maths", "value"); *f.Value != 1 || f.Name != `accuracy["b/maths"].value` {
		t.Errorf("%s = %v", f.Name, *f.Value)
	}
	if m, err := s.Members("accuracy"); err != nil || fmt.Sprint(m) != "[a/maths b/maths]" {
		t.Errorf("members %v %v", m, err)
	}
}

func TestComparisonWithABaseline(t *testing.T) {
	base := open(t, Options{}, scoredRun(t, "old", "maths", 200, 1, func(q, _ int) bool { return q%4 != 0 }))
	now := scoredRun(t, "new", "maths", 200, 1, func(q, _ int) bool { return q%4 != 0 && q > 9 }) // some lost, none won
	s := open(t, Options{Baseline: base}, now)
	f, err := s.Lookup(Path{"compare", "baseline", "accuracy", "maths", "value", "difference"})
	if err != nil {
		t.Fatal(err)
	}
	i, err := f.Interval(0.95)
	if err != nil || f.Method != "paired-score" || math.Abs(*f.Value+7.0/200) > 1e-9 || !(i.Hi < 0) || i.Lo < -0.09 {
		t.Errorf("difference %v in %v (%s) %v", *f.Value, i, f.Method, err)
	}
	// Not paired it would not be told from chance.
	c, err := s.Lookup(Path{"compare", "baseline", "accuracy", "maths", "value", "change"})
	if err != nil {
		t.Fatal(err)
	}
	if j, err := c.Interval(0.95); err != nil || j.Hi < 0 || *c.Value >= 0 {
		t.Errorf("change %v in %v %v", *c.Value, j, err)
	}
	for path, want := range map[string]string{"compare.baseline.accuracy.maths.value.chang": "one of change", "compare.base.x": "write compare.baseline", "compare.baseline.change": "write a metric",
		"compare.baseline.accuracy.physics.value.change": "scored are"} {
		if _, err := s.Lookup(strings.Split(path, ".")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestRunsOfOtherQuestionsAreNoRepeats(t *testing.T) {
	right := func(int, int) bool { return true }
	_, err := Open([]*outputs.Run{scoredRun(t, "m", "maths", 5, 1, right), scoredRun(t, "m", "physics", 5, 1, right)}, Options{})
	if _, ok := err.(*MismatchError); !ok {
		t.Errorf("%v", err)
	}
}

// Ten right answers of ten are no proof of a group's accuracy of 1, nor are three
// such runs.
func TestScoresThatAreAllAlikeAreNotCertain(t *testing.T) {
	perfect := func(int, int) bool { return true }
	s := open(t, Options{}, scoredRun(t, "m", "maths", 10, 1, perfect))
	three := open(t, Options{}, scoredRun(t, "m", "maths", 10, 1, perfect), scoredRun(t, "m", "maths", 10, 1, perfect), scoredRun(t, "m", "maths", 10, 1, perfect))
	same, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	addScores(t, same, "m", "maths", 10, 1, func(int, int) float64 { return 0.9 })
	for _, c := range []struct {
		set  *Set
		name string
	}{{s, "maths-average"}, {three, "maths-average"}, {open(t, Options{}, same), "maths"}} {
		f, err := c.set.Lookup(Path{"accuracy", c.name, "value"})
		if err != nil || f.Value == nil {
			t.Fatal(f, err)
		}
		if i, err := f.Interval(0.95); err == nil || !strings.Contains(err.Error(), "alike") {
			t.Errorf("%s = %v: %v, %v", c.name, *f.Value, i, err)
		}
	}
	if _, i := row(t, s, "maths", "value"); !(i[0] < 0.8) {
		t.Errorf("ten of ten: %v", i)
	}
}
