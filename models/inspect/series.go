package inspect

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// Sample is one value of one series at the time of a scrape.
//
// A histogram is written as Prometheus does: NAME_bucket with the label le
// (cumulative), NAME_sum and NAME_count.
type Sample struct {
	Series string // our name for it
	Metric string // the endpoint's
	Labels string // those kept, as k="v",k="v", sorted; "" = none
	Value  float64
}

// Read are the samples of a scrape that the maps know, in a stable order, with
// the names of the maps that apply and the values that make no sense.
func (m *Maps) Read(x *Metrics) (samples []Sample, applied []string, odd []Nonsense) {
	for _, name := range m.names {
		mp := m.by[name]
		if !mp.applies(x) {
			continue
		}
		applied = append(applied, name)
		for _, series := range slices.Sorted(maps.Keys(mp.Series)) {
			rule := mp.Series[series]
			samples = append(samples, rule.read(series, x, &odd)...)
		}
	}
	return samples, applied, odd
}

// Engine is the engine that the maps say it is; "" = none of them is one.
func (m *Maps) Engine(applied []string) string {
	for _, n := range applied {
		if mp := m.by[n]; mp != nil && mp.Engine != "" {
			return mp.Engine
		}
	}
	return ""
}

func (r *SeriesRule) read(series string, x *Metrics, odd *[]Nonsense) []Sample {
	for _, want := range r.Metrics {
		for _, name := range spellings(want) {
			if f := x.families[name]; f != nil && (r.Kind == KindHistogram) == isHistogram(f) {
				return r.ofFamily(series, name, f, scalar, odd)
			}
		}
		// The sum or the count of a histogram as a counter of its own.
		for suffix, value := range map[string]func(*dto.Metric) (float64, bool){"_sum": sumOf, "_count": countOf} {
			if base, ok := strings.CutSuffix(want, suffix); ok && r.Kind != KindHistogram {
				if f := x.families[base]; f != nil && isHistogram(f) {
					return r.ofFamily(series, want, f, value, odd)
				}
			}
		}
	}
	return nil
}

// spellings are a counter's names with and without _total: clients and formats differ.
func spellings(name string) []string {
	if base, ok := strings.CutSuffix(name, "_total"); ok {
		return []string{name, base}
	}
	return []string{name, name + "_total"}
}

func isHistogram(f *dto.MetricFamily) bool {
	return len(f.Metric) > 0 && (f.Metric[0].Histogram != nil || f.Metric[0].Summary != nil)
}

func scalar(m *dto.Metric) (float64, bool) {
	var v float64
	switch {
	case m.Counter != nil:
		v = m.Counter.GetValue()
	case m.Gauge != nil:
		v = m.Gauge.GetValue()
	case m.Untyped != nil:
		v = m.Untyped.GetValue()
	default:
		return 0, false
	}
	return v, true
}

func sumOf(m *dto.Metric) (float64, bool) {
	v := m.Histogram.GetSampleSum()
	if m.Summary != nil {
		v = m.Summary.GetSampleSum()
	}
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

func countOf(m *dto.Metric) (float64, bool) {
	if m.Summary != nil {
		return float64(m.Summary.GetSampleCount()), true
	}
	return float64(m.Histogram.GetSampleCount()), true
}

// ofFamily combines the metrics of a family.
func (r *SeriesRule) ofFamily(series, name string, f *dto.MetricFamily, value func(*dto.Metric) (float64, bool), odd *[]Nonsense) []Sample {
	if r.Kind == KindHistogram {
		return r.histogram(series, name, f)
	}
	g := newGroups(r)
	for _, m := range f.Metric {
		v, ok := value(m)
		if v *= r.scale(); !ok || !r.chooses(m) || r.undefined(series, v) {
			continue
		}
		if why := r.nonsense(series, v); why != "" {
			*odd = append(*odd, Nonsense{name, why})
			return nil
		}
		g.add(m, "", v)
	}
	return g.samples(series, name)
}

func (r *SeriesRule) histogram(series, name string, f *dto.MetricFamily) []Sample {
	buckets, sums, counts := newGroups(r), newGroups(r), newGroups(r)
	for _, m := range f.Metric {
		if v, ok := sumOf(m); ok {
			sums.add(m, "", v*r.scale())
		}
		n, _ := countOf(m)
		counts.add(m, "", n)
		if m.Histogram == nil {
			continue
		}
		for _, b := range m.Histogram.Bucket {
			le := b.GetUpperBound()
			if !math.IsInf(le, 1) {
				le *= r.scale()
			}
			buckets.add(m, `le="`+FormatBound(le)+`"`, float64(b.GetCumulativeCount()))
		}
	}
	out := buckets.samples(series+"_bucket", name+"_bucket")
	out = append(out, sums.samples(series+"_sum", name+"_sum")...)
	return append(out, counts.samples(series+"_count", name+"_count")...)
}

// FormatBound writes the bound of a bucket as Prometheus does.
func FormatBound(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (r *SeriesRule) scale() float64 {
	if r.Scale == 0 {
		return 1
	}
	return r.Scale
}

// groups combines values by the labels that are kept, and before that takes the
// largest over the ranks.
type groups struct {
	rule  *SeriesRule
	order []string
	by    map[string]map[string]float64 // kept labels → the others without ranks → largest
}

func newGroups(r *SeriesRule) *groups {
	return &groups{rule: r, by: map[string]map[string]float64{}}
}

// chooses reports whether a metric's labels are those that the rule asks for.
func (r *SeriesRule) chooses(m *dto.Metric) bool {
	for _, l := range m.Label {
		name, value := l.GetName(), l.GetValue()
		if only, ok := r.Where[name]; ok && !slices.Contains(only, value) || slices.Contains(r.Without[name], value) {
			return false
		}
	}
	for name := range r.Where {
		if !slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName() == name }) {
			return false
		}
	}
	return true
}

func (g *groups) add(m *dto.Metric, extra string, v float64) {
	if !g.rule.chooses(m) {
		return
	}
	var kept, rest []string
	for _, l := range m.Label {
		name, value := l.GetName(), l.GetValue()
		pair := name + "=" + strconv.Quote(value)
		switch {
		case slices.Contains(g.rule.Labels, name):
			kept = append(kept, pair)
		case !slices.Contains(g.rule.Ranks, name):
			rest = append(rest, pair)
		}
	}
	if extra != "" {
		kept = append(kept, extra)
	}
	slices.Sort(kept)
	slices.Sort(rest)
	key, sub := strings.Join(kept, ","), strings.Join(rest, ",")
	if g.by[key] == nil {
		g.by[key] = map[string]float64{}
		g.order = append(g.order, key)
	}
	if old, ok := g.by[key][sub]; !ok || v > old {
		g.by[key][sub] = v
	}
}

// samples combines what was added; in the order of appearance, so that buckets
// stay ascending.
func (g *groups) samples(series, metric string) []Sample {
	out := make([]Sample, 0, len(g.order))
	for _, key := range g.order {
		values := g.by[key]
		total, largest := 0.0, math.Inf(-1)
		for _, sub := range slices.Sorted(maps.Keys(values)) { // floats: in one order
			total += values[sub]
			largest = max(largest, values[sub])
		}
		v := total
		switch g.rule.Combine {
		case "mean":
			v = total / float64(len(values))
		case "max":
			v = largest
		}
		out = append(out, Sample{series, metric, key, v})
	}
	return out
}
