package capacity

import (
	"fmt"
	"iter"
	"slices"

	"ais_bench/outputs"
	"ais_bench/summarizers/interval"
	"ais_bench/summarizers/metrics"
)

// Level95 is the confidence of all intervals here.
const Level95 = 0.95

// Axis is what rises from level to level.
type Axis struct {
	Name string // concurrency, request_rate
	Unit string // "", "req/s"
}

// The axes.
var (
	Concurrency = Axis{Name: "concurrency"}
	RequestRate = Axis{Name: "request_rate", Unit: "req/s"}
)

// Title is the axis as a heading.
func (a Axis) Title() string {
	switch a.Name {
	case "concurrency":
		return "Concurrency"
	case "request_rate":
		return "Request rate"
	}
	return a.Name
}

// label is a value on the axis: "concurrency 8", "4 req/s".
func (a Axis) label(v float64) string {
	if a.Unit != "" {
		return number(v) + " " + a.Unit
	}
	return a.Name + " " + number(v)
}

// Run is one run at one level.
type Run struct {
	Number      int
	Dir         string // relative to the sweep
	NumPrompts  int    // requests asked for
	Seed        int64
	Result      *metrics.Result
	ClientBound string // no, suspect, yes; "" unknown
	Health      any    // the client's health as the manifest has it; nil unknown
	// Server is what the server's own metrics said during the run; nil where they were
	// not scraped.
	Server *Server
	// Records reads the run's records again, for figures over several runs' requests;
	// nil = not available.
	Records func() iter.Seq2[*outputs.Record, error]
}

// Server is what the server's gauges said during a run's measured phase.
type Server struct {
	Polls   int      `json:"polls"`
	Running float64  `json:"running_max"`  // most requests in its batch
	Waiting float64  `json:"waiting_mean"` // of the requests that waited for a place in it
	KVUsage *float64 `json:"kv_usage_max"`
	// MaxRunning is the limit of its batch (max_num_seqs) where the server tells it; 0 = unknown.
	MaxRunning float64 `json:"max_num_seqs"`
}

// Level is all runs at one value of the axis.
type Level struct {
	Value float64
	Runs  []Run // by number
	// Pooled is computed from the requests of all runs together. Only its
	// distributions and its buckets by length mean anything: its duration spans
	// pauses. Nil until Pool.
	Pooled *metrics.Result
}

// Curve is the levels of a sweep, by value.
type Curve struct {
	Axis   Axis
	Levels []Level
}

// Add puts a run to its level; one with the same number is replaced.
func (c *Curve) Add(value float64, r Run) {
	at, found := slices.BinarySearchFunc(c.Levels, value, func(l Level, v float64) int {
		switch {
		case l.Value < v:
			return -1
		case l.Value > v:
			return 1
		}
		return 0
	})
	if !found {
		c.Levels = slices.Insert(c.Levels, at, Level{Value: value})
	}
	l := &c.Levels[at]
	l.Runs = slices.DeleteFunc(l.Runs, func(o Run) bool { return o.Number == r.Number })
	l.Runs = append(l.Runs, r)
	slices.SortFunc(l.Runs, func(a, b Run) int { return a.Number - b.Number })
}

// At is the level of a value; nil when there is none.
func (c *Curve) At(value float64) *Level {
	for i := range c.Levels {
		if c.Levels[i].Value == value {
			return &c.Levels[i]
		}
	}
	return nil
}

// Statistic is a figure over the runs of a level.
type Statistic struct {
	N    int      `json:"runs"` // with the figure
	Mean *float64 `json:"mean"` // of the runs' figures; nil when undefined in one of them
	CV   *float64 `json:"cv"`   // sd/mean; nil below two runs
	// Low and High bound the mean by Student's t over runs; nil below two runs.
	Low  *float64 `json:"ci_low"`
	High *float64 `json:"ci_high"`
	// Undersampled: a run has too few values for this percentile.
	Undersampled bool      `json:"undersampled,omitempty"`
	Values       []float64 `json:"values"` // one a run
}

// Over is a figure over the level's runs. A figure undefined in any run is
// undefined: a mean of those that happen to have it would be of something else.
func (l *Level) Over(f Figure) Statistic {
	s := Statistic{Values: []float64{}}
	for i := range l.Runs {
		r := l.Runs[i].Result
		v := f.Of(r)
		if v == nil {
			return Statistic{Values: []float64{}}
		}
		s.Values = append(s.Values, *v)
		s.Undersampled = s.Undersampled || f.Undersampled(r)
	}
	s.summarize()
	return s
}

