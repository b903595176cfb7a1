package facts

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"ais_bench/evaluators/stats"
	"ais_bench/quantile"
	"ais_bench/summarizers/interval"
	"ais_bench/summarizers/metrics"
)

// How the values of one run are cut into blocks of time, and from how many runs
// on whole runs are compared with one another.
const (
	maxBlocks   = 30
	minPerBlock = 5
	manyRuns    = 3
)

// seed of the bootstrap: a verdict must be the same each time.
const seed = 1

// part is the values of one run.
type part struct {
	column
	fed    int64   // values sent later did not start with all others
	stream float64 // mean time a request streams, ns
}

// parts are the values under a name in every run that has any.
func parts(runs []*measured, of func(*measured) *column) []part {
	var out []part
	for _, m := range runs {
		if c := of(m); c != nil && len(c.v) > 0 {
			out = append(out, part{*c, m.flights.fed(), m.flights.stream()})
		}
	}
	return out
}

// blocks cuts the values that were sent after the first answer was complete into
// consecutive blocks, by the time they were sent: as many as are longer than a
// request streams, at most maxBlocks and at least interval.MinBatches of
// minPerBlock values; nil when there are too few.
func (p part) blocks() [][]float64 {
	type value struct {
		at int64
		v  float64
	}
	var list []value
	for i, at := range p.at {
		if at > p.fed {
			list = append(list, value{at, p.v[i]})
		}
	}
	if len(list) == 0 {
		return nil
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].at < list[j].at })
	count := min(maxBlocks, len(list)/minPerBlock)
	if p.stream > 0 {
		span := float64(list[len(list)-1].at - list[0].at)
		count = min(count, max(int(span/p.stream), interval.MinBatches))
	}
	if count < interval.MinBatches {
		return nil
	}
	out := make([][]float64, count)
	for b := range out {
		for _, x := range list[b*len(list)/count : (b+1)*len(list)/count] {
			out[b] = append(out[b], x.v)
		}
	}
	return out
}

// blocksOf are the blocks of all runs, one after the other.
func blocksOf(runs []part) [][]float64 {
	var out [][]float64
	for _, p := range runs {
		out = append(out, p.blocks()...)
	}
	return out
}

// design is the design effect of the property "yes" in the values of all runs:
// the larger of that between blocks of time and, from three runs on, that between
// runs.
func design(blocks [][]float64, runs []part, level float64, yes func(float64) bool) float64 {
	d := interval.DesignEffectAt(count(blocks, yes), level)
	if len(runs) >= manyRuns {
		whole := make([][]float64, len(runs))
		for i, p := range runs {
			whole[i] = p.v
		}
		d = max(d, betweenRuns(count(whole, yes), level))
	}
	return d
}

// betweenRuns is the design effect between runs, of which there are few: what
// exceeds 1 is taken (t/z)² times, t being Student's quantile for so many runs.
func betweenRuns(runs []interval.Block, level float64) float64 {
	p := 1 - (1-level)/2
	t := stats.StudentQuantile(p, float64(len(runs)-1)) / stats.NormalQuantile(p)
	return 1 + (interval.DesignEffect(runs)-1)*t*t
}

func count(blocks [][]float64, yes func(float64) bool) []interval.Block {
	out := make([]interval.Block, len(blocks))
	for i, b := range blocks {
		out[i].N = int64(len(b))
		for _, v := range b {
			if yes(v) {
				out[i].K++
			}
		}
	}
	return out
}

// shareFact is a share over the values of all runs that satisfy yes.
func shareFact(f *Fact, runs []part, yes func(float64) bool) {
	f.Kind, f.Method = Share, "wilson"
	k, n := 0, 0
	for _, p := range runs {
		n += len(p.v)
		for _, v := range p.v {
			if yes(v) {
				k++
			}
		}
	}
	f.N, f.Known = int64(n), true
	if n == 0 {
		f.Reason = "no request to judge it by"
		return
	}
	share := float64(k) / float64(n)
	f.Value = &share
	f.at = func(level float64) (interval.Interval, error) {
		d := design(blocksOf(runs), runs, level, yes)
		f.noteDesign(d, n)
		i, ok := interval.ShareOf(float64(k)/d, float64(n)/d, level)
		if !ok {
			return i, fmt.Errorf("no interval of %d of %d", k, n)
		}
		return i, nil
	}
}

