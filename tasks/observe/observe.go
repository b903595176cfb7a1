// Package observe watches the server during a run: it scrapes Prometheus
// endpoints on the run's clock and hands every value to a sink.
//
// Watching must not disturb what is watched. Every source has a connection and a
// goroutine of its own, apart from the measured requests; a scrape has a time-out; a
// poll that is due while the one before is still under way is left out and
// counted, never caught up with.
package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ais_bench/models/inspect"
	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// Source is one endpoint to scrape.
type Source struct {
	Name string // in rows and reports
	// Get asks it once. It must end when ctx does.
	Get func(ctx context.Context) ([]byte, error)
	// Close ends its connections; may be nil.
	Close func()
	// MustWork makes a failure of the first scrape an error of Start; another source
	// that gives nothing is left out.
	MustWork bool
}

// Config says what is watched and how often.
type Config struct {
	Clock    *transport.Clock
	Sources  []Source
	Maps     *inspect.Maps
	Interval time.Duration // between polls; 0 = only by Mark
	Timeout  time.Duration // of a scrape; 0 = 5 s
	Session  int
	// Sink takes the samples of one scrape; calls do not overlap. An error of its
	// ends the recording and is Stop's error.
	Sink func([]outputs.ServerSample) error
	// Note is told what a user must know at once: a restart. May be nil.
	Note func(string)
}

// Recorder scrapes until Stop. Its methods are safe for concurrent use.
type Recorder struct {
	cfg     Config
	sources []*source
	quit    chan struct{}
	polling sync.WaitGroup
	begun   sync.Once
	ended   sync.Once

	mu     sync.Mutex // guards the sink and what follows
	events []outputs.ServerEvent
	err    error
}

// source is a Source with what became of it. mu is held during a scrape.
type source struct {
	Source
	mu      sync.Mutex
	report  outputs.ServerSource
	trips   []float64 // ms
	parseMS float64
	odd     map[string]bool // metrics that were told of
	gaveUp  bool            // a failure was told of
	initial []inspect.Sample
	last    []inspect.Sample
}

// Start takes the first scrape of every source. The error names the first source that
// must work and does not, or that no map knows.
func Start(ctx context.Context, cfg Config) (*Recorder, error) {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 5 * time.Second
	}
	if cfg.Note == nil {
		cfg.Note = func(string) {}
	}
	r := &Recorder{cfg: cfg, quit: make(chan struct{})}
	for _, s := range cfg.Sources {
		r.sources = append(r.sources, &source{Source: s, report: outputs.ServerSource{Name: s.Name, Maps: []string{}}})
	}
	r.Mark(ctx)
	for _, s := range r.sources {
		if err := s.first(cfg.Maps); s.MustWork && err != nil {
			r.closeSources()
			return nil, err
		}
	}
	r.sources = slices.DeleteFunc(r.sources, func(s *source) bool {
		if s.report.Polls > 0 && len(s.report.Maps) > 0 {
			return false
		}
		if s.Close != nil {
			s.Close()
		}
		return true
	})
	return r, nil
}

const noMetrics = "the answer holds no metrics: is it the right address, usually http://HOST:PORT/metrics?"

// first is the error of a source's first scrape.
func (s *source) first(maps *inspect.Maps) error {
	switch {
	case s.report.Polls == 0:
		return fmt.Errorf("%s: %s", s.Name, s.report.Error)
	case s.report.Error == noMetrics:
		return fmt.Errorf("%s: %s", s.Name, s.report.Error)
	case len(s.report.Maps) == 0:
		return fmt.Errorf("%s: %s; there are maps for %s; add one to --config-dir as metrics/NAME.yaml", s.Name, s.report.Error, strings.Join(maps.Names(), ", "))
	}
	return nil
}

// Watching reports whether a source gave values.
func (r *Recorder) Watching() bool { return len(r.sources) > 0 }

