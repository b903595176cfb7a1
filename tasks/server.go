package tasks

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"ais_bench/models"
	"ais_bench/models/inspect"
	"ais_bench/models/transport"
	"ais_bench/outputs"
	"ais_bench/tasks/observe"
)

// ServerMetrics says what is scraped during a run, and how often.
type ServerMetrics struct {
	// URLs are Prometheus endpoints beside the service's own /metrics, or, where one
	// is an engine's, in its place: behind a gateway only they tell the engine's
	// figures. "auto" stands for the service's own.
	URLs     []string
	Interval time.Duration // 0 = 1 s
	// IfThere scrapes what there is: an endpoint that is missing is no error. It is
	// for commands that scrape without having been asked to.
	IfThere bool
}

// DefaultMetricsInterval is how often metrics are scraped where nothing else is said,
// MinMetricsInterval the shortest that is allowed: a scrape costs an engine some
// milliseconds.
const (
	DefaultMetricsInterval = time.Second
	MinMetricsInterval     = 100 * time.Millisecond
)

// Check finds URLs that are none and an interval that would disturb the server.
func (s *ServerMetrics) Check() error {
	if s.Interval != 0 && s.Interval < MinMetricsInterval {
		return fmt.Errorf("--server-metrics-interval %s: give %s or more; a shorter one would load the server that is measured", s.Interval, MinMetricsInterval)
	}
	for _, u := range s.URLs {
		if u == "auto" {
			continue
		}
		if _, err := metricsURL(u); err != nil {
			return err
		}
	}
	return nil
}

// metricsURL completes what the user gave: host:port gets http:// and /metrics.
func metricsURL(text string) (string, error) {
	full := text
	if !strings.Contains(full, "://") {
		full = "http://" + full
	}
	u, err := url.Parse(full)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("--server-metrics %s: give http://HOST:PORT/metrics, HOST:PORT, or auto for the service's own", text)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/metrics"
	}
	return u.String(), nil
}

// serverWatch looks at the server before and after a task, and where asked for
// all the time: what it is, whether it stayed the same, what it counted, and what its
// speculative decoding did.
type serverWatch struct {
	svc    *service
	before *inspect.Snapshot
	told   inspect.Parameters // by the user
	spec   *inspect.Counters
	noSpec error // why there are no speculative-decoding counters

	run    *outputs.Run
	clock  *transport.Clock
	maps   *inspect.Maps
	wanted map[string]bool // names of the sources that the user named
	behind *behind         // an engine named apart from the service; nil = none
	rec    *observe.Recorder
	writer *outputs.ServerWriter // nil until the first sample
	watch  outputs.ServerWatch
	note   func(string)
}

// watchServer takes the first look and begins to poll. The error is that of
// metrics that were asked for by --server-metrics and are not there.
func watchServer(ctx context.Context, out *Outcome, to *TaskOutcome, svc *service, opts *Options, note func(string)) (*serverWatch, error) {
	launched := ""
	if opts.Engine != nil {
		if e := opts.Engine(); e != nil {
			launched = e.Command
		}
	}
	w := &serverWatch{svc: svc, before: inspect.Take(ctx, svc.cfg), told: inspect.Told(opts.Meta, launched), run: out.Run, clock: out.Clock, note: note}
	if opts.SpecDecode {
		w.spec, w.noSpec = inspect.SpecCounters(ctx, svc.cfg)
	}
	w.watch = outputs.ServerWatch{Session: opts.session, Model: to.Task.ModelAbbr, Dataset: to.Task.DatasetAbbr, URL: w.before.URL, Mode: string(opts.Mode), Protocol: string(svc.cfg.Protocol()), Headers: w.before.Headers,
		Start: out.Clock.Now(), AnswersPerRequest: answersPerRequest(svc.cfg)}
	if err := w.record(ctx, out, to, opts); err != nil {
		return w, err
	}
	w.lookBehind(ctx, opts.Metrics)
	params, contradictions := w.before.Parameters.With(w.told)
	for _, c := range contradictions {
		note("WARNING: " + c)
		warn(&out.Warnings, to.Task.String()+": "+c)
	}
	w.before.Parameters = params
	w.watch.Engine, w.watch.Version, w.watch.Parameters = known(w.before.Engine), known(w.before.Version), parameters(params)
	w.watch.PrefixCaching, w.watch.Evidence = params.PrefixCaching()
	return w, nil
}

// sources are the endpoints that are scraped, as far as they are known now.
func (w *serverWatch) sources() []outputs.ServerSource {
	list, _ := w.rec.Report()
	return list
}

