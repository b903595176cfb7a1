package tasks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"ais_bench/datasets"
	"ais_bench/models"
	"ais_bench/models/inspect"
	"ais_bench/outputs"
	"ais_bench/registry"
	"ais_bench/tasks/load"
)

// CacheMode is the state of the server's prefix cache that the measured requests
// are to meet.
type CacheMode string

// The states. A run that does not say which one it met cannot be compared with
// another: the difference between them can be larger than that between two
// engines.
const (
	CacheAny  CacheMode = "any"  // as it happens to be
	CacheCold CacheMode = "cold" // nothing of these prompts is in it
	CacheWarm CacheMode = "warm" // every prompt has been in it once
)

// ParseCacheMode reads a mode; "" is any.
func ParseCacheMode(s string) (CacheMode, error) {
	modes := []string{string(CacheAny), string(CacheCold), string(CacheWarm)}
	if s == "" {
		return CacheAny, nil
	}
	if !slices.Contains(modes, s) {
		return "", fmt.Errorf("--cache %s: unknown%s; one of cold, warm, any", s, registry.DidYouMean(s, modes))
	}
	return CacheMode(s), nil
}

// cachePlan is how the state is brought about.
type cachePlan struct {
	mode  CacheMode
	reset bool // by an endpoint, just before the measured requests
	out   *outputs.ServerCache
	// engine names the engine for the order of endpoints.
	engine string
}

// ColdByServer reports how a server can make its cache cold without a change of
// the prompts: by an endpoint (called here, to see that it works), or by a salt
// beside the prompt. Neither: why not.
func ColdByServer(ctx context.Context, cfg models.Config, engine, version string) (endpoint string, param bool, why error) {
	endpoint, why = inspect.ResetPrefixCache(ctx, cfg, engine)
	if why == nil {
		return endpoint, false, nil
	}
	return "", takesCacheSalt(cfg, engine, version), why
}

// takesCacheSalt tells versions of vLLM that keep requests with different cache_salt
// apart: chat since 0.9, completions since 0.11.
func takesCacheSalt(cfg models.Config, engine, version string) bool {
	if engine != "vllm" {
		return false
	}
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(strings.TrimRightFunc(parts[1], func(r rune) bool { return r < '0' || r > '9' }))
	if err1 != nil || err2 != nil {
		return false
	}
	switch cfg.Protocol() {
	case models.Chat:
		return major > 0 || minor >= 9
	case models.Completions:
		return major > 0 || minor >= 11
	}
	return false
}

// planCache decides how the state asked for is reached, and salts the prompts
// where that is the way.
func (in *inference) planCache(ctx context.Context, to *TaskOutcome, server *inspect.Snapshot) error {
	in.cache.engine = server.Engine
	mode := in.opts.Cache
	if m := in.task.Dataset.Cache; m != "" {
		mode = m
	}
	if mode == "" || mode == CacheAny {
		return nil
	}
	in.cache = cachePlan{mode: mode, engine: server.Engine, out: &outputs.ServerCache{Mode: string(mode), SharedShare: sharedShare(in.set)}}
	to.Cache = in.cache.out
	if mode == CacheWarm {
		in.cache.out.How = "every prompt was sent once, for one token, before the measured requests"
		return nil
	}
	if done := cmp.Or(in.task.Dataset.CacheDone, in.opts.CacheDone); done != "" {
		in.cache.out.How = done
		return nil
	}
	endpoint, param, why := ColdByServer(ctx, in.svc.cfg, server.Engine, server.Version)
	salt := in.salt()
	switch {
	case endpoint != "":
		in.cache.reset = true
	case param:
		in.set = SaltCache(in.set, salt)
		in.cache.out.How = fmt.Sprintf("cache_salt %q in every request (%v)", salt, why)
	case in.opts.Mode != ModePerf:
		return fmt.Errorf("--cache cold: %w. Salting the prompts would change the questions that are scored: reset the cache yourself, or use --mode perf", why)
	default:
		in.set = SaltPrompts(in.set, "["+salt+"]")
		in.cache.out.How = fmt.Sprintf("every prompt begins with the salt [%s], which is new in this run and adds some tokens (%v)", salt, why)
	}
	return nil
}

// salt is new in every run.
func (in *inference) salt() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", in.opts.runTag, in.task, in.clock.Zero().UnixNano()))
	return hex.EncodeToString(sum[:4])
}

// prepareCache is called after the warm-up, just before the first measured request.
func (in *inference) prepareCache(ctx context.Context) error {
	if in.opts.FlushCache && !in.cache.reset {
		path, err := inspect.ResetPrefixCache(ctx, in.svc.cfg, in.cache.engine)
		if err != nil {
			return &EnvironmentError{fmt.Errorf("--flush-cache: the server's prefix cache could not be emptied: %w (--cache cold makes the prompts new instead)", err)}
		}
		in.observe.Note(fmt.Sprintf("%s: --flush-cache: POST %s done", in.task, path))
	}
	switch {
	case in.cache.reset:
		path, err := inspect.ResetPrefixCache(ctx, in.svc.cfg, in.cache.engine)
		if err != nil {
			return &EnvironmentError{fmt.Errorf("--cache cold: the reset that worked a moment ago failed: %w", err)}
		}
		in.cache.out.How = "POST " + path + " just before the first measured request"
	case in.cache.mode == CacheWarm:
		if err := in.sendOnce(ctx); err != nil {
			return err
		}
	}
	if in.cache.out != nil {
		in.observe.Note(fmt.Sprintf("%s: cache %s: %s", in.task, in.cache.mode, in.cache.out.How))
	}
	return nil
}

