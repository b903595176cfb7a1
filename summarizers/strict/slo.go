package strict

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ais_bench/outputs"
)

// SLO is a bound on one metric of one request, in milliseconds (vLLM's
// --goodput ttft:500).
type SLO struct {
	Metric string // ttft, tpot, e2el
	MaxMS  float64
}

// ParseSLOs reads "ttft:500" and the like; blanks and commas separate several.
func ParseSLOs(list []string) ([]SLO, error) {
	var out []SLO
	for _, word := range list {
		for _, s := range strings.FieldsFunc(word, func(r rune) bool { return r == ',' || r == ' ' }) {
			name, value, ok := strings.Cut(s, ":")
			ms, err := strconv.ParseFloat(value, 64)
			if !ok || err != nil || ms < 0 || math.IsNaN(ms) {
				return nil, fmt.Errorf("--goodput %s: write METRIC:MILLISECONDS, for example ttft:500", s)
			}
			name = strings.ToLower(name)
			switch name {
			case "ttft", "tpot", "e2el":
			default:
				return nil, fmt.Errorf("--goodput %s: unknown metric %q; one of ttft, tpot, e2el", s, name)
			}
			for _, have := range out {
				if have.Metric == name {
					return nil, fmt.Errorf("--goodput: %s is given twice", name)
				}
			}
			out = append(out, SLO{name, ms})
		}
	}
	return out, nil
}

// judge tells whether a successful request kept the SLO. An undefined figure
// is not the same everywhere: a single-token answer has no gap that could be
// too long, but a request that was not streamed has a first token nobody saw,
// so nothing can be said.
func (s SLO) judge(r *outputs.Record) (met, known bool) {
	switch s.Metric {
	case "ttft":
		v, ok := r.TTFT()
		return float64(v)/1e6 <= s.MaxMS, ok
	case "tpot":
		if r.OutputTokens >= 0 && r.OutputTokens < 2 {
			return true, true
		}
		v, ok := r.TPOT()
		return v/1e6 <= s.MaxMS, ok
	default:
		v, ok := r.E2EL()
		return float64(v)/1e6 <= s.MaxMS, ok
	}
}

// Attainment is how many requests kept one SLO.
type Attainment struct {
	Metric string   `json:"metric"`
	MaxMS  float64  `json:"max_ms"`
	Known  int64    `json:"judged"` // successful requests that have the metric
	Met    int64    `json:"met"`
	Share  *float64 `json:"share"` // of all measured requests, failed ones included
}