// record takes the first scrape of every source.
func (w *serverWatch) record(ctx context.Context, out *Outcome, to *TaskOutcome, opts *Options) error {
	maps := opts.Maps
	if maps == nil {
		maps = inspect.BuiltinMaps()
	}
	w.maps = maps
	cfg := observe.Config{Clock: out.Clock, Maps: maps, Session: opts.session, Note: w.note, Sink: func(rows []outputs.ServerSample) error {
		if w.writer == nil {
			var err error
			if w.writer, err = out.Run.ServerWriter(to.Task.ModelAbbr, to.Task.DatasetAbbr); err != nil {
				return err
			}
		}
		return w.writer.Add(rows)
	}}
	if opts.Metrics != nil {
		cfg.Interval = opts.Metrics.Interval
		if cfg.Interval == 0 {
			cfg.Interval = DefaultMetricsInterval
		}
		w.watch.IntervalMS = float64(cfg.Interval) / 1e6
	}
	var err error
	if cfg.Sources, err = sources(w.svc.cfg, opts.Metrics); err != nil {
		return err
	}
	w.wanted = map[string]bool{}
	for _, s := range cfg.Sources {
		w.wanted[s.Name] = s.MustWork
	}
	if w.rec, err = observe.Start(ctx, cfg); err != nil {
		return &EnvironmentError{fmt.Errorf("--server-metrics: %w", err)}
	}
	w.rec.Poll()
	return nil
}

// sources are the endpoints to scrape. The service's own is always tried, because
// two scrapes tell whether the requests arrived; it must be there only where it was asked for.
func sources(cfg models.Config, asked *ServerMetrics) ([]observe.Source, error) {
	ep, err := cfg.Endpoint()
	if err != nil {
		return nil, err
	}
	own := ep.Server + "/metrics"
	urls, wanted := []string{own}, map[string]bool{}
	if asked != nil {
		for _, text := range asked.URLs {
			u := own
			if text != "auto" {
				if u, err = metricsURL(text); err != nil {
					return nil, err
				}
			}
			wanted[u] = !asked.IfThere
			if !slices.Contains(urls, u) {
				urls = append(urls, u)
			}
		}
	}
	var list []observe.Source
	for _, u := range urls {
		// The key is for the service alone.
		keyed := cfg
		if !sameHost(u, own) {
			keyed.APIKey, keyed.Headers = "", nil
		}
		get, err := models.NewGetter(keyed)
		if err != nil {
			return nil, err
		}
		list = append(list, observe.Source{Name: sourceName(u), MustWork: wanted[u], Close: get.Close,
			Get: func(ctx context.Context) ([]byte, error) { return inspect.Ask(ctx, get, u) }})
	}
	return list, nil
}

func sameHost(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && x.Host == y.Host
}

