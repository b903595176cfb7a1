// Package tradeoff says what runs of one workload on differently started servers
// mean: which combination of parameters is the best, and what each gives up.
//
// A Grid is one Combination a setting of all parameters, each with one or several
// runs (a capacity.Level). From it come
//
//   - the trade-off: throughput against a tail latency, and the combinations that
//     no other beats in both (the Pareto front),
//   - the best within service levels: the largest throughput among those whose
//     condition holds, and which others cannot be told apart from it,
//   - what each value of a parameter does on average over the others,
//   - tables, charts (one for the terminal), CSV and JSON of all that.
//
// Every figure is taken from strict metrics of the records.
package tradeoff

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ais_bench/summarizers/capacity"
)

// Setting is a parameter and the value it had.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Combination is one way the server was started.
type Combination struct {
	Settings []Setting
	Level    capacity.Level // its runs; none when it could not be measured
	// Failure is why it has no runs, or fewer than were wanted; "" when it has all.
	Failure string
	ReadyS  *float64 // how long its server took to start; nil unknown

	// Filled in by Evaluate.
	Letter    string // its mark in the terminal's chart
	Pareto    bool
	Best      bool
	Judgement *capacity.Judgement // nil without an SLO, or without runs
}

// Name is the combination as people read it: "max_num_seqs 16, mnbt 2048".
func (c *Combination) Name() string {
	parts := make([]string, len(c.Settings))
	for i, s := range c.Settings {
		parts[i] = s.Name + " " + s.Value
	}
	return strings.Join(parts, ", ")
}

// Measured reports whether it has any run.
func (c *Combination) Measured() bool { return len(c.Level.Runs) > 0 }

// Grid is all combinations, in the order of the parameters' values.
type Grid struct {
	Params       []string
	Combinations []*Combination
	SLO          *capacity.SLO // nil without
	// Throughput and Latency are the two sides of the trade-off. The zero figures
	// are chosen by Evaluate: output tokens/s (requests/s where tokens are unknown)
	// and the P99 of TTFT (of E2EL where answers are not streamed).
	Throughput, Latency capacity.Figure
	// Texts are the conclusions, one line each, made by Evaluate.
	Texts []string
}

// Evaluate fills in what follows from the figures. Calling it again with other
// runs starts over.
func (g *Grid) Evaluate() {
	g.Texts = nil
	if g.Throughput.Name == "" {
		g.Throughput = g.first("output_throughput", "request_throughput")
	}
	if g.Latency.Name == "" {
		g.Latency = g.first("ttft_p99", "e2el_p99")
	}
	for i, c := range g.Combinations {
		c.Letter, c.Pareto, c.Best, c.Judgement = letter(i), false, false, nil
		if g.SLO != nil && c.Measured() {
			j := g.SLO.Judge(&c.Level)
			c.Judgement = &j
		}
	}
	front := g.front()
	for _, c := range front {
		c.Pareto = true
	}
	names := make([]string, len(front))
	for i, c := range front {
		names[i] = c.Letter
	}
	if len(front) > 0 {
		g.Texts = append(g.Texts, fmt.Sprintf("Pareto front (no other combination has both more %s and a lower %s): %s", spell(g.Throughput), spell(g.Latency), strings.Join(names, ", ")))
	}
	g.choose()
	failed := 0
	for _, c := range g.Combinations {
		if c.Failure != "" {
			failed++
		}
	}
	if failed > 0 {
		g.Texts = append(g.Texts, fmt.Sprintf("%d of %d combinations are incomplete; --reuse measures what is missing", failed, len(g.Combinations)))
	}
}

// letter marks the i-th combination: A … Z, A1 … Z1, A2 …
func letter(i int) string {
	s := string(rune('A' + i%26))
	if i >= 26 {
		s += fmt.Sprint(i / 26)
	}
	return s
}

// first is the first of the figures that some combination has.
func (g *Grid) first(names ...string) capacity.Figure {
	var f capacity.Figure
	for _, name := range names {
		var err error
		if f, err = capacity.FigureNamed(name); err != nil {
			panic(err) // the names are written here
		}
		for _, c := range g.Combinations {
			if c.Measured() && c.Level.Over(f).Mean != nil {
				return f
			}
		}
	}
	return f
}

// point is where a combination lies; false when one of the figures is undefined.
func (g *Grid) point(c *Combination) (throughput, latency float64, ok bool) {
	if !c.Measured() {
		return 0, 0, false
	}
	x, y := c.Level.Over(g.Throughput).Mean, c.Level.Over(g.Latency).Mean
	if x == nil || y == nil {
		return 0, 0, false
	}
	return *x, *y, true
}

