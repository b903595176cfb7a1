package summarizers

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

const (
	// partMin is from where on mean and median are said to part: their difference
	// as a share of the median.
	partMin = 0.20
	// partAgree is up to where the mean of the others is said to agree with the
	// median: well below partMin, or removing a few of many would seem to explain it.
	partAgree = 0.10
	// partNamed is how many requests are named at most.
	partNamed = 10
)

// tails keeps the requests with the highest and the lowest values of the
// metrics whose mean and median may part, in constant memory.
type tails struct {
	of [len(tailMetrics)]struct{ high, low extremes }
}

// tailMetrics are the metrics looked at. The gaps of ITL are single: a request
// can be named several times over, with each of its gaps.
var tailMetrics = [...]struct {
	name string
	stat func(*metrics.Result) metrics.Stat
	of   func(*outputs.Record) (ms float64, ok bool)
}{
	{"E2EL", func(r *metrics.Result) metrics.Stat { return r.E2EL }, inMS((*outputs.Record).E2EL)},
	{"TTFT", func(r *metrics.Result) metrics.Stat { return r.TTFT }, inMS((*outputs.Record).TTFT)},
	{"TPOT", func(r *metrics.Result) metrics.Stat { return r.TPOT }, func(r *outputs.Record) (float64, bool) {
		v, ok := r.TPOT()
		return v / 1e6, ok
	}},
	{"ITL", func(r *metrics.Result) metrics.Stat { return r.ITL }, nil},
	{"Max stall", func(r *metrics.Result) metrics.Stat { return r.MaxStall }, inMS((*outputs.Record).MaxStall)},
}

func inMS(of func(*outputs.Record) (int64, bool)) func(*outputs.Record) (float64, bool) {
	return func(r *outputs.Record) (float64, bool) {
		v, ok := of(r)
		return float64(v) / 1e6, ok
	}
}

// named is a request that can be told from the others, with one value.
type named struct {
	ms            float64
	sample        string
	request       string
	input, output int32
	sent          int64
}

// extremes are the partNamed most extreme values, the most extreme first.
type extremes struct{ list []named }

// offer keeps a value if it is among the most extreme; before reports whether
// one value is more extreme than another. The request is described only when it
// is kept.
func (e *extremes) offer(ms float64, r *outputs.Record, before func(a, b float64) bool) {
	if len(e.list) == partNamed && !before(ms, e.list[partNamed-1].ms) {
		return
	}
	n := named{ms, sampleName(r), r.RequestID, r.InputTokens, r.OutputTokens, r.Sent}
	i, _ := slices.BinarySearchFunc(e.list, ms, func(have named, v float64) int {
		if before(v, have.ms) {
			return 1
		}
		return -1
	})
	if len(e.list) == partNamed {
		e.list = e.list[:partNamed-1]
	}
	e.list = slices.Insert(e.list, i, n)
}

// sampleName is a sample's id, with its repeat and turn where it has several.
func sampleName(r *outputs.Record) string {
	s := r.SampleID
	if r.Repeat > 0 {
		s += fmt.Sprintf(" #%d", r.Repeat+1)
	}
	if r.Turn > 0 {
		s += fmt.Sprintf(" turn %d", r.Turn+1)
	}
	return s
}

func higher(a, b float64) bool { return a > b }
func lower(a, b float64) bool  { return a < b }

// add looks at a record; only successful, measured ones count, as in the metrics.
func (t *tails) add(r *outputs.Record) {
	if !r.OK() || r.Phase != outputs.PhaseMeasured && r.Phase != "" {
		return
	}
	for i := range tailMetrics {
		of := &t.of[i]
		if tailMetrics[i].of == nil {
			// Gaps are many, those kept are few. Short gaps say nothing of a request.
			for k := 1; k < len(r.ChunkAt); k++ {
				if gap := float64(r.ChunkAt[k]-r.ChunkAt[k-1]) / 1e6; len(of.high.list) < partNamed || gap > of.high.list[partNamed-1].ms {
					of.high.offer(gap, r, higher)
				}
			}
			continue
		}
		if v, ok := tailMetrics[i].of(r); ok {
			of.high.offer(v, r, higher)
			of.low.offer(v, r, lower)
		}
	}
}

