package server

import (
	"fmt"

	"ais_bench/outputs"
)

// CacheTruth is what state of the prefix cache the measured requests met, by two
// witnesses: the server's counters and the usage of the answers.
type CacheTruth struct {
	State    string `json:"prefix_caching"` // on, off or unknown, as the server says
	Evidence string `json:"evidence"`
	Mode     string `json:"mode"` // cold, warm, any
	How      string `json:"how"`
	// Hits and Queries are prompt tokens found, and looked for, during the measured phase.
	Hits        *float64 `json:"server_hit_tokens"`
	Queries     *float64 `json:"server_query_tokens"`
	ServerRate  *float64 `json:"server_hit_rate"`
	UsageRate   *float64 `json:"usage_hit_rate"` // cached_tokens / prompt_tokens of the answers that tell both
	UsageKnown  int64    `json:"usage_known"`    // answers that do
	UsageCached int64    `json:"usage_cached_tokens"`
	UsagePrompt int64    `json:"usage_prompt_tokens"`
	SharedShare *float64 `json:"shared_share"`   // of the prompts' text among themselves
	Flag        string   `json:"flag,omitempty"` // why the state is not what was asked for
	Note        string   `json:"note,omitempty"` // why hits of a cold run are none of an earlier one's
}

// sharedSlack is how much the hit rate may exceed what the prompts share among
// themselves: that is of their text, the rate is of tokens and of whole blocks.
const sharedSlack = 0.01

// coldHits is the hit rate from which on a cold run is flagged.
const coldHits = 0.01

func (v view) cache(w *outputs.ServerWatch, c *Client) *CacheTruth {
	t := &CacheTruth{State: w.PrefixCaching, Evidence: w.Evidence, Mode: "any"}
	if w.Cache != nil {
		t.Mode, t.How, t.SharedShare = w.Cache.Mode, w.Cache.How, w.Cache.SharedShare
	}
	if w.MeasuredStart != nil && v.blind(w) == "" {
		t.Hits, t.Queries = v.cacheTokens(*w.MeasuredStart, w.End)
		if t.Hits != nil && *t.Queries > 0 {
			t.ServerRate = ptr(*t.Hits / *t.Queries)
		}
	}
	if m := &c.measured; m.input > 0 {
		t.UsageRate, t.UsageKnown, t.UsageCached, t.UsagePrompt = ptr(float64(m.cached)/float64(m.input)), m.cachedKnown, m.cached, m.input
	}
	t.flag()
	return t
}

// Rate is the hit rate: the server's, else the usage's; nil when neither is known.
func (t *CacheTruth) Rate() *float64 {
	if t.ServerRate != nil {
		return t.ServerRate
	}
	return t.UsageRate
}

// flag compares what was asked for with what was met.
func (t *CacheTruth) flag() {
	rate := t.ServerRate
	if t.UsageRate != nil && (rate == nil || *t.UsageRate > *rate) {
		rate = t.UsageRate // the larger of the witnesses: counters of some versions stay 0
	}
	switch {
	case t.Mode == "cold" && rate == nil:
		t.Flag = "cold was asked for and nothing tells whether it was: the server counts no hits and its usage has no cached_tokens"
	case t.Mode == "cold" && *rate >= coldHits && t.SharedShare != nil && *rate <= *t.SharedShare+sharedSlack:
		t.Note = fmt.Sprintf("cold: %.1f %% of the prompt tokens came from the prefix cache, all of which the prompts explain: %.1f %% of their text repeats the beginning of another prompt of this run, which no reset changes", 100**rate, 100**t.SharedShare)
	case t.Mode == "cold" && *rate >= coldHits:
		t.Flag = fmt.Sprintf("cold was asked for, and %.1f %% of the prompt tokens came from the prefix cache", 100**rate)
		if s := t.SharedShare; s != nil && *s >= coldHits {
			t.Flag += fmt.Sprintf("; %.1f %% of the prompts' text repeats the beginning of another prompt of this run, which no reset changes", 100**s)
		}
	case t.Mode == "warm" && rate != nil && *rate < 0.5:
		t.Flag = fmt.Sprintf("warm was asked for, and only %.1f %% of the prompt tokens came from the prefix cache", 100**rate)
		if t.State == "off" {
			t.Flag += ": prefix caching is off"
		} else {
			t.Flag += ": the cache may be smaller than the prompts, or a block of it longer than one"
		}
	}
}