// Poll begins to scrape every interval, until Stop.
func (r *Recorder) Poll() {
	if r.cfg.Interval <= 0 {
		return
	}
	r.begun.Do(func() {
		for _, s := range r.sources {
			r.polling.Go(func() { r.poll(s) })
		}
	})
}

// poll scrapes one source at the multiples of the interval.
func (r *Recorder) poll(s *source) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-r.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	begin := time.Now()
	timer := time.NewTimer(r.cfg.Interval)
	defer timer.Stop()
	for due := int64(1); ; {
		select {
		case <-r.quit:
			return
		case <-timer.C:
		}
		r.scrape(ctx, s)
		// The next multiple; those that passed meanwhile are left out.
		next := int64(time.Since(begin)/r.cfg.Interval) + 1
		if missed := next - due - 1; missed > 0 {
			s.mu.Lock()
			s.report.Skipped += missed
			s.mu.Unlock()
		}
		due = next
		timer.Reset(time.Until(begin.Add(time.Duration(due) * r.cfg.Interval)))
	}
}

// Mark scrapes every source now, all at once, and returns when they have answered.
func (r *Recorder) Mark(ctx context.Context) {
	var all sync.WaitGroup
	for _, s := range r.sources {
		all.Go(func() { r.scrape(ctx, s) })
	}
	all.Wait()
}

// scrape asks a source once and keeps what it says.
func (r *Recorder) scrape(ctx context.Context, s *source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	asked := r.cfg.Clock.Now()
	text, err := s.Get(limit)
	answered := r.cfg.Clock.Now()
	if err != nil {
		if ctx.Err() == nil { // one that the end cut off is no failure
			r.failed(s, asked, err.Error())
		}
		return
	}
	s.report.Bytes += int64(len(text))
	x, err := inspect.ParseMetrics(string(text))
	if err != nil {
		r.failed(s, asked, err.Error())
		return
	}
	samples, maps, odd := r.cfg.Maps.Read(x)
	if len(maps) == 0 && s.initial != nil {
		r.failed(s, asked, fmt.Sprintf("no map knows any of its %d metrics (%s)", x.Families(), x.Some(3)))
		return
	}
	s.parseMS += float64(r.cfg.Clock.Now()-answered) / 1e6
	s.report.Polls++
	s.trips = append(s.trips, float64(answered-asked)/1e6)
	if x.Families() == 0 {
		s.report.Error = noMetrics
		return
	}
	if len(maps) == 0 {
		s.report.Error = fmt.Sprintf("no map knows any of its %d metrics (%s)", x.Families(), x.Some(3))
		return
	}
	s.report.Maps, s.report.Engine = maps, r.cfg.Maps.Engine(maps) != ""
	at := asked + (answered-asked)/2
	s.report.FailingFrom = nil
	for _, o := range odd {
		if s.odd[o.Metric] || len(s.odd) >= maxOdd {
			continue // one line a series
		}
		if s.odd == nil {
			s.odd = map[string]bool{}
		}
		s.odd[o.Metric] = true
		s.report.Nonsense = append(s.report.Nonsense, o.Metric+" "+o.Text)
	}
	r.compare(s, at, samples)
	if s.last = samples; s.initial == nil {
		s.initial = append([]inspect.Sample{}, samples...) // never nil again
	}
	rows := make([]outputs.ServerSample, len(samples))
	for i, v := range samples {
		rows[i] = outputs.ServerSample{T: at, Session: int32(r.cfg.Session), Source: s.Name, Series: v.Series, Metric: v.Metric, Labels: v.Labels, Value: v.Value}
	}
	r.keep(rows)
}

// maxOdd bounds the series that are told of for their nonsense.
const maxOdd = 20

