package workloads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"ais_bench/datasets"
)

// stream makes the random stream of one purpose. Every purpose (lengths,
// prefix, prompt number i …) has its own, so that requests can be made in
// parallel and a change to one draw leaves the others alone.
func stream(seed uint64, purpose uint64) *rand.Rand {
	// PCG's two words must differ in many bits between neighbours
	return rand.New(rand.NewPCG(seed^0x9E3779B97F4A7C15, (purpose+1)*0xD1342543DE82EF95))
}

// The purposes below 1<<32; prompt i uses purposePrompt + i.
const (
	purposeInput uint64 = iota
	purposeOutput
	purposeOffset
	purposePrefix
	purposeOrder
	purposeRepeat
	purposeLoRA
	purposeTurns
	purposePrompt uint64 = 1 << 32
)

// draw is a length around l by the range ratio's rule; least is the smallest result.
func (c *Config) draw(r *rand.Rand, l int, ratio float64, least int) int {
	lo, hi := c.bounds(l, ratio, least)
	return lo + r.IntN(hi-lo+1)
}

func (c *Config) bounds(l int, ratio float64, least int) (lo, hi int) {
	if c.RangeRatioMode == RangeSGLang {
		lo, hi = int(float64(l)*ratio), l
		lo = max(lo, 1)
	} else {
		lo, hi = int(float64(l)*(1-ratio)), ceil(float64(l)*(1+ratio))
	}
	lo = max(lo, least)
	return lo, max(hi, lo)
}

func ceil(f float64) int {
	n := int(f)
	if float64(n) < f {
		n++
	}
	return n
}

func (c *Config) checkRatios() error {
	for _, r := range []struct {
		what string
		v    float64
	}{{"input", c.RangeRatioInput}, {"output", c.RangeRatioOutput}} {
		switch c.RangeRatioMode {
		case RangeVLLM:
			if r.v < 0 || r.v >= 1 {
				return fmt.Errorf("range ratio (%s) must be in [0, 1), got %g; for SGLang's meaning give --range-ratio-mode sglang", r.what, r.v)
			}
		case RangeSGLang:
			if r.v < 0 || r.v > 1 {
				return fmt.Errorf("range ratio (%s) must be in [0, 1], got %g", r.what, r.v)
			}
		default:
			return fmt.Errorf("range ratio mode %q is not known; give vllm or sglang", c.RangeRatioMode)
		}
	}
	return nil
}

// each runs f for 0 … n-1 on all processors and stops at the first error or
// when ctx ends.
func each(ctx context.Context, n int, f func(i int) error) error {
	var next atomic.Int64
	var once sync.Once
	var first error
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				if err := f(i); err != nil {
					once.Do(func() { first = err })
					cancel()
					return
				}
			}
		})
	}
	wg.Wait()
	if first != nil {
		return first
	}
	return context.Cause(ctxIfDone(ctx, int(next.Load()) >= n))
}

// ctxIfDone hides a context that ended only because all work was done.
func ctxIfDone(ctx context.Context, done bool) context.Context {
	if done {
		return context.Background()
	}
	return ctx
}

// params are the request parameters of every sample.
func (c *Config) params() map[string]any {
	if !c.IgnoreEOS {
		return nil
	}
	return map[string]any{"ignore_eos": true}
}

// sample starts a request; n is its number in sending order.
func (c *Config) sample(id string, outputLen int) datasets.Sample {
	return datasets.Sample{ID: id, MaxTokens: outputLen, ArriveNS: -1, Params: c.params(), Fields: map[string]any{}}
}

// salted puts the cache-bust salt before text.
func (c *Config) salted(text string) string {
	if c.CacheBust == "" {
		return text
	}
	return c.CacheBust + " " + text
}

// saltIDs are the ids of the salt, for prompts that are sent as ids. In a
// generated prompt the salt takes the place of the first tokens, so that the
// length stays what was asked for.
func (c *Config) saltIDs() []int {
	if c.CacheBust == "" {
		return nil
	}
	return c.Tokenizer.Encode(c.CacheBust+" ", false)
}

// templated renders a plain text as one user turn where a template is set.
func (c *Config) templated(text string) (string, error) {
	if c.ChatTemplate == nil {
		return text, nil
	}
	return c.ChatTemplate([]datasets.Turn{{Role: "user", Text: text}})
}

// measure sets FieldInputLen of a text prompt.
func (c *Config) measure(s *datasets.Sample) {
	if c.Tokenizer == nil {
		return
	}
	switch p := s.Prompt; {
	case p.TokenIDs != nil:
		s.Fields[FieldInputLen] = len(p.TokenIDs)
	case p.Text != "":
		s.Fields[FieldInputLen] = c.Tokenizer.Count(p.Text) + c.Tokenizer.AddedByDefault()
	default:
		n := 0
		for _, t := range p.Turns {
			n += c.Tokenizer.Count(t.Text)
		}
		s.Fields[FieldInputLen] = n
	}
}

// lengthCheck applies MaxModelLen to a generated request.
func (c *Config) lengthCheck(in, out int) error {
	if c.MaxModelLen > 0 && in+out > c.MaxModelLen {
		return fmt.Errorf("a request of %d + %d tokens is longer than the model's %d; lower the input or output length", in, out, c.MaxModelLen)
	}
	return nil
}
