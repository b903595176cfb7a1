package metrics

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"ais_bench/outputs"
)

// AISBenchOptions are what AISBench's calculators know besides the requests.
type AISBenchOptions struct {
	// MaxConcurrency is the configured batch_size; the stable stage needs it.
	MaxConcurrency int
	// StatsList are the columns; nil = Average, Min, Max, Median, P75, P90, P99.
	StatsList []string
}

// AISBenchStats is AISBench's default stats_list.
var AISBenchStats = []string{"Average", "Min", "Max", "Median", "P75", "P90", "P99"}

// AISBenchRow is one metric of the table "Performance Parameters"; the values
// are strings with their unit, as that tool prints and stores them.
type AISBenchRow struct {
	Name   string
	Stage  string // total or stable
	Values []string
	N      int64
	mean   *float64
}

// AISBenchCommon is one line of the table "Common Metric".
type AISBenchCommon struct {
	Name, Stage, Value string
	number             *float64
}

// AISBenchResult are the figures of AISBench's default_perf (stage total) or
// stable_stage (stage stable) on the same requests.
type AISBenchResult struct {
	Stage     string
	StatsList []string
	Params    []AISBenchRow
	Common    []AISBenchCommon
	// Reason says why there are no figures; "" when there are.
	Reason string
}

// aisRequest is a record as AISBench would have seen it.
type aisRequest struct {
	ok         bool
	start, end int64
	in, out    int64
	ttft       int64 // ns; -1 when not streamed
	points     []int64
}

// seenByAISBench translates a record. Its time points are the send and every
// event of the stream, the role-only first one included; the events after the
// last payload (finish_reason, usage) are one point at the end of the response.
// An answer without text is a success there; less than one point is not.
func seenByAISBench(r *outputs.Record) aisRequest {
	q := aisRequest{start: r.Sent, in: int64(max(r.InputTokens, 0)), out: int64(max(r.OutputTokens, 0)), ttft: -1}
	switch r.Status {
	case outputs.StatusOK, outputs.StatusEmpty, outputs.StatusTruncated:
	default:
		return q
	}
	if r.Sent == outputs.Never || r.End == outputs.Never {
		return q
	}
	if !r.Stream {
		q.ok, q.end = true, r.End
		return q
	}
	if r.FirstEvent == outputs.Never {
		return q
	}
	q.points = append(q.points, r.FirstEvent)
	for i, c := range r.ChunkAt {
		if c += r.Sent; i > 0 || c > r.FirstEvent {
			q.points = append(q.points, c)
		}
	}
	if last := q.points[len(q.points)-1]; r.End > last {
		q.points = append(q.points, r.End)
	}
	q.ok, q.end, q.ttft = true, q.points[len(q.points)-1], r.FirstEvent-r.Sent
	return q
}

