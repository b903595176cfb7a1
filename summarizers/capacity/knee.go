package capacity

import (
	"fmt"
	"math"
)

// maxFailedShare is the share of failed requests above which a level is beyond
// what the service carries, whatever its figures: those are of the requests that
// survived.
const maxFailedShare = 0.01

// noiseFloor is how far the powers of two levels may lie apart and still count as
// equal where runs were not repeated.
const noiseFloor = 0.05

// The states of a knee.
const (
	KneeFound      = "found"
	KneeNotReached = "not reached" // power still rises, or has only levelled off, at the highest level
	KneeAtOrBelow  = "at or below" // power falls from the lowest level on
	KneeUnknown    = "unknown"     // fewer than three levels, or none with figures
)

// Knee is where more load stops paying.
//
// The rule is Kleinrock's power, throughput ÷ mean response time, and the knee
// the level where it is largest (L. Kleinrock, "Power and deterministic rules of
// thumb for probabilistic problems in computer communications", ICC 1979). By
// Little's law the requests in flight are N = throughput × response time, so
// power is throughput²/N, and it rises as long as
//
//	d ln(throughput) / d ln(N) > 1/2:
//
// doubling the concurrency must bring more than √2 times the throughput. In a
// service that scales and then saturates power rises in proportion to N up to the
// limit and falls as 1/N behind it, so the maximum is sharp exactly where the
// curve bends, and does not depend on the range or the units that were swept.
// Unlike a slope between neighbours it uses every level, so noise in one moves
// it by one level at most.
//
// Throughput is that of output tokens (of requests, where tokens are unknown in
// some run); levels at which more than 1 % of the requests failed are no
// candidates. Levels whose power differs from the largest by less than the noise are
// told as a range: half of Student's interval over the runs, at least 1 %, or 5 % where
// runs were not repeated.
type Knee struct {
	State string `json:"state"`
	// Value is the level with the largest power; nil when unknown.
	Value *float64 `json:"value"`
	// From and To are the levels that noise cannot tell from Value.
	From *float64 `json:"from"`
	To   *float64 `json:"to"`
	// Noise is the relative difference of powers that counts as none.
	Noise *float64 `json:"noise"`
	Basis string   `json:"throughput"` // output_throughput or request_throughput
	// Throughput and Latency are the figures at Value.
	Throughput *float64 `json:"throughput_at_knee"`
	LatencyMS  *float64 `json:"e2el_mean_ms_at_knee"`
	// Gain is the throughput at Next over that at Value, minus 1, Scale the same of
	// the load, Slower the same of the latency; Next is the level nearest to twice the
	// knee. nil without a level above.
	Gain   *float64     `json:"next_throughput_change"`
	Scale  *float64     `json:"next_load_change"`
	Slower *float64     `json:"next_latency_change"`
	Next   *float64     `json:"next_value"`
	Powers []LevelPower `json:"power"`
	Text   string       `json:"text"`
}

// LevelPower is the power of one level.
type LevelPower struct {
	Value float64  `json:"value"`
	Power *float64 `json:"power"` // throughput/(mean E2EL in s); nil when undefined
	// Left out as a candidate, with the reason.
	Excluded string `json:"excluded,omitempty"`
}

// throughputFigure is what scales: output tokens where every run knows them.
func (c *Curve) throughputFigure() Figure {
	tokens := must("output_throughput")
	for i := range c.Levels {
		if c.Levels[i].Over(tokens).Mean == nil {
			return must("request_throughput")
		}
	}
	return tokens
}

// power is a level's throughput/latency over its runs.
func (l *Level) power(x Figure) Statistic {
	e2el := must("e2el_mean")
	s := Statistic{}
	for i := range l.Runs {
		a, b := x.Of(l.Runs[i].Result), e2el.Of(l.Runs[i].Result)
		if a == nil || b == nil || *b <= 0 {
			return Statistic{}
		}
		s.Values = append(s.Values, *a/(*b/1e3))
	}
	s.summarize()
	return s
}

// Knee finds the curve's knee.
func (c *Curve) Knee() Knee { return c.KneeAt(Level95) }