// noteDesign says by how much dependence between requests widened an interval.
func (f *Fact) noteDesign(d float64, n int) {
	if d >= 1.5 && d > f.design {
		f.design = d
		f.Notes = slices.DeleteFunc(f.Notes, func(s string) bool { return strings.HasPrefix(s, alike) })
		f.note(fmt.Sprintf("%s: %d are worth %.0f independent ones (design effect %.1f)", alike, n, max(float64(n)/d, 1), d))
	}
}

const alike = "values of the same time are alike"

func (f *Fact) note(text string) {
	if !slices.Contains(f.Notes, text) {
		f.Notes = append(f.Notes, text)
	}
}

// percentileFact is the q-quantile of the values of all runs.
func percentileFact(f *Fact, runs []part, q float64) {
	f.Kind, f.Method, f.Q = Percentile, "order-statistics", q
	var all []float64
	for _, p := range runs {
		all = append(all, p.v...)
	}
	f.N, f.Known = int64(len(all)), true
	if len(all) == 0 {
		f.Reason = "no request has it"
		return
	}
	slices.Sort(all)
	value := quantile.Linear(all, q)
	f.Value = &value
	f.at = func(level float64) (interval.Interval, error) {
		blocks := blocksOf(runs)
		n, at := interval.Sorted(all)
		i, ok := interval.PercentileWith(n, at, q, level, func(x float64) float64 {
			return design(blocks, runs, level, func(v float64) bool { return v > x })
		})
		if !ok {
			return i, errors.New("no interval")
		}
		for _, end := range []float64{i.Lo, i.Hi} {
			if !math.IsInf(end, 0) {
				f.noteDesign(design(blocks, runs, level, func(v float64) bool { return v > end }), len(all))
			}
		}
		return i, nil
	}
}

// meanFact is the mean of the values: over the requests of one run, over the
// means of several.
func meanFact(f *Fact, runs []part) {
	f.Kind, f.Method, f.Known = Mean, "batch-means-t", true
	for _, p := range runs {
		f.N += int64(len(p.v))
	}
	if f.N == 0 {
		f.Reason = "no request has it"
		return
	}
	byRun(f, len(runs), func(i int) float64 { return stats.Mean(runs[i].v) },
		func(i int, level float64) (interval.Interval, error) { return f.meanOf(runs[i], level) })
}

// meanOf is the interval of the mean within one run. Values sent together at the
// start are a stratum of their own (Cochran 1977, §5.3); the others are judged by
// blocks of time.
func (f *Fact) meanOf(p part, level float64) (interval.Interval, error) {
	mean := stats.Mean(p.v)
	blocks := p.blocks()
	if blocks == nil {
		i, ok := interval.Mean(p.v, level, seed)
		if !ok {
			return i, fmt.Errorf("%d values are too few for an interval of their mean; at least %d", len(p.v), interval.MinBootstrap)
		}
		f.note("too few requests for blocks of time: they are taken as independent")
		return i, nil
	}
	var sums, counts, start []float64
	later := 0
	for _, b := range blocks {
		s := 0.0
		for _, v := range b {
			s += v
		}
		sums, counts, later = append(sums, s), append(counts, float64(len(b))), later+len(b)
	}
	for i, at := range p.at {
		if at <= p.fed {
			start = append(start, p.v[i])
		}
	}
	i, _, ok := interval.BatchRatio(sums, counts, level)
	if !ok {
		return i, errors.New("no interval of the mean")
	}
	weight := float64(later) / float64(len(p.v))
	half := weight * (i.Hi - i.Lo) / 2
	if sd, ok := stats.StdDev(start); ok {
		half = math.Hypot(half, (1-weight)*stats.NormalQuantile(1-(1-level)/2)*sd/math.Sqrt(float64(len(start))))
	}
	return interval.Interval{Lo: mean - half, Hi: mean + half, Level: level, Method: i.Method}, nil
}

