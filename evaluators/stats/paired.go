package stats

import "math"

// Paired compares two runs on the same items.
type Paired struct {
	N     int     // items answered by both
	OnlyA int     // right in A and not in B
	OnlyB int     // right in B and not in A
	Diff  float64 // mean score of B minus mean score of A
	// StdErr is the standard error of Diff from the item-wise differences, nil
	// below two items.
	StdErr *float64
	CI     *Interval // 95 % of Diff, normal approximation
	// McNemar is the exact two-sided p-value that the two are equally often
	// right where they differ (binomial test of OnlyA against OnlyB).
	McNemar float64
}

// Compare compares two runs item by item; a and b are scores of the same items
// in the same order, right meaning 1. ok is false when there are none.
func Compare(a, b []float64) (p Paired, ok bool) {
	n := min(len(a), len(b))
	if n == 0 || len(a) != len(b) {
		return Paired{}, false
	}
	d := make([]float64, n)
	for i := range d {
		d[i] = b[i] - a[i]
		switch {
		case a[i] == 1 && b[i] != 1:
			p.OnlyA++
		case b[i] == 1 && a[i] != 1:
			p.OnlyB++
		}
	}
	p.N, p.Diff, p.McNemar = n, Mean(d), McNemarExact(p.OnlyA, p.OnlyB)
	if se, known := StdErr(d); known {
		p.StdErr = &se
		p.CI = &Interval{p.Diff - Z95*se, p.Diff + Z95*se}
	}
	return p, true
}

// McNemarExact is the exact two-sided p-value of McNemar's test from the two
// discordant counts: twice the binomial tail of the smaller with p = 1/2, at
// most 1. Without discordant items it is 1.
func McNemarExact(b, c int) float64 {
	n, k := b+c, min(b, c)
	if n == 0 {
		return 1
	}
	tail := 0.0
	for i := 0; i <= k; i++ {
		tail += math.Exp(logChoose(n, i) - float64(n)*math.Ln2)
	}
	return min(1, 2*tail)
}