// failed keeps a scrape that gave nothing. One after a good one leaves a row, so that
// what was seen before it is not taken to have lasted.
func (r *Recorder) failed(s *source, at int64, why string) {
	s.report.Failed++
	s.report.Error = why
	if s.initial == nil {
		return
	}
	if s.report.FailingFrom == nil {
		s.report.FailingFrom = &at
	}
	if !s.gaveUp {
		s.gaveUp = true
		r.cfg.Note(fmt.Sprintf("WARNING: scraping %s failed at t=%.1f s: %s", s.Name, float64(at)/1e9, why))
	}
	r.keep([]outputs.ServerSample{{T: at, Session: int32(r.cfg.Session), Source: s.Name, Series: outputs.SeriesUp, Metric: outputs.SeriesUp, Value: 0}})
}

func (r *Recorder) keep(rows []outputs.ServerSample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.cfg.Sink(rows)
	}
}

// restartCounters only ever rise while a server lives.
var restartCounters = []string{"requests_finished", "prompt_tokens", "generation_tokens", "prefix_queries", "e2e_count"}

// compare finds a restart between two scrapes.
func (r *Recorder) compare(s *source, at int64, now []inspect.Sample) {
	if s.last == nil {
		return
	}
	before := map[string]float64{}
	for _, v := range s.last {
		before[v.Series+"\x00"+v.Labels] = v.Value
	}
	for _, v := range now {
		old, ok := before[v.Series+"\x00"+v.Labels]
		if !ok {
			continue
		}
		var text string
		switch {
		case v.Series == "process_start" && v.Value != old:
			text = fmt.Sprintf("%s: the server was restarted, or several replicas answer behind one address: %s differs", s.Name, v.Metric)
		case v.Value < old && slices.Contains(restartCounters, v.Series):
			text = fmt.Sprintf("%s: %s fell from %.0f to %.0f: the server was restarted, or several replicas answer behind one address", s.Name, v.Metric, old, v.Value)
		default:
			continue
		}
		r.mu.Lock()
		first := len(r.events) == 0
		if len(r.events) < maxEvents {
			r.events = append(r.events, outputs.ServerEvent{T: at, Text: text})
		}
		r.mu.Unlock()
		if first {
			r.cfg.Note("WARNING: " + text)
		}
		return // one a scrape
	}
}

// maxEvents bounds the events kept: replicas behind one address restart with every poll.
const maxEvents = 100

// First and Latest are the sum of a series over the sources at their first and last
// scrapes; false when no source has it.
func (r *Recorder) First(series string) (sum float64, ok bool) {
	return r.sum(series, func(s *source) []inspect.Sample { return s.initial })
}

// Latest is the last scrapes' sum.
func (r *Recorder) Latest(series string) (sum float64, ok bool) {
	return r.sum(series, func(s *source) []inspect.Sample { return s.last })
}

func (r *Recorder) sum(series string, of func(*source) []inspect.Sample) (sum float64, ok bool) {
	for _, s := range r.sources {
		s.mu.Lock()
		for _, v := range of(s) {
			if v.Series == series {
				sum, ok = sum+v.Value, true
			}
		}
		s.mu.Unlock()
	}
	return sum, ok
}

// Stop ends polling. Marks are still possible. The error is the sink's.
func (r *Recorder) Stop() error {
	r.ended.Do(func() { close(r.quit) })
	r.polling.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close ends polling and closes the connections.
func (r *Recorder) Close() error {
	err := r.Stop()
	r.closeSources()
	return err
}

func (r *Recorder) closeSources() {
	for _, s := range r.sources {
		if s.Close != nil {
			s.Close()
		}
	}
}

// Report is what became of the sources, and what happened to the server.
func (r *Recorder) Report() ([]outputs.ServerSource, []outputs.ServerEvent) {
	list := []outputs.ServerSource{}
	for _, s := range r.sources {
		s.mu.Lock()
		rep := s.report
		if n := len(s.trips); n > 0 {
			trips := slices.Clone(s.trips)
			slices.Sort(trips)
			p50, most, mean := trips[n/2], trips[n-1], s.parseMS/float64(n)
			rep.RoundTripP50MS, rep.RoundTripMaxMS, rep.ParseMeanMS = &p50, &most, &mean
		}
		s.mu.Unlock()
		list = append(list, rep)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return list, slices.Clone(r.events)
}
