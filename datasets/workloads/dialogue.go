package workloads

import (
	"context"
	"fmt"
	"strconv"

	"ais_bench/datasets"
)

// dialogue is random with several turns: NumPrompts conversations of NumTurns turns,
// or of a number drawn between MinTurns and MaxTurns. The first turn is a prompt of
// random (PrefixLen tokens shared by all, then InputLen), every later one a text of
// TurnInputLen tokens of its own; lengths are drawn by the range ratio, output
// lengths for every turn. Each turn is asked when the one before has been answered,
// with the model's own answers as history, so the context grows.
//
// With SharedFrac or SessionFrac there is no history instead: every turn is a prompt
// of its own of InputLen tokens, of which the first SharedFrac are the same for
// all conversations and the next SessionFrac for all turns of one. That keeps the
// lengths fixed while a prefix cache hits a known share.
//
// Uses: what random uses but BatchSize, and NumTurns, MinTurns, MaxTurns,
// TurnInputLen, SharedFrac, SessionFrac, ThinkTime, ChatTemplate.
type dialogue struct{ cfg Config }

// manyTurns tells that random has to make conversations.
func (c *Config) manyTurns() bool {
	return c.NumTurns > 1 || c.MinTurns > 1 || c.MaxTurns > 1 || c.SharedFrac > 0 || c.SessionFrac > 0
}

func newDialogue(cfg Config) (Workload, error) {
	if cfg.MaxTurns == 0 {
		cfg.MaxTurns = max(cfg.NumTurns, cfg.MinTurns, 1)
	}
	if cfg.MinTurns == 0 {
		cfg.MinTurns = min(max(cfg.NumTurns, 1), cfg.MaxTurns)
	}
	if cfg.TurnInputLen == 0 {
		cfg.TurnInputLen = cfg.InputLen
	}
	if cfg.alone() && cfg.PrefixLen > 0 {
		return nil, fmt.Errorf("a prefix length of %d and shared shares of a turn exclude each other", cfg.PrefixLen)
	}
	return &dialogue{cfg}, nil
}

// alone tells that turns are sent without history.
func (c *Config) alone() bool { return c.SharedFrac > 0 || c.SessionFrac > 0 }

func (w *dialogue) String() string {
	turns := strconv.Itoa(w.cfg.MinTurns)
	if w.cfg.MaxTurns > w.cfg.MinTurns {
		turns += " to " + strconv.Itoa(w.cfg.MaxTurns)
	}
	if w.cfg.alone() {
		return fmt.Sprintf("random: %d conversations of %s turns without history, %d tokens each (%g shared by all, %g by a conversation), %d out, seed %d",
			w.cfg.NumPrompts, turns, w.cfg.InputLen, w.cfg.SharedFrac, w.cfg.SessionFrac, w.cfg.OutputLen, w.cfg.Seed)
	}
	return fmt.Sprintf("random: %d conversations of %s turns, the first of %d tokens (%d shared), later ones of %d, %d out, range ratio %g/%g (%s), seed %d", w.cfg.NumPrompts, turns,
		w.cfg.PrefixLen+w.cfg.InputLen, w.cfg.PrefixLen, w.cfg.TurnInputLen, w.cfg.OutputLen, w.cfg.RangeRatioInput, w.cfg.RangeRatioOutput, w.cfg.RangeRatioMode, w.cfg.Seed)
}

func (w *dialogue) Notes() []string { return nil }

// turnPlan is what is drawn for a turn before any text is made.
type turnPlan struct{ in, out, offset int }

func (w *dialogue) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	special := cfg.Tokenizer.AddedByDefault()
	first := max(0, cfg.InputLen-special)
	later := cfg.TurnInputLen
	if cfg.alone() {
		later = first
	}
	_, longest := cfg.bounds(max(first, later), cfg.RangeRatioInput, 0)
	sp, err := newSpeller(ctx, cfg.Tokenizer, longest, cfg.NumPrompts*cfg.MaxTurns)
	if err != nil {
		return nil, err
	}
	rin, rout, roff, rturns := stream(cfg.Seed, purposeInput), stream(cfg.Seed, purposeOutput), stream(cfg.Seed, purposeOffset), stream(cfg.Seed, purposeTurns)
	plans := make([][]turnPlan, cfg.NumPrompts)
	for i := range plans {
		plans[i] = make([]turnPlan, cfg.MinTurns+rturns.IntN(cfg.MaxTurns-cfg.MinTurns+1))
		for t := range plans[i] {
			n := later
			if t == 0 {
				n = first
			}
			plans[i][t] = turnPlan{cfg.draw(rin, n, cfg.RangeRatioInput, min(t, 1)), cfg.draw(rout, cfg.OutputLen, cfg.RangeRatioOutput, 1), roff.IntN(len(sp.ids))}
		}
	}
	shared := cfg.PrefixLen
	if cfg.alone() {
		shared = int(float64(first) * cfg.SharedFrac)
	}
	opening := sp.opening(cfg, stream(cfg.Seed, purposePrefix), shared)
	samples := make([]datasets.Sample, cfg.NumPrompts)
	err = each(ctx, cfg.NumPrompts, func(i int) error {
		r := stream(cfg.Seed, purposePrompt+uint64(i))
		own := opening // what a conversation's turns begin with
		if n := int(float64(first) * cfg.SessionFrac); n > 0 {
			own = sp.piece(opening, r.IntN(len(sp.ids)), n, r)
			own.tail, own.before = own.text, 0
		}
		s := cfg.sample(strconv.Itoa(i), plans[i][0].out)
		for t, p := range plans[i] {
			begin, n := passage{}, p.in
			if t == 0 || cfg.alone() { // what all share, and the salt, are within the length
				begin, n = own, max(cfg.PrefixLen+p.in-own.tokens, 1)
			}
			text := sp.piece(begin, p.offset+i, n, r).text
			if t == 0 {
				s.Prompt.Turns = []datasets.Turn{{Role: "user", Text: text}}
				continue
			}
			s.FollowUps = append(s.FollowUps, datasets.FollowUp{Text: text, MaxTokens: p.out, DelayNS: cfg.ThinkTime.Nanoseconds(), Alone: cfg.alone()})
		}
		s.SessionID = s.ID
		if err := cfg.openTurns(&s); err != nil {
			return err
		}
		samples[i] = s
		if turns := len(s.FollowUps); !cfg.withinContext(&s, cfg.MaxModelLen) || len(s.FollowUps) < turns {
			return fmt.Errorf("a conversation of %d turns is longer than the model's %d tokens; lower the lengths or the number of turns", turns+1, cfg.MaxModelLen)
		}
		return nil
	})
	return samples, err
}
