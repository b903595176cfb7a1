package tasks

import (
	"context"
	"strings"

	"ais_bench/models"
	"ais_bench/models/inspect"
)

// behind is an engine that the user named by its metrics (--server-metrics): behind
// a gateway only the engine itself tells its parameters.
type behind struct {
	base   string
	cfg    models.Config
	before *inspect.Snapshot
}

// lookBehind asks the first named engine that is not the service itself, and adds
// what it tells to what the service says, each value with the address it is from.
func (w *serverWatch) lookBehind(ctx context.Context, asked *ServerMetrics) {
	if asked == nil {
		return
	}
	engines := map[string]bool{}
	for _, s := range w.sources() {
		engines[s.Name] = s.Engine
	}
	for _, text := range asked.URLs {
		if text == "auto" {
			continue
		}
		u, err := metricsURL(text)
		if err != nil || !engines[sourceName(u)] {
			continue
		}
		base, ok := strings.CutSuffix(u, "/metrics")
		if !ok || base == w.before.URL {
			continue
		}
		cfg := w.svc.cfg
		cfg.URL, cfg.HostIP, cfg.HostPort = base, "", 0
		if !sameHost(base, w.before.URL) {
			cfg.APIKey, cfg.Headers = "", nil
		}
		w.behind = &behind{base: sourceName(base), cfg: cfg, before: inspect.Take(ctx, cfg)}
		w.fill(w.before, w.behind.before)
		return
	}
}

// fill adds to a snapshot of the service what the engine behind it tells.
func (w *serverWatch) fill(s, engine *inspect.Snapshot) {
	if s.Engine == "" {
		s.Engine, s.Version = engine.Engine, engine.Version
	}
	more := inspect.Parameters{}
	for name, p := range engine.Parameters {
		p.Source = w.behind.base + ", " + p.Source
		more[name] = p
	}
	s.Parameters, _ = s.Parameters.With(more)
}

// changedBehind looks again and says what changed.
func (w *serverWatch) changedBehind(ctx context.Context, end *inspect.Snapshot) (lines []string) {
	if w.behind == nil {
		return nil
	}
	now := inspect.Take(ctx, w.behind.cfg)
	w.fill(end, now)
	for _, d := range inspect.Differences(w.behind.before, now) {
		lines = append(lines, w.behind.base+": "+d)
	}
	return lines
}
