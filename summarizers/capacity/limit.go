package capacity

import (
	"fmt"
	"slices"
	"strings"

	"ais_bench/outputs"
)

// The causes.
const (
	LimitClient  = "client"           // this machine
	LimitCap     = "concurrency cap"  // requests waited in the client for a slot
	LimitErrors  = "failures"         // the service refuses or breaks
	LimitQueue   = "server: waiting"  // for the first token
	LimitDecode  = "server: decoding" // tokens come slower
	LimitBoth    = "server: waiting and decoding"
	LimitNone    = "nothing within the range"
	LimitUnknown = "unknown"
)

// Limit is what kept throughput from growing beyond the knee, and the evidence.
type Limit struct {
	Cause string `json:"cause"`
	Text  string `json:"text"`
	// InAnswer is how many requests were past their first token at once, by
	// Little's law: request throughput × (mean E2EL − mean TTFT); at the knee and at
	// the next level. Where it stays the same, more load puts no more answers under way.
	InAnswer     *float64 `json:"in_answer_at_knee"`
	InAnswerNext *float64 `json:"in_answer_next"`
	// ServerAt and ServerNext are the server's own metrics at the same two levels; nil
	// where they were not scraped.
	ServerAt   *Server `json:"server_at_knee"`
	ServerNext *Server `json:"server_next"`
	// WaitShare is the part of the growth of E2EL that lies before the first token.
	WaitShare *float64 `json:"wait_share_of_growth"`
}

// Limit judges the level at the knee and the one nearest to twice its load, first
// match:
//
//  1. the server's own metrics show as many requests running at both levels, and at
//     the higher one at least a tenth of that number waiting: its batch is full;
//  2. the client's own health says it was the bottleneck;
//  3. more than 1 % of the requests fail above the knee;
//  4. requests waited in this client for a slot below its cap (rates only) for more
//     than a tenth of E2EL;
//  5. E2EL grows: 70 % or more of the growth before the first token means waiting,
//     30 % or less that tokens come slower, in between both. Waiting is for a place in
//     a full batch or for the computation of prompts: from outside the two look alike,
//     as in both the number of answers under way stays the same.
func (c *Curve) Limit(k Knee) Limit {
	if k.Value == nil {
		return Limit{Cause: LimitUnknown, Text: "without a knee there is nothing to explain"}
	}
	at := slices.IndexFunc(c.Levels, func(l Level) bool { return l.Value == *k.Value })
	here, next := &c.Levels[at], c.beyond(at)
	if next == nil || k.State == KneeNotReached {
		if here.ClientBound() == "yes" {
			return c.clientLimit(here)
		}
		return Limit{Cause: LimitNone, Text: "nothing limited the service within the loads measured"}
	}
	if !full(here.server(), next.server()) {
		for _, l := range []*Level{here, next} {
			if l.ClientBound() == "yes" {
				return c.clientLimit(l)
			}
		}
	}
	if share := next.FailedShare(); share > maxFailedShare {
		return Limit{Cause: LimitErrors, Text: fmt.Sprintf("%s of the requests fail at %s (%s)", percent(share), c.Axis.label(next.Value), next.statuses())}
	}
	return c.limitOf(here, next)
}

// clientLimit blames this machine.
func (c *Curve) clientLimit(l *Level) Limit {
	return Limit{Cause: LimitClient, Text: fmt.Sprintf("the client was the bottleneck at %s: the curve describes this machine as much as the service (see Client health of that point)", c.Axis.label(l.Value))}
}

// full reports whether the server's own metrics show a full batch: as many running
// at both levels, and at the higher one at least a tenth of that number waiting.
func full(here, next *Server) bool {
	return here != nil && next != nil && next.Running > 0 && next.Waiting >= 0.1*next.Running && next.Running <= 1.05*here.Running
}

