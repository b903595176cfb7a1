package server

import (
	"fmt"
	"math"

	"ais_bench/outputs"
)

// Arrival compares what the client counted with what the server counted from the
// first scrape to the last: warm-ups, probes and other data sets of the run included
// on both sides.
type Arrival struct {
	State string `json:"state"` // agree, stray, lost, differ or unknown
	Text  string `json:"text"`  // one sentence
	// Requests that ended, with the server's reasons.
	Requests     Count              `json:"requests"`
	PromptTokens Count              `json:"prompt_tokens"`
	OutputTokens Count              `json:"output_tokens"`
	ByReason     map[string]float64 `json:"server_by_reason,omitempty"`
	Aborted      *float64           `json:"server_aborted"`
	// BusyBefore and BusyAfter are requests that the server had, running and
	// waiting, when the client had none in flight.
	BusyBefore *float64 `json:"server_busy_before"`
	BusyAfter  *float64 `json:"server_busy_after"`
	// StrayRequests are somebody else's: counted by the server and not sent by this
	// client, or seen at work before ours; the least number that explains what was
	// seen, so at least 1 where the state is stray. LostRequests were answered and not
	// counted. Null where nothing tells: a 0 would say that there were none.
	StrayRequests *float64 `json:"stray_requests"`
	LostRequests  *float64 `json:"lost_requests"`
	Client        Client   `json:"client"`
}

// The states of an arrival check.
const (
	Agree   = "agree"   // to the request and, where known, to the token
	Stray   = "stray"   // the server served somebody else too
	Lost    = "lost"    // the server counted fewer than were answered
	Differ  = "differ"  // requests agree, tokens do not
	Unknown = "unknown" // the server does not count
)

// Count is one figure on both sides; null where a side does not know it.
type Count struct {
	Client     *float64 `json:"client"`
	Server     *float64 `json:"server"`
	Difference *float64 `json:"difference"` // server − client
}

func count(client, server *float64) Count {
	c := Count{Client: client, Server: server}
	if client != nil && server != nil {
		d := *server - *client
		c.Difference = &d
	}
	return c
}

func number(n int64) *float64 {
	f := float64(n)
	return &f
}

func (v view) arrival(w *outputs.ServerWatch, c *Client) *Arrival {
	a := &Arrival{State: Unknown, Client: *c}
	from, to := w.Start, w.End
	n := float64(max(w.AnswersPerRequest, 1)) // engines count every answer of a request
	a.Requests.Client = ptr(float64(c.OK) * n)
	if c.WithoutPrompt == 0 {
		a.PromptTokens.Client = ptr(float64(c.PromptTokens) * n)
	}
	if c.WithoutOutput == 0 {
		a.OutputTokens.Client = number(c.OutputTokens)
	}
	var server *float64
	aborted := 0.0
	if keys := v.find("requests_finished"); len(keys) > 0 && !v.gone("requests_finished") {
		a.ByReason = map[string]float64{}
		total := 0.0
		for _, k := range keys {
			d, ok := v.series[k].delta(from, to, v.first[scraped{k.session, k.source}])
			if !ok {
				continue
			}
			reason := reasonOf(k.labels)
			if reason == "abort" || reason == "error" {
				aborted += d
			} else {
				total += d
			}
			if reason != "" && d != 0 {
				a.ByReason[reason] += d
			}
		}
		server = &total
	}
	if d, ok := v.delta("requests_aborted", from, to); ok {
		// SGLang's total holds the aborted ones.
		aborted += d
		if server != nil {
			*server -= d
		}
	}
	if server != nil {
		a.Aborted = &aborted
	}
	a.Requests = count(a.Requests.Client, server)
	var prompt *float64
	if !v.gone("prompt_tokens") && !v.gone("computed_prompt_tokens") {
		prompt = v.promptTokens(from, to)
	}
	a.PromptTokens = count(a.PromptTokens.Client, prompt)
	var output *float64
	if d, ok := v.delta("generation_tokens", from, to); ok && !v.gone("generation_tokens") {
		output = &d
	}
	a.OutputTokens = count(a.OutputTokens.Client, output)
	a.BusyBefore, a.BusyAfter = v.busy(from, true), v.busy(to, false)
	if *a.Requests.Client > 0 && value(server) == 0 && value(a.PromptTokens.Server) == 0 && (w.Protocol == "embeddings" || w.Protocol == "rerank") {
		a.Text = "the server does not count requests of this kind"
		return a
	}
	if blind := v.blind(w); blind != "" {
		a.Text = "not to be told: " + blind
		a.Requests, a.PromptTokens, a.OutputTokens = count(a.Requests.Client, nil), count(a.PromptTokens.Client, nil), count(a.OutputTokens.Client, nil)
		return a
	}
	if len(w.Events) > 0 {
		a.Text = "not to be told: " + w.Events[0].Text
		return a
	}
	a.judge()
	return a
}

func ptr(v float64) *float64 { return &v }

// reasonOf reads finished_reason="stop" among labels.
func reasonOf(labels string) string {
	const name = `finished_reason="`
	for i := 0; i+len(name) <= len(labels); i++ {
		if labels[i:i+len(name)] == name {
			rest := labels[i+len(name):]
			for j := range rest {
				if rest[j] == '"' {
					return rest[:j]
				}
			}
		}
	}
	return ""
}

