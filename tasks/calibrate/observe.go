package calibrate

import (
	"fmt"
	"slices"

	"ais_bench/outputs"
)

// The bounds of a run's calibration: beyond them the simulator, on the same
// processors, is what saturates.
const (
	MaxObservedStreams = 5000
	MaxObservedRate    = 1000 // chunks/s of a stream
	// DefaultRate is the rate, in chunks/s of a stream, where no answer shows one (not
	// streamed, or of one chunk).
	DefaultRate = 20
)

// Observed is the load that a run's measured requests were.
type Observed struct {
	Streams int     // in flight at once at most
	Rate    float64 // chunks/s of one stream in the mean; 0 = no answer shows it
}

// Observe reads the load off the records of the pairs: the most requests between
// their sending and their end at one moment, and Σ gaps / Σ (last chunk − first chunk)
// over the answers of two chunks and more. Damaged records are passed over; the error
// is of reading.
func Observe(run *outputs.Run, pairs []outputs.Pair) (Observed, error) {
	type edge struct {
		at   int64
		step int
	}
	var edges []edge
	var gaps, span int64
	for _, p := range pairs {
		if err := outputs.EachMeasured(run.Records(p.Model, p.Dataset), func(r *outputs.Record) {
			if r.Sent == outputs.Never || r.End == outputs.Never {
				return
			}
			edges = append(edges, edge{r.Sent, 1}, edge{r.End, -1})
			if n := len(r.ChunkAt); n > 1 {
				gaps, span = gaps+int64(n-1), span+r.ChunkAt[n-1]-r.ChunkAt[0]
			}
		}); err != nil {
			return Observed{}, err
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(min(max(a.at-b.at, -1), 1))
		}
		return a.step - b.step // what ends in the same moment ends first
	})
	var l Observed
	live := 0
	for _, e := range edges {
		live += e.step
		l.Streams = max(l.Streams, live)
	}
	if span > 0 {
		l.Rate = float64(gaps) / (float64(span) / 1e9)
	}
	return l, nil
}

// Load is the load to calibrate at, within the bounds, and where it comes from, in
// words for Report.LoadFrom. rate is in chunks/s of one stream.
func (l Observed) Load() (streams int, rate float64, from string) {
	streams, rate = min(max(l.Streams, 1), MaxObservedStreams), l.Rate
	from = "most requests in flight and mean chunk rate of a stream in this run"
	switch {
	case rate == 0:
		rate = DefaultRate
		from = fmt.Sprintf("most requests in flight in this run; no answer shows a chunk rate, so that it is %d/s", DefaultRate)
	case rate > MaxObservedRate:
		rate = MaxObservedRate
		from += fmt.Sprintf(" (%.0f/s), bounded to %d/s", l.Rate, MaxObservedRate)
	}
	if l.Streams > MaxObservedStreams {
		from += fmt.Sprintf("; of %d streams %d", l.Streams, MaxObservedStreams)
	}
	return streams, rate, from
}

// Report is what is kept of a calibration: the result at one load and the highest
// loads that were looked for.
type Report struct {
	*Result
	Limit        *Limit `json:"limit,omitempty"`         // of stamps and ITL
	LatencyLimit *Limit `json:"latency_limit,omitempty"` // of TTFT and E2E
	// LoadFrom says where the load of a run's calibration comes from; "" = it was given.
	LoadFrom string `json:"load_from,omitempty"`
}

// Keep puts the report into a run's manifest.
func (r *Report) Keep(run *outputs.Run) error {
	m, err := run.ReadManifest()
	if err != nil {
		return err
	}
	m.Calibration = r
	return run.WriteManifest(m)
}
