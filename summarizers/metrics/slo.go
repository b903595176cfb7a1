package metrics

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
	Metric string  `json:"metric"` // ttft, tpot, e2el
	MaxMS  float64 `json:"max_ms"`
}

// ParseSLOs reads "ttft:500" and the like; blanks and commas separate several.
func ParseSLOs(list []string) ([]SLO, error) {
	var out []SLO
	for _, word := range list {
		for _, s := range strings.FieldsFunc(word, func(r rune) bool { return r == ',' || r == ' ' }) {
			name, value, ok := strings.Cut(s, ":")
			ms, err := strconv.ParseFloat(value, 64)
			if !ok || err != nil || !(ms >= 0) || math.IsInf(ms, 0) {
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

// Judge says whether a successful request kept the SLO, and whether that can be
// said at all: an answer of one token has no gap that could be too long, but
// the first token of a request that was not streamed was seen by nobody.
func (s SLO) Judge(r *outputs.Record) (met, known bool) {
	switch s.Metric {
	case "ttft":
		v, ok := r.TTFT()
		return ok && float64(v)/1e6 <= s.MaxMS, ok
	case "tpot":
		if r.OutputTokens == 0 || r.OutputTokens == 1 {
			return true, true
		}
		v, ok := r.TPOT()
		return ok && v/1e6 <= s.MaxMS, ok
	default:
		v, ok := r.E2EL()
		return ok && float64(v)/1e6 <= s.MaxMS, ok
	}
}

// Attainment is how many requests kept one SLO.
type Attainment struct {
	SLO
	Judged int64 `json:"judged"` // successful requests that have the metric
	Met    int64 `json:"met"`
	// Share is Met of all requests, failed ones included; null when none could
	// be judged.
	Share *float64 `json:"share"`
}
