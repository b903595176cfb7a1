package compare

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"ais_bench/evaluators/stats"
	"ais_bench/outputs"
	"ais_bench/summarizers/interval"
)

// Two runs that asked the same questions in the same way are compared request by
// request: much of what makes latencies scatter, the lengths and the place in the
// run, is the same on both sides and cancels out.
//
// The requests are put in the order of the base's sends and cut into blocks of
// time longer than a request, because requests that ran together are alike.
// Whole blocks are drawn anew, of both runs the same, and give the standard error
// of the logarithm of the figures' ratio (paired block bootstrap; Davison, Hinkley
// 1997, §8.2.3). The interval is that error times Student's t of the blocks, both
// widened for what correlation is left between neighbouring blocks, as in
// interval.BatchMeans.
const (
	maxPaired      = 200_000 // requests, and single values of one figure: beyond, the two figures' own intervals serve
	pairedBlocks   = 30
	perBlock       = 5
	pairedDraws    = 400
	minPairedShare = 0.9 // of the requests of either run that have a partner
)

// timed is what is kept of a successful request for pairing.
type timed struct {
	key, prompt      uint64
	sent             int64
	ttft, tpot, e2el float64 // ms; NaN = undefined
	gaps             []float32
}

// keep adds a successful request.
func (s *scan) keep(r *outputs.Record, key string) {
	if s.timed == nil && s.answered > 1 || len(s.timed) >= maxPaired || r.Sent == outputs.Never || r.PromptSHA256 == "" {
		s.timed = nil // all of them or none
		return
	}
	v := timed{key: hashed(key), prompt: hashed(r.PromptSHA256), sent: r.Sent, ttft: math.NaN(), tpot: math.NaN(), e2el: math.NaN()}
	if x, ok := r.TTFT(); ok {
		v.ttft = float64(x) / 1e6
	}
	if x, ok := r.TPOT(); ok {
		v.tpot = x / 1e6
	}
	if x, ok := r.E2EL(); ok {
		v.e2el = float64(x) / 1e6
	}
	if len(r.ChunkAt) > 1 && s.gaps < 4*maxPaired {
		v.gaps = make([]float32, len(r.ChunkAt)-1)
		for i := range v.gaps {
			v.gaps[i] = float32(r.ChunkAt[i+1]-r.ChunkAt[i]) / 1e6
		}
		s.gaps += len(v.gaps)
	}
	s.timed = append(s.timed, v)
}

// pairing are the requests that two runs have in common, in blocks.
type pairing struct {
	a, b  []timed // partners at the same place, by the base's sends
	block []int   // of each pair
	n     int     // blocks
	gaps  bool    // the gaps of all are kept
	// took is how long each block of either run took, from its first send to the
	// next's, in ns; nil where the runs' token counts are not the same, so that time
	// alone does not make the rates.
	took [2][]float64
}

// pairUp finds the partners; nil where too few requests have one, or the run is
// too short to be cut into blocks.
func pairUp(base, other *scan) *pairing {
	if base == nil || other == nil || len(base.timed) == 0 || len(other.timed) == 0 {
		return nil
	}
	at := make(map[uint64]int, len(other.timed))
	for i, v := range other.timed {
		at[v.key] = i
	}
	p := &pairing{gaps: base.gaps < maxPaired && other.gaps < maxPaired}
	for _, v := range base.timed {
		if i, ok := at[v.key]; ok && other.timed[i].prompt == v.prompt {
			p.a, p.b = append(p.a, v), append(p.b, other.timed[i])
		}
	}
	n := len(p.a)
	if float64(n) < minPairedShare*float64(max(len(base.timed), len(other.timed))) {
		return nil
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p.a[i].sent, p.a[j].sent) })
	a, b := make([]timed, n), make([]timed, n)
	e2el, known := 0.0, 0
	for k, i := range order {
		a[k], b[k] = p.a[i], p.b[i]
		if !math.IsNaN(a[k].e2el) {
			e2el += a[k].e2el
			known++
		}
	}
	p.a, p.b = a, b
	if known == 0 {
		return nil
	}
	lasts := float64(a[n-1].sent-a[0].sent) / 1e6 / (e2el / float64(known)) // in requests' lives
	p.n = min(pairedBlocks, n/perBlock, int(lasts))
	if p.n < interval.MinBatches {
		return nil
	}
	p.block = make([]int, n)
	for i := range p.block {
		p.block[i] = i * p.n / n
	}
	if sameTokens(base, other) {
		for k, run := range [2][]timed{a, b} {
			sends := make([]int64, n)
			for i, v := range run {
				sends[i] = v.sent
			}
			slices.Sort(sends)
			for j := range p.n {
				from, to := j*n/p.n, min((j+1)*n/p.n, n-1)
				p.took[k] = append(p.took[k], float64(sends[to]-sends[from]))
			}
		}
	}
	return p
}

// sameTokens reports whether both runs answered as many requests with as many
// tokens, to half a per cent.
func sameTokens(a, b *scan) bool {
	alike := func(x, y float64) bool { return x > 0 && y > 0 && math.Abs(y/x-1) <= 0.005 }
	total := func(list []int32) (sum float64) {
		for _, n := range list {
			sum += float64(n)
		}
		return sum
	}
	return alike(float64(a.answered), float64(b.answered)) && alike(total(a.in), total(b.in)) && alike(total(a.out), total(b.out))
}

// rates are the figures that are so much work over the run's time.
var rates = map[string]bool{"request_throughput": true, "output_throughput": true, "total_token_throughput": true}