// byRun sets a figure that every run has one of: of one run with the interval
// within it, of two by square-and-add, of three and more by Student's t between
// runs.
func byRun(f *Fact, n int, value func(i int) float64, within func(i int, level float64) (interval.Interval, error)) {
	values := make([]float64, n)
	for i := range values {
		values[i] = value(i)
	}
	mean := stats.Mean(values)
	f.Value = &mean
	switch {
	case n == 1:
		f.at = func(level float64) (interval.Interval, error) { return within(0, level) }
	case n < manyRuns:
		f.at = func(level float64) (interval.Interval, error) {
			low, high := 0.0, 0.0
			var method string
			for i, v := range values {
				w, err := within(i, level)
				if err != nil {
					return w, err
				}
				low, high, method = math.Hypot(low, v-w.Lo), math.Hypot(high, w.Hi-v), w.Method
			}
			return interval.Interval{Lo: mean - low/float64(n), Hi: mean + high/float64(n), Level: level, Method: method}, nil
		}
	default:
		f.Method = "runs-t"
		f.at = func(level float64) (interval.Interval, error) {
			r, _ := interval.RunsMean(values, level)
			f.note(fmt.Sprintf("%d runs", n))
			// Few runs may agree by luck: never narrower than what happened within them.
			half, ss := (r.Interval.Hi-r.Interval.Lo)/2, 0.0
			for i := range values {
				w, err := within(i, level)
				switch {
				case err != nil && rounding(half, mean):
					return w, fmt.Errorf("its %d runs are exactly alike, which tells nothing of chance; %w", n, err)
				case err != nil:
					return r.Interval, nil // the runs are all there is to judge by
				}
				ss += (w.Hi - w.Lo) * (w.Hi - w.Lo) / 4
			}
			if inside := math.Sqrt(ss) / float64(n); inside > half && !math.IsInf(inside, 0) {
				return interval.Interval{Lo: mean - inside, Hi: mean + inside, Level: level, Method: r.Interval.Method}, nil
			}
			return r.Interval, nil
		}
	}
}

// rounding reports whether a spread of values of the size of value is no more than
// what adding them up in floating point makes.
func rounding(spread, value float64) bool { return spread <= 1e-12*max(math.Abs(value), 1e-3) }

// rateOf is the interval of a rate within one run: of its value, with the relative
// half width that the windows from from to to give. stable says that the value is of
// these windows alone, not of the whole run.
func rateOf(m *measured, name string, value, level float64, from, to int64, stable bool) (interval.Interval, error) {
	s := m.rates[name]
	if s == nil {
		return interval.Interval{}, errors.New("nothing was counted by time")
	}
	count := maxBlocks
	if d := m.flights.stream(); d > 0 {
		count = min(count, int(float64(to-from)/d))
	}
	if count < interval.MinBatches {
		return interval.Interval{}, fmt.Errorf("the run is too short for an interval of a rate: between the first and the last answers it is %.1f times as long as a request streams, at least %d times are needed; ask more requests, or gate three runs together",
			float64(to-from)/max(m.flights.stream(), 1), interval.MinBatches)
	}
	w := s.windows(from, to, count)
	if w == nil {
		return interval.Interval{}, errors.New("the run is too short for windows of a millisecond")
	}
	i, _, ok := interval.BatchMeans(w, level)
	mean := stats.Mean(w)
	if !ok || !(mean > 0) {
		return interval.Interval{}, errors.New("nothing happened in the steady part of the run")
	}
	// The windows do not know how long the last requests take, on which the
	// duration of the whole run depends.
	tail := 0.0
	if d := m.result.DurationS; d != nil && !stable {
		tail = stats.NormalQuantile(1-(1-level)/2) * m.flights.tail() / (*d * 1e9)
	}
	half := value * math.Hypot((i.Hi-mean)/mean, tail)
	return interval.Interval{Lo: value - half, Hi: value + half, Level: level, Method: i.Method}, nil
}