// sourceName is an address without credentials.
func sourceName(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// answersPerRequest is how many answers a request asks for: engines count each
// like a request.
func answersPerRequest(cfg models.Config) int {
	switch n := cfg.GenerationKwargs["n"].(type) {
	case int:
		return max(n, 1)
	case int64:
		return max(int(n), 1)
	case uint64:
		return max(int(n), 1)
	case float64:
		return max(int(n), 1)
	}
	return 1
}

// measured is called just before the first measured request.
func (w *serverWatch) measured(ctx context.Context) {
	w.rec.Mark(ctx)
	now := w.clock.Now()
	w.watch.MeasuredStart = &now
}

// after takes the last look, says what changed, one line each, and writes what was
// seen. answered is how many requests the client knows to be finished: counters
// that lag behind are waited for, up to two seconds.
func (w *serverWatch) after(ctx context.Context, to *TaskOutcome, answered int64) (changed []string, err error) {
	ctx, cancel := lastLook(ctx)
	defer cancel()
	end := inspect.Take(ctx, w.svc.cfg)
	changedBehind := w.changedBehind(ctx, end)
	end.Parameters, _ = end.Parameters.With(w.told)
	to.ServerBefore, to.ServerAfter = snapshot(w.before), snapshot(end)
	changed = inspect.Differences(w.before, end)
	if len(changed) == 0 {
		changed = changedBehind
	}
	w.settle(ctx, answered)
	err = w.rec.Close()
	w.watch.End = w.clock.Now()
	w.watch.Sources, w.watch.Events = w.rec.Report()
	w.watch.Cache = to.Cache
	w.watch.Series = described(w.maps, w.watch.Sources)
	w.oneCounts()
	for _, e := range w.watch.Events {
		if len(changed) == 0 { // the first says it; the others are in the file
			changed = append(changed, e.Text)
		}
	}
	if w.writer == nil { // no metrics at all: what was done with the cache is told all the same
		var openErr error
		if w.writer, openErr = w.run.ServerWriter(w.watch.Model, w.watch.Dataset); openErr != nil {
			return changed, openErr
		}
	}
	defer w.writer.Abort()
	if err == nil {
		err = w.writer.Close(w.watch)
	}
	return changed, err
}

// described are the series that reports draw as they are.
func described(maps *inspect.Maps, list []outputs.ServerSource) map[string]outputs.ServerSeries {
	out := map[string]outputs.ServerSeries{}
	for _, s := range list {
		for _, name := range s.Maps {
			for series, rule := range maps.Get(name).Series {
				if rule.Title != "" {
					out[series] = outputs.ServerSeries{Kind: rule.Kind, Unit: rule.Unit, Title: rule.Title}
				}
			}
		}
	}
	return out
}

// oneCounts leaves the service's own metrics out of the sums where the user named
// an engine's instead: the same engine would count twice, seen through a gateway.
func (w *serverWatch) oneCounts() {
	named := slices.ContainsFunc(w.watch.Sources, func(s outputs.ServerSource) bool { return s.Engine && w.wanted[s.Name] })
	for i := range w.watch.Sources {
		if s := &w.watch.Sources[i]; named && !w.wanted[s.Name] {
			s.Engine = false
		}
	}
}

// settle takes the last scrape, again while the server has not yet counted what the
// client has.
func (w *serverWatch) settle(ctx context.Context, answered int64) {
	first, known := w.rec.First("requests_finished")
	for try := 0; ; try++ {
		w.rec.Mark(ctx)
		now, ok := w.rec.Latest("requests_finished")
		if !ok || !known || now-first >= float64(answered)*float64(w.watch.AnswersPerRequest) || try == 10 || ctx.Err() != nil {
			return
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}

// stop drops everything without a last look.
func (w *serverWatch) stop() {
	if w.rec != nil {
		_ = w.rec.Close()
	}
	if w.writer != nil {
		w.writer.Abort()
	}
}

// lastLook is a context for what is asked when a task has ended: an interrupted
// run wants to know, too, whether the server is still the same, but not to wait
// for one that hangs.
func lastLook(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
}

// SpecDecode is what --spec-decode found: figures, or why there are none.
type SpecDecode struct {
	*inspect.SpecDecode
	Reason string `json:"reason,omitempty"`
}

// speculation is the deltas since the first look, written to
// performances/spec_decode_<host>_<port>.json as AISBench does.
func (w *serverWatch) speculation(ctx context.Context, run *outputs.Run) (*SpecDecode, error) {
	ctx, cancel := lastLook(ctx)
	defer cancel()
	s := &SpecDecode{}
	switch {
	case w.noSpec != nil:
		s.Reason = w.noSpec.Error()
	default:
		now, err := inspect.SpecCounters(ctx, w.svc.cfg)
		if err != nil {
			s.Reason = err.Error()
			break
		}
		d := now.Since(w.spec)
		s.SpecDecode = &d
		if d.Drafts <= 0 {
			s.Reason = "the counters did not move: no speculative decoding took place"
		}
	}
	host, port := "unknown", "0"
	if ep, err := w.svc.cfg.Endpoint(); err == nil {
		if u, err := url.Parse(ep.Server); err == nil {
			host = u.Hostname()
			switch port = u.Port(); {
			case port == "" && u.Scheme == "https":
				port = "443"
			case port == "":
				port = "80"
			}
		}
	}
	return s, run.WriteJSON(run.Path("performances", fmt.Sprintf("spec_decode_%s_%s.json", outputs.FileName(host), port)), s)
}

// known is a text, nil where it says nothing.
func known(v string) *string {
	if v == "" {
		return nil
	}
	return &v
}

func parameters(p inspect.Parameters) map[string]outputs.ServerParameter {
	if len(p) == 0 {
		return nil
	}
	out := make(map[string]outputs.ServerParameter, len(p))
	for k, v := range p {
		out[k] = outputs.ServerParameter(v)
	}
	return out
}

// snapshot is a look in the manifest's form.
func snapshot(s *inspect.Snapshot) *outputs.ServerSnapshot {
	out := &outputs.ServerSnapshot{TakenAt: s.TakenAt.Format(time.RFC3339Nano), URL: s.URL, Engine: known(s.Engine), Version: known(s.Version),
		Models: s.Models, Info: s.Info, Metrics: s.Metrics, Errors: s.Errors, Headers: s.Headers, Parameters: parameters(s.Parameters)}
	out.PrefixCaching, out.PrefixCachingEvidence = s.Parameters.PrefixCaching()
	return out
}
