package quantile

import "testing"

// TestLinear: the formula by hand.
func TestLinear(t *testing.T) {
	x := []float64{1, 2, 4, 8, 16}
	for q, want := range map[float64]float64{-1: 1, 0: 1, 0.25: 2, 0.5: 4, 0.9: 12.8, 0.95: 14.4, 1: 16, 2: 16} {
		if got := Linear(x, q); got < want-1e-12 || got > want+1e-12 {
			t.Errorf("q %g: %g, want %g", q, got, want)
		}
	}
	if got := Linear([]int64{7}, 0.99); got != 7 {
		t.Errorf("of one value: %g", got)
	}
	if got := Linear([]int32{1, 2}, 0.5); got != 1.5 { // not rounded to the values' type
		t.Errorf("of whole numbers: %g", got)
	}
	if got := Linear([]int64{1 << 60, 1<<60 + 1024}, 0.5); got != 1<<60+512 { // the difference is taken before it is rounded
		t.Errorf("of large numbers: %f", got)
	}
}
