package simulator

import (
	"fmt"
	"strconv"
	"strings"

	"ais_bench/registry"
)

// FaultWhen is the place of a fault within a response.
type FaultWhen string

// The places: before any byte of the response, after the header and before
// the first payload, after about half of the answer.
const (
	FaultBefore FaultWhen = "before"
	FaultStart  FaultWhen = "start"
	FaultMid    FaultWhen = "mid"
)

// Fault is one way to misbehave.
//
//	kind        what happens (streams; other answers alike with half of the body for mid)
//	reset       the connection is reset (RST)
//	hang        silence; the connection stays open until the client gives up
//	close       the connection is closed without finish_reason, [DONE] or the end of the chunked body
//	error       an error object: in the stream, or as a status-200 body
//	429 500 503 that status with an OpenAI error body, 429 and 503 with Retry-After; inside a stream an error object with that code
//	html        status 200 with an HTML page (text/html); inside a stream a line of HTML
//	malformed   JSON that ends in the middle
//	empty       a properly ended answer without any payload; before: status 200 with an empty body
//	duplicate   a chunk sent twice; not streamed: the body sent twice
//	slow-loris  from that point on one byte every 20 ms
type Fault struct {
	Kind string
	Rate float64 // share of requests, 0 < Rate ≤ 1
	When FaultWhen
}

var faultDefaults = map[string]FaultWhen{
	"reset": FaultMid, "hang": FaultMid, "close": FaultMid, "error": FaultMid, "429": FaultBefore, "500": FaultBefore,
	"503": FaultBefore, "html": FaultBefore, "malformed": FaultMid, "empty": FaultStart, "duplicate": FaultMid, "slow-loris": FaultMid,
}

// FaultKinds lists the kinds in the order of the documentation.
var FaultKinds = []string{"reset", "hang", "close", "error", "429", "500", "503", "html", "malformed", "empty", "duplicate", "slow-loris"}

// ParseFault reads KIND[:RATE][,WHEN] or KIND[:RATE]@WHEN. RATE is 1 when left
// out; WHEN is before, start or mid and has a default for each kind (mid, but
// before for 429, 500, 503 and html, and start for empty).
func ParseFault(s string) (Fault, error) {
	spec, when := strings.TrimSpace(s), ""
	if i := strings.IndexAny(spec, ",@"); i >= 0 {
		spec, when = spec[:i], strings.TrimSpace(spec[i+1:])
	}
	kind, rate, hasRate := strings.Cut(spec, ":")
	f := Fault{Kind: strings.ReplaceAll(strings.TrimSpace(kind), "_", "-"), Rate: 1}
	if f.Kind == "slowloris" {
		f.Kind = "slow-loris"
	}
	def, ok := faultDefaults[f.Kind]
	if !ok {
		return f, fmt.Errorf("fault %q: unknown kind%s", s, registry.DidYouMean(f.Kind, FaultKinds))
	}
	if hasRate {
		r, err := strconv.ParseFloat(strings.TrimSpace(rate), 64)
		if err != nil || !(r > 0 && r <= 1) {
			return f, fmt.Errorf("fault %q: the rate must be a number above 0 and at most 1", s)
		}
		f.Rate = r
	}
	f.When = def
	if when != "" {
		f.When = FaultWhen(when)
		if f.When != FaultBefore && f.When != FaultStart && f.When != FaultMid {
			return f, fmt.Errorf("fault %q: %q must be before, start or mid", s, when)
		}
	}
	return f, nil
}

// String gives the form ParseFault reads.
func (f Fault) String() string { return fmt.Sprintf("%s:%g,%s", f.Kind, f.Rate, f.When) }

// pickFault decides by rate which fault request number n suffers. The rates
// of several faults add up; a request suffers one at most.
func pickFault(faults []Fault, seed, n uint64) *Fault {
	if len(faults) == 0 {
		return nil
	}
	u := unit(mix(mix(seed, 0xfa17), n))
	for i := range faults {
		if u < faults[i].Rate {
			return &faults[i]
		}
		u -= faults[i].Rate
	}
	return nil
}