// AISBench recomputes records as AISBench's default calculator does: latencies
// rounded to 0.1 ms, TPOT 0 for single-token answers, duration over successful
// requests only. records is read once and must start over for AISBenchStable.
func AISBench(records iter.Seq2[*outputs.Record, error], o AISBenchOptions) (*AISBenchResult, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	t := newAISTally("total", o)
	err = eachMeasured(records, func(r *outputs.Record) {
		q := seenByAISBench(r)
		t.total++
		if q.ok {
			t.success++
			t.add(q)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("compute profile aisbench: %w", err)
	}
	return t.result(float64(t.last-t.first), math.Inf(1)), nil
}

func (o AISBenchOptions) withDefaults() (AISBenchOptions, error) {
	if len(o.StatsList) == 0 {
		o.StatsList = AISBenchStats
	}
	for _, s := range o.StatsList {
		switch s {
		case "Average", "Min", "Max", "Median":
			continue
		}
		p, err := strconv.Atoi(strings.TrimPrefix(s, "P"))
		if err != nil || !strings.HasPrefix(s, "P") || p < 1 || p > 99 {
			return o, fmt.Errorf("stats_list: %q is unknown; one of Average, Min, Max, Median, P1 … P99", s)
		}
	}
	return o, nil
}

// aisTally sums up the requests of one stage.
type aisTally struct {
	stage                                   string
	o                                       AISBenchOptions
	total, success, decoded                 int64
	first, last                             int64
	in, out                                 int64
	busy                                    int64 // Σ E2EL
	streamed                                bool
	e2el, ttft, tpot, itl                   *Dist // ps
	inTokens, outTokens, outRate, inputRate *Dist
}

func newAISTally(stage string, o AISBenchOptions) *aisTally {
	d := func() *Dist { return NewDist(usOfPS) }
	return &aisTally{stage: stage, o: o, first: math.MaxInt64, last: math.MinInt64, e2el: d(), ttft: d(), tpot: d(), itl: d(),
		inTokens: NewDist(1), outTokens: NewDist(1), outRate: NewDist(rateStep), inputRate: NewDist(rateStep)}
}

func (t *aisTally) add(q aisRequest) {
	e2el := q.end - q.start
	t.first, t.last = min(t.first, q.start), max(t.last, q.end)
	t.in, t.out, t.busy = t.in+q.in, t.out+q.out, t.busy+e2el
	t.e2el.Add(e2el * 1000)
	t.inTokens.Add(q.in)
	t.outTokens.Add(q.out)
	if e2el > 0 {
		t.outRate.Add(perSecond(q.out, e2el))
	}
	if q.ttft < 0 {
		return
	}
	t.streamed = true
	t.ttft.Add(q.ttft * 1000)
	if q.ttft > 0 {
		t.inputRate.Add(perSecond(q.in, q.ttft))
	}
	tpot := int64(0) // AISBench's value where there is no second token
	if q.out > 1 {
		tpot = int64(math.Round(float64(e2el-q.ttft) * 1000 / float64(q.out-1)))
	}
	t.tpot.Add(tpot)
	if len(q.points) > 1 {
		t.decoded++
	}
	for i := 1; i < len(q.points); i++ {
		t.itl.Add((q.points[i] - q.points[i-1]) * 1000)
	}
}

// result makes the tables; duration is in ns, ceiling bounds the concurrency.
func (t *aisTally) result(duration, ceiling float64) *AISBenchResult {
	res := &AISBenchResult{Stage: t.stage, StatsList: t.o.StatsList}
	if t.e2el.N() == 0 {
		res.Reason = "no request succeeded"
		return res
	}
	// In seconds to four decimals, then in ms: 0.1 ms is all that is left.
	latency := func(v float64) string { return pyFloat(round(round(v/1e12, 4)*1000, 1)) + " ms" }
	tokens := func(v float64) string { return pyFloat(round(v, 4)) }
	rate := func(v float64) string { return pyFloat(round(v*microRate, 4)) + " token/s" }
	row := func(name string, d *Dist, n int64, tick float64, text func(float64) string) {
		if d.N() == 0 {
			return
		}
		mean, _ := d.Mean()
		scaled := mean * tick
		r := AISBenchRow{Name: name, Stage: t.stage, N: n, mean: &scaled}
		for _, s := range t.o.StatsList {
			r.Values = append(r.Values, text(aisStat(d, s)))
		}
		res.Params = append(res.Params, r)
	}
	row("E2EL", t.e2el, t.success, psPerMS, latency)
	if t.streamed {
		row("TTFT", t.ttft, t.success, psPerMS, latency)
		row("TPOT", t.tpot, t.decoded, psPerMS, latency)
		row("ITL", t.itl, t.decoded, psPerMS, latency)
	}
	row("InputTokens", t.inTokens, t.success, 1, tokens)
	row("OutputTokens", t.outTokens, t.success, 1, tokens)
	row("OutputTokenThroughput", t.outRate, t.success, microRate, rate)
	if t.streamed {
		row("PrefillTokenThroughput", t.inputRate, t.success, microRate, rate)
	}
	add := func(name string, v float64, unit string) {
		res.Common = append(res.Common, AISBenchCommon{name, t.stage, strings.TrimSpace(pyFloat(round(v, 4)) + " " + unit), &v})
	}
	count := func(name string, n int64) {
		v := float64(n)
		res.Common = append(res.Common, AISBenchCommon{name, t.stage, strconv.FormatInt(n, 10), &v})
	}
	seconds := duration / 1e9
	per := func(n int64) float64 {
		if seconds <= 0 {
			return 0
		}
		return float64(n) / seconds
	}
	add("Benchmark Duration", duration/1e6, "ms")
	count("Total Requests", t.total)
	count("Failed Requests", t.total-t.success)
	count("Success Requests", t.success)
	add("Concurrency", min(per(t.busy)/1e9, ceiling), "")
	count("Max Concurrency", int64(t.o.MaxConcurrency))
	add("Request Throughput", per(t.success), "req/s")
	count("Total Input Tokens", t.in)
	count("Total Generated Tokens", t.out)
	add("Input Token Throughput", per(t.in), "token/s")
	add("Output Token Throughput", per(t.out), "token/s")
	add("Total Token Throughput", per(t.in+t.out), "token/s")
	return res
}

// aisStat is one column of stats_list in ticks.
func aisStat(d *Dist, name string) float64 {
	switch name {
	case "Average":
		v, _ := d.Mean()
		return v
	case "Min":
		return float64(d.min)
	case "Max":
		return float64(d.max)
	case "Median":
		return d.Percentiles([]float64{50})[0]
	}
	p, _ := strconv.ParseFloat(name[1:], 64) // checked by withDefaults
	return d.Percentiles([]float64{p})[0]
}

// round rounds half to even, as Python's round and numpy's do.
func round(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.RoundToEven(v*scale) / scale
}

// pyFloat writes a float as Python does: 153.0, not 153.
func pyFloat(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// Tables are AISBench's two tables.
func (r *AISBenchResult) Tables() []outputs.Table {
	params := outputs.Table{ID: "aisbench_parameters", Title: "Performance Parameters", Columns: []outputs.Column{{Name: "Performance Parameters"}, {Name: "Stage"}}}
	for _, s := range r.StatsList {
		params.Columns = append(params.Columns, outputs.Column{Name: s})
	}
	params.Columns = append(params.Columns, outputs.Column{Name: "N", Kind: outputs.KindInt})
	for _, p := range r.Params {
		row := []any{p.Name, p.Stage}
		for _, v := range p.Values {
			row = append(row, v)
		}
		params.AddRow(append(row, p.N)...)
	}
	common := outputs.Table{ID: "aisbench_common", Title: "Common Metric", Columns: []outputs.Column{{Name: "Common Metric"}, {Name: "Stage"}, {Name: "Value"}}}
	for _, c := range r.Common {
		common.AddRow(c.Name, c.Stage, c.Value)
	}
	if r.Reason != "" {
		params.Notes = append(params.Notes, r.Reason)
	}
	return []outputs.Table{params, common}
}

// MarshalJSON writes the common metrics as AISBench's JSON file has them:
// {"Benchmark Duration": {"total": "12345.6 ms"}, …}.
func (r *AISBenchResult) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, c := range r.Common {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:{%q:%q}", c.Name, c.Stage, c.Value)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

func (r *AISBenchResult) mean(name string) *float64 {
	i := slices.IndexFunc(r.Params, func(p AISBenchRow) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return r.Params[i].mean
}

func (r *AISBenchResult) common(name string) *float64 {
	i := slices.IndexFunc(r.Common, func(c AISBenchCommon) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return r.Common[i].number
}
