package load

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Arrivals are the traffic settings as users give them (vLLM's and AISBench's
// flags).
type Arrivals struct {
	RequestRate float64 // requests/s; 0 or +Inf = all at once
	Burstiness  float64 // gamma shape; 0 = 1 (Poisson); +Inf = constant gaps
	RampUp      string  // "", linear or exponential
	RampStart   float64 // requests/s
	RampEnd     float64 // requests/s
	// RampFor > 0 is how long a ramp takes, whatever comes after it at RampEnd.
	// Without it a ramp takes Count requests, or as many as it has within
	// RampWithin (> 0), whichever are fewer.
	RampFor, RampWithin time.Duration

	// Count is how many requests are to come: the last of them is due at exactly
	// Count/RequestRate whatever the burstiness, as in vLLM. 0 = open: the gaps are
	// as they are drawn.
	Count int
	Seed  uint64
}

// Schedule builds the schedule these settings describe. The error names the
// flag at fault.
func (a Arrivals) Schedule() (Schedule, error) {
	if math.IsNaN(a.RequestRate) || a.RequestRate < 0 {
		return nil, fmt.Errorf("--request-rate %g: give a rate above 0, or inf for all at once", a.RequestRate)
	}
	b := a.Burstiness
	if b == 0 {
		b = 1
	}
	if math.IsNaN(b) || b < 0 {
		return nil, fmt.Errorf("--burstiness %g: give a number above 0 (1 = Poisson, below 1 = burstier, inf = constant gaps)", b)
	}
	if a.RampUp != "" {
		if a.RampUp != "linear" && a.RampUp != "exponential" {
			return nil, fmt.Errorf("--ramp-up-strategy %q: give linear or exponential", a.RampUp)
		}
		if a.RequestRate != 0 && !math.IsInf(a.RequestRate, 1) {
			return nil, fmt.Errorf("--request-rate and --ramp-up-strategy exclude each other: the ramp sets the rate")
		}
		if a.RampStart < 0 || a.RampEnd <= 0 || a.RampStart > a.RampEnd {
			return nil, fmt.Errorf("--ramp-up-start-rps %g and --ramp-up-end-rps %g: both are needed, with 0 ≤ start ≤ end and end above 0", a.RampStart, a.RampEnd)
		}
		if a.RampUp == "exponential" && a.RampStart == 0 {
			return nil, fmt.Errorf("--ramp-up-start-rps 0: an exponential ramp cannot start at 0")
		}
		r := Ramp{Start: a.RampStart, End: a.RampEnd, Count: a.Count, Exponential: a.RampUp == "exponential", Burstiness: b, Seed: a.Seed}
		switch within := r.within(a.RampWithin); {
		case a.RampFor > 0:
			r.Count = r.within(a.RampFor)
		case within > 0 && (r.Count == 0 || within < r.Count):
			r.Count = within
		}
		if r.Count == 0 {
			return nil, fmt.Errorf("--ramp-up-strategy needs a number of requests or a duration: the ramp goes by request index")
		}
		return r, nil
	}
	if a.RequestRate == 0 || math.IsInf(a.RequestRate, 1) {
		return AllAtOnce{}, nil
	}
	if math.IsInf(b, 1) {
		return Constant{Rate: a.RequestRate, Wait: a.Count > 0}, nil
	}
	g := Gamma{Rate: a.RequestRate, Burstiness: b, Seed: a.Seed}
	if a.Count == 0 {
		return g, nil
	}
	return Rescaled{Of: g, Count: a.Count, Rate: a.RequestRate}, nil
}

// ParseStages reads stretches of constant mean rate: RATExDURATION, separated
// by commas or blanks, such as "5x30s,20x1m,0x10s" (requests/s; 0 is a pause).
func ParseStages(text string) ([]Stage, error) {
	var out []Stage
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		rate, span, ok := strings.Cut(f, "x")
		r, err := strconv.ParseFloat(rate, 64)
		d, derr := time.ParseDuration(span)
		if !ok || err != nil || derr != nil || r < 0 || math.IsNaN(r) || math.IsInf(r, 0) || d <= 0 {
			return nil, fmt.Errorf("--stages %s: write RATExDURATION, for example 5x30s,20x1m (requests/s; 0 is a pause)", f)
		}
		out = append(out, Stage{Rate: r, For: d})
	}
	return out, nil
}
