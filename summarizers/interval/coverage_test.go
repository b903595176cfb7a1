package interval

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// side counts how often an interval lies wholly above or wholly below the truth.
type side struct{ above, below, n int }

func (s *side) add(i Interval, truth float64) {
	s.n++
	if i.Lo > truth {
		s.above++
	}
	if i.Hi < truth {
		s.below++
	}
}

// check allows each side limit plus three standard errors of the count.
func (s *side) check(t *testing.T, what string, limit float64) {
	t.Helper()
	slack := 3 * math.Sqrt(limit*(1-limit)/float64(s.n))
	above, below := float64(s.above)/float64(s.n), float64(s.below)/float64(s.n)
	t.Logf("%-32s wrong above %.2f %%, below %.2f %% of %d", what, 100*above, 100*below, s.n)
	if above > limit+slack || below > limit+slack {
		t.Errorf("%s: wrong above %.2f %%, below %.2f %%, at most %.2f %% each are allowed", what, 100*above, 100*below, 100*limit)
	}
}

func TestCoverageOfShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		p     float64
		n     int64
		limit float64
	}{{0.8, 200, 0.03}, {0.8, 1319, 0.03}, {0.5, 50, 0.035}, {0.99, 400, 0.03}, {0.999, 177, 0.03}, {0.999, 5000, 0.035}} {
		var s side
		for range 4000 {
			k := int64(0)
			for range c.n {
				if rng.Float64() < c.p {
					k++
				}
			}
			i, _ := Share(k, c.n, 0.95)
			s.add(i, c.p)
		}
		s.check(t, "share", c.limit)
	}
}

func TestCoverageOfPercentile(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, c := range []struct {
		n int
		q float64
		z float64 // normal quantile of q
	}{{500, 0.99, 2.3263478740408408}, {200, 0.95, 1.6448536269514722}, {60, 0.5, 0}} {
		var s side
		for range 2000 {
			x := make([]float64, c.n)
			for i := range x {
				x[i] = math.Exp(rng.NormFloat64())
			}
			slices.Sort(x)
			n, at := Sorted(x)
			i, _ := Percentile(n, at, c.q, 0.95)
			s.add(i, math.Exp(c.z))
		}
		s.check(t, "percentile", 0.025)
	}
}

// Values come in groups that share most of their level, as latencies of requests
// that waited in the same queue do.
func TestCoverageOfDependentValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var plain, judged side
	for range 1000 {
		blocks, values := [][]float64{}, []float64{}
		for range 40 {
			shared := rng.NormFloat64()
			block := make([]float64, 25)
			for i := range block {
				block[i] = math.Sqrt(0.3)*shared + math.Sqrt(0.7)*rng.NormFloat64()
			}
			blocks, values = append(blocks, block), append(values, block...)
		}
		slices.Sort(values)
		n, at := Sorted(values)
		i, _ := Percentile(n, at, 0.95, 0.95)
		plain.add(i, 1.6448536269514722)
		estimate := values[949]
		counts := make([]Block, len(blocks))
		for j, b := range blocks {
			counts[j].N = int64(len(b))
			for _, v := range b {
				if v > estimate {
					counts[j].K++
				}
			}
		}
		i, _ = PercentileOf(n, at, 0.95, 0.95, DesignEffect(counts))
		judged.add(i, 1.6448536269514722)
	}
	judged.check(t, "dependent, with design effect", 0.03)
	if plain.above+plain.below < 2*(judged.above+judged.below) {
		t.Errorf("taken as independent it is wrong %d times, with the design effect %d times: the case shows nothing", plain.above+plain.below, judged.above+judged.below)
	}
}

func TestCoverageOfMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var mean, ratio side
	for k := range 400 {
		x, y := make([]float64, 60), make([]float64, 60)
		for i := range x {
			y[i] = 1 + rng.ExpFloat64()
			x[i] = 3 * y[i] * (0.5 + rng.Float64())
		}
		m, _ := Mean(y, 0.95, uint64(k))
		mean.add(m, 2)
		r, _ := Ratio(x, y, 0.95, uint64(k))
		ratio.add(r, 3)
	}
	mean.check(t, "bootstrap mean", 0.04)
	ratio.check(t, "bootstrap ratio", 0.04)
}

func TestCoverageOfRunsAndBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var runs, independent, correlated side
	for range 4000 {
		x := make([]float64, 5)
		for i := range x {
			x[i] = 100 + rng.NormFloat64()
		}
		r, _ := RunsMean(x, 0.95)
		runs.add(r.Interval, 100)
		w, ar := make([]float64, 20), make([]float64, 20)
		last := rng.NormFloat64()
		for i := range w {
			w[i] = 100 + rng.NormFloat64()
			last = 0.3*last + math.Sqrt(1-0.09)*rng.NormFloat64()
			ar[i] = 100 + last
		}
		b, _, _ := BatchMeans(w, 0.95)
		independent.add(b, 100)
		b, _, _ = BatchMeans(ar, 0.95)
		correlated.add(b, 100)
	}
	runs.check(t, "five runs", 0.025)
	independent.check(t, "twenty independent windows", 0.025)
	correlated.check(t, "twenty windows, correlation 0.3", 0.04)
}

func TestCoverageOfChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var welch, boot, mover side
	draw := func(n int, mean, sd float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = mean + sd*rng.NormFloat64()
		}
		return x
	}
	for k := range 400 {
		a, b := draw(6, 100, 2), draw(4, 105, 5)
		d, _ := Difference(a, b, 0.95)
		welch.add(d.Interval, 5)
		long := [2][]float64{draw(40, 100, 20), draw(50, 110, 20)}
		c, _ := Change(long[0], long[1], 0.95, uint64(k))
		boot.add(c.Interval, 0.1)
		ra, _ := RunsMean(long[0], 0.95)
		rb, _ := RunsMean(long[1], 0.95)
		m, _ := ChangeOf(Estimate{ra.Mean, ra.Interval}, Estimate{rb.Mean, rb.Interval})
		mover.add(m.Interval, 0.1)
	}
	welch.check(t, "Welch", 0.03)
	boot.check(t, "bootstrap change", 0.035)
	mover.check(t, "change of intervals", 0.03)
}