// busy is running and waiting at the first scrape, or at the last.
func (v view) busy(t int64, first bool) *float64 {
	sum, ok := 0.0, false
	for _, name := range []string{"requests_running", "requests_waiting"} {
		for _, k := range v.find(name) {
			p := v.series[k]
			if len(p.v) == 0 {
				continue
			}
			x := p.v[len(p.v)-1]
			if first {
				x = p.v[0]
			}
			sum, ok = sum+x, true
		}
	}
	if !ok {
		return nil
	}
	return &sum
}

// judge decides. A request of ours that failed after it reached the server may have
// been finished by it, so only what exceeds both is somebody else's.
func (a *Arrival) judge() {
	c := &a.Client
	busy, seen := "", 0.0
	if a.BusyBefore != nil && *a.BusyBefore > float64(c.Crossing) {
		seen = *a.BusyBefore - float64(c.Crossing)
		busy = fmt.Sprintf(" It had %.0f request(s) before the first of ours.", *a.BusyBefore)
	}
	if a.Requests.Difference == nil {
		a.Text = "the server does not count finished requests"
		if busy != "" {
			a.stray(seen)
			a.Text = "another client used the server:" + busy
		} else if a.tokensDiffer() && c.Failed == 0 {
			a.State, a.Text = Differ, "the token counts differ: "+a.tokens()
		} else if a.tokensKnown() && c.Failed == 0 {
			a.none(Agree)
			a.Text = "the token counts agree; the server does not count finished requests"
		}
		return
	}
	more := *a.Requests.Difference
	failed := float64(c.Failed) * math.Max(1, *a.Requests.Client/math.Max(float64(c.OK), 1))
	crossing := float64(c.Crossing)
	switch {
	case crossing > 0 && more <= failed+crossing && more >= -crossing:
		a.Text = fmt.Sprintf("not exact: %.0f request(s) of tasks that ran at the same time were in flight at its ends (--max-num-workers 1 runs one after the other)", crossing)
	case more > failed+crossing:
		finished := more - failed - crossing
		a.stray(math.Max(finished, seen))
		a.Text = fmt.Sprintf("the server finished %.0f request(s) that this client did not send%s: the figures are not of this load alone.%s", finished, a.surplus(), busy)
	case more < 0:
		// Strays may be among those it did count.
		a.State, a.LostRequests = Lost, ptr(-more-crossing)
		if seen > 0 {
			a.StrayRequests = &seen
		}
		a.Text = fmt.Sprintf("%.0f answered request(s) are missing in the server's count: its metrics are one of several replicas', or something before it answered", *a.LostRequests)
	case c.Failed == 0 && a.tokensMore():
		a.stray(seen)
		a.Text = "the server worked on requests that this client did not send and that were not finished" + a.surplus() + "." + busy
	case busy != "":
		a.stray(seen)
		a.Text = "another client used the server." + busy
	case c.Failed == 0 && a.tokensDiffer():
		a.none(Differ)
		a.Text = "requests agree, the token counts do not: " + a.tokens()
	case c.Failed > 0:
		a.none(Agree)
		a.Text = fmt.Sprintf("every answered request was counted; %d failed on the way, the server says of %.0f that they were aborted", c.Failed, value(a.Aborted))
	default:
		a.none(Agree)
		a.Text = "to the request and to the token"
		if !a.tokensKnown() {
			a.Text = "to the request; tokens are not known on both sides"
		}
	}
}

// stray says that the server served somebody else too, with n requests or, where
// their number did not show, one at least. Theirs may stand for ours in the count, so
// that nobody knows whether some of ours were lost.
func (a *Arrival) stray(n float64) {
	a.State, a.StrayRequests = Stray, ptr(math.Max(n, 1))
}

// none says that what the server counted are our requests, all of them and no others.
func (a *Arrival) none(state string) {
	a.State, a.StrayRequests, a.LostRequests = state, ptr(0), ptr(0)
}

func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

func (a *Arrival) tokensKnown() bool {
	return a.PromptTokens.Difference != nil && a.OutputTokens.Difference != nil
}

func (a *Arrival) tokensDiffer() bool {
	return a.PromptTokens.Difference != nil && *a.PromptTokens.Difference != 0 || a.OutputTokens.Difference != nil && *a.OutputTokens.Difference != 0
}

// tokensMore reports whether the server counted more tokens of both kinds, or more
// of one and as many of the other.
func (a *Arrival) tokensMore() bool {
	p, o := a.PromptTokens.Difference, a.OutputTokens.Difference
	return p != nil && o != nil && *p >= 0 && *o >= 0 && *p+*o > 0
}

func (a *Arrival) tokens() string {
	text := ""
	for _, x := range []struct {
		name string
		c    Count
	}{{"prompt", a.PromptTokens}, {"output", a.OutputTokens}} {
		if x.c.Difference == nil {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s %.0f here, %.0f there", x.name, *x.c.Client, *x.c.Server)
	}
	return text
}

// surplus says by how many tokens the server's count is larger.
func (a *Arrival) surplus() string {
	p, o := a.PromptTokens.Difference, a.OutputTokens.Difference
	if p == nil || o == nil || *p+*o <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%+.0f prompt and %+.0f output tokens)", *p, *o)
}