// front is the combinations that no other beats: none has at least as much
// throughput and at most the latency, and is better in one of them. Ascending in
// throughput.
func (g *Grid) front() []*Combination {
	var front []*Combination
	for _, c := range g.Combinations {
		x, y, ok := g.point(c)
		if !ok {
			continue
		}
		beaten := slices.ContainsFunc(g.Combinations, func(o *Combination) bool {
			ox, oy, ok := g.point(o)
			return ok && ox >= x && oy <= y && (ox > x || oy < y)
		})
		if !beaten {
			front = append(front, c)
		}
	}
	slices.SortStableFunc(front, func(a, b *Combination) int {
		ax, _, _ := g.point(a)
		bx, _, _ := g.point(b)
		switch {
		case ax < bx:
			return -1
		case ax > bx:
			return 1
		}
		return 0
	})
	return front
}

// choose names the best combination within the SLO.
func (g *Grid) choose() {
	if g.SLO == nil {
		return
	}
	var best *Combination
	top := math.Inf(-1)
	var undecided, undefined []string
	for _, c := range g.Combinations {
		if c.Judgement == nil {
			continue
		}
		x := c.Level.Over(g.Throughput).Mean
		switch {
		case len(c.Judgement.Undefined) > 0:
			undefined = append(undefined, c.Letter)
		case c.Judgement.State == capacity.Undecided:
			undecided = append(undecided, c.Letter)
		case c.Judgement.State == capacity.Holds && x != nil && *x > top:
			best, top = c, *x
		}
	}
	if best == nil {
		g.Texts = append(g.Texts, "no combination holds "+g.SLO.Text+g.nearest())
	} else {
		best.Best = true
		g.Texts = append(g.Texts, fmt.Sprintf("best within %s: %s (%s), %s", g.SLO.Text, best.Letter, best.Name(), g.says(best)))
		if same := g.alike(best); len(same) > 0 {
			g.Texts = append(g.Texts, fmt.Sprintf("not to be told apart from it by these runs (their intervals of %s overlap): %s", spell(g.Throughput), strings.Join(same, ", ")))
		} else if len(best.Level.Runs) < 2 && len(g.Combinations) > 1 {
			g.Texts = append(g.Texts, "one run a combination: how far figures vary between runs is unknown; --num-runs 3 tells")
		}
	}
	if len(undecided) > 0 {
		g.Texts = append(g.Texts, "undecided, because the interval over the runs contains the limit: "+strings.Join(undecided, ", ")+"; more runs (--num-runs) narrow it")
	}
	if len(undefined) > 0 {
		g.Texts = append(g.Texts, "the condition is undefined for "+strings.Join(undefined, ", ")+" (see docs/metrics.md): no data is never a pass")
	}
}

// says is a combination's place in words.
func (g *Grid) says(c *Combination) string {
	part := func(f capacity.Figure) string {
		s := c.Level.Over(f)
		if s.Mean == nil {
			return spell(f) + " undefined"
		}
		text := fmt.Sprintf("%s %s", spell(f), figure(*s.Mean, f))
		if s.Low != nil {
			text += fmt.Sprintf(" (95 %% %s to %s)", plain(s.LowShown()), plain(*s.High))
		}
		return text
	}
	return part(g.Throughput) + ", " + part(g.Latency)
}

// alike are the other combinations that hold and whose interval of the throughput
// overlaps that of the best.
func (g *Grid) alike(best *Combination) []string {
	b := best.Level.Over(g.Throughput)
	if b.Low == nil {
		return nil
	}
	var same []string
	for _, c := range g.Combinations {
		if c == best || c.Judgement == nil || c.Judgement.State != capacity.Holds {
			continue
		}
		if s := c.Level.Over(g.Throughput); s.High != nil && *s.High >= *b.Low {
			same = append(same, c.Letter)
		}
	}
	return same
}

// nearest names the combination with the lowest latency, where none holds.
func (g *Grid) nearest() string {
	var best *Combination
	low := math.Inf(1)
	for _, c := range g.Combinations {
		if _, y, ok := g.point(c); ok && y < low {
			best, low = c, y
		}
	}
	if best == nil {
		return ""
	}
	return fmt.Sprintf("; the lowest %s is %s, of %s (%s)", spell(g.Latency), figure(low, g.Latency), best.Letter, best.Name())
}

// spell is a figure's name for people.
func spell(f capacity.Figure) string {
	name, statistic, ok := strings.Cut(f.Name, "_")
	switch {
	case ok && (name == "ttft" || name == "tpot" || name == "itl" || name == "e2el"):
		if strings.HasPrefix(statistic, "p") {
			statistic = strings.ToUpper(statistic)
		}
		return strings.ToUpper(name) + " " + statistic
	}
	return strings.ReplaceAll(f.Name, "_", " ")
}

// figure is a value with its unit.
func figure(v float64, f capacity.Figure) string {
	if f.Unit == "" {
		return plain(v)
	}
	return plain(v) + " " + f.Unit
}

// plain is a value with four significant digits.
func plain(v float64) string {
	if v != 0 && math.Abs(v) < 1000 {
		return strings.TrimSuffix(fmt.Sprintf("%.4g", v), ".")
	}
	return fmt.Sprintf("%.0f", v)
}
