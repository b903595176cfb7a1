package stats

import (
	"encoding/json"
	"math"
	"testing"
)

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol }

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		right, n  int
		low, high float64
	}{
		// published values of the score interval
		{0, 10, 0, 0.277533}, {10, 10, 0.722467, 1}, {5, 10, 0.236593, 0.763407}, {742, 1319, 0.535638, 0.589119},
	} {
		ci, ok := Wilson(c.right, c.n)
		if !ok || !near(ci.Low, c.low, 5e-4) || !near(ci.High, c.high, 5e-4) {
			t.Errorf("Wilson(%d, %d) = %v, want [%v, %v]", c.right, c.n, ci, c.low, c.high)
		}
	}
	if _, ok := Wilson(0, 0); ok {
		t.Error("Wilson(0, 0) is defined")
	}
}

func TestIntervalJSON(t *testing.T) {
	b, err := json.Marshal(Interval{0.25, 0.5})
	var back Interval
	if err != nil || string(b) != "[0.25,0.5]" || json.Unmarshal(b, &back) != nil || back != (Interval{0.25, 0.5}) {
		t.Errorf("%s %v %v", b, back, err)
	}
}

func TestPassAtKMatchesCounting(t *testing.T) {
	choose := func(n, k int) float64 {
		if k < 0 || k > n {
			return 0
		}
		r := 1.0
		for i := range k {
			r = r * float64(n-i) / float64(i+1)
		}
		return r
	}
	for n := 1; n <= 8; n++ {
		for c := 0; c <= n; c++ {
			for k := 1; k <= n; k++ {
				if got, want := PassAtK(n, c, k), 1-choose(n-c, k)/choose(n, k); !near(got, want, 1e-12) {
					t.Errorf("PassAtK(%d,%d,%d) = %v, want %v", n, c, k, got, want)
				}
				if got, want := PassHatK(n, c, k), choose(c, k)/choose(n, k); !near(got, want, 1e-12) {
					t.Errorf("PassHatK(%d,%d,%d) = %v, want %v", n, c, k, got, want)
				}
				if got, want := GPassAtK(n, c, k, 1), PassHatK(n, c, k); !near(got, want, 1e-9) {
					t.Errorf("G-Pass@%d_1 of %d/%d = %v, want pass^k %v", k, c, n, got, want)
				}
				if got, want := GPassAtK(n, c, k, 0), PassAtK(n, c, k); !near(got, want, 1e-9) {
					t.Errorf("G-Pass@%d_0 of %d/%d = %v, want pass@k %v", k, c, n, got, want)
				}
			}
		}
	}
}

func TestMcNemarExact(t *testing.T) {
	for _, c := range []struct {
		b, c int
		want float64
	}{{0, 0, 1}, {5, 5, 1}, {0, 5, 0.0625}, {1, 9, 0.021484375}, {10, 0, 0.001953125}} {
		if got := McNemarExact(c.b, c.c); !near(got, c.want, 1e-12) {
			t.Errorf("McNemarExact(%d, %d) = %v, want %v", c.b, c.c, got, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	a := []float64{1, 1, 0, 0, 1}
	b := []float64{1, 1, 1, 1, 0}
	p, ok := Compare(a, b)
	if !ok || p.N != 5 || p.OnlyA != 1 || p.OnlyB != 2 || !near(p.Diff, 0.2, 1e-12) || !near(p.McNemar, 1, 1e-12) || p.StdErr == nil {
		t.Errorf("%+v %v", p, ok)
	}
	if _, ok := Compare(a, b[:3]); ok {
		t.Error("runs over different items were compared")
	}
}

func TestBestAssignment(t *testing.T) {
	sum := func(s [][]float64) float64 {
		total := 0.0
		for _, v := range BestAssignment(s) {
			total += v
		}
		return total
	}
	for _, c := range []struct {
		scores [][]float64
		want   float64
	}{
		{[][]float64{{1, 0.9}, {0.9, 0}}, 1.8}, // greedy would give 1
		{[][]float64{{0.5}}, 0.5},
		{[][]float64{{0.1, 0.7, 0.2}}, 0.7},
		{[][]float64{{0.3}, {0.8}, {0.1}}, 0.8},
	} {
		if got := sum(c.scores); !near(got, c.want, 1e-12) {
			t.Errorf("%v: %v, want %v", c.scores, got, c.want)
		}
	}
}

func TestUndefinedIsNotANumberButFalse(t *testing.T) {
	if _, ok := StdErr([]float64{1}); ok {
		t.Error("the standard error of one value is defined")
	}
	if _, ok := ClusteredStdErr([][]float64{{1, 0}}); ok {
		t.Error("the clustered standard error of one cluster is defined")
	}
	if _, ok := PooledStdErr(nil, nil); ok {
		t.Error("the pooled standard error of nothing is defined")
	}
}
