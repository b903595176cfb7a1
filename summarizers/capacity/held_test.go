package capacity

import (
	"slices"
	"testing"
)

func TestHeldIsWhatTheRunsShow(t *testing.T) {
	slo, err := ParseSLO("ttft_p99 <= 100")
	if err != nil {
		t.Fatal(err)
	}
	c := &Curve{Axis: Concurrency}
	add := func(load float64, values ...float64) {
		for i, v := range values {
			c.Add(load, ttft(i+1, v))
		}
	}
	add(4, 50, 51)
	add(8, 90, 91, 90.5)
	add(9, 97, 99)
	add(10, 98, 103)
	add(12, 120, 121)
	add(16, 60) // once
	add(32, 300, 301)
	v := func(p *float64) float64 {
		if p == nil {
			return -1
		}
		return *p
	}
	for _, x := range []struct {
		candidates []float64
		level      float64
		holds, not float64
		undecided  []float64
	}{
		{[]float64{4, 8, 12, 32}, 0.95, 8, 12, nil},
		{[]float64{4, 8, 9, 10, 12}, 0.95, 8, 12, []float64{9, 10}},
		{[]float64{4, 8, 9, 10, 12}, 0.5, 9, 12, []float64{10}}, // less confidence decides more
		{[]float64{4, 8, 9, 10}, 0.95, 8, -1, []float64{9, 10}},
		{[]float64{12, 32}, 0.95, -1, 12, nil},
		{[]float64{16}, 0.95, -1, -1, []float64{16}},
		{[]float64{64}, 0.95, -1, -1, nil}, // not measured
	} {
		h := c.Held(slo, x.candidates, x.level)
		if v(h.Holds) != x.holds || v(h.Fails) != x.not || !slices.Equal(h.Undecided, x.undecided) {
			t.Errorf("%v at %g: holds %g, fails %g, undecided %v; want %g, %g, %v", x.candidates, x.level, v(h.Holds), v(h.Fails), h.Undecided, x.holds, x.not, x.undecided)
		}
	}
	a := &Capacity{Headroom: 0.25, Recommended: new(float64), Tried: []Tried{{Value: 8}, {Value: 32, State: Holds}, {Value: 10}, {Value: 9}, {Value: 64, State: Holds}}}
	c.Rejudge(a, slo)
	if v(a.Highest) != 8 || v(a.Above) != 9 || a.AboveState != Undecided || v(a.Recommended) != 6 || a.Tried[1].State != Fails || a.Tried[4].State != Undecided {
		t.Errorf("%+v, highest %g, above %g", a, v(a.Highest), v(a.Above))
	}
}
