package server

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"ais_bench/outputs"
)

func (a *Analysis) name() string {
	name := a.Model + " on " + a.Dataset
	if a.Session > 1 {
		name += fmt.Sprintf(", session %d", a.Session)
	}
	return name
}

// Tables are the tables of the console and of the reports' head: did they arrive,
// and where the time went. A session in which nothing was asked has none, and what
// is to be said of the time without a row of it stands below the first.
func (a *Analysis) Tables() []outputs.Table {
	if a.nothingAsked() {
		return nil
	}
	var out []outputs.Table
	if t := a.bothSides(); len(t.Rows) > 0 {
		out = append(out, t)
	}
	t := a.timeTable()
	switch {
	case len(t.Rows) > 0 || len(t.Notes) > 0 && len(out) == 0:
		out = append(out, t)
	case len(t.Notes) > 0:
		out[0].Notes = append(out[0].Notes, t.Notes...)
	}
	return out
}

// nothingAsked reports whether neither the client sent a request during the watch
// nor the server finished one.
func (a *Analysis) nothingAsked() bool {
	x := a.Arrival
	return x != nil && x.Client.Sent == 0 && (x.Requests.Server == nil || *x.Requests.Server == 0)
}

// bothSides is what the client and the server say of the same things.
func (a *Analysis) bothSides() outputs.Table {
	t := outputs.Table{ID: "server_sides", Title: "The client's word and the server's: " + a.name(), Columns: []outputs.Column{{Name: "Figure"},
		{Name: "Client", Kind: outputs.KindFloat}, {Name: "Server", Kind: outputs.KindFloat}, {Name: "Difference", Kind: outputs.KindFloat}, {Name: "Server P99"}, {Name: "Note"}}}
	if x := a.Arrival; x != nil && x.State != Unknown || x != nil && x.Requests.Server != nil {
		mark := map[string]outputs.Mark{Agree: outputs.MarkGood, Stray: outputs.MarkBad, Lost: outputs.MarkBad, Differ: outputs.MarkWarn}[x.State]
		counts := func(name string, c Count, note any) {
			if c.Server == nil {
				return
			}
			cell := outputs.Cell{Value: c.Difference, Format: "%+.0f"}
			if c.Difference != nil {
				if cell.Mark = mark; *c.Difference == 0 {
					cell.Mark, cell.Format = outputs.MarkGood, "%.0f"
				}
			}
			t.AddRow(name, outputs.Cell{Value: c.Client, Format: "%.0f"}, outputs.Cell{Value: c.Server, Format: "%.0f"}, cell, "", note)
		}
		counts("requests finished", x.Requests, a.requestsNote())
		counts("prompt tokens", x.PromptTokens, unknownTokens(x.Client.WithoutPrompt))
		counts("output tokens", x.OutputTokens, unknownTokens(x.Client.WithoutOutput))
	}
	for _, l := range a.Latency {
		note := l.Note
		if l.Gap != nil && note == "" {
			note = "gap: network, gateway, HTTP, client"
		}
		t.AddRow(l.Name+" mean, ms", outputs.Cell{Value: l.ClientMean, Format: "%.2f"}, outputs.Cell{Value: l.Server.Mean, Format: "%.2f"}, outputs.Cell{Value: l.Gap, Format: "%+.2f"}, bounds(l.Server.P99), note)
	}
	if c := a.Cache; c != nil && (c.ServerRate != nil || c.UsageRate != nil) {
		pc := func(v *float64) outputs.Cell {
			if v == nil {
				return outputs.Cell{}
			}
			return outputs.Cell{Value: 100 * *v, Format: "%.2f"}
		}
		var d *float64
		if c.ServerRate != nil && c.UsageRate != nil {
			d = ptr(*c.ServerRate - *c.UsageRate)
		}
		row := pc(c.ServerRate)
		if c.Flag != "" {
			row.Mark = outputs.MarkBad
		}
		diff := pc(d)
		diff.Format = "%+.2f"
		t.AddRow("prefix-cache hits, %", pc(c.UsageRate), row, diff, "", "of measured prompt tokens; cache "+c.Mode)
	}
	if a.Arrival != nil && a.Arrival.Text != "" {
		t.Notes = append(t.Notes, "did they arrive: "+a.Arrival.Text)
	}
	if c := a.Cache; c != nil {
		t.Notes = append(t.Notes, "prefix caching "+c.State+": "+c.Evidence)
		if c.How != "" {
			t.Notes = append(t.Notes, "cache "+c.Mode+": "+c.How)
		}
		if c.Note != "" {
			t.Notes = append(t.Notes, c.Note)
		}
		if c.Flag != "" {
			t.Notes = append(t.Notes, "NOT AS ASKED FOR: "+c.Flag)
		}
	}
	return t
}

