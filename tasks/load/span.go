package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// MaxSpan is the longest that the arrivals of a phase may be planned for. A rate
// that needs longer is a slip of the pen (1e-300 for 1e3), and such a run would
// wait for its first request for ever.
const MaxSpan = 30 * 24 * time.Hour

// Span is the mean time in seconds at which request n (from 1) of a schedule is
// due; 0 for schedules that it does not know.
func Span(s Schedule, n int) float64 {
	if n < 1 {
		return 0
	}
	switch s := s.(type) {
	case Constant:
		if s.Wait {
			return float64(n) / s.Rate
		}
		return float64(n-1) / s.Rate
	case Gamma:
		return float64(n) / s.Rate
	case Rescaled:
		return float64(n) / s.Rate
	case Ramp:
		t := 0.0
		if n >= s.Count {
			return s.span(s.Count) + float64(n-s.Count)/s.End
		}
		for i := range n {
			t += 1 / s.rate(i)
		}
		return t
	case Replay:
		if len(s.Times) == 0 {
			return 0
		}
		times := slices.Clone(s.Times)
		slices.Sort(times)
		pass, at := (n-1)/len(times), (n-1)%len(times)
		if s.Period <= 0 {
			pass, at = 0, min(n, len(times))-1
		}
		return (float64(times[at]) - float64(times[0]) + float64(pass)*float64(s.Period)) / s.Speed / 1e9
	}
	return 0
}

// CheckSpan refuses a schedule whose first request, or whose last of count (0 = open)
// unless the phase ends before, is due later than MaxSpan. The error names the flag
// and the bound.
func CheckSpan(s Schedule, count int, within time.Duration) error {
	most := MaxSpan.Seconds()
	flag, do := "", ""
	switch s := s.(type) {
	case Constant:
		flag, do = fmt.Sprintf("--request-rate %g", s.Rate), "raise it"
	case Gamma:
		flag, do = fmt.Sprintf("--request-rate %g", s.Rate), "raise it"
	case Rescaled:
		flag, do = fmt.Sprintf("--request-rate %g", s.Rate), "raise it"
	case Ramp:
		flag, do = fmt.Sprintf("--ramp-up-start-rps %g to --ramp-up-end-rps %g", s.Start, s.End), "raise them"
	case Replay:
		flag, do = fmt.Sprintf("--replay-speed %g", s.Speed), "raise it"
	default:
		return nil
	}
	if t := Span(s, 1); t > most || math.IsNaN(t) {
		return fmt.Errorf("%s: the first request would be sent after %s; at most %s can be planned: %s", flag, spanText(t), spanText(most), do)
	}
	if within > 0 && within <= MaxSpan {
		return nil
	}
	if t := Span(s, count); t > most || math.IsNaN(t) {
		return fmt.Errorf("%s: sending the %d requests would take %s; at most %s can be planned: %s, or ask fewer", flag, count, spanText(t), spanText(most), do)
	}
	return nil
}

// Takes says how long a replay of n requests will take, for before it begins.
func (s Replay) Takes(n int) string {
	switch sec := Span(s, n); {
	case sec < 60:
		return fmt.Sprintf("%.1f s", sec)
	case sec < 3600:
		return fmt.Sprintf("%.1f min", sec/60)
	case sec < 24*3600:
		return fmt.Sprintf("%.1f h", sec/3600)
	default:
		return fmt.Sprintf("%.1f days", sec/(24*3600))
	}
}

// spanText is a length of time in the unit in which it can be imagined.
func spanText(sec float64) string {
	const day, year = 24 * 3600.0, 365.25 * 24 * 3600
	if math.IsNaN(sec) || math.IsInf(sec, 0) {
		return "no end of time"
	}
	size, unit := sec/day, "days"
	if sec >= 2*year {
		size, unit = sec/year, "years"
	}
	return fmt.Sprintf("%s %s", number(size), unit)
}

func number(v float64) string {
	if v < 1e6 {
		return fmt.Sprintf("%.0f", cmp.Or(math.Round(v), 1))
	}
	return fmt.Sprintf("%.1e", v)
}
