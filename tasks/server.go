package tasks

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"ais_bench/models/inspect"
	"ais_bench/outputs"
)

// serverWatch looks at the server before and after a task: what it is, whether
// it stayed the same, and what its speculative decoding did in between.
type serverWatch struct {
	svc    *service
	before *inspect.Snapshot
	spec   *inspect.Counters
	noSpec error // why there are no speculative-decoding counters
}

// watchServer takes the first look.
func watchServer(ctx context.Context, svc *service, specDecode bool) *serverWatch {
	w := &serverWatch{svc: svc, before: inspect.Take(ctx, svc.cfg)}
	if specDecode {
		w.spec, w.noSpec = inspect.SpecCounters(ctx, svc.cfg)
	}
	return w
}

// after takes the second look and says what changed, one line each.
func (w *serverWatch) after(ctx context.Context, to *TaskOutcome) []string {
	ctx, cancel := lastLook(ctx)
	defer cancel()
	end := inspect.Take(ctx, w.svc.cfg)
	to.ServerBefore, to.ServerAfter = snapshot(w.before), snapshot(end)
	return inspect.Differences(w.before, end)
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

// snapshot is a look in the manifest's form.
func snapshot(s *inspect.Snapshot) *outputs.ServerSnapshot {
	known := func(v string) *string {
		if v == "" {
			return nil
		}
		return &v
	}
	return &outputs.ServerSnapshot{TakenAt: s.TakenAt.Format(time.RFC3339Nano), URL: s.URL, Engine: known(s.Engine), Version: known(s.Version),
		Models: s.Models, Info: s.Info, Metrics: s.Metrics, Errors: s.Errors}
}
