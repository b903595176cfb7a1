package interval

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"ais_bench/evaluators/stats"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tol)
	}
}

// The constants are SciPy 1.17.1's unless said otherwise.

func TestDistributions(t *testing.T) {
	near(t, "t cdf", stats.StudentCDF(-1.3, 4.5), 0.128098043972017, 1e-12)
	near(t, "t cdf", stats.StudentCDF(2.1, 1), 0.858536971878491, 1e-12)
	near(t, "normal quantile", stats.NormalQuantile(0.995), 2.5758293035489004, 1e-12)
	near(t, "normal cdf", stats.NormalCDF(-2.2), 0.013903447513498595, 1e-15)
	near(t, "beta quantile", stats.BetaQuantile(0.3, 2.5, 7.25), 0.17173070563432893, 1e-10)
	near(t, "binomial cdf", stats.BinomialCDF(3, 10, 0.5), 0.171875, 1e-13)
	near(t, "binomial cdf", stats.BinomialCDF(989, 1000, 0.99), 0.4169591966989028, 1e-10)
	near(t, "binomial cdf", stats.BinomialCDF(500200, 1000000, 0.5), 0.6557899277216919, 1e-7)
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		k, n   int64
		level  float64
		lo, hi float64
		method string
	}{
		{742, 1319, 0.99, 0.527137535494283, 0.5973311250871985, "wilson"},
		{8, 8, 0.95, 0.6755924351161198, 1, "wilson"},
		{0, 10, 0.95, 0, 0.2775327998628892, "wilson"},
		// Wilson, 0.000998 to 0.0313, with Clopper–Pearson's lower end
		{1, 177, 0.95, 0.00014302823396079826, 0.0313, "wilson+exact"},
		{176, 177, 0.95, 1 - 0.0313, 1 - 0.00014302823396079826, "wilson+exact"},
	} {
		i, ok := Share(c.k, c.n, c.level)
		if !ok || i.Method != c.method || i.Level != c.level {
			t.Errorf("Share(%d, %d) = %v %v", c.k, c.n, i, ok)
		}
		near(t, "low", i.Lo, c.lo, 1e-4)
		near(t, "high", i.Hi, c.hi, 1e-4)
	}
	for _, bad := range [][2]int64{{0, 0}, {-1, 5}, {6, 5}} {
		if _, ok := Share(bad[0], bad[1], 0.95); ok {
			t.Errorf("Share(%v) is defined", bad)
		}
	}
	if i, ok := Share(4, 4, 0.9999999999999999); ok {
		t.Errorf("a level that leaves float64 has the interval %v", i)
	}
	for _, level := range []float64{0.999999, 1 - 1e-12} { // a contract's highest, and shared out among many figures
		if i, ok := Share(4, 4, level); !ok || !(i.Lo >= 0 && i.Lo < i.Hi && i.Hi <= 1) {
			t.Errorf("Share(4, 4, %v) = %v %v", level, i, ok)
		}
	}
	ci, _ := stats.ClopperPearson(742, 1319, 0.95)
	near(t, "Clopper–Pearson", ci.Low, 0.5352824481745073, 1e-9)
	near(t, "Clopper–Pearson", ci.High, 0.5895330106136819, 1e-9)
}

func TestShareMinN(t *testing.T) {
	for _, c := range []struct {
		limit float64
		want  int64
	}{{0.999, 3838}, {0.99, 381}, {0.8, 16}, {0, 1}, {1, 0}} {
		n := ShareMinN(c.limit, 0.95)
		if n != c.want {
			t.Errorf("ShareMinN(%v) = %d, want %d", c.limit, n, c.want)
		}
		if n < 2 {
			continue
		}
		if i, _ := Share(n, n, 0.95); i.Lo < c.limit {
			t.Errorf("%d of %d does not show %v", n, n, c.limit)
		}
		if i, _ := Share(n-1, n-1, 0.95); i.Lo >= c.limit {
			t.Errorf("%d of %d shows %v already", n-1, n-1, c.limit)
		}
	}
}

