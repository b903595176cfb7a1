package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"ais_bench/datasets"
	"ais_bench/models/inspect"
	"ais_bench/outputs"
	"ais_bench/tasks"
)

// Pass is one of several measurements of the same requests in one run.
type Pass struct {
	Round   int // from 1
	Cache   tasks.CacheMode
	Dataset string // names its records
}

// coldWay is how the prompts become new to the server's prefix cache.
type coldWay struct {
	endpoint string // resets it; "" = none
	param    bool   // a salt beside the prompt does
	why      error  // there is no endpoint
}

// findColdWay asks the server.
func (s *Session) findColdWay(ctx context.Context) coldWay {
	snap := inspect.Take(ctx, s.Service)
	var w coldWay
	w.endpoint, w.param, w.why = tasks.ColdByServer(ctx, s.Service, snap.Engine, snap.Version)
	return w
}

// newSalt is another one in every run and round.
func (s *Session) newSalt(round int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", s.Workload, round, time.Now().UnixNano()))
	return hex.EncodeToString(sum[:4])
}

// planCold salts the workload for --cache cold where the server can do nothing: a
// workload keeps its lengths with a salt, which a salt put before it afterwards would not.
func (s *Session) planCold(ctx context.Context) {
	if s.opts.Cache != tasks.CacheCold || s.opts.PrefixRounds > 0 {
		return
	}
	way := s.findColdWay(ctx)
	if way.endpoint != "" || way.param {
		return
	}
	salt := "[" + s.newSalt(0) + "]"
	if own := s.opts.Workload.CacheBust; own != "" {
		s.opts.Workload.CacheBust = salt + " " + own
	} else {
		s.opts.Workload.CacheBust = salt
	}
	s.opts.CacheDone = fmt.Sprintf("every prompt begins with the salt %s, which is new in this run (%v)", salt, way.why)
}

// choices are the data sets of the run: the requests once, or cold and warm in
// turn for every round.
func (s *Session) choices(ctx context.Context) ([]tasks.DatasetChoice, []Pass) {
	one := tasks.DatasetChoice{Name: s.Set.Config.Abbr, Origin: s.Workload, Config: s.Set.Config, Set: s.Set}
	if s.opts.PrefixRounds == 0 {
		return []tasks.DatasetChoice{one}, nil
	}
	way := s.findColdWay(ctx)
	var list []tasks.DatasetChoice
	var passes []Pass
	for round := 1; round <= s.opts.PrefixRounds; round++ {
		set, done := s.Set, ""
		salt := s.newSalt(round)
		switch {
		case way.endpoint != "":
		case way.param:
			set, done = tasks.SaltCache(set, salt), fmt.Sprintf("cache_salt %q in every request, new in this round (%v)", salt, way.why)
		default:
			set, done = tasks.SaltPrompts(set, "["+salt+"]"), fmt.Sprintf("every prompt begins with the salt [%s], new in this round, which adds some tokens (%v)", salt, way.why)
		}
		for _, mode := range []tasks.CacheMode{tasks.CacheCold, tasks.CacheWarm} {
			d := one
			d.Set, d.Cache = named(set, passName(s.Set.Config.Abbr, mode, round, s.opts.PrefixRounds)), mode
			if mode == tasks.CacheCold {
				d.CacheDone = done
			}
			d.Config = d.Set.Config
			d.Name = d.Config.Abbr
			list = append(list, d)
			passes = append(passes, Pass{Round: round, Cache: mode, Dataset: d.Name})
		}
	}
	return list, passes
}

func passName(abbr string, mode tasks.CacheMode, round, of int) string {
	name := abbr + "-" + string(mode)
	if of > 1 {
		name += fmt.Sprintf("-%d", round)
	}
	return name
}

// named is the set under another name.
func named(set *datasets.Set, abbr string) *datasets.Set {
	out := *set
	out.Config.Abbr = abbr
	return &out
}

// Passes pairs the records of the cold and the warm pass of every round; nil for
// a benchmark that has none.
func (s *Session) Passes() (cold, warm []outputs.Pair) {
	for _, p := range s.passes {
		pair := outputs.Pair{Model: s.Service.Abbr, Dataset: p.Dataset}
		if p.Cache == tasks.CacheCold {
			cold = append(cold, pair)
		} else {
			warm = append(warm, pair)
		}
	}
	return cold, warm
}
