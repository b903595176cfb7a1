package numpy

import (
	"math"
	"testing"
)

func TestSampleIsNumpys(t *testing.T) {
	var s Sample
	for _, v := range []float64{4, 1, 3, 2, math.NaN(), math.Inf(1)} {
		s.Add(v)
	}
	for name, c := range map[string][2]float64{
		"n": {float64(s.N()), 4}, "mean": {s.Mean(), 2.5}, "std": {s.Std(), math.Sqrt(1.25)}, "median": {s.Median(), 2.5},
		"p25": {s.Percentile(25), 1.75}, "p99": {s.Percentile(99), 3.97}, "p0": {s.Percentile(-3), 1}, "p100": {s.Percentile(100), 4},
		"min": {s.Min(), 1}, "max": {s.Max(), 4},
	} {
		if math.Abs(c[0]-c[1]) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, c[0], c[1])
		}
	}
	var empty Sample
	if v := empty.Mean() + empty.Std() + empty.Median() + empty.Min() + empty.Max(); v != 0 {
		t.Errorf("an empty sample gives %v, want 0", v)
	}
}

func TestFoldedSampleIsExactToAMicrosecond(t *testing.T) {
	var s Sample
	n := Exact + 1000
	for i := range n {
		s.Add(float64(i%5000)*1e-6 + 0.3e-6)
	}
	if s.bins == nil {
		t.Fatal("the sample was not folded")
	}
	if got, want := s.Percentile(50), 2498.3e-6; math.Abs(got-want) > 0.5e-6 {
		t.Errorf("median %v, want about %v", got, want)
	}
	if got, want := s.Max(), 4999e-6+0.3e-6; math.Abs(got-want) > 1e-15 {
		t.Errorf("max %v, want %v", got, want)
	}
	if got := s.Percentile(100); got != s.Max() {
		t.Errorf("p100 %v is not the maximum %v", got, s.Max())
	}
}

// Values on both sides of the dense bins, in an order that is no help.
func TestFoldedSampleOfAllSizes(t *testing.T) {
	var s Sample
	n := Exact + 5
	for i := range n {
		s.Add([]float64{3, -2, 0.5, 70, 0.25}[i%5])
	}
	for p, want := range map[float64]float64{0: -2, 10: -2, 30: 0.25, 50: 0.5, 70: 3, 90: 70, 100: 70} {
		if got := s.Percentile(p); math.Abs(got-want) > 1e-9 {
			t.Errorf("p%v = %v, want %v", p, got, want)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	var s Sample
	for i := 0; b.Loop(); i++ {
		s.Add(float64(i%50000) * 1e-6)
	}
}
