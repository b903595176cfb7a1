package capacity

import (
	"fmt"
	"iter"
	"path/filepath"
	"strconv"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// Source is a run of a sweep as it lies on disk.
type Source struct {
	Value          float64
	Number         int
	Dir            string // run folder
	Model, Dataset string // whose records
	NumPrompts     int
	Seed           int64
}

// AddFrom computes a run's figures from its records and puts it into the curve. root
// is what Dir is told relative to.
func (c *Curve) AddFrom(root string, s Source, o metrics.Options) error {
	run, err := outputs.Open(s.Dir)
	if err != nil {
		return err
	}
	records := func() iter.Seq2[*outputs.Record, error] { return run.Records(s.Model, s.Dataset) }
	if run.RecordsPath(s.Model, s.Dataset) == "" {
		return fmt.Errorf("%s holds no records of %s on %s", s.Dir, s.Model, s.Dataset)
	}
	result, err := metrics.Compute(records(), o)
	if err != nil {
		return fmt.Errorf("figures of %s: %w", s.Dir, err)
	}
	r := Run{Number: s.Number, Dir: s.Dir, NumPrompts: s.NumPrompts, Seed: s.Seed, Result: result, Records: records}
	if rel, err := filepath.Rel(root, s.Dir); err == nil {
		r.Dir = filepath.ToSlash(rel)
	}
	if m, err := run.ReadManifest(); err == nil {
		r.Health = m.ClientHealth
		r.ClientBound = bound(m.ClientHealth, s.Model+" × "+s.Dataset)
	}
	r.Server = serverOf(run, s.Model, s.Dataset)
	c.Add(s.Value, r)
	return nil
}

// serverOf reads the gauges of the server's metrics; nil where none were scraped
// between the first request and the end.
func serverOf(run *outputs.Run, model, dataset string) *Server {
	watches, err := run.ServerWatches(model, dataset)
	if err != nil || len(watches) == 0 {
		return nil // metrics of the server are extra evidence, never a condition
	}
	w := watches[len(watches)-1]
	if w.MeasuredStart == nil {
		return nil
	}
	type gauges struct{ running, waiting float64 }
	at := map[int64]gauges{} // sums over engines of one scrape
	s := &Server{}
	for sample, err := range run.ServerSamples(model, dataset) {
		if err != nil {
			return nil
		}
		if sample.T < *w.MeasuredStart || sample.T >= w.End {
			continue
		}
		g := at[sample.T]
		switch sample.Series {
		case "requests_running":
			g.running += sample.Value
		case "requests_waiting":
			g.waiting += sample.Value
		case "kv_usage":
			if v := sample.Value; s.KVUsage == nil || v > *s.KVUsage {
				s.KVUsage = &v
			}
			continue
		default:
			continue
		}
		at[sample.T] = g
	}
	if len(at) == 0 {
		return nil
	}
	s.Polls = len(at)
	total := 0.0 // of whole numbers: the order of a map does not show
	for _, g := range at {
		s.Running = max(s.Running, g.running)
		total += g.waiting
	}
	s.Waiting = total / float64(len(at))
	if v, err := strconv.ParseFloat(fmt.Sprint(w.Parameters["max_num_seqs"].Value), 64); err == nil {
		s.MaxRunning = v
	}
	return s
}

// bound is the verdict on the client in a manifest's health, which is by pair.
func bound(health any, pair string) string {
	all, _ := health.(map[string]any)
	h, _ := all[pair].(map[string]any)
	v, _ := h["client_bound"].(string)
	return v
}