// At low levels, too, a share that the interval leaves out gives such an extreme
// count with no more than the probability it may be wrong with.
func TestShareKeepsLowLevels(t *testing.T) {
	for _, level := range []float64{0.5, 0.8, 0.9, 0.949} {
		for _, n := range []int64{20, 200} {
			for k := n - 3; k <= n; k++ {
				i, _ := Share(k, n, level)
				// P(at least k of n) where the true share is the low end.
				if p := stats.IncompleteBeta(i.Lo, float64(k), float64(n-k)+1); p > (1-level)/2*1.0001 {
					t.Errorf("%d of %d at %g: %v, which is wrong with probability %.4f", k, n, level, i, p)
				}
			}
		}
		n := ShareMinN(0.97, level)
		if ShareFloor(n, level) < 0.97 || n > 1 && ShareFloor(n-1, level) >= 0.97 {
			t.Errorf("ShareMinN(0.97, %g) = %d: %g, %g", level, n, ShareFloor(n-1, level), ShareFloor(n, level))
		}
	}
}

func TestRanks(t *testing.T) {
	for _, c := range []struct {
		n        int64
		q, level float64
		lo, hi   int64
	}{
		{100, 0.5, 0.95, 40, 61}, {368, 0.99, 0.95, 360, 368}, {367, 0.99, 0.95, 359, 368}, {1000, 0.99, 0.95, 983, 997},
		{10000, 0.99, 0.95, 9880, 9920}, {1000, 0.95, 0.9, 938, 962}, {1000000, 0.999, 0.95, 998938, 999062}, {20, 0.5, 0.95, 6, 15},
	} {
		if lo, hi := Ranks(c.n, c.q, c.level); lo != c.lo || hi != c.hi {
			t.Errorf("Ranks(%d, %v, %v) = %d, %d, want %d, %d", c.n, c.q, c.level, lo, hi, c.lo, c.hi)
		}
	}
}

func TestPercentile(t *testing.T) {
	values := make([]float64, 367)
	for i := range values {
		values[i] = float64(i + 1)
	}
	n, at := Sorted(values)
	i, ok := Percentile(n, at, 0.99, 0.95)
	if !ok || i.Lo != 359 || !math.IsInf(i.Hi, 1) {
		t.Errorf("p99 of 367 values: %v %v, want an open upper end", i, ok)
	}
	if i.Bounded() || PercentileMinN(0.99, 0.95) != 368 || PercentileMinN(0.5, 0.95) != 6 {
		t.Errorf("p99 needs %d values, the median %d", PercentileMinN(0.99, 0.95), PercentileMinN(0.5, 0.95))
	}
	if i, ok := Percentile(3, at, 0.01, 0.95); !ok || !math.IsInf(i.Lo, -1) {
		t.Errorf("p1 of 3 values: %v %v, want an open lower end", i, ok)
	}
	if _, ok := Percentile(0, at, 0.5, 0.95); ok {
		t.Error("the median of nothing is defined")
	}
	// With a design effect of 1 the inverted test gives the same ranks.
	for _, c := range []struct {
		n int64
		q float64
	}{{100, 0.5}, {368, 0.99}, {367, 0.99}, {1000, 0.95}, {3, 0.01}, {20, 0.1}} {
		at := func(rank int64) float64 { return float64(rank) }
		want, _ := Percentile(c.n, at, c.q, 0.95)
		got, ok := PercentileWith(c.n, at, c.q, 0.95, func(float64) float64 { return 1 })
		if !ok || got != want {
			t.Errorf("p%g of %d values: %v by inversion, %v by ranks", 100*c.q, c.n, got, want)
		}
		wide, _ := PercentileWith(c.n, at, c.q, 0.95, func(float64) float64 { return 3 })
		if wide.Lo > want.Lo || wide.Hi < want.Hi {
			t.Errorf("p%g of %d values: %v with a design effect of 3, %v without", 100*c.q, c.n, wide, want)
		}
	}
	// Ten times as many values that come in tens are worth as many as before.
	tens := make([]float64, 3680)
	for i := range tens {
		tens[i] = float64(i/10 + 1)
	}
	n, at = Sorted(tens)
	if i, _ := PercentileOf(n, at, 0.99, 0.95, 10); i.Lo != 360 || i.Hi != 368 {
		t.Errorf("p99 of 368 groups of ten equal values: %v, want 360 to 368", i)
	}
}

