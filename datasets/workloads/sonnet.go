package workloads

import (
	"context"
	_ "embed" // verse.txt
	"fmt"
	"math"
	"strconv"
	"strings"

	"ais_bench/datasets"
)

// verse is a text of our own: 560 different lines of plain English verse.
//
//go:embed verse.txt
var verse string

const sonnetInstruction = "Choose as many lines as you can from the poem below and write them down again, one by one:\n"

// sonnet is vLLM's sonnet workload: an instruction followed by lines of a poem.
// With avg the mean tokens of a line and base those of the instruction, a prompt
// has max(round((InputLen−base)/avg), 1) lines; the first
// max(round((PrefixLen−base)/avg), 0) are the poem's own first lines in every
// prompt, the others are drawn with replacement. Prompts of more than InputLen
// tokens are drawn again, and where none of a hundred fits (lines of one length,
// rounded up; vLLM draws for ever) with a line less. The poem is our own unless DatasetPath names a text
// file, one verse a line.
//
// Uses: NumPrompts, InputLen, OutputLen, PrefixLen, DatasetPath, ChatTemplate,
// Tokenizer, CacheBust, MaxModelLen.
type sonnet struct{ cfg Config }

func newSonnet(cfg Config) (Workload, error) {
	if cfg.PrefixLen > cfg.InputLen {
		return nil, fmt.Errorf("prefix length %d is longer than the input length %d; lower --sonnet-prefix-len", cfg.PrefixLen, cfg.InputLen)
	}
	return &sonnet{cfg}, nil
}

func (w *sonnet) String() string {
	from := "our own verse"
	if w.cfg.DatasetPath != "" {
		from = w.cfg.DatasetPath
	}
	return fmt.Sprintf("sonnet: lines of %s, %d tokens in (%d shared), %d out, seed %d", from, w.cfg.InputLen, w.cfg.PrefixLen, w.cfg.OutputLen, w.cfg.Seed)
}

func (w *sonnet) Notes() []string { return nil }

// sonnetDraws bounds the redrawing of one prompt.
const sonnetDraws = 100

func (w *sonnet) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	lines, err := w.lines()
	if err != nil {
		return nil, err
	}
	total := 0
	for _, l := range lines {
		total += cfg.Tokenizer.Count(l)
	}
	avg := float64(total) / float64(len(lines))
	first, err := w.render("")
	if err != nil {
		return nil, err
	}
	base := cfg.Tokenizer.Count(first) + cfg.Tokenizer.AddedByDefault()
	if cfg.InputLen <= base {
		return nil, fmt.Errorf("input length %d leaves no room: the instruction alone has %d tokens; raise --sonnet-input-len", cfg.InputLen, base)
	}
	want := max(int(math.RoundToEven(float64(cfg.InputLen-base)/avg)), 1)
	fixed := min(max(int(math.RoundToEven(float64(cfg.PrefixLen-base)/avg)), 0), want, len(lines))
	samples := make([]datasets.Sample, cfg.NumPrompts)
	err = each(ctx, len(samples), func(i int) error {
		r := stream(cfg.Seed, purposePrompt+uint64(i))
		s := cfg.sample(strconv.Itoa(i), cfg.OutputLen)
		for n, count := 0, want; ; n++ {
			if n > 0 && n%sonnetDraws == 0 {
				if count == max(fixed, 1) {
					return fmt.Errorf("no %d lines of the text fit %d tokens; raise the input length or lower the prefix length", count, cfg.InputLen)
				}
				count--
			}
			var b strings.Builder
			for k := range count {
				if k < fixed {
					b.WriteString(lines[k])
				} else {
					b.WriteString(lines[r.IntN(len(lines))])
				}
			}
			text, err := w.render(b.String())
			if err != nil {
				return err
			}
			s.Prompt.Text = text
			cfg.measure(&s)
			if s.Fields[FieldInputLen].(int) <= cfg.InputLen {
				break
			}
		}
		samples[i] = s
		return cfg.lengthCheck(s.Fields[FieldInputLen].(int), s.MaxTokens)
	})
	return samples, err
}

func (w *sonnet) render(lines string) (string, error) {
	text, err := w.cfg.templated(w.cfg.salted(sonnetInstruction + lines))
	if err != nil {
		return "", fmt.Errorf("chat template: %w", err)
	}
	return text, nil
}

func (w *sonnet) lines() ([]string, error) {
	var lines []string
	if w.cfg.DatasetPath == "" {
		for l := range strings.Lines(verse) {
			lines = append(lines, l)
		}
		return lines, nil
	}
	err := eachLine(w.cfg.DatasetPath, func(l []byte, _ int) error {
		lines = append(lines, string(l)+"\n")
		return nil
	})
	if err == nil && len(lines) == 0 {
		err = fmt.Errorf("%s: the file has no lines", w.cfg.DatasetPath)
	}
	return lines, err
}
