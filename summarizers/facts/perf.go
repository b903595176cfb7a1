package facts

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"ais_bench/outputs"
	"ais_bench/registry"
	"ais_bench/summarizers/interval"
	"ais_bench/summarizers/metrics"
)

// perf are the performance figures of one model and data set over all runs, or,
// without runs, the names of those that a planned run will have.
type perf struct {
	prefix  Path // perf, or perf["model/dataset"]
	runs    []*measured
	planned *PlannedPair
}

// dists are the distributions of single requests, and the unit that their keys
// carry.
var dists = map[string]string{"e2el": "_ms", "ttft": "_ms", "ttfat": "_ms", "tpot": "_ms", "itl": "_ms", "itl_per_token": "_ms", "e2el_scheduled": "_ms",
	"ttft_scheduled": "_ms", "client_queue_time": "_ms", "connect_time": "_ms", "max_stall": "_ms", "input_tokens": "", "output_tokens": "",
	"output_token_throughput": "_tps", "prefill_token_throughput": "_tps"}

// rateNames are the figures that are events by time.
var rateNames = []string{"request_throughput", "input_throughput", "output_throughput", "total_token_throughput", "request_goodput"}

// empty is the result of no records: all names there are.
var empty = func() map[string]any {
	acc, err := metrics.New(metrics.Options{SLOs: []metrics.SLO{{Metric: "ttft"}, {Metric: "tpot"}, {Metric: "e2el"}}})
	if err != nil {
		panic(err) // the options are constants
	}
	flat, err := flatten(acc.Result())
	if err != nil {
		panic(err)
	}
	return flat
}()