// spreadOfTime is that of a rate: of the same work over the time it took. Its
// logarithm is that of the times, with the other sign.
func (p *pairing) spreadOfTime() (spread, bool) {
	if p.took[0] == nil {
		return spread{}, false
	}
	rng := rand.New(rand.NewPCG(2, uint64(p.n)))
	var logs, each []float64
	for range pairedDraws {
		x, y := 0.0, 0.0
		for range p.n {
			i := rng.IntN(p.n)
			x += p.took[0][i]
			y += p.took[1][i]
		}
		if x > 0 && y > 0 {
			logs = append(logs, math.Log(y/x))
		}
	}
	for i := range p.n {
		if x, y := p.took[0][i], p.took[1][i]; x > 0 && y > 0 {
			each = append(each, math.Log(y/x))
		}
	}
	sd, ok := stats.StdDev(logs)
	if !ok || len(logs) < pairedDraws/2 {
		return spread{}, false
	}
	return p.widened(sd, neighbours(each)), true
}

// widened is the spread of a standard error among blocks whose neighbours are
// correlated by r.
func (p *pairing) widened(se, r float64) spread {
	inflate := (1 + r) / (1 - r)
	return spread{se: se * math.Sqrt(inflate*float64(p.n)/float64(p.n-1)), df: max(float64(p.n-1)/inflate, 1)}
}

// value is one number with the block it belongs to.
type value struct {
	v     float64
	block int
}

// values are those of a metric of one run, ascending.
func (p *pairing) values(run []timed, dist string) []value {
	var out []value
	for i := range run {
		if dist == "itl" {
			for _, g := range run[i].gaps {
				out = append(out, value{float64(g), p.block[i]})
			}
			continue
		}
		v := map[string]float64{"ttft": run[i].ttft, "tpot": run[i].tpot, "e2el": run[i].e2el}[dist]
		if !math.IsNaN(v) {
			out = append(out, value{v, p.block[i]})
		}
	}
	slices.SortFunc(out, func(a, b value) int { return cmp.Compare(a.v, b.v) })
	return out
}

// spread is the standard error of log(other/base) of a figure, and the degrees of
// freedom of its t.
type spread struct{ se, df float64 }

// spreadOf draws the blocks anew. ok is false for shares, and for what has too few
// or too many values.
func (p *pairing) spreadOf(m Metric) (spread, bool) {
	if rates[m.Name] {
		return p.spreadOfTime()
	}
	dist, _, isDist := strings.Cut(m.Name, ".")
	if !isDist || dist == "itl" && !p.gaps {
		return spread{}, false
	}
	a, b := p.values(p.a, dist), p.values(p.b, dist)
	if len(a) == 0 || len(b) == 0 || len(a)+len(b) > 2*maxPaired || !m.supported(int64(min(len(a), len(b)))) {
		return spread{}, false
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(a))))
	weights := make([]int, p.n)
	var logs []float64
	for range pairedDraws {
		clear(weights)
		for range p.n {
			weights[rng.IntN(p.n)]++
		}
		x, y := weighted(a, weights, m.Q), weighted(b, weights, m.Q)
		if x > 0 && y > 0 {
			logs = append(logs, math.Log(y/x))
		}
	}
	sd, ok := stats.StdDev(logs)
	if !ok || len(logs) < pairedDraws/2 {
		return spread{}, false
	}
	return p.widened(sd, p.correlation(a, b)), true
}

// weighted is the mean (q = 0) or a quantile of sorted values whose blocks count
// so many times.
func weighted(sorted []value, weights []int, q float64) float64 {
	total, sum := 0, 0.0
	for _, v := range sorted {
		w := weights[v.block]
		total += w
		sum += float64(w) * v.v
	}
	if total == 0 {
		return 0
	}
	if q == 0 {
		return sum / float64(total)
	}
	at, upTo := q*float64(total-1), 0
	for _, v := range sorted {
		if upTo += weights[v.block]; float64(upTo) > at {
			return v.v
		}
	}
	return sorted[len(sorted)-1].v
}

// correlation is that of neighbouring blocks' log ratios of means.
func (p *pairing) correlation(a, b []value) float64 {
	var sums [2][]float64
	var counts [2][]float64
	for k, list := range [2][]value{a, b} {
		sums[k], counts[k] = make([]float64, p.n), make([]float64, p.n)
		for _, v := range list {
			sums[k][v.block] += v.v
			counts[k][v.block]++
		}
	}
	var d []float64
	for i := range p.n {
		if counts[0][i] > 0 && counts[1][i] > 0 && sums[0][i] > 0 && sums[1][i] > 0 {
			d = append(d, math.Log(sums[1][i]/counts[1][i])-math.Log(sums[0][i]/counts[0][i]))
		}
	}
	return neighbours(d)
}

// neighbours is the correlation of neighbouring values, corrected for its bias of
// −1/n, never below 0.
func neighbours(d []float64) float64 {
	n := float64(len(d))
	sd, ok := stats.StdDev(d)
	if !ok || sd == 0 {
		return 0
	}
	mean, c := stats.Mean(d), 0.0
	for i := 1; i < len(d); i++ {
		c += (d[i-1] - mean) * (d[i] - mean)
	}
	return min(max(c/(sd*sd*(n-1))+1/n, 0), 0.9)
}

// interval is that of the change of a figure at a level.
func (s spread) interval(base, other, level float64) (interval.Interval, *float64) {
	d := math.Log(other / base)
	half := stats.StudentQuantile(1-(1-level)/2, s.df) * s.se
	p := 1.0
	switch {
	case s.se > 0:
		p = 2 * stats.StudentCDF(-math.Abs(d)/s.se, s.df)
	case d != 0:
		p = 0
	}
	return interval.Interval{Lo: math.Expm1(d - half), Hi: math.Expm1(d + half), Level: level, Method: "paired-blocks"}, &p
}
