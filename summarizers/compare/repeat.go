package compare

import (
	"fmt"
	"math"
	"slices"
)

// Repeatability is the rule for runs of one configuration: every figure of every
// run within Tolerance of every other's.
type Repeatability struct {
	Applies   bool     `json:"applies"`
	Reason    string   `json:"reason,omitempty"` // why it does not apply
	Tolerance float64  `json:"tolerance"`
	Runs      []string `json:"runs"`
	Spreads   []Spread `json:"spreads"`
	Pass      *bool    `json:"pass"` // nil where it does not apply
}

// Spread is how far one figure lies apart over the runs.
type Spread struct {
	Pair   string    `json:"pair"`
	Metric string    `json:"metric"`
	Title  string    `json:"title"`
	Unit   string    `json:"unit,omitempty"`
	Values []float64 `json:"values"`
	// Spread is (max − min)/min; of a share max − min.
	Spread float64 `json:"spread"`
	Limit  float64 `json:"limit"`
	Judged bool    `json:"judged"` // false: too few requests for the figure
	Pass   bool    `json:"pass"`
	Reason string  `json:"reason,omitempty"`
}

// spreadOf judges one figure; ok is false where a run has none.
func (o Options) spreadOf(m Metric, figures []figure) (s Spread, ok bool) {
	s = Spread{Metric: m.Name, Title: m.Title, Unit: m.Unit, Limit: o.tolerance(m), Judged: true}
	least := int64(math.MaxInt64)
	for _, f := range figures {
		if f.value == nil {
			return s, false
		}
		s.Values = append(s.Values, *f.value)
		least = min(least, f.n)
	}
	if len(s.Values) < 2 {
		return s, false
	}
	low, high := slices.Min(s.Values), slices.Max(s.Values)
	switch {
	case m.Share:
		s.Spread = high - low
	case high == low:
	case low <= 0:
		return s, false
	default:
		s.Spread = high/low - 1
	}
	s.Pass = s.Spread <= s.Limit+1e-12
	for _, f := range figures {
		if f.at == nil {
			continue // a saved result: nothing is known but the figure
		}
		if _, err := f.at(o.Level); err != nil {
			s.Judged, s.Reason = false, "no interval: "+err.Error()
			break
		}
	}
	if !m.supported(least) {
		s.Judged = false
		s.Reason = fmt.Sprintf("of %d values a P%g is little more than the largest", least, 100*m.Q)
	}
	return s, true
}

// leastRequests are the fewest that runs are held to the rule with: below, no mean
// and no rate has an interval, and a single slow request moves a figure by more
// than any tolerance.
const leastRequests = 10

func fewRequests(runs []source) bool {
	for _, of := range runs {
		if f := of(Metric{Name: successRate, Share: true}); f.value != nil && f.n > 0 && f.n < leastRequests {
			return true
		}
	}
	return false
}

// conclude sets whether the rule is kept.
func (r *Repeatability) conclude() {
	pass := true
	judged := false
	for _, s := range r.Spreads {
		if s.Judged {
			judged = true
			pass = pass && s.Pass
		}
	}
	if !judged {
		r.Applies, r.Reason = false, "no figure has enough values"
		return
	}
	r.Pass = &pass
}
