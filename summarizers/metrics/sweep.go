package metrics

import "slices"

// flight is one request's stay in the system: [sent, end).
type flight struct{ sent, end int64 }

// step is the number of requests in flight from at on, until the next step.
type step struct {
	at int64
	n  int64
}

// sweep turns flights into steps by an event sweep in which an end sorts before
// a start of the same instant, so that back-to-back requests are never two at
// once. A flight lasts at least 1 ns: it must not end before it began.
func sweep(flights []flight) []step {
	starts := make([]int64, len(flights))
	ends := make([]int64, len(flights))
	for i, f := range flights {
		starts[i], ends[i] = f.sent, max(f.end, f.sent+1)
	}
	slices.Sort(starts)
	slices.Sort(ends)
	steps := make([]step, 0, 2*len(flights))
	n, i, j := int64(0), 0, 0
	for j < len(ends) {
		at := ends[j]
		if i < len(starts) {
			at = min(at, starts[i])
		}
		for j < len(ends) && ends[j] == at {
			n--
			j++
		}
		for i < len(starts) && starts[i] == at {
			n++
			i++
		}
		if k := len(steps); k > 0 && steps[k-1].n == n {
			continue
		}
		steps = append(steps, step{at, n})
	}
	return steps
}

// peakOf is the most requests in flight.
func peakOf(steps []step) int64 {
	best := int64(0)
	for _, s := range steps {
		best = max(best, s.n)
	}
	return best
}

// area is ∫ in flight dt over [from, to), in request·ns.
func area(steps []step, from, to int64) float64 {
	total := 0.0
	for i, s := range steps {
		end := to
		if i+1 < len(steps) {
			end = min(steps[i+1].at, to)
		}
		if d := end - max(s.at, from); d > 0 {
			total += float64(d) * float64(s.n)
		}
	}
	return total
}
