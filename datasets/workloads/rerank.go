package workloads

import (
	"context"
	"fmt"
	"strconv"

	"ais_bench/datasets"
)

// rerank is vLLM's random-rerank: one random query, the same for all requests,
// and NumPrompts random documents, BatchSize−1 a request (at least one).
//
// With a reranker, query and document go through the model together: the query
// has InputLen/2 − 1 tokens, a document the rest of InputLen − 1 (one token
// separates them), and a request counts (query + 1 + document) for each of its
// documents. With NoReranker the query has InputLen tokens and is embedded once:
// a request counts query + documents.
//
// The texts are in FieldBatch (query first) and in the body's query and
// documents; Prompt.Text is the query. Requests have no output length.
//
// Uses: NumPrompts (documents), InputLen, RangeRatio*, BatchSize, NoReranker,
// Tokenizer, CacheBust.
type rerank struct{ cfg Config }

func newRerank(cfg Config) (Workload, error) {
	if err := cfg.checkRatios(); err != nil {
		return nil, err
	}
	if cfg.InputLen < 6 {
		return nil, fmt.Errorf("input length %d is too short for a query and a document; give at least 6", cfg.InputLen)
	}
	return &rerank{cfg}, nil
}

func (w *rerank) String() string {
	return fmt.Sprintf("random-rerank: %d documents, %d a request, %d tokens with the query, seed %d", w.cfg.NumPrompts, max(w.cfg.BatchSize-1, 1), w.cfg.InputLen, w.cfg.Seed)
}

func (w *rerank) Notes() []string { return nil }

func (w *rerank) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	queryLen := cfg.InputLen
	docLen := cfg.InputLen
	if !cfg.NoReranker {
		queryLen = cfg.InputLen/2 - 1
		docLen = cfg.InputLen - queryLen - 1
	}
	_, longest := cfg.bounds(max(docLen, queryLen), cfg.RangeRatioInput, 1)
	sp, err := newSpeller(ctx, cfg.Tokenizer, longest, cfg.NumPrompts)
	if err != nil {
		return nil, err
	}
	r := stream(cfg.Seed, purposePrefix)
	opening := sp.opening(cfg, nil, 0)
	query := sp.piece(opening, r.IntN(len(sp.ids)), max(queryLen-opening.tokens, 1), r)
	docs, lens := make([]string, cfg.NumPrompts), make([]int, cfg.NumPrompts)
	rin, roff := stream(cfg.Seed, purposeInput), stream(cfg.Seed, purposeOffset)
	starts := make([]int, len(docs))
	for i := range docs {
		lens[i], starts[i] = cfg.draw(rin, docLen, cfg.RangeRatioInput, 1), roff.IntN(len(sp.ids))
	}
	err = each(ctx, len(docs), func(i int) error {
		p := sp.piece(passage{}, starts[i]+i, lens[i], stream(cfg.Seed, purposePrompt+uint64(i)))
		docs[i], lens[i] = p.text, p.tokens
		return nil
	})
	if err != nil {
		return nil, err
	}
	per := max(cfg.BatchSize-1, 1)
	var samples []datasets.Sample
	for from := 0; from < len(docs); from += per {
		to := min(from+per, len(docs))
		s := cfg.sample(strconv.Itoa(len(samples)), 0)
		s.Prompt.Text = query.text
		s.Params = map[string]any{"query": query.text, "documents": docs[from:to:to]}
		s.Fields[FieldBatch] = append([]string{query.text}, docs[from:to]...)
		n := 0
		for _, l := range lens[from:to] {
			n += l
			if !cfg.NoReranker {
				n += query.tokens + 1
			}
		}
		if cfg.NoReranker {
			n += query.tokens
		}
		s.Fields[FieldInputLen] = n
		samples = append(samples, s)
	}
	return samples, nil
}