// gapFact is a percentile (q > 0) or the mean of the gaps of all streams of all
// runs.
func gapFact(f *Fact, runs []*sliced, q float64) {
	f.Known = true
	whole := metrics.NewDist(gapQuantum)
	var byTime, byStream, byRunDist []*metrics.Dist
	for _, s := range runs {
		all := s.all()
		whole.Merge(all)
		byTime, byStream, byRunDist = append(byTime, present(s.parts)...), append(byStream, present(s.dealt[:])...), append(byRunDist, all)
	}
	f.N = whole.N()
	if f.N == 0 {
		f.Reason = "no stream has two chunks"
		return
	}
	tooFew := func(streams int) error {
		return fmt.Errorf("%d streams are too few for an interval, at least %d are needed", streams, interval.MinBatches)
	}
	if q == 0 {
		f.Kind, f.Method = Mean, "batch-means-t"
		byRun(f, len(runs), func(i int) float64 {
			m, _ := byRunDist[i].Mean()
			return m / 1e6
		}, func(i int, level float64) (interval.Interval, error) {
			streams := present(runs[i].dealt[:])
			g, ok := gapMean(streams, level)
			if !ok {
				return g, tooFew(len(streams))
			}
			if t, ok := gapMean(present(runs[i].parts), level); ok && t.Hi-t.Lo > g.Hi-g.Lo {
				g = t
			}
			return g, nil
		})
		return
	}
	f.Kind, f.Method, f.Q = Percentile, "order-statistics", q
	ranked := whole.Ranked()
	value := ranked.Percentile(100*q) / 1e6
	f.Value = &value
	f.at = func(level float64) (interval.Interval, error) {
		if len(byStream) < interval.MinBatches {
			return interval.Interval{}, tooFew(len(byStream))
		}
		stream, time, each := rankedAll(byStream), rankedAll(byTime), rankedAll(byRunDist)
		// Streams are dealt out at random, so their groups do not follow one another in
		// time as slices do.
		design := func(x float64) float64 {
			d := max(interval.DesignEffect(gapBlocks(stream, x)), interval.DesignEffectAt(gapBlocks(time, x), level))
			if len(each) >= manyRuns {
				d = max(d, betweenRuns(gapBlocks(each, x), level))
			}
			return d
		}
		i, ok := interval.PercentileWith(ranked.N(), func(r int64) float64 { return ranked.At(r) / 1e6 }, q, level, design)
		if !ok {
			return i, errors.New("no interval")
		}
		for _, end := range []float64{i.Lo, i.Hi} {
			if !math.IsInf(end, 0) {
				f.noteDesign(design(end), int(f.N))
			}
		}
		return i, nil
	}
}

// present are the parts in which something was seen.
func present(parts []*metrics.Dist) []*metrics.Dist {
	var out []*metrics.Dist
	for _, d := range parts {
		if d != nil {
			out = append(out, d)
		}
	}
	return out
}

func rankedAll(parts []*metrics.Dist) []metrics.Ranked {
	out := make([]metrics.Ranked, len(parts))
	for i, d := range parts {
		out[i] = d.Ranked()
	}
	return out
}

// gapMean is the interval of the mean of gaps, in ms, from parts of them.
func gapMean(parts []*metrics.Dist, level float64) (interval.Interval, bool) {
	var sums, counts []float64
	for _, d := range parts {
		m, _ := d.Mean()
		sums, counts = append(sums, m/1e6*float64(d.N())), append(counts, float64(d.N()))
	}
	i, _, ok := interval.BatchRatio(sums, counts, level)
	return i, ok
}

// gapBlocks count the gaps longer than limit ms in every part.
func gapBlocks(parts []metrics.Ranked, limit float64) []interval.Block {
	blocks := make([]interval.Block, len(parts))
	for j, d := range parts {
		blocks[j] = interval.Block{N: d.N(), K: d.Above(limit * 1e6)}
	}
	return blocks
}
