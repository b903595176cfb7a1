package facts

import (
	"math"
	"slices"

	"ais_bench/evaluators/stats"
	"ais_bench/outputs"
)

// flights are when requests were sent, streamed and ended.
type flights struct {
	sent, first, end []int64 // first: the first token of a stream, else the send
	doneAt           []int64 // ends of successful requests
	doneSent         []int64 // and when they were sent
	doneFirst        []int64 // and had their first token
}

func (f *flights) add(r *outputs.Record) {
	end := r.End
	if end == outputs.Never {
		end = r.LastToken
	}
	if end == outputs.Never {
		return
	}
	first := r.Sent
	if r.Stream && r.FirstToken != outputs.Never {
		first = r.FirstToken
	}
	f.sent, f.first, f.end = append(f.sent, r.Sent), append(f.first, first), append(f.end, end)
}

func (f *flights) done(r *outputs.Record) {
	end := r.End
	if end == outputs.Never {
		end = r.LastToken
	}
	if end == outputs.Never || r.Sent == outputs.Never {
		return
	}
	first := r.Sent
	if r.Stream && r.FirstToken != outputs.Never {
		first = r.FirstToken
	}
	f.doneAt, f.doneSent, f.doneFirst = append(f.doneAt, end), append(f.doneSent, r.Sent), append(f.doneFirst, first)
}

// steady is the part of a run in which the service was kept busy: from the first
// answer that was complete to the last at which as many were still to come as
// stream at once at most. What happens before (everything sent at once waits for
// itself) and after (the last answers have the service to themselves) is the
// same in every repetition and says nothing about chance. ok is false when there is no such part, as when all
// requests are sent at once and answered together.
func (f *flights) steady() (from, to int64, ok bool) {
	n := len(f.doneAt)
	if n == 0 {
		return 0, 0, false
	}
	ends := slices.Clone(f.doneAt)
	slices.Sort(ends)
	last := n - 1 - f.peak()
	if last < 1 || ends[last] <= ends[0] {
		return 0, 0, false
	}
	return ends[0], ends[last], true
}

// peak is the most requests that streamed at once.
func (f *flights) peak() int {
	starts, ends := slices.Clone(f.first), slices.Clone(f.end)
	slices.Sort(starts)
	slices.Sort(ends)
	most, open, j := 0, 0, 0
	for _, s := range starts {
		for j < len(ends) && ends[j] <= s {
			j++
			open--
		}
		open++
		most = max(most, open)
	}
	return most
}

// fed is when the first answer was complete: requests sent later did not start
// together with all others.
func (f *flights) fed() int64 {
	if len(f.doneAt) == 0 {
		return math.MaxInt64
	}
	return slices.Min(f.doneAt)
}

// stream is the mean time a request streams, in ns.
func (f *flights) stream() float64 {
	if len(f.doneAt) == 0 {
		return 0
	}
	sum := 0.0
	for i, end := range f.doneAt {
		sum += float64(end - f.doneFirst[i])
	}
	return sum / float64(len(f.doneAt))
}

// tail is by how much the end of the run is a matter of chance, in ns: the standard
// deviation of the time that a request takes, because the run ends with whatever
// request happens to be the last. Requests that waited for all others at the
// start do not count with their wait.
func (f *flights) tail() float64 {
	fed := f.fed()
	var later, all []float64
	for i, end := range f.doneAt {
		if f.doneSent[i] > fed {
			later = append(later, float64(end-f.doneSent[i]))
		}
		all = append(all, float64(end-f.doneFirst[i]))
	}
	if len(later) < 2 {
		later = all
	}
	sd, _ := stats.StdDev(later)
	return sd
}