// sendOnce sends every prompt of the set, unchanged, for one token.
func (in *inference) sendOnce(ctx context.Context) error {
	n := len(in.set.Samples)
	in.observe.Note(fmt.Sprintf("%s: cache warm: sending %d prompt(s) once", in.task, n))
	var ok atomic.Int64
	var last atomic.Pointer[models.Result]
	cfg := load.Config{Clock: in.clock, Phase: outputs.PhaseWarmup, Count: n, MaxConcurrency: max(in.svc.cfg.BatchSize, 1), Stop: in.stop, Drain: in.opts.Drain}
	load.Run(ctx, cfg, func(ctx context.Context, s load.Slot) {
		sample := &in.set.Samples[s.Index]
		prompts := sample.Choices
		if len(prompts) == 0 {
			prompts = []datasets.Prompt{sample.Prompt}
		}
		for _, p := range prompts {
			req := newRequest(in.svc.cfg, in.set.Config, sample, p)
			if req.MaxTokens != 0 || in.svc.cfg.Protocol() == models.Chat || in.svc.cfg.Protocol() == models.Completions {
				req.MaxTokens = 1
			}
			delete(req.Params, "min_tokens")
			req.ID = in.requestID("warm")
			res := in.svc.client.Do(ctx, req)
			sent(s, res)
			res.Decode()
			rec := newRecord(res, req)
			in.label(rec, question{sample: sample}, 0, 0, 0, s)
			in.keep(rec)
			if res.Status == outputs.StatusOK {
				ok.Add(1)
			} else {
				last.Store(res)
			}
		}
	})
	if ok.Load() > 0 || ctx.Err() != nil || stopped(in.stop) {
		return nil
	}
	if res := last.Load(); res != nil {
		return fmt.Errorf("--cache warm: all prompts failed, the last one with %s: %s", res.Status, oneLine(res.Error))
	}
	return nil
}

// SaltCache is a copy of the set whose requests carry vLLM's cache_salt: blocks of
// another salt are not theirs.
func SaltCache(set *datasets.Set, salt string) *datasets.Set {
	out := *set
	out.Samples = slices.Clone(set.Samples)
	for i := range out.Samples {
		s := &out.Samples[i]
		s.Params = maps.Clone(s.Params)
		if s.Params == nil {
			s.Params = map[string]any{}
		}
		s.Params["cache_salt"] = salt
	}
	return &out
}

// SaltPrompts is a copy of the set whose prompts all begin with the same salt: none of
// them shares a beginning with a prompt of an earlier run, and what they share with
// one another stays shared.
func SaltPrompts(set *datasets.Set, salt string) *datasets.Set {
	out := *set
	out.Samples = slices.Clone(set.Samples)
	ids := saltIDs(set, salt)
	prompt := func(p datasets.Prompt) datasets.Prompt {
		switch {
		case len(p.TokenIDs) > 0:
			return datasets.Prompt{TokenIDs: append(slices.Clone(ids), p.TokenIDs...)}
		case len(p.Turns) > 0:
			turns := slices.Clone(p.Turns)
			turns[0].Text = salt + " " + turns[0].Text
			return datasets.Prompt{Turns: turns}
		}
		return datasets.Prompt{Text: salt + " " + p.Text}
	}
	for i := range out.Samples {
		out.Samples[i] = changePrompts(out.Samples[i], prompt)
	}
	return &out
}

// saltIDs turns a salt into token ids that the model has: some of those that occur
// in the prompts, chosen by the salt.
func saltIDs(set *datasets.Set, salt string) []int {
	seen := map[int]bool{}
	for i := range set.Samples {
		for _, id := range set.Samples[i].Prompt.TokenIDs {
			seen[id] = true
		}
		if len(seen) > 4096 {
			break
		}
	}
	if len(seen) == 0 {
		return nil
	}
	pool := slices.Sorted(maps.Keys(seen))
	sum := sha256.Sum256([]byte(salt))
	ids := make([]int, 8)
	for i := range ids {
		ids[i] = pool[(int(sum[2*i])<<8|int(sum[2*i+1]))%len(pool)]
	}
	return ids
}

// sharedShare is how much of the prompts repeats the beginning of another prompt of
// the same set, by bytes (tokens for prompts that are ids): what a prefix cache can
// save even when it starts empty. A set of n prompts has a trie of their beginnings; the
// rest is shared. Sorted, each prompt shares with the one before it what it shares with any.
// Nil for no prompts.
func sharedShare(set *datasets.Set) *float64 {
	texts := make([]string, 0, len(set.Samples))
	total := 0
	for i := range set.Samples {
		p := set.Samples[i].Prompt
		var b strings.Builder
		switch {
		case len(p.TokenIDs) > 0:
			for _, id := range p.TokenIDs {
				b.WriteByte(byte(id >> 16))
				b.WriteByte(byte(id >> 8))
				b.WriteByte(byte(id))
			}
		case len(p.Turns) > 0:
			for _, t := range p.Turns {
				b.WriteString(t.Role + "\x00" + t.Text + "\x00")
			}
		default:
			b.WriteString(p.Text)
		}
		texts = append(texts, b.String())
		total += b.Len()
	}
	if total == 0 {
		return nil
	}
	slices.Sort(texts)
	shared := 0
	for i := 1; i < len(texts); i++ {
		a, b := texts[i-1], texts[i]
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		shared += n
	}
	share := float64(shared) / float64(total)
	return &share
}
