package capacity

import (
	"fmt"
	"math"
	"strings"

	"ais_bench/summarizers/interval"
)

// Capacity is the answer of a search: the highest load that holds an SLO.
type Capacity struct {
	SLO   string  `json:"slo"`
	Tried []Tried `json:"tried"` // in the order of the search
	// Highest holds; nil when no load tried does. Above is the lowest load that does
	// not; nil when the highest load tried holds.
	Highest    *float64 `json:"highest"`
	Above      *float64 `json:"above"`
	AboveState Truth    `json:"above_state,omitempty"`
	Step       float64  `json:"step"` // how fine the search was there
	// AtHighest says how far Highest is from each limit.
	AtHighest *Judgement `json:"at_highest"`
	// Headroom is the share that Recommended stays below Highest.
	Headroom      float64    `json:"headroom"`
	Recommended   *float64   `json:"recommended"`
	AtRecommended *Judgement `json:"at_recommended"`
	Text          []string   `json:"text"`
}

// Tried is one candidate.
type Tried struct {
	Value float64 `json:"value"`
	State Truth   `json:"state"`
	Runs  int     `json:"runs"`
}

// RecommendedLoad is the load that stays headroom (a share) below highest; a whole
// number of at least 1 for concurrency, three significant digits otherwise.
func (a Axis) RecommendedLoad(highest, headroom float64) float64 {
	v := highest * (1 - headroom)
	if a == Concurrency {
		return max(1, math.Floor(v+1e-9))
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	if unit < 1 {
		return math.Floor(v*math.Round(1/unit)+1e-9) / math.Round(1/unit)
	}
	return math.Floor(v/unit+1e-9) * unit
}

// Explain judges the answer's loads and puts it into words.
func (c *Curve) Explain(a *Capacity, s *SLO) {
	a.SLO = s.String()
	a.Text = nil
	if a.Highest == nil {
		tried := "no load"
		if a.Above != nil {
			tried = c.Axis.label(*a.Above)
		}
		a.Text = append(a.Text, fmt.Sprintf("no load tried holds %s: not even %s (%s)", a.SLO, tried, c.why(s, a.Above)))
		return
	}
	text := fmt.Sprintf("highest load that holds %s: %s", a.SLO, c.Axis.label(*a.Highest))
	switch {
	case a.Above == nil:
		text += "; it is the highest that was tried, so the service may carry more"
	default:
		text += fmt.Sprintf(" (to %s; %s %s", step(a.Step), c.Axis.label(*a.Above), a.AboveState)
		if why := c.why(s, a.Above); why != "" {
			text += ": " + why
		}
		text += ")"
	}
	a.Text = append(a.Text, text)
	if l := c.At(*a.Highest); l != nil {
		j := s.Judge(l)
		a.AtHighest = &j
		a.Text = append(a.Text, "head-room there: "+j.headrooms())
		if n := successNote(s, l); n != "" {
			a.Text = append(a.Text, n)
		}
	}
	if a.Recommended == nil {
		return
	}
	text = fmt.Sprintf("recommended operating point, %s below: %s", percent(a.Headroom), c.Axis.label(*a.Recommended))
	if l := c.At(*a.Recommended); l != nil {
		j := s.Judge(l)
		a.AtRecommended = &j
		text += fmt.Sprintf(", which %s; head-room: %s", j.State, j.headrooms())
	} else {
		text += " (not measured)"
	}
	a.Text = append(a.Text, text)
}

func step(v float64) string {
	if v == math.Trunc(v) {
		return "±" + number(v)
	}
	return "±" + short(v)
}

// why names the clauses that kept a level from holding.
func (c *Curve) why(s *SLO, value *float64) string {
	if value == nil {
		return ""
	}
	l := c.At(*value)
	if l == nil {
		return ""
	}
	var parts []string
	for _, cl := range s.Judge(l).Clauses {
		if cl.State == Holds || cl.Value == nil {
			continue
		}
		text := fmt.Sprintf("%s = %s", cl.left(), cl.show(*cl.Value))
		if cl.State == Undecided && cl.Low != nil {
			low := *cl.Low
			if cl.Figure {
				low = max(0, low)
			}
			text += fmt.Sprintf(", interval %s to %s over %d runs", cl.show(low), cl.show(*cl.High), len(l.Runs))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// left is the clause without its limit.
func (c Clause) left() string {
	for _, op := range []string{" <= ", " >= ", " < ", " > "} {
		if a, b, ok := strings.Cut(c.Text, op); ok {
			if strings.Trim(a, "0123456789.") == "" {
				return b
			}
			return a
		}
	}
	return c.Text
}

// show is a value of the clause in text.
func (c Clause) show(v float64) string {
	if c.Share {
		return number(math.Round(v*1e5) / 1e5)
	}
	if c.Unit != "" {
		return short(v) + " " + c.Unit
	}
	return short(v)
}

// headrooms lists what is left of every limit.
func (j Judgement) headrooms() string {
	var parts []string
	for _, c := range j.Clauses {
		if c.Value == nil || c.Limit == nil {
			continue
		}
		text := fmt.Sprintf("%s = %s, limit %s", c.left(), c.show(*c.Value), c.show(*c.Limit))
		if c.Headroom != nil {
			text += fmt.Sprintf(" (%s left)", percent(*c.Headroom))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// successNote says what the number of requests supports where the condition
// bounds the success: runs without a failure have an interval of no width over
// the runs, and yet prove little when they are short.
func successNote(s *SLO, l *Level) string {
	named := false
	for _, f := range s.Figures() {
		named = named || f.Name == "success" || f.Name == "failed"
	}
	total, failed := l.Requests()
	i, ok := interval.Share(total-failed, total, Level95)
	if !named || !ok {
		return ""
	}
	return fmt.Sprintf("%d of %d requests succeeded there, which supports a success rate of at least %s (Wilson, 95 %%)", total-failed, total, number(math.Floor(i.Lo*1e4)/1e4))
}
