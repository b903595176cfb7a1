package evaluators

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

func scoredOutcomes(outcomes ...Outcome) []Scored {
	var out []Scored
	for i, o := range outcomes {
		v := Verdict{Outcome: o}
		if o == Right {
			v.Score = 1
		}
		out = append(out, Scored{ItemID: fmt.Sprint(i), Verdict: v})
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestSummarizeCountsOutcomesApart(t *testing.T) {
	s := Summarize(scoredOutcomes(Right, Right, Right, Wrong, Unparsable, Empty, Failed, Failed))
	if s.N != 8 || s.Right != 3 || s.Wrong != 1 || s.Unparsable != 1 || s.Empty != 1 || s.Failed != 2 || s.Items != 8 {
		t.Errorf("counts: %+v", s)
	}
	if !near(*s.Accuracy, 3.0/8) || !near(*s.AccuracyAnswered, 3.0/5) || !near(*s.ExtractRate, 0.5) {
		t.Errorf("accuracy %v, answered %v, extracted %v", *s.Accuracy, *s.AccuracyAnswered, *s.ExtractRate)
	}
	// Wilson 95 % of 3/8, computed by hand: centre (p + z²/2n)/(1 + z²/n)
	if s.CIMethod != "wilson" || math.Abs(s.CI.Low-0.13684) > 1e-4 || math.Abs(s.CI.High-0.69426) > 1e-4 {
		t.Errorf("interval %+v by %s", s.CI, s.CIMethod)
	}
}

func TestSummarizeOfNothingIsNull(t *testing.T) {
	b, err := json.Marshal(Summarize(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"n":0`, `"accuracy":null`, `"accuracy_answered":null`, `"ci":null`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s lacks %s", b, want)
		}
	}
	s := Summarize(scoredOutcomes(Failed))
	if *s.Accuracy != 0 || s.AccuracyAnswered != nil {
		t.Errorf("one failed request: accuracy %v, answered %v", *s.Accuracy, s.AccuracyAnswered)
	}
}

func TestSummaryJSONHasTheDocumentedKeys(t *testing.T) {
	b, _ := json.Marshal(Summarize(scoredOutcomes(Right, Wrong)))
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"n", "right", "wrong", "unparsable", "empty", "failed", "accuracy", "ci"} {
		if _, ok := m[k]; !ok {
			t.Errorf("key %s is missing in %s", k, b)
		}
	}
	if ci, ok := m["ci"].([]any); !ok || len(ci) != 2 {
		t.Errorf("ci is %v, want [low, high]", m["ci"])
	}
}

func TestRepeatsAreClusteredAndNeverMixed(t *testing.T) {
	// two items × two samples: one item always right, one never. AISBench's
	// grouping would mix them to pass@2 = 1; the truth is 1/2.
	var scored []Scored
	for rep := range 2 { // repeat-major, as a run produces them
		for i, o := range []Outcome{Right, Wrong} {
			v := Verdict{Outcome: o, Extracted: string(o)}
			if o == Right {
				v.Score = 1
			}
			scored = append(scored, Scored{ItemID: fmt.Sprint(i), Repeat: rep, Verdict: v})
		}
	}
	s := Summarize(scored)
	m := s.Repeats
	if m == nil || m.N != 2 || !near(m.AvgAtN, 0.5) || !near(m.PassAt[2], 0.5) || !near(m.ConsAt[2], 0.5) || !near(m.OCConsAt[2], 0.5) || !near(m.PassHat[2], 0.5) {
		t.Fatalf("repeat metrics %+v", m)
	}
	// items are the unit: two of them, means 1 and 0 → SE = sd/√2 = 0.5
	if s.CIMethod != "clustered" || !near(*s.StdErr, 0.5) {
		t.Errorf("stderr %v by %s, want 0.5 clustered", *s.StdErr, s.CIMethod)
	}
	if s.Items != 2 || s.N != 4 {
		t.Errorf("items %d of %d answers", s.Items, s.N)
	}
}

func TestConsensusIsAVoteOverAnswers(t *testing.T) {
	answers := []string{"7", "8", "8", "9"} // 8 wins the vote, 7 is right
	var scored []Scored
	for i, a := range answers {
		v := Verdict{Outcome: Wrong, Extracted: a}
		if a == "7" {
			v = Verdict{Outcome: Right, Extracted: a, Score: 1}
		}
		scored = append(scored, Scored{ItemID: "q", Repeat: i, Verdict: v})
	}
	m := Summarize(scored).Repeats
	if m.ConsAt[4] != 0 || m.ConsAt[1] != 1 || m.ConsAt[2] != 1 {
		t.Errorf("cons@1, 2, 4 = %v, %v, %v; want 1, 1 (tie: first), 0", m.ConsAt[1], m.ConsAt[2], m.ConsAt[4])
	}
	if !near(m.PassAt[1], 0.25) || m.PassAt[4] != 1 {
		t.Errorf("pass@1, 4 = %v, %v", m.PassAt[1], m.PassAt[4])
	}
}

func TestGradedScoresAverage(t *testing.T) {
	s := Summarize([]Scored{
		{ItemID: "1", Verdict: graded("", 0.5, map[string]float64{"em": 0, "f1": 0.5})},
		{ItemID: "2", Verdict: graded("", 1, map[string]float64{"em": 1, "f1": 1})},
	})
	if !s.Graded || s.Right != 1 || !near(*s.Accuracy, 0.75) || !near(s.Parts["em"], 0.5) || !near(s.Parts["f1"], 0.75) || s.CIMethod != "normal" {
		t.Errorf("%+v", s)
	}
}

func TestGroups(t *testing.T) {
	members := []Member{{Name: "a", Value: 0.5, Weight: 100}, {Name: "b", Value: 0.9, Weight: 300}}
	for kind, want := range map[string]float64{NaiveAverage: 0.7, WeightedAverage: 0.8, SumOf: 1.4, StandardDeviation: 0.2, HarmonicMean: 2 / (1/0.5 + 1/0.9)} {
		got, err := Group(kind, members)
		if err != nil || !near(got, want) {
			t.Errorf("%s = %v (%v), want %v", kind, got, err, want)
		}
	}
	if got, err := Group(HarmonicMean, []Member{{Weight: 1}, {Value: 1, Weight: 1}}); err != nil || got != 0 {
		t.Errorf("harmonic mean with a zero = %v, %v", got, err)
	}
	for _, c := range []struct {
		kind    string
		members []Member
		want    string
	}{{"naive_avg", members, `did you mean "naive_average"?`}, {NaiveAverage, nil, "empty group"}, {WeightedAverage, []Member{{Name: "a", Value: 1}}, "weights are zero"}, {WeightedAverage, []Member{{Name: "a", Value: 1, Weight: -1}}, "negative"}} {
		if _, err := Group(c.kind, c.members); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Group(%s): %v, want %q", c.kind, err, c.want)
		}
	}
}

func TestGroupStdErr(t *testing.T) {
	se := func(v float64) *float64 { return &v }
	members := []Member{{Weight: 30, StdErr: se(0.03)}, {Weight: 10, StdErr: se(0.04)}}
	for kind, want := range map[string]float64{NaiveAverage: 0.025, SumOf: 0.05, WeightedAverage: math.Sqrt(0.9*0.9+0.4*0.4) / 40} {
		if got, ok := GroupStdErr(kind, members); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v %v, want %v", kind, got, ok, want)
		}
	}
	if _, ok := GroupStdErr(HarmonicMean, members); ok {
		t.Error("a harmonic mean has a standard error")
	}
	if _, ok := GroupStdErr(NaiveAverage, append(members, Member{})); ok {
		t.Error("a member without one is left out")
	}
}

func TestComparePairedUsesCommonItems(t *testing.T) {
	a := scoredOutcomes(Right, Right, Wrong, Failed, Right)
	b := scoredOutcomes(Right, Wrong, Right, Right)
	p, ok := ComparePaired(a, b) // item 3 failed in a, item 4 is missing in b
	if !ok || p.N != 3 || p.OnlyA != 1 || p.OnlyB != 1 || p.Diff != 0 || p.McNemar != 1 {
		t.Errorf("%+v %v", p, ok)
	}
	if _, ok := ComparePaired(a, nil); ok {
		t.Error("a run was compared with nothing")
	}
}