// summarize fills everything from Values.
func (s *Statistic) summarize() {
	s.N = len(s.Values)
	if s.N == 0 {
		return
	}
	if r, ok := interval.RunsMean(s.Values, Level95); ok {
		s.Mean, s.CV, s.Low, s.High = &r.Mean, r.CV, &r.Interval.Lo, &r.Interval.Hi
		return
	}
	s.Mean = &s.Values[0]
}

// half is half of the interval's width; nil below two runs.
func (s Statistic) half() *float64 {
	if s.Low == nil || s.High == nil {
		return nil
	}
	v := (*s.High - *s.Low) / 2
	return &v
}

// NoteSpread explains what stands behind a mean over runs.
const NoteSpread = "± half of Student's 95 % interval of the mean over runs, or its ends where it reaches below 0; a percentile is the mean of the runs' percentiles"

// Spread is the interval as it stands behind the mean: "±12.3", or its two ends
// where it reaches below 0, because none of the figures can be negative; "" below
// two runs. format is that of the figure.
func (s Statistic) Spread(format string) string {
	h := s.half()
	if h == nil {
		return ""
	}
	return spread(*s.Low, *s.High, *h, format)
}

func spread(low, high, half float64, format string) string {
	if low < 0 {
		return "(0 to " + fmt.Sprintf(format, high) + ")"
	}
	return "±" + fmt.Sprintf(format, half)
}

// LowShown is the lower end of an interval as it is printed: not below 0, which no
// figure can be.
func (s Statistic) LowShown() float64 { return max(0, *s.Low) }

// halfAt is half of the width at another level of confidence; nil below two runs.
func (s Statistic) halfAt(level float64) *float64 {
	r, ok := interval.RunsMean(s.Values, level)
	if !ok {
		return nil
	}
	v := (r.Interval.Hi - r.Interval.Lo) / 2
	return &v
}

// Requests are the requests of all runs of the level.
func (l *Level) Requests() (total, failed int64) {
	for i := range l.Runs {
		total += l.Runs[i].Result.Requests.Total
		failed += l.Runs[i].Result.Requests.Failed
	}
	return total, failed
}

// FailedShare is the share of all requests that failed.
func (l *Level) FailedShare() float64 {
	total, failed := l.Requests()
	if total == 0 {
		return 0
	}
	return float64(failed) / float64(total)
}

// ClientBound is the worst verdict of the level's runs.
func (l *Level) ClientBound() string {
	worst := ""
	for i := range l.Runs {
		switch b := l.Runs[i].ClientBound; {
		case b == "yes", worst == "yes":
			worst = "yes"
		case b == "suspect", worst == "suspect":
			worst = "suspect"
		case b == "no":
			worst = "no"
		}
	}
	return worst
}

// Pool computes the figures of each level's requests over all of its runs
// together.
func (c *Curve) Pool(o metrics.Options) error {
	for i := range c.Levels {
		l := &c.Levels[i]
		if len(l.Runs) == 1 {
			l.Pooled = l.Runs[0].Result
			continue
		}
		r, err := metrics.Compute(func(yield func(*outputs.Record, error) bool) {
			for j := range l.Runs {
				if l.Runs[j].Records == nil {
					continue
				}
				for rec, err := range l.Runs[j].Records() {
					if !yield(rec, err) {
						return
					}
				}
			}
		}, o)
		if err != nil {
			return err
		}
		l.Pooled = r
	}
	return nil
}

// Line is a run in one line, for progress displays.
func (r *Run) Line() string {
	m := r.Result
	text := fmt.Sprintf("%d of %d requests succeeded", m.Requests.Success, m.Requests.Total)
	add := func(name string, v *float64, unit string) {
		if v != nil {
			text += fmt.Sprintf(", %s %s %s", name, short(*v), unit)
		}
	}
	add("requests", m.RequestThroughput, "req/s")
	add("output", m.OutputThroughput, "token/s")
	add("TTFT P99", m.TTFT.Percentile(99), "ms")
	add("TPOT P99", m.TPOT.Percentile(99), "ms")
	add("E2EL P99", m.E2EL.Percentile(99), "ms")
	return text
}