func joinNotes(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// requestsNote says what is in the count, and the server's own reasons.
func (a *Analysis) requestsNote() string {
	c := &a.Arrival.Client
	note := ""
	if c.Warmup > 0 {
		note = fmt.Sprintf("%d of them not measured", c.Warmup)
	}
	if c.Others > 0 {
		note = joinNotes(note, fmt.Sprintf("%d of other data sets", c.Others))
	}
	if c.Failed > 0 {
		note = joinNotes(note, fmt.Sprintf("%d more failed", c.Failed))
	}
	if n := a.watch.AnswersPerRequest; n > 1 {
		note = joinNotes(note, fmt.Sprintf("times %d answers", n))
	}
	return note
}

func unknownTokens(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d answers without usage", n)
}

// bounds writes a quantile with the bucket it lies in.
func bounds(b *Bound) string {
	switch {
	case b == nil:
		return ""
	case b.High == nil:
		return "above " + short(b.Low)
	}
	return fmt.Sprintf("≈ %s (%s to %s)", short(*b.Value), short(b.Low), short(*b.High))
}

// short writes three significant digits, and every digit before the point.
func short(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

var stateText = map[State]string{
	StateQueue:   "requests wait, every slot is taken",
	StateKV:      "requests wait for KV memory, or were thrown out for it",
	StatePrefill: "requests wait, slots and KV memory are free",
	StateServing: "requests run, none waits",
	StateIdle:    "nothing runs",
}

// timeTable is how the engine spent the measured time, with the findings below it.
func (a *Analysis) timeTable() outputs.Table {
	t := outputs.Table{ID: "server_time", Title: "Where the engine's time went: " + a.name(), Columns: []outputs.Column{{Name: "State"}, {Name: "Share of time", Unit: "%", Kind: outputs.KindPercent, Format: "%.1f"}, {Name: "What it is"}}}
	r := a.Reading
	if r == nil {
		return t
	}
	for _, st := range States {
		if r.Shares[st] == nil {
			continue
		}
		cell := outputs.Cell{Value: r.Shares[st]}
		if share := r.Shares[st]; share != nil && *share >= notable && (st == StateQueue || st == StateKV || st == StatePrefill) {
			cell.Mark = outputs.MarkWarn
		}
		t.AddRow(string(st), cell, stateText[st])
	}
	if r.AtLimit != nil {
		t.AddRow("at its limit", r.AtLimit, "every slot is taken, whether requests wait or not")
	}
	for i, f := range r.Findings {
		head := f.Verdict
		if i == 0 {
			head = "Bottleneck: " + head
		}
		if f.Share != nil {
			head += fmt.Sprintf(" for %.1f %% of the measured time", 100**f.Share)
		}
		t.Notes = append(t.Notes, head+": "+f.Figures, "  try: "+f.Advice)
	}
	if r.Covered < 1 {
		text := fmt.Sprintf("scraping failed meanwhile: %.1f %% of the measured time is covered", 100*r.Covered)
		if r.Covered < mostCovered {
			text += ", too little for shares of it and a verdict"
		}
		t.Notes = append(t.Notes, text)
	}
	if r.Polls < leastPolls && r.Covered >= mostCovered {
		t.Notes = append(t.Notes, fmt.Sprintf("too few scrapes (%d) to say where the engine's time went: --server-metrics-interval 100ms, or a longer run; shares of time need %d", r.Polls, leastPolls))
		return t
	}
	t.Notes = append(t.Notes, fmt.Sprintf("from %d scrapes over %.1f s, every %.0f ms; a state lasts from one scrape to the next", r.Polls, r.WindowS, a.IntervalMS))
	if len(t.Rows) > 0 && a.Engine != nil && *a.Engine == "sglang" {
		t.Notes = append(t.Notes, "SGLang refreshes its gauges at its log interval: short states are not seen")
	}
	return t
}

// parameterTable is what the server is.
func (a *Analysis) parameterTable() outputs.Table {
	t := outputs.Table{ID: "server_parameters", Title: "What the server is: " + a.name(), Columns: []outputs.Column{{Name: "Parameter"}, {Name: "Value"}, {Name: "Source"}}}
	text := func(p *string) string {
		if p == nil {
			return "unknown"
		}
		return *p
	}
	t.AddRow("engine", text(a.Engine), a.URL)
	t.AddRow("version", text(a.Version), "")
	if a.Cache != nil {
		t.AddRow("prefix caching", a.Cache.State, a.Cache.Evidence)
	}
	for _, name := range sortedKeys(a.watch.Headers) {
		t.AddRow("header "+name, a.watch.Headers[name], "answer of /v1/models")
	}
	for _, name := range sortedKeys(a.Parameters) {
		p := a.Parameters[name]
		t.AddRow(name, fmt.Sprint(p.Value), p.Source)
	}
	return t
}

// sourceTable is how the metrics were got.
func (a *Analysis) sourceTable() outputs.Table {
	ms := func(name string) outputs.Column {
		return outputs.Column{Name: name, Unit: "ms", Kind: outputs.KindFloat, Format: "%.2f"}
	}
	n := func(name string) outputs.Column { return outputs.Column{Name: name, Kind: outputs.KindInt} }
	t := outputs.Table{ID: "server_sources", Title: "Metrics read: " + a.name(), Columns: []outputs.Column{{Name: "Source"}, {Name: "Maps"}, n("Read"), n("Failed"), n("Left out"), ms("Round trip P50"), ms("Max"), ms("Parsing mean"), {Name: "Bytes", Kind: outputs.KindInt}, {Name: "Last error"}}}
	for _, s := range a.Sources {
		maps := ""
		for i, m := range s.Maps {
			if i > 0 {
				maps += ", "
			}
			maps += m
		}
		t.AddRow(s.Name, maps, s.Polls, s.Failed, s.Skipped, s.RoundTripP50MS, s.RoundTripMaxMS, s.ParseMeanMS, s.Bytes, s.Error)
	}
	if a.IntervalMS == 0 {
		t.Notes = append(t.Notes, "only before, at the start and after the measured requests: --server-metrics reads them all the time")
	}
	return t
}

// readingTable is the figures behind the verdict.
func (a *Analysis) readingTable() outputs.Table {
	t := outputs.Table{ID: "server_reading", Title: "The engine under this load: " + a.name(), Columns: []outputs.Column{{Name: "Figure"}, {Name: "Value", Kind: outputs.KindFloat}, {Name: "Unit"}}}
	r := a.Reading
	if r == nil {
		return t
	}
	row := func(name string, v *float64, unit string) {
		if v == nil {
			return
		}
		x := *v
		if unit == "%" {
			x *= 100
		}
		t.AddRow(name, outputs.Cell{Value: x, Format: "%.2f"}, unit)
	}
	row("requests running, mean", r.RunningMean, "")
	row("requests running, most", r.RunningMax, "")
	row("requests waiting, mean", r.WaitingMean, "")
	row("requests waiting, most", r.WaitingMax, "")
	row("requests in flight by the client, mean", r.InFlight, "")
	row("the same while the engine ran nothing, mean", r.InFlightIdle, "")
	row("time at the limit of running requests", r.AtLimit, "%")
	row("KV memory used, mean", r.KVMean, "%")
	row("KV memory used, most", r.KVMax, "%")
	row("preemptions", r.Preemptions, "")
	row("steps with the whole token budget, at least", r.BudgetFullLow, "%")
	row("steps with the whole token budget, at most", r.BudgetFullHigh, "%")
	row("queue time, mean", r.Queue, "ms")
	row("prefill time, mean", r.Prefill, "ms")
	row("decode time, mean", r.Decode, "ms")
	row("TTFT P50 of requests sent at the limit", r.TTFTAtLimit, "ms")
	row("TTFT P50 of the others", r.TTFTBelow, "ms")
	if s := a.Spec; s != nil {
		row("speculative tokens accepted", s.AcceptanceRate, "%")
		row("tokens a step by speculation", s.AcceptanceLength, "")
	}
	return t
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare[string])
	return keys
}
