package workloads

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"ais_bench/datasets"
)

// prefixRepetition is vLLM's prefix_repetition: NumPrompts requests are divided
// over NumPrefixes prefixes, the remainder going to the first ones; each prompt
// is its prefix of PrefixLen tokens and a fresh suffix of SuffixLen, joined and
// corrected to exactly the sum; then all are shuffled. Unlike vLLM, special ids
// are not drawn and the joined text is checked.
//
// Uses: NumPrompts, PrefixLen, SuffixLen, NumPrefixes, OutputLen, Tokenizer, CacheBust.
type prefixRepetition struct{ cfg Config }

func newPrefixRepetition(cfg Config) (Workload, error) {
	if cfg.NumPrefixes < 1 || cfg.NumPrompts < cfg.NumPrefixes {
		return nil, fmt.Errorf("needs at least as many prompts as prefixes, got %d prompts and %d prefixes", cfg.NumPrompts, cfg.NumPrefixes)
	}
	if cfg.PrefixLen+cfg.SuffixLen < 1 {
		return nil, fmt.Errorf("prefix and suffix length are both 0")
	}
	return &prefixRepetition{cfg}, nil
}

func (w *prefixRepetition) String() string {
	return fmt.Sprintf("prefix_repetition: %d requests over %d prefixes of %d tokens, suffixes of %d, %d out, seed %d",
		w.cfg.NumPrompts, w.cfg.NumPrefixes, w.cfg.PrefixLen, w.cfg.SuffixLen, w.cfg.OutputLen, w.cfg.Seed)
}

func (w *prefixRepetition) Notes() []string { return nil }

func (w *prefixRepetition) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	sp, err := newSpeller(ctx, cfg.Tokenizer, cfg.SuffixLen, cfg.NumPrompts)
	if err != nil {
		return nil, err
	}
	rp := stream(cfg.Seed, purposePrefix)
	prefixes := make([]passage, cfg.NumPrefixes)
	for i := range prefixes {
		prefixes[i] = sp.opening(cfg, rp, cfg.PrefixLen)
	}
	var owner []int // request → prefix
	for p := range prefixes {
		n := cfg.NumPrompts / cfg.NumPrefixes
		if p < cfg.NumPrompts%cfg.NumPrefixes {
			n++
		}
		for range n {
			owner = append(owner, p)
		}
	}
	stream(cfg.Seed, purposeOrder).Shuffle(len(owner), func(i, j int) { owner[i], owner[j] = owner[j], owner[i] })
	samples := make([]datasets.Sample, len(owner))
	err = each(ctx, len(owner), func(i int) error {
		purpose := purposePrompt + uint64(i)
		s := cfg.sample(strconv.Itoa(i), cfg.OutputLen)
		s.Subset = "prefix " + strconv.Itoa(owner[i])
		start := stream(cfg.Seed, purpose<<1).IntN(len(sp.ids))
		err := sp.fill(cfg, &s, prefixes[owner[i]], start, cfg.PrefixLen+cfg.SuffixLen, purpose)
		samples[i] = s
		return err
	})
	return samples, err
}

// sharedPrefix is SGLang's generated-shared-prefix: NumGroups system prompts of
// SystemPromptLen tokens, PromptsPerGroup questions of QuestionLen each; a prompt
// is system prompt, blank line, question. Lengths are drawn by the range ratio
// (SGLang's meaning; 1 = fixed). GroupDistribution zipf gives group g a share of
// the NumGroups × PromptsPerGroup requests in proportion to (g+1)^−ZipfAlpha,
// uniform the same number to each. Shuffled unless Ordered. With NumTurns above 1
// every request is a conversation of so many questions, each answered with OutputLen
// tokens before the next is asked. FieldGroup is the group, and with
// SendRoutingKey the header X-SMG-Routing-Key says it to a router, so that a group
// stays on one engine. Special ids are not drawn (SGLang draws them).
//
// Uses: NumGroups, PromptsPerGroup, NumTurns, ThinkTime, SendRoutingKey, SystemPromptLen, QuestionLen, OutputLen,
// GroupDistribution, ZipfAlpha, Ordered, RangeRatio*, Tokenizer, CacheBust.
type sharedPrefix struct{ cfg Config }

func newSharedPrefix(cfg Config) (Workload, error) {
	if err := cfg.checkRatios(); err != nil {
		return nil, err
	}
	if cfg.NumGroups < 1 || cfg.PromptsPerGroup < 1 {
		return nil, fmt.Errorf("needs at least one group and one prompt a group, got %d and %d", cfg.NumGroups, cfg.PromptsPerGroup)
	}
	if cfg.QuestionLen < 1 {
		return nil, fmt.Errorf("question length must be at least 1, got %d", cfg.QuestionLen)
	}
	switch cfg.GroupDistribution {
	case "uniform":
	case "zipf":
		if cfg.ZipfAlpha <= 0 {
			return nil, fmt.Errorf("zipf alpha must be above 0, got %g", cfg.ZipfAlpha)
		}
	default:
		return nil, fmt.Errorf("group distribution %q is not known; give uniform or zipf", cfg.GroupDistribution)
	}
	return &sharedPrefix{cfg}, nil
}

