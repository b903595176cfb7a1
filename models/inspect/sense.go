package inspect

import (
	"fmt"
	"math"
)

// Nonsense is a value that its series cannot have. The whole series is left out of
// that scrape: without one of its parts a sum would be another figure.
type Nonsense struct {
	Metric string // the endpoint's name
	Text   string // what it says and why that cannot be
}

// mostCounted is the largest count that a float holds exactly.
const mostCounted = 1 << 53

// fullKV is the largest KV use that rounding explains.
const fullKV = 1.005

// nonsense says why a value of a series cannot be; "" = it can. Counters count, and so
// do the numbers of requests; a share is at most 1. Other gauges (a temperature) may be
// anything that is a number.
func (r *SeriesRule) nonsense(series string, v float64) string {
	share := series == "kv_usage"
	counts := r.Kind == KindCounter || series == "requests_running" || series == "requests_waiting"
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Sprintf("%v is no number", v)
	case (counts || share) && v < 0:
		return fmt.Sprintf("%.4g is below 0", v)
	case counts && v > mostCounted:
		return fmt.Sprintf("%.4g is more than anything can be counted", v)
	case share && v > fullKV:
		return fmt.Sprintf("%.4g is no share of 1 (for an exporter that tells percent, a map with scale: 0.01 in --config-dir metrics/NAME.yaml)", v)
	}
	return ""
}

// undefined reports whether NaN is an honest value: a rate before anything happened.
func (r *SeriesRule) undefined(series string, v float64) bool {
	return math.IsNaN(v) && r.Kind == KindGauge && series != "kv_usage" && series != "requests_running" && series != "requests_waiting"
}