var skewed = []float64{5.075, 0.542, 0.59, 0.342, 2.376, 0.1, 5.725, 0.467, 1.376, 0.779, 4.315, 0.127, 0.724, 0.681, 3.107, 0.333, 0.842, 0.416, 1.043, 1.791,
	0.333, 3.142, 2.464, 1.653, 2.462, 0.505, 0.884, 0.392, 0.765, 1.7, 0.501, 0.672, 0.503, 0.429, 0.511, 0.987, 0.327, 1.264, 5.258, 2.1}
var partner = []float64{2.64, 0.685, 0.989, 0.585, 1.238, 0.586, 3.526, 0.748, 1.633, 0.976, 3.061, 0.201, 0.501, 1.148, 1.951, 0.332, 1.349, 0.556, 1.272, 1.621,
	1.05, 2.195, 1.983, 1.175, 1.501, 1.148, 0.87, 1.161, 1.046, 1.472, 0.365, 1.285, 0.701, 0.793, 0.664, 0.731, 1.067, 1.206, 2.632, 1.667}

func TestBootstrap(t *testing.T) {
	i, ok := Mean(skewed, 0.95, 1)
	if !ok || i.Method != "bootstrap-bca" {
		t.Fatalf("%v %v", i, ok)
	}
	near(t, "mean, low", i.Lo, 1.0613, 0.03) // 200,000 resamples there, 2,000 here
	near(t, "mean, high", i.Hi, 1.9888, 0.05)
	r, ok := Ratio(skewed, partner, 0.9, 1)
	if !ok {
		t.Fatal("no interval of a ratio")
	}
	near(t, "ratio, low", r.Lo, 0.99515, 0.012)
	near(t, "ratio, high", r.Hi, 1.30469, 0.015)
	if again, _ := Mean(skewed, 0.95, 1); again != i {
		t.Errorf("the same seed gives %v and %v", i, again)
	}
	if _, ok := Mean(skewed[:9], 0.95, 1); ok {
		t.Error("nine values are resampled")
	}
	if same, ok := Mean(slices.Repeat([]float64{128}, 50), 0.95, 1); !ok || same.Lo != 128 || same.Hi != 128 {
		t.Errorf("the mean of equal values: %v %v", same, ok)
	}
	big := slices.Repeat(skewed, 600)
	m, _ := Mean(big, 0.95, 1)
	q, _ := Ratio(big, slices.Repeat(partner, 600), 0.95, 1)
	if m.Method != "t" || q.Method != "ratio-normal" || !m.Contains(1.440075) || !q.Contains(1.14496124) {
		t.Errorf("many values: %v, %v", m, q)
	}
}

func TestRunsMean(t *testing.T) {
	a := []float64{98.2, 101.5, 99.7, 103.3, 100.1}
	r, ok := RunsMean(a, 0.95)
	if !ok || r.N != 5 || r.Min != 98.2 || r.Max != 103.3 {
		t.Fatalf("%+v %v", r, ok)
	}
	near(t, "low", r.Interval.Lo, 98.16259149956144, 1e-8)
	near(t, "high", r.Interval.Hi, 102.95740850043853, 1e-8)
	near(t, "CV", *r.CV, 0.019200506580981956, 1e-12)
	if _, ok := RunsMean(a[:1], 0.95); ok {
		t.Error("one run has an interval")
	}
	if z, ok := RunsMean([]float64{0, 0}, 0.95); !ok || z.CV != nil {
		t.Errorf("the CV of a mean of 0: %+v", z)
	}
}