func (w *sharedPrefix) String() string {
	what := "requests"
	if w.cfg.NumTurns > 1 {
		what = fmt.Sprintf("conversations of %d turns", w.cfg.NumTurns)
	}
	return fmt.Sprintf("generated-shared-prefix: %d groups (%s) of %d %s, system prompts of %d tokens, questions of %d, %d out, seed %d",
		w.cfg.NumGroups, w.cfg.GroupDistribution, w.cfg.PromptsPerGroup, what, w.cfg.SystemPromptLen, w.cfg.QuestionLen, w.cfg.OutputLen, w.cfg.Seed)
}

func (w *sharedPrefix) Notes() []string { return nil }

func (w *sharedPrefix) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	owner := w.owners()
	turns := max(cfg.NumTurns, 1)
	sp, err := newSpeller(ctx, cfg.Tokenizer, max(cfg.QuestionLen, cfg.SystemPromptLen), len(owner)*turns)
	if err != nil {
		return nil, err
	}
	rin, rout := stream(cfg.Seed, purposeInput), stream(cfg.Seed, purposeOutput)
	systems := make([]passage, cfg.NumGroups)
	for g := range systems {
		r := stream(cfg.Seed, purposePrompt<<8+uint64(g))
		n := cfg.draw(rin, cfg.SystemPromptLen, cfg.RangeRatioInput, 0)
		systems[g] = sp.piece(sp.opening(cfg, nil, 0), r.IntN(len(sp.ids)), n, r)
	}
	outputs, questions := make([]int, len(owner)), make([]int, len(owner)*turns)
	for i := range owner {
		outputs[i] = cfg.draw(rout, cfg.OutputLen, cfg.RangeRatioOutput, 1)
	}
	for i := range questions {
		questions[i] = cfg.draw(rin, cfg.QuestionLen, cfg.RangeRatioInput, 1)
	}
	samples := make([]datasets.Sample, len(owner))
	err = each(ctx, len(owner), func(i int) error {
		r := stream(cfg.Seed, purposePrompt+uint64(i))
		ask := func(turn int) string {
			return sp.piece(passage{}, r.IntN(len(sp.ids)), questions[i*turns+turn], r).text
		}
		s := cfg.sample(strconv.Itoa(i), outputs[i])
		s.Subset = "group " + strconv.Itoa(owner[i])
		s.Prompt.Text = systems[owner[i]].text + "\n\n" + ask(0)
		if turns > 1 {
			s.SessionID = s.ID
			s.Prompt = datasets.Prompt{Turns: []datasets.Turn{{Role: "user", Text: s.Prompt.Text}}}
			for t := 1; t < turns; t++ {
				s.FollowUps = append(s.FollowUps, datasets.FollowUp{Text: ask(t), DelayNS: cfg.ThinkTime.Nanoseconds()})
			}
			if err := cfg.openTurns(&s); err != nil {
				return err
			}
		} else {
			cfg.measure(&s)
		}
		s.Fields[FieldGroup] = owner[i]
		if cfg.SendRoutingKey {
			s.Headers = map[string]string{"X-SMG-Routing-Key": fmt.Sprintf("gsp-%d-%d", cfg.Seed, owner[i])}
		}
		samples[i] = s
		if !cfg.withinContext(&s, cfg.MaxModelLen) || len(s.FollowUps) < turns-1 {
			return fmt.Errorf("a conversation of %d turns is longer than the model's %d tokens; lower the lengths or --gsp-num-turns", turns, cfg.MaxModelLen)
		}
		return nil
	})
	return samples, err
}

// owners is the group of every request in sending order.
func (w *sharedPrefix) owners() []int {
	cfg := &w.cfg
	total := cfg.NumGroups * cfg.PromptsPerGroup
	owner := make([]int, 0, total)
	if cfg.GroupDistribution == "uniform" {
		for i := range total {
			owner = append(owner, i/cfg.PromptsPerGroup)
		}
	} else {
		sum, cum := 0.0, make([]float64, cfg.NumGroups)
		for g := range cum {
			sum += math.Pow(float64(g+1), -cfg.ZipfAlpha)
			cum[g] = sum
		}
		for g := range cum { // cumulative rounding: the shares add up to total
			for len(owner) < int(math.Round(cum[g]/sum*float64(total))) {
				owner = append(owner, g)
			}
		}
	}
	if !cfg.Ordered {
		stream(cfg.Seed, purposeOrder).Shuffle(len(owner), func(i, j int) { owner[i], owner[j] = owner[j], owner[i] })
	}
	return owner
}
