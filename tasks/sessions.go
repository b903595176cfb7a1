package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"time"

	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// earlier is the manifest of the run that is gone on with; nil for a new run and
// for a folder that has none, such as another tool's. One that cannot be read is
// an error: writing a new one over it would destroy evidence.
func earlier(run *outputs.Run, resuming bool) (*outputs.Manifest, error) {
	if !resuming {
		return nil, nil
	}
	m, err := run.ReadManifest()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("go on with a run: %w", err)
	}
	return m, nil
}

// clockAfter is the clock of a session: a new run's starts at zero, a continued
// one's goes on from the zero of the first, so that the records of all sessions
// have one time axis. note says why it does not, "" when it does.
func clockAfter(before *outputs.Manifest) (c *transport.Clock, note string) {
	if before == nil {
		return transport.NewClock(), ""
	}
	if before.Clock == nil || before.Clock.ZeroWall == "" {
		return transport.NewClock(), "the manifest has no clock: times of earlier records count from another zero than those from now on"
	}
	zero, err := time.Parse(time.RFC3339Nano, before.Clock.ZeroWall)
	if err != nil {
		return transport.NewClock(), fmt.Sprintf("the manifest's zero_wall_time %q is not a time: times of earlier records count from another zero than those from now on", before.Clock.ZeroWall)
	}
	var last int64
	for _, s := range before.Sessions {
		last = max(last, s.StartNS)
		if s.EndNS != nil {
			last = max(last, *s.EndNS)
		}
	}
	if t := time.Since(zero); t.Nanoseconds() < last {
		// The wall clock was set back, or another machine goes on: sessions follow each other all the same.
		return transport.NewClockAt(time.Now().Add(-time.Duration(last))), "the wall clock is behind the end of the session before: this session's times follow it without a pause"
	}
	return transport.NewClockAt(zero), ""
}

// openSession adds this command to the run's sessions and gives its number, from 1.
func openSession(m *outputs.Manifest, out *Outcome, opts *Options, clockNote string) int {
	own := outputs.NewManifest(out.Run, opts.Tool, opts.Args)
	if len(m.Sessions) == 0 && opts.resuming && m.RunName != "" && m.UpdatedAt != "" {
		// A manifest from before sessions were kept: its command was the first.
		m.Sessions = append(m.Sessions, outputs.Session{State: m.State, StartedAt: m.StartedAt, Command: m.Command})
	}
	if n := len(m.Sessions); n > 0 && m.Sessions[n-1].State == outputs.StateRunning {
		s := &m.Sessions[n-1]
		s.State, s.Note = outputs.StateInterrupted, "it was killed: it left no end"
	}
	s := outputs.Session{Mode: string(opts.Mode), State: outputs.StateRunning, StartedAt: own.StartedAt, StartNS: out.Clock.Now(), Command: own.Command, Note: clockNote}
	if len(m.Sessions) > 0 && opts.Mode.infers() {
		s.Tool = &own.Tool
		s.Seeds, s.Sampling, s.Workload = map[string]any{}, map[string]any{}, map[string]any{}
		if !reflect.DeepEqual(own.Host, m.Host) {
			s.Host = &own.Host
		}
	}
	m.Sessions = append(m.Sessions, s)
	return len(m.Sessions)
}

// closeSession writes how this command ended.
func closeSession(s *outputs.Session, out *Outcome, opts *Options) {
	end := out.Clock.Now()
	s.EndNS, s.State = &end, outputs.StateDone
	for _, to := range out.Tasks {
		if to.Err != nil {
			s.Errors = append(s.Errors, to.Err.Error())
		}
		if in := to.Inference; in != nil {
			s.Requests += int64(in.Answered + in.Failed + in.Cancelled)
		}
	}
	switch {
	case out.Stopped:
		s.State = outputs.StateInterrupted
	case out.Failed():
		s.State = outputs.StateFailed
	}
}

// Warnings about how far a pair is are written anew by every session; these
// words mark them.
const (
	warnIncomplete = ": incomplete: "
	warnResumed    = ": resumed: "
)

// dropPassing removes what earlier sessions said about how far the tasks are.
func dropPassing(warnings []string, tasks []*TaskOutcome) []string {
	return slices.DeleteFunc(warnings, func(w string) bool {
		return slices.ContainsFunc(tasks, func(to *TaskOutcome) bool {
			name := to.Task.String()
			return strings.HasPrefix(w, name+warnIncomplete) || strings.HasPrefix(w, name+warnResumed)
		})
	})
}

// warn adds a line once.
func warn(list *[]string, line string) {
	if !slices.Contains(*list, line) {
		*list = append(*list, line)
	}
}
