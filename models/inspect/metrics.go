package inspect

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics is one scrape of a Prometheus text endpoint.
type Metrics struct {
	families map[string]*dto.MetricFamily
}

// ParseMetrics reads the text exposition format. A series that comes several times is
// refused: which of its values holds nobody can tell, and adding them up would count
// one engine twice.
func ParseMetrics(text string) (*Metrics, error) {
	p := expfmt.NewTextParser(model.UTF8Validation)
	f, err := p.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("what it gives is not the Prometheus text format (%s); it begins with %q: give the address that serves metrics as text, usually http://HOST:PORT/metrics",
			strings.TrimPrefix(err.Error(), "text format parsing error in "), beginning(text))
	}
	if series := repeated(f); series != "" {
		return nil, fmt.Errorf("it gives the series %s several times, so that none of its values can be trusted: is this one engine's own address, and does its exporter work?", series)
	}
	return &Metrics{f}, nil
}

// repeated names a series, or a bucket of one, that comes more than once; "" = none.
func repeated(families map[string]*dto.MetricFamily) string {
	for _, name := range slices.Sorted(maps.Keys(families)) {
		list := families[name].Metric
		seen := make(map[string]bool, len(list))
		for _, x := range list {
			series := name + labels(x)
			twice := seen[series]
			seen[series] = true
			bounds := map[float64]bool{} // a histogram's lines are one metric here
			for _, b := range x.GetHistogram().GetBucket() {
				twice = twice || bounds[b.GetUpperBound()]
				bounds[b.GetUpperBound()] = true
			}
			for _, q := range x.GetSummary().GetQuantile() {
				twice = twice || bounds[q.GetQuantile()]
				bounds[q.GetQuantile()] = true
			}
			if twice {
				return series
			}
		}
	}
	return ""
}

// labels writes the labels of a metric in the order of their names.
func labels(x *dto.Metric) string {
	if len(x.Label) == 0 {
		return ""
	}
	pairs := make([]string, len(x.Label))
	for i, l := range x.Label {
		pairs[i] = fmt.Sprintf("%s=%q", l.GetName(), l.GetValue())
	}
	slices.Sort(pairs)
	return "{" + strings.Join(pairs, ",") + "}"
}

// beginning is the first line of an answer, as an error line shows it.
func beginning(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(strings.ToValidUTF8(line, "\uFFFD")); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return strings.ToValidUTF8(line, "\uFFFD")
}

// Families is how many metrics there are.
func (m *Metrics) Families() int { return len(m.families) }

// Some are the first n names, for a message.
func (m *Metrics) Some(n int) string {
	names := slices.Sorted(maps.Keys(m.families))
	if len(names) > n {
		return strings.Join(names[:n], ", ") + " …"
	}
	return strings.Join(names, ", ")
}

// Totals are the counters and gauges summed over their labels (engines,
// models), and the sums and counts of histograms as NAME_sum and NAME_count.
func (m *Metrics) Totals() map[string]float64 {
	out := map[string]float64{}
	add := func(name string, v float64) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			out[name] += v
		}
	}
	for name, f := range m.families {
		for _, x := range f.Metric {
			switch {
			case x.Counter != nil:
				add(name, x.Counter.GetValue())
			case x.Gauge != nil:
				add(name, x.Gauge.GetValue())
			case x.Untyped != nil:
				add(name, x.Untyped.GetValue())
			case x.Histogram != nil:
				add(name+"_sum", x.Histogram.GetSampleSum())
				add(name+"_count", float64(x.Histogram.GetSampleCount()))
			case x.Summary != nil:
				add(name+"_sum", x.Summary.GetSampleSum())
				add(name+"_count", float64(x.Summary.GetSampleCount()))
			}
		}
	}
	return out
}

// Infos are the label sets of the *_info series: an engine's parameters.
func (m *Metrics) Infos() map[string]any {
	out := map[string]any{}
	for name, f := range m.families {
		if !strings.HasSuffix(name, "_info") {
			continue
		}
		var sets []any
		for _, x := range f.Metric {
			labels := map[string]any{}
			for _, l := range x.Label {
				labels[l.GetName()] = l.GetValue()
			}
			sets = append(sets, labels)
		}
		out[name] = sets
	}
	return out
}

// ByLabel are the values of a family by one label, summed over the others.
func (m *Metrics) ByLabel(name, label string) map[string]float64 {
	f := m.families[name]
	if f == nil {
		return nil
	}
	out := map[string]float64{}
	for _, x := range f.Metric {
		for _, l := range x.Label {
			if l.GetName() == label {
				out[l.GetValue()] += x.GetCounter().GetValue() + x.GetGauge().GetValue()
			}
		}
	}
	return out
}