// KneeAt is Knee with the range that noise cannot tell apart at another level of
// confidence.
func (c *Curve) KneeAt(level float64) Knee {
	x := c.throughputFigure()
	k := Knee{State: KneeUnknown, Basis: x.Name, Powers: []LevelPower{}}
	best, n := -1, 0
	stats := make([]Statistic, len(c.Levels))
	for i := range c.Levels {
		l := &c.Levels[i]
		stats[i] = l.power(x)
		p := LevelPower{Value: l.Value, Power: stats[i].Mean}
		switch share := l.FailedShare(); {
		case share > maxFailedShare:
			p.Excluded = fmt.Sprintf("%s of the requests failed", percent(share))
		case p.Power == nil:
			p.Excluded = "no throughput or latency"
		default:
			n++
			if best < 0 || *p.Power > *stats[best].Mean {
				best = i
			}
		}
		k.Powers = append(k.Powers, p)
	}
	if best < 0 || len(c.Levels) < 3 {
		k.Text = fmt.Sprintf("no knee: %d levels with figures; it takes three", n)
		return k
	}
	noise := noiseFloor
	if h := stats[best].halfAt(level); h != nil {
		noise = min(max(*h / *stats[best].Mean, 0.01), 0.5)
	}
	k.Noise = &noise
	like := func(i int) bool {
		return k.Powers[i].Excluded == "" && *k.Powers[i].Power >= *stats[best].Mean*(1-noise)
	}
	from, to := best, best
	for from > 0 && like(from-1) {
		from--
	}
	for to+1 < len(c.Levels) && like(to+1) {
		to++
	}
	at := func(i int) *float64 { v := c.Levels[i].Value; return &v }
	k.Value, k.From, k.To = at(best), at(from), at(to)
	l := &c.Levels[best]
	k.Throughput, k.LatencyMS = l.Over(x).Mean, l.Over(must("e2el_mean")).Mean
	k.next(c, best, x)
	switch last := len(c.Levels) - 1; {
	case to == last:
		k.State = KneeNotReached
	case best == 0:
		k.State = KneeAtOrBelow
	default:
		k.State = KneeFound
	}
	k.Text = k.describe(c)
	return k
}

// beyond is the level that shows what happens above the i-th: the one nearest to
// twice its load of those at least a quarter higher, because nearer ones differ by
// little more than noise; else the last. nil when none is higher.
func (c *Curve) beyond(i int) *Level {
	if i+1 >= len(c.Levels) {
		return nil
	}
	at := c.Levels[i].Value
	best := len(c.Levels) - 1
	for j := i + 1; j < len(c.Levels); j++ {
		if v := c.Levels[j].Value; v >= 1.25*at && math.Abs(math.Log(v/(2*at))) < math.Abs(math.Log(c.Levels[best].Value/(2*at))) {
			best = j
		}
	}
	return &c.Levels[best]
}

// next compares the knee with a level above it.
func (k *Knee) next(c *Curve, best int, x Figure) {
	l, up := &c.Levels[best], c.beyond(best)
	if up == nil {
		return
	}
	k.Next = &up.Value
	change := func(f Figure) *float64 {
		a, b := l.Over(f).Mean, up.Over(f).Mean
		if a == nil || b == nil || *a == 0 {
			return nil
		}
		v := *b / *a - 1
		return &v
	}
	scale := up.Value/l.Value - 1
	k.Scale, k.Gain, k.Slower = &scale, change(x), change(must("e2el_mean"))
}

func (k *Knee) describe(c *Curve) string {
	at := c.Axis.label(*k.Value)
	unit := must(k.Basis).Unit
	figures := fmt.Sprintf("%s %s, E2EL mean %s ms", short(*k.Throughput), unit, short(*k.LatencyMS))
	then := ""
	if k.Gain != nil && k.Slower != nil {
		then = fmt.Sprintf("; from there to %s (%s load) throughput changes by %s and E2EL by %s", number(*k.Next), signed(*k.Scale), signed(*k.Gain), signed(*k.Slower))
	}
	between := ""
	if *k.From != *k.To {
		between = fmt.Sprintf(" (by %s noise anywhere from %s to %s)", percent(*k.Noise), number(*k.From), number(*k.To))
	}
	switch k.State {
	case KneeFound:
		return "knee at " + at + between + ": " + figures + then
	case KneeAtOrBelow:
		return "the knee lies at or below " + at + ", the lowest load measured" + between + ": " + figures + then
	}
	return fmt.Sprintf("no knee up to %s: throughput still pays for latency there (largest power at %s%s: %s); measure higher loads", c.Axis.label(c.Levels[len(c.Levels)-1].Value), at, between, figures)
}

// signed is a relative change in text: "+97 %", "−3 %".
func signed(v float64) string {
	r := math.Round(100 * v)
	switch {
	case r < 0:
		return fmt.Sprintf("−%.0f %%", -r)
	case r == 0:
		return "0 %"
	}
	return fmt.Sprintf("+%.0f %%", r)
}