// names are all dotted names, sorted.
func (p *perf) names() []string {
	set := map[string]bool{successRate: true}
	for name := range empty {
		if p.planned == nil && strings.HasPrefix(name, "slo_attainment.") {
			continue // those of the levels that were given come from the runs
		}
		set[name] = true
	}
	for _, m := range p.runs {
		for name := range m.flat {
			set[name] = true
		}
	}
	out := make([]string, 0, len(set))
	for name := range set {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// fact is the figure under a name such as ttft.p99_ms; undefined where it rests on
// tokens that nobody could count.
func (p *perf) fact(rest Path) (*Fact, error) {
	f, err := p.figure(rest)
	if err == nil {
		p.distrust(f, strings.Join(rest, "."))
	}
	return f, err
}

// tokenParts are parts of the names of figures that rest on tokens.
var tokenParts = []string{"token", "tpot", "input_throughput", "output_throughput", "stopped_early_share", "by_input_length"}

// distrust leaves a figure undefined that rests on tokens of answers whose usage cannot be.
func (p *perf) distrust(f *Fact, name string) {
	rests := slices.ContainsFunc(tokenParts, func(part string) bool { return strings.Contains(name, part) })
	if strings.HasPrefix(name, "token_sources") || !rests && !strings.Contains(name, "goodput") {
		return
	}
	// What was sent nobody counted again.
	sent := strings.Contains(name, "input") || strings.Contains(name, "prefill") || strings.Contains(name, "cached") || strings.Contains(name, "reasoning") || strings.HasPrefix(name, "total_token") || strings.HasPrefix(name, "stable_stage.total_token")
	for _, m := range p.runs {
		var n int64
		for source, s := range m.result.TokenSources {
			if source == string(outputs.TokensImpossible) || sent && outputs.TokenSource(source).Impossible() {
				n += s.N
			}
		}
		_, tpot := m.flat["slo_attainment.tpot.share"]
		if n == 0 || !rests && !tpot {
			continue
		}
		*f = Fact{Name: f.Name, Unit: f.Unit, Kind: f.Kind, Method: f.Method, Q: f.Q, Known: f.Known,
			Reason: fmt.Sprintf("the usage of %d answers told what cannot be, so that their tokens are unknown", n)}
		return
	}
}

func (p *perf) figure(rest Path) (*Fact, error) {
	full := p.prefix.with(rest...)
	name := strings.Join(rest, ".")
	f := &Fact{Name: full.String(), Unit: unitOf(name)}
	group, key := "", name
	if n := len(rest); n > 1 {
		group, key = strings.Join(rest[:n-1], "."), rest[n-1]
	}
	switch {
	case name == "":
		return nil, &UnknownError{full.String(), ": it is a group; name one figure of it, such as " + p.prefix.with("ttft", "p99_ms").String()}
	case name == successRate:
		p.share(f, successRate, isOne)
		return f, nil
	case name == "requests.failed_share":
		p.share(f, successRate, func(v float64) bool { return v == 0 })
		return f, nil
	case name == "goodput_share" || name == "reused_share" || name == "stopped_early_share" || strings.HasPrefix(name, "slo_attainment.") && key == "share":
		p.share(f, name, isOne)
		return f, nil
	case len(rest) == 3 && (rest[0] == "finish_reasons" || rest[0] == "token_sources") && !p.chosen(rest[0], rest[1]):
		return nil, p.unknownChoice(rest)
	case (group != "" && (strings.HasPrefix(group, "finish_reasons.") || strings.HasPrefix(group, "token_sources."))) && key == "share" && len(rest) == 3:
		p.choiceShare(f, rest[0], rest[1])
		return f, nil
	case slices.Contains(rateNames, name):
		p.rate(f, name, false)
		return f, nil
	case group == "stable_stage" && slices.Contains(rateNames, key):
		p.rate(f, key, true)
		return f, nil
	}
	if dist, suffix, ok := distribution(group); ok {
		if q, isPercentile := percentileOf(key, suffix); isPercentile {
			p.distribution(f, dist, q)
			return f, nil
		}
		if key == "mean"+suffix {
			p.distribution(f, dist, 0)
			return f, nil
		}
	}
	if f.Kind = Observed; p.observe(f, name) {
		return f, nil
	}
	if len(rest) == 3 && rest[0] == "requests" && rest[1] == "by_status" {
		return nil, p.unknownStatus(rest)
	}
	return nil, p.unknown(rest)
}

func isOne(v float64) bool { return v == 1 }

// distribution tells whether a group is the statistics of one, by_input_length's
// included.
func distribution(group string) (dist, suffix string, ok bool) {
	last := group[strings.LastIndexByte(group, '.')+1:]
	suffix, ok = dists[last]
	if ok && group != last {
		parts := strings.Split(group, ".")
		ok = len(parts) == 3 && parts[0] == "by_input_length"
	}
	return group, suffix, ok
}

func (p *perf) unknown(rest Path) error {
	name := strings.Join(rest, ".")
	var inside []string
	for _, n := range p.names() {
		if key, ok := strings.CutPrefix(n, name+"."); ok && len(inside) < 12 {
			inside = append(inside, key)
		}
	}
	if inside != nil {
		return &UnknownError{p.prefix.with(rest...).String(), ": it is a group; name one figure of it: " + strings.Join(inside, ", ")}
	}
	near := registry.Nearest(name, p.names())
	if len(rest) > 1 {
		// A wrong figure of a right distribution has its neighbours nearest; a right
		// figure of a wrong one those of other distributions.
		if _, suffix, ok := distribution(strings.Join(rest[:len(rest)-1], ".")); ok {
			return &UnknownError{p.prefix.with(rest...).String(), fmt.Sprintf("; %s has n, mean%s, min%s, max%s, std%s and percentiles such as p99%s (p99.9 is written [\"p99.9%s\"])",
				strings.Join(rest[:len(rest)-1], "."), suffix, suffix, suffix, suffix, suffix, suffix)}
		}
	}
	hint := "; `ais_bench gate --list-metrics RUN` shows all"
	if near != "" {
		hint = fmt.Sprintf("; did you mean %s?", p.prefix.with(strings.Split(near, ".")...))
	}
	return &UnknownError{p.prefix.with(rest...).String(), hint}
}

// plan sets what is known of a figure before the run.
func (p *perf) plan(f *Fact, kind Kind, method string) {
	f.Kind, f.Method, f.Reason = kind, method, "not measured yet"
	f.N, f.Known = p.planned.Requests, p.planned.Requests > 0
}

func (p *perf) share(f *Fact, name string, yes func(float64) bool) {
	if p.planned != nil {
		p.plan(f, Share, "wilson")
		return
	}
	shareFact(f, parts(p.runs, func(m *measured) *column { return m.shares[name] }), yes)
}

func (p *perf) choiceShare(f *Fact, group, value string) {
	if p.planned != nil {
		p.plan(f, Share, "wilson")
		return
	}
	// The index of the value differs between runs; −1 is none.
	var runs []part
	for _, m := range p.runs {
		c := m.columns[group]
		if c == nil {
			continue
		}
		i := float64(slices.Index(m.choices[group], value))
		hit := column{at: c.at}
		for _, v := range c.v {
			x := 0.0
			if v == i {
				x = 1
			}
			hit.v = append(hit.v, x)
		}
		runs = append(runs, part{hit, m.flights.fed(), m.flights.stream()})
	}
	shareFact(f, runs, isOne)
}

// streamOnly are the distributions that a request has only if it was streamed.
var streamOnly = map[string]bool{"ttft": true, "ttfat": true, "tpot": true, "itl": true, "itl_per_token": true, "ttft_scheduled": true, "max_stall": true, "prefill_token_throughput": true}

func (p *perf) distribution(f *Fact, dist string, q float64) {
	last := dist[strings.LastIndexByte(dist, '.')+1:]
	if p.planned != nil {
		p.plan(f, Mean, "batch-means-t")
		if q > 0 {
			p.plan(f, Percentile, "order-statistics")
			f.Q = q
		}
		if last == "itl" || last == "itl_per_token" {
			f.Known = false // gaps, not requests: their number is the answers' affair
		}
		if streamOnly[last] && !p.planned.Stream {
			f.N, f.Known, f.Reason = 0, true, "requests are not streamed, so there is no "+last
		}
		return
	}
	if last == "itl" || last == "itl_per_token" {
		var runs []*sliced
		for _, m := range p.runs {
			if s := m.gaps[last]; s != nil {
				runs = append(runs, s)
			}
		}
		gapFact(f, runs, q)
		return
	}
	values := parts(p.runs, func(m *measured) *column { return m.columns[dist] })
	if q > 0 {
		percentileFact(f, values, q)
		return
	}
	meanFact(f, values)
}

// rate is a figure of events per second. In the stable stage its windows lie in
// that stage.
func (p *perf) rate(f *Fact, name string, stable bool) {
	if p.planned != nil {
		p.plan(f, Rate, "batch-means-t")
		if name == "request_goodput" && !p.planned.Goodput {
			f.N, f.Known, f.Reason = 0, true, "no service levels are given (goodput)"
		}
		return
	}
	f.Kind, f.Method, f.Known = Rate, "batch-means-t", true
	key := name
	if stable {
		key = "stable_stage." + name
	}
	var runs []*measured
	var values []float64
	for _, m := range p.runs {
		if v, ok := m.flat[key].(float64); ok {
			runs, values = append(runs, m), append(values, v)
			f.N += m.result.Requests.Success
		}
	}
	if len(runs) == 0 {
		f.Reason = "no request succeeded, or its tokens are unknown"
		if name == "request_goodput" {
			f.Reason = "no service levels are given (goodput)"
		}
		return
	}
	byRun(f, len(runs), func(i int) float64 { return values[i] }, func(i int, level float64) (interval.Interval, error) {
		m := runs[i]
		from, to, ok := m.flights.steady()
		if stable && m.result.Stable.StartS != nil && m.result.Stable.EndS != nil {
			from, to, ok = m.first+int64(*m.result.Stable.StartS*1e9), m.first+int64(*m.result.Stable.EndS*1e9), true
		}
		if !ok {
			return interval.Interval{}, fmt.Errorf("the run is too short for an interval of a rate: its requests were answered all together; ask more requests, or gate three runs together")
		}
		return rateOf(m, name, values[i], level, from, to, stable)
	})
}

// observe sets a figure that is certain of the runs: counts of several runs add
// up, maxima are the largest; what else differs between runs is judged for each
// of them.
func (p *perf) observe(f *Fact, name string) bool {
	zero := false // an open group's key that no request has
	for _, g := range openGroups {
		if rest, ok := strings.CutPrefix(name, g+"."); ok {
			if g == "requests.by_status" && !slices.Contains(outputs.Statuses, outputs.Status(rest)) {
				return false
			}
			zero = g == "requests.by_status" || strings.HasSuffix(rest, ".n")
		}
	}
	_, known := empty[name]
	if p.planned != nil {
		if known || zero {
			p.plan(f, Observed, "")
			f.Kind = kindOf(empty[name])
			if name == "requests.total" || name == "requests.attempts" {
				f.Known = f.N > 0
			} else {
				f.Known = false
			}
		}
		return known || zero
	}
	var numbers []float64
	var texts []any
	for _, m := range p.runs {
		v, ok := m.flat[name]
		known = known || ok
		switch x := v.(type) {
		case float64:
			numbers = append(numbers, x)
		case nil:
			if zero && !ok {
				numbers = append(numbers, 0)
			}
		default:
			texts = append(texts, x)
		}
		f.N += m.result.Requests.Total
	}
	f.Known = true
	if !known && !zero {
		return false
	}
	if f.N == 0 { // a count of nothing is no evidence: 0 failures of 0 requests
		f.Reason = "no request was measured"
		return true
	}
	combine(f, name, len(p.runs), numbers, texts)
	return true
}

func kindOf(v any) Kind {
	switch v.(type) {
	case string, bool:
		return Text
	}
	return Observed
}

// combine is one observed figure of several runs.
func combine(f *Fact, name string, runs int, numbers []float64, texts []any) {
	if len(texts) > 0 {
		f.Kind = Text
		for _, t := range texts[1:] {
			if t != texts[0] {
				f.Reason = fmt.Sprintf("it differs between the runs: %v and %v", texts[0], t)
				return
			}
		}
		f.Text = texts[0]
		return
	}
	if len(numbers) == 0 {
		f.Reason = "undefined in this run"
		return
	}
	if len(numbers) < runs {
		f.Reason = fmt.Sprintf("undefined in %d of %d runs", runs-len(numbers), runs)
		return
	}
	key := name[strings.LastIndexByte(name, '.')+1:]
	var v float64
	low, high := slices.Min(numbers), slices.Max(numbers)
	switch {
	case key == "n" || key == "judged" || key == "met" || strings.HasPrefix(name, "requests.") || strings.HasPrefix(key, "total_") && strings.HasSuffix(key, "_tokens") ||
		key == "cached_tokens" || key == "reasoning_tokens":
		v = 0
		for _, x := range numbers {
			v += x
		}
		low, high = v, v
	case strings.HasPrefix(key, "max"):
		v, low = high, high
	case strings.HasPrefix(key, "min"):
		v, high = low, low
	default:
		v = (low + high) / 2
	}
	f.Value = &v
	if low < high {
		f.note(fmt.Sprintf("from %g to %g over %d runs; each is judged", low, high, runs))
		f.at = func(level float64) (interval.Interval, error) {
			return interval.Interval{Lo: low, Hi: high, Level: level, Method: "observed in each run"}, nil
		}
	}
}