func TestBatchMeans(t *testing.T) {
	flat := []float64{10, 11, 9, 10.5, 9.5, 10, 11, 9, 10.5, 9.5}
	i, r, ok := BatchMeans(flat, 0.95)
	want, _ := student(flat, 0.95, "")
	if !ok || r != 0 || i.Lo != want.Lo || i.Hi != want.Hi {
		t.Errorf("without correlation %v (r %v), want Student's %v", i, r, want)
	}
	drift := []float64{5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	i, r, _ = BatchMeans(drift, 0.95)
	want, _ = student(drift, 0.95, "")
	if r < 0.5 || i.Hi-i.Lo < 2*(want.Hi-want.Lo) {
		t.Errorf("a drifting rate: %v, r %v; independent values would give %v", i, r, want)
	}
	if _, _, ok := BatchMeans(flat[:7], 0.95); ok {
		t.Error("seven windows are judged")
	}
}

func TestDifferenceAndChange(t *testing.T) {
	a := []float64{98.2, 101.5, 99.7, 103.3, 100.1}
	b := []float64{92.0, 95.5, 91.2, 97.9, 93.0, 94.1}
	d, ok := Difference(a, b, 0.95)
	if !ok || !d.Significant() {
		t.Fatalf("%+v %v", d, ok)
	}
	near(t, "p", *d.P, 0.0007537547023143598, 1e-12)
	near(t, "low", d.Interval.Lo, -9.607913319498376, 1e-8)
	near(t, "high", d.Interval.Hi, -3.612086680501595, 1e-8)
	same, ok := Difference([]float64{4, 4}, []float64{4, 4}, 0.95)
	if !ok || *same.P != 1 || same.Significant() {
		t.Errorf("equal values: %+v", same)
	}
	// Newcombe 1998, table II (a), method 10
	share := func(k, n int64) Estimate {
		i, _ := Share(k, n, 0.95)
		return Estimate{float64(k) / float64(n), i}
	}
	n := DifferenceOf(share(48, 80), share(56, 70))
	near(t, "Newcombe, low", n.Interval.Lo, 0.0524, 5e-5)
	near(t, "Newcombe, high", n.Interval.Hi, 0.3339, 5e-5)

	twice := make([]float64, len(skewed))
	for i, v := range skewed {
		twice[i] = 2 * v
	}
	c, ok := Change(skewed, twice, 0.95, 7)
	if !ok || c.Value != 1 || !c.Interval.Contains(1) || !c.Significant() {
		t.Errorf("doubled: %+v %v", c, ok)
	}
	e, ok := ChangeOf(Estimate{100, Interval{98, 102, 0.95, ""}}, Estimate{110, Interval{107, 113, 0.95, ""}})
	if !ok || !e.Significant() {
		t.Fatalf("%+v %v", e, ok)
	}
	near(t, "change", e.Value, 0.1, 1e-12)
	// ln 1.1 − √(ln²(110/107) + ln²(102/100)) = 0.09531 − 0.03406
	near(t, "change, low", e.Interval.Lo, math.Exp(0.0953102-math.Hypot(0.0276518, 0.0198026))-1, 1e-6)
	open, ok := ChangeOf(Estimate{100, Interval{-5, math.Inf(1), 0.95, ""}}, Estimate{110, Interval{107, 113, 0.95, ""}})
	if !ok || open.Interval.Lo != -1 || !math.IsInf(open.Interval.Hi, 1) {
		t.Errorf("an unbounded figure: %+v", open)
	}
	if _, ok := ChangeOf(Estimate{Value: 0}, Estimate{Value: 1}); ok {
		t.Error("a change from 0 is defined")
	}
}

func TestPairedShares(t *testing.T) {
	// Tango 1998, section 5: 44 pairs, one right in A alone, none in B alone
	d, ok := PairedShares(44, 1, 0, 0.95)
	if !ok || d.Significant() {
		t.Errorf("%+v %v", d, ok)
	}
	near(t, "low", d.Interval.Lo, -0.118, 5e-4)
	near(t, "high", d.Interval.Hi, 0.060, 2e-3)
	same, ok := PairedShares(100, 0, 0, 0.95)
	z2 := stats.Z95 * stats.Z95
	if !ok || same.Value != 0 {
		t.Errorf("%+v %v", same, ok)
	}
	near(t, "no difference seen", same.Interval.Hi, z2/(100+z2), 1e-9) // not [0, 0]
	near(t, "no difference seen", same.Interval.Lo, -z2/(100+z2), 1e-9)
	if d, _ := PairedShares(10, 10, 0, 0.95); d.Value != -1 || math.Abs(d.Interval.Lo+1) > 1e-9 {
		t.Errorf("all lost: %+v", d)
	}
	if _, ok := PairedShares(3, 2, 2, 0.95); ok {
		t.Error("more differences than questions")
	}
}

func TestDesignEffect(t *testing.T) {
	if d := DesignEffect([]Block{{100, 10}, {100, 10}, {100, 10}}); d != 1 {
		t.Errorf("equal blocks: %v", d)
	}
	// all failures in one of two blocks: each is 5 off its share, 2·5² · 2/1
	near(t, "clustered", DesignEffect([]Block{{100, 0}, {100, 10}, {0, 0}}), 50.0*2/(200*0.05*0.95), 1e-12)
	for _, b := range [][]Block{nil, {{10, 5}}, {{10, 0}, {10, 0}}, {{10, 10}, {10, 10}}} {
		if d := DesignEffect(b); d != 1 {
			t.Errorf("%v: %v", b, d)
		}
	}
}

func TestIntervalJSON(t *testing.T) {
	i := Interval{1.5, math.Inf(1), 0.95, "order-statistics"}
	b, err := json.Marshal(i)
	if err != nil || string(b) != `{"low":1.5,"high":null,"level":0.95,"method":"order-statistics"}` {
		t.Fatalf("%s %v", b, err)
	}
	var back Interval
	if err := json.Unmarshal(b, &back); err != nil || back != i {
		t.Errorf("%v %v", back, err)
	}
	if s := i.String(); s != "[1.5, ∞] (95 %, order-statistics)" {
		t.Error(s)
	}
}

// Values that are worth less than one independent value bound nothing, from
// neither side; with a design effect of 1 the ends are those of the ranks.
func TestPercentileOfWhatIsAlike(t *testing.T) {
	values := make([]float64, 600)
	for i := range values {
		values[i] = float64(i + 1)
	}
	n, at := Sorted(values)
	for _, q := range []float64{0.05, 0.5, 0.95} {
		for _, d := range []float64{600, 1275, 1e6} {
			i, ok := PercentileWith(n, at, q, 0.95, func(float64) float64 { return d })
			if !ok || !math.IsInf(i.Lo, -1) || !math.IsInf(i.Hi, 1) {
				t.Errorf("p%g with a design effect of %g: %v %v", 100*q, d, i, ok)
			}
		}
		alone, _ := PercentileWith(n, at, q, 0.95, func(float64) float64 { return 1 })
		if want, _ := Percentile(n, at, q, 0.95); alone != want {
			t.Errorf("p%g of independent values: %v, want %v", 100*q, alone, want)
		}
		wide, _ := PercentileWith(n, at, q, 0.95, func(float64) float64 { return 4 })
		same, _ := PercentileOf(n, at, q, 0.95, 4)
		if math.Abs(wide.Lo-same.Lo) > 8 || math.Abs(wide.Hi-same.Hi) > 8 {
			t.Errorf("p%g with a design effect of 4: %v, by stretched ranks %v", 100*q, wide, same)
		}
	}
}