// limitOf explains the growth of E2EL between two levels.
func (c *Curve) limitOf(here, next *Level) Limit {
	figure := func(l *Level, name string) *float64 { return l.Over(must(name)).Mean }
	e0, e1 := figure(here, "e2el_mean"), figure(next, "e2el_mean")
	if c.Axis == RequestRate {
		if wait := figure(next, "client_queue_time_mean"); wait != nil && e1 != nil && *wait > *e1/10 {
			return Limit{Cause: LimitCap, Text: fmt.Sprintf("at %s requests waited %s ms on average in this client for a slot below --concurrency-cap: the service was not offered that rate", c.Axis.label(next.Value), short(*wait))}
		}
	}
	t0, t1 := figure(here, "ttft_mean"), figure(next, "ttft_mean")
	if e0 == nil || e1 == nil || t0 == nil || t1 == nil {
		return Limit{Cause: LimitUnknown, Text: "answers were not streamed: waiting cannot be told from decoding"}
	}
	l := Limit{InAnswer: here.inAnswer(), InAnswerNext: next.inAnswer()}
	grown := *e1 - *e0
	if grown <= 0 {
		l.Cause, l.Text = LimitUnknown, fmt.Sprintf("E2EL does not grow from %s to %s", number(here.Value), number(next.Value))
		return l
	}
	wait := min(max((*t1-*t0)/grown, 0), 1)
	l.WaitShare = &wait
	rise := fmt.Sprintf("from %s to %s E2EL grows by %s ms, TTFT by %s ms", number(here.Value), number(next.Value), short(grown), short(*t1-*t0))
	if a, b := figure(here, "tpot_mean"), figure(next, "tpot_mean"); a != nil && b != nil && *a > 0 {
		rise += fmt.Sprintf(", TPOT by %s", signed(*b / *a - 1))
	}
	l.ServerAt, l.ServerNext = here.server(), next.server()
	switch {
	case full(l.ServerAt, l.ServerNext):
		l.Cause, l.Text = LimitQueue, "the server's batch is full: "+rise
	case wait >= 0.7:
		l.Cause, l.Text = LimitQueue, "requests wait for their first token: "+rise
		if l.InAnswer != nil && l.InAnswerNext != nil {
			l.Text += fmt.Sprintf("; %s and %s requests are past their first token at once", short(*l.InAnswer), short(*l.InAnswerNext))
			if *l.InAnswerNext / *l.InAnswer - 1 < (next.Value/here.Value-1)/4 {
				l.Text += ", so more load puts no more answers under way: a full batch (max-num-seqs), KV memory, or the computation of prompts"
			}
		}
	case wait <= 0.3:
		l.Cause, l.Text = LimitDecode, fmt.Sprintf("decoding: %s; every token takes longer with more sequences in the batch (compute or memory bandwidth)", rise)
	default:
		l.Cause, l.Text = LimitBoth, fmt.Sprintf("waiting and decoding: %s", rise)
	}
	l.Text += l.ServerNext.text(c.Axis.label(next.Value))
	worst := Level{Runs: append(slices.Clone(here.Runs), next.Runs...)}
	if b := worst.ClientBound(); b == "yes" || b == "suspect" {
		l.Text += fmt.Sprintf("; the client's own health there: bottleneck %q (see Client health)", b)
	}
	return l
}

// minPolls is the fewest scrapes of the server's metrics that say something of a run.
const minPolls = 3

// server is the server's own word on a level: of its run with the most waiting; nil
// where no run was scraped minPolls times.
func (l *Level) server() *Server {
	var worst *Server
	for i := range l.Runs {
		if s := l.Runs[i].Server; s != nil && s.Polls >= minPolls && (worst == nil || s.Waiting > worst.Waiting) {
			worst = s
		}
	}
	return worst
}

// text is what the server's metrics say, "" where there are none.
func (s *Server) text(at string) string {
	if s == nil {
		return ""
	}
	text := fmt.Sprintf("; the server's metrics at %s: up to %s requests running, %s waiting on average", at, number(s.Running), short(s.Waiting))
	if s.MaxRunning > 0 {
		text += fmt.Sprintf(", max_num_seqs %s", number(s.MaxRunning))
	}
	if s.KVUsage != nil {
		text += fmt.Sprintf(", KV memory up to %s used", percent(*s.KVUsage))
	}
	return text
}

// inAnswer is how many requests are past their first token on average; nil when
// that is unknown.
func (l *Level) inAnswer() *float64 {
	rate, e2el, ttft := l.Over(must("request_throughput")).Mean, l.Over(must("e2el_mean")).Mean, l.Over(must("ttft_mean")).Mean
	if rate == nil || e2el == nil || ttft == nil {
		return nil
	}
	v := *rate * (*e2el - *ttft) / 1e3
	return &v
}

// statuses are the classes of the level's failures: "http_503 12, truncated 1".
func (l *Level) statuses() string {
	counts := map[string]int64{}
	for i := range l.Runs {
		for status, n := range l.Runs[i].Result.Requests.ByStatus {
			if status != string(outputs.StatusOK) {
				counts[status] += n
			}
		}
	}
	var parts []string
	for _, s := range sortedKeys(counts) {
		parts = append(parts, fmt.Sprintf("%s %d", s, counts[s]))
	}
	return strings.Join(parts, ", ")
}