// watch passes records on and looks at them on the way.
func watch(records iter.Seq2[*outputs.Record, error], look func(*outputs.Record)) iter.Seq2[*outputs.Record, error] {
	return func(yield func(*outputs.Record, error) bool) {
		for r, err := range records {
			var damage *outputs.DamageError
			if err == nil && r != nil && !errors.As(err, &damage) {
				look(r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// parting is one metric whose mean and median part.
type parting struct {
	name         string
	mean, median float64
	n            int64
	// named are the requests responsible: the fewest of the most extreme without
	// which mean and median agree, or, where that takes more than partNamed, the
	// most extreme partNamed.
	named    []named
	explains bool // without the named ones they agree
	share    float64
	without  float64 // the mean of the others
	slow     bool    // the mean lies above the median
}

// partings are the metrics of a result whose mean and median part.
func (t *tails) partings(r *metrics.Result) []parting {
	var out []parting
	for i, m := range tailMetrics {
		s := m.stat(r)
		median := s.Percentile(50)
		if s.N < 3 || s.Mean == nil || median == nil || *median <= 0 || math.Abs(*s.Mean-*median) <= partMin**median {
			continue
		}
		p := parting{name: m.name, mean: *s.Mean, median: *median, n: s.N, slow: *s.Mean > *median}
		list := t.of[i].low.list
		if p.slow {
			list = t.of[i].high.list
		}
		sum := *s.Mean * float64(s.N)
		named := 0.0
		for k, one := range list {
			if int64(k+1) >= s.N {
				break
			}
			named += one.ms
			p.named = list[:k+1]
			p.without = (sum - named) / float64(s.N-int64(k+1))
			if math.Abs(p.without-p.median) <= partAgree*p.median {
				p.explains = true
				break
			}
		}
		if sum > 0 {
			p.share = named / sum
		}
		out = append(out, p)
	}
	return out
}

// partingTable names, for every metric whose mean and median part by more than
// 20 % of the median, the requests responsible and the share of the sum they
// hold. No rows: mean and median agree everywhere.
func partingTable(list []parting) outputs.Table {
	number := func(name, unit string) outputs.Column {
		return outputs.Column{Name: name, Unit: unit, Kind: outputs.KindFloat, Format: "%.3f"}
	}
	t := outputs.Table{ID: "perf_partings", Title: "Where mean and median part",
		Columns: []outputs.Column{{Name: "Metric"}, number("Mean", "ms"), number("Median", "ms"), {Name: "Mean against median", Kind: outputs.KindPercent, Unit: "%", Format: "%+.1f"},
			{Name: "Share of the sum", Kind: outputs.KindPercent, Unit: "%"}, number("Mean of the others", "ms"), {Name: "Most extreme samples", Wrap: true}}}
	repeated := false
	for _, p := range list {
		var names []string
		for _, n := range p.named {
			if !slices.Contains(names, n.sample) {
				names = append(names, n.sample)
				repeated = repeated || strings.Contains(n.sample, " #")
			}
		}
		mark := outputs.MarkWarn
		t.AddRow(p.name, p.mean, p.median, outputs.Cell{Value: p.mean/p.median - 1, Mark: mark}, p.share, p.without, strings.Join(names, ", "))
		what := "requests"
		if p.name == "ITL" {
			what = "gaps"
		}
		switch {
		case p.explains:
			t.Notes = append(t.Notes, fmt.Sprintf("%s: without the %d most extreme of %d %s mean and median agree: look at these before quoting the mean", p.name, len(p.named), p.n, what))
		default:
			t.Notes = append(t.Notes, fmt.Sprintf("%s: no few of the %d %s explain it, the distribution is skewed: quote percentiles, not the mean", p.name, p.n, what))
		}
	}
	if repeated {
		t.Notes = append(t.Notes, "of a question that is asked repeatedly #N is the N-th time")
	}
	return t
}

// responsibleTable lists the named requests, one a row.
func responsibleTable(list []parting) outputs.Table {
	t := outputs.Table{ID: "perf_responsible", Title: "The most extreme requests",
		Columns: []outputs.Column{{Name: "Metric"}, {Name: "Sample"}, {Name: "Value", Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"},
			{Name: "Share of the sum", Kind: outputs.KindPercent, Unit: "%"}, {Name: "Input tokens", Kind: outputs.KindInt}, {Name: "Output tokens", Kind: outputs.KindInt},
			{Name: "Sent at", Unit: "s", Kind: outputs.KindFloat, Format: "%.3f"}, {Name: "Request id", Data: true, Wrap: true}}}
	count := func(n int32) any {
		if n == outputs.UnknownTokens {
			return nil
		}
		return n
	}
	for _, p := range list {
		for _, n := range p.named {
			var sent any
			if n.sent != outputs.Never {
				sent = float64(n.sent) / 1e9
			}
			t.AddRow(p.name, n.sample, n.ms, n.ms/(p.mean*float64(p.n)), count(n.input), count(n.output), sent, n.request)
		}
	}
	return t
}
