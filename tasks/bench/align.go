package bench

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ais_bench/datasets/workloads"
	"ais_bench/models"
)

// alignCalls is how many prompts are with the server's tokenizer at once, as in vLLM.
const alignCalls = 64

// align cuts the prompts of random and prefix_repetition to the length asked for by the
// server's tokenizer, where it counts the first one otherwise than the local one:
// the tokenizer given is then not the server's, and all lengths would be off. As in
// vLLM prompts are only cut; those that come out shorter stay as they are. A server
// without /tokenize leaves all as it is, and the report shows the difference.
func (s *Session) align(ctx context.Context, workload string) {
	if s.Tokenizer.Local == nil || len(s.Set.Samples) == 0 || workload != "random" && workload != "prefix_repetition" {
		return
	}
	first := &s.Set.Samples[0]
	if first.Prompt.Text == "" || first.Fields[workloads.FieldBatch] != nil {
		return
	}
	server, err := models.NewServerTokenizer(s.Service)
	if err != nil {
		return
	}
	defer server.Close()
	special := s.Tokenizer.Local.AddedByDefault()
	want := func(i int) int {
		n, _ := s.Set.Samples[i].Fields[workloads.FieldInputLen].(int)
		return n - special
	}
	probing, cancel := context.WithTimeout(ctx, 10*time.Second) // a gateway may swallow what it does not know
	ids, err := server.Tokenize(probing, first.Prompt.Text, false)
	cancel()
	if err != nil || len(ids) == want(0) {
		return
	}
	var cut, lost atomic.Int64
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(alignCalls, len(s.Set.Samples)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= len(s.Set.Samples) {
					return
				}
				sample := &s.Set.Samples[i]
				ids, err := server.Tokenize(ctx, sample.Prompt.Text, false)
				if err == nil && len(ids) <= want(i) {
					continue
				}
				text := ""
				if err == nil {
					text, err = server.Detokenize(ctx, ids[:want(i)])
				}
				if err != nil || strings.TrimSpace(text) == "" {
					lost.Add(1)
					continue
				}
				sample.Prompt.Text = text
				cut.Add(1)
			}
		})
	}
	wg.Wait()
	s.note("the server counts %d tokens in the first prompt, the tokenizer given %d: %d of %d prompts were cut to length by the server's tokenizer, as vLLM does it", len(ids), want(0), cut.Load(), len(s.Set.Samples))
	if n := lost.Load(); n > 0 {
		s.note("%d prompts could not be cut and stay as they are", n)
	}
}
