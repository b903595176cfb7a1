package tasks

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"ais_bench/outputs"
)

// startManifest writes the resolved configurations and the first manifest,
// before anything is sent: a run that is killed still says what it was. A
// continued run's manifest is added to: nothing that stands in it is replaced
// but what this session makes anew.
func startManifest(out *Outcome, before *outputs.Manifest, clockNote string, opts *Options) (*outputs.Manifest, error) {
	m := before
	if m == nil {
		m = outputs.NewManifest(out.Run, opts.Tool, opts.Args)
		m.State = outputs.StateRunning
	}
	n := openSession(m, out, opts, clockNote)
	ses := &m.Sessions[n-1]
	if clockNote != "" {
		warn(&m.Warnings, clockNote)
	}
	m.Warnings = dropPassing(m.Warnings, out.Tasks)
	switch {
	case opts.Mode.infers():
		m.State, m.StateReason = outputs.StateRunning, ""
	case m.State == outputs.StateRunning && before != nil:
		m.State, m.StateReason = outputs.StateInterrupted, "it was killed: it left no end"
	}
	if len(opts.Meta) > 0 {
		extra(m, "server_meta", opts.Meta)
	}
	launchedEngine(m, ses, n, opts)
	if opts.Mode.infers() {
		if m.Clock == nil || n == 1 {
			m.Clock = clockInfo(out)
		}
		if n > 1 {
			ses.Clock = clockInfo(out)
		}
		describe(&m.Seeds, ses.Seeds, "seed", opts.Seed)
	}
	stored := map[string]bool{}
	for _, a := range opts.Attached {
		if err := storeText(out.Run, m, stored, n, a.Kind, a.Name, a.Origin, a.Text); err != nil {
			return nil, err
		}
		for k, v := range a.Facts {
			extra(m, k, v)
		}
	}
	for _, to := range out.Tasks {
		t, set := to.Task, to.Estimate.Set
		if opts.Mode.infers() {
			c := t.Model.Config.Redacted()
			if err := storeConfig(out.Run, m, stored, n, "model", t.ModelAbbr, t.Model.Origin, c); err != nil {
				return nil, err
			}
			describe(&m.Sampling, ses.Sampling, t.ModelAbbr, map[string]any{"generation_kwargs": c.GenerationKwargs, "max_out_len": c.MaxOutLen, "stream": c.Stream})
			describe(&m.Workload, ses.Workload, t.String(), map[string]any{"samples": to.Estimate.Samples, "num_prompts": t.Dataset.Load.NumPrompts, "dataset_path": t.Dataset.Load.Path, "subsets": t.Dataset.Load.Subsets, "requests": to.Estimate.Requests, "repeats": t.repeats(),
				"batch_size": max(c.BatchSize, 1), "request_rate": c.RequestRate, "traffic_cfg": c.TrafficCfg, "num_warmups": opts.NumWarmups,
				"pressure": opts.Pressure, "duration_s": opts.Duration.Seconds(), "mode": opts.Mode})
			if pair(m, t) == nil {
				m.Pairs = append(m.Pairs, outputs.PairState{Model: t.ModelAbbr, Dataset: t.DatasetAbbr, State: outputs.PairPlanned})
			}
		}
		if err := storeConfig(out.Run, m, stored, n, "dataset", t.DatasetAbbr, t.Dataset.Origin, set.Config); err != nil {
			return nil, err
		}
		for _, f := range set.Files {
			file := outputs.DataFile{Dataset: t.DatasetAbbr, Path: f.Path, SHA256: f.SHA256, Bytes: f.Bytes, Rows: int64(to.Estimate.Samples)}
			known := slices.ContainsFunc(m.Data, func(d outputs.DataFile) bool {
				return d.Dataset == file.Dataset && d.Path == file.Path && d.SHA256 == file.SHA256
			})
			if !known {
				m.Data = append(m.Data, file)
			}
		}
	}
	return m, out.Run.WriteManifest(m)
}

// describe puts what a session was asked with into the run's description, where
// the first session's stays, and into a later session's own.
func describe(run *map[string]any, session map[string]any, key string, v any) {
	if *run == nil {
		*run = map[string]any{}
	}
	if _, ok := (*run)[key]; !ok {
		(*run)[key] = v
	}
	if session != nil {
		session[key] = v
	}
}

func extra(m *outputs.Manifest, key string, v any) {
	if m.Extra == nil {
		m.Extra = map[string]any{}
	}
	m.Extra[key] = v
}

// pair is the task's entry in the manifest; nil when it has none.
func pair(m *outputs.Manifest, t *Task) *outputs.PairState {
	for i := range m.Pairs {
		if p := &m.Pairs[i]; p.Model == t.ModelAbbr && p.Dataset == t.DatasetAbbr {
			return p
		}
	}
	return nil
}

// storeConfig writes a configuration. What an earlier session was asked with is
// never overwritten: a configuration that differs gets a file of its own.
func storeConfig(run *outputs.Run, m *outputs.Manifest, stored map[string]bool, session int, kind, abbr, origin string, cfg any) error {
	text, err := yamlOf(cfg)
	if err != nil {
		return err
	}
	return storeText(run, m, stored, session, kind, abbr, origin, text)
}

// storeText is storeConfig of a file that is kept as it is. Its name tells the session,
// or a later number where a contract attached between sessions has that one.
func storeText(run *outputs.Run, m *outputs.Manifest, stored map[string]bool, session int, kind, abbr, origin string, text []byte) (err error) {
	name := kind + "-" + outputs.FileName(abbr)
	if stored[name] {
		return nil
	}
	stored[name] = true
	var sums []string
	for _, c := range m.Configs {
		if c.Kind == kind && c.Name == abbr {
			sums = append(sums, c.SHA256)
		}
	}
	entry := outputs.ConfigFile{Kind: kind, Name: abbr, Source: origin}
	if len(sums) > 0 {
		entry.Session = session
		of := name
		for n := session; ; n++ {
			name = fmt.Sprintf("%s-session%d", of, n)
			if !slices.ContainsFunc(m.Configs, func(c outputs.ConfigFile) bool { return c.Path == "configs/"+name+".yaml" }) {
				break
			}
		}
	}
	name += ".yaml"
	if err := run.WriteConfig(name, text); err != nil {
		return err
	}
	if entry.SHA256, _, err = outputs.HashFile(run.ConfigPath(name)); err != nil {
		return err
	}
	if slices.Contains(sums, entry.SHA256) {
		return os.Remove(run.ConfigPath(name))
	}
	entry.Path = "configs/" + name
	m.Configs = append(m.Configs, entry)
	return nil
}

// finishManifest writes how the session ended and where the run now stands.
func finishManifest(out *Outcome, m *outputs.Manifest, opts *Options) error {
	n := len(m.Sessions)
	ses := &m.Sessions[n-1]
	closeSession(ses, out, opts)
	health := map[string]any{}
	for _, to := range out.Tasks {
		p := pair(m, to.Task)
		if p == nil {
			continue // scored from answers that this run never asked for
		}
		if opts.Mode.infers() {
			asked(p, to, opts)
		}
		if opts.Mode.evaluates() && to.Err == nil {
			p.Scoring = ""
		}
		if to.scoring && to.Err != nil {
			p.Scoring = to.Err.Error()
		}
		if p.Sessions > 1 {
			warn(&out.Warnings, fmt.Sprintf("%s%sit was asked in %d sessions; duration and throughput span the pauses between them", to.Task, warnResumed, p.Sessions))
		}
		told := slices.ContainsFunc(out.Warnings, func(w string) bool { return strings.HasPrefix(w, to.Task.String()+warnIncomplete) })
		if p.NotAsked+p.Cancelled > 0 && !told {
			warn(&out.Warnings, fmt.Sprintf("%s%s%d of %d questions were not asked, %d were cut off", to.Task, warnIncomplete, p.NotAsked, p.Requests, p.Cancelled))
		}
		if in := to.Inference; in != nil && in.Health != nil {
			health[to.Task.String()] = in.Health
		}
		if opts.Mode.infers() {
			if err := out.Run.SealRecords(p); err != nil {
				return err
			}
		}
		if err := out.Run.SealAnswers(p); err != nil {
			return err
		}
	}
	for _, to := range out.Tasks {
		for _, note := range to.Notes {
			warn(&out.Warnings, to.Task.String()+": "+note)
		}
		if c := to.Chat; c != nil {
			extra(m, "chat template of "+to.Task.ModelAbbr, map[string]any{"source": c.Source, "sha256": c.SHA256})
		}
	}
	for _, w := range out.Warnings {
		warn(&m.Warnings, w)
	}
	launchedEngine(m, ses, n, opts)
	if opts.Mode.infers() {
		servers(m, ses, out)
		if len(health) > 0 {
			keepHealth(m, health, n)
		}
		c := clockInfo(out)
		if n == 1 {
			m.Clock = c
		} else {
			ses.Clock = c
		}
	}
	m.State = stateOf(m)
	for _, to := range out.Tasks {
		if len(to.Changed) > 0 && m.StateReason == "" {
			m.StateReason = "INVALID: the server changed while " + to.Task.String() + " ran: " + to.Changed[0]
		}
	}
	if opts.Mode.infers() && out.Stopped {
		m.State = outputs.StateInterrupted
	}
	if n == 1 && m.State == outputs.StateDone && ses.State == outputs.StateFailed {
		m.State = outputs.StateFailed
	}
	if n == 1 && m.State == outputs.StateFailed && out.Run.Empty() {
		m.StateReason = "nothing was asked"
		if len(ses.Errors) > 0 {
			m.StateReason += ": " + ses.Errors[0]
		}
	}
	m.EndedAt = nil // stamped anew: the run ends when its last session does
	m.Checklist = out.Run.Checklist(m)
	return out.Run.WriteManifest(m)
}

// asked writes how far a session that asks has brought a pair. One that was
// refused before anything was sent leaves the pair as it was.
func asked(p *outputs.PairState, to *TaskOutcome, opts *Options) {
	in := to.Inference
	if in == nil {
		if p.State == outputs.PairPlanned && to.Err != nil && !errors.Is(to.Err, errNotStarted) && !errors.Is(to.Err, errInterrupted) {
			p.State, p.Error = outputs.PairFailed, to.Err.Error()
		}
		return
	}
	p.Requests, p.Failed, p.Cancelled, p.NotAsked = int64(in.Asked), int64(in.Failed), int64(in.Cancelled), int64(in.NotAsked)
	if in.Answered+in.Failed+in.Cancelled > 0 {
		p.Sessions++
	}
	p.State, p.Error = outputs.PairDone, ""
	switch {
	case in.Stopped || p.NotAsked+p.Cancelled > 0:
		p.State = outputs.PairInterrupted
		if to.Err != nil && !to.scoring {
			p.Error = to.Err.Error()
		}
	case to.Err != nil && !to.scoring:
		p.State, p.Error = outputs.PairFailed, to.Err.Error()
	case len(to.Changed) > 0:
		p.State, p.Error = outputs.PairFailed, "the server changed during the run: "+strings.Join(to.Changed, "; ")
	case in.Failed > 0:
		p.State, p.Error = outputs.PairFailed, fmt.Sprintf("%d of %d questions have no answer", in.Failed, in.Asked)
	}
}

// stateOf is where a run with these pairs stands.
func stateOf(m *outputs.Manifest) outputs.RunState {
	state := outputs.StateDone
	for _, p := range m.Pairs {
		switch {
		case p.State == outputs.PairInterrupted || p.State == outputs.PairPlanned:
			return outputs.StateInterrupted
		case p.State == outputs.PairFailed || p.Scoring != "":
			state = outputs.StateFailed
		}
	}
	return state
}

// launchedEngine writes what is known so far of an engine that was started for
// this session.
func launchedEngine(m *outputs.Manifest, ses *outputs.Session, n int, opts *Options) {
	if opts.Engine == nil {
		return
	}
	e := opts.Engine()
	if n == 1 {
		m.Engine = e
	} else {
		ses.Engine = e
	}
	for _, p := range e.OtherProcesses {
		warn(&m.Warnings, fmt.Sprintf("process %d (%s) was on accelerator %s before the engine was started", p.PID, p.Name, p.Accelerator))
	}
	if e.Died != nil {
		warn(&m.Warnings, "INVALID: the engine ended during the run: "+*e.Died)
	}
}

// servers keeps what the servers said: of the first session as the run's own, of
// a later one in its entry.
func servers(m *outputs.Manifest, ses *outputs.Session, out *Outcome) {
	first := m.ServerBefore == nil
	for _, to := range out.Tasks { // one server a run is the rule; the first asked stands for it, the others are in Extra
		if to.Proxy != "" { // times through a proxy are the proxy's too
			extra(m, "proxy of "+to.Task.ModelAbbr, to.Proxy)
		}
		if to.ServerBefore == nil {
			continue
		}
		switch {
		case m.ServerBefore == nil:
			m.ServerBefore, m.ServerAfter = to.ServerBefore, to.ServerAfter
		case !first && ses.ServerBefore == nil && to.Inference != nil && to.Inference.Asked > to.Inference.Resumed:
			ses.ServerBefore, ses.ServerAfter = to.ServerBefore, to.ServerAfter
			for _, d := range otherServer(m.ServerBefore, to.ServerBefore) {
				warn(&m.Warnings, "resumed on another server: "+d+"; the figures are of both")
			}
		case first && to.ServerBefore.URL != m.ServerBefore.URL:
			extra(m, "server of "+to.Task.ModelAbbr, map[string]any{"before": to.ServerBefore, "after": to.ServerAfter})
		}
		if to.Cache != nil {
			extra(m, "prefix cache of "+to.Task.String(), to.Cache)
		}
		for _, c := range to.Changed {
			warn(&m.Warnings, "INVALID: the server changed while "+to.Task.String()+" ran: "+c)
		}
	}
}

// otherServer is how the server of a later session differs from the first's, as
// far as both told.
func otherServer(a, b *outputs.ServerSnapshot) (lines []string) {
	if a.URL != b.URL {
		lines = append(lines, fmt.Sprintf("%s before, %s now", a.URL, b.URL))
	}
	for _, v := range []struct {
		what string
		a, b *string
	}{{"engine", a.Engine, b.Engine}, {"version", a.Version, b.Version}} {
		if v.a != nil && v.b != nil && *v.a != *v.b {
			lines = append(lines, fmt.Sprintf("%s %s before, %s now", v.what, *v.a, *v.b))
		}
	}
	return lines
}

// keepHealth adds what the client was like; a task's entry of a later session
// stands beside that of the first.
func keepHealth(m *outputs.Manifest, health map[string]any, session int) {
	all, ok := m.ClientHealth.(map[string]any)
	if !ok {
		m.ClientHealth = health
		return
	}
	for task, v := range health {
		if _, has := all[task]; has {
			task = fmt.Sprintf("%s (session %d)", task, session)
		}
		all[task] = v
	}
}

func clockInfo(out *Outcome) *outputs.ClockInfo {
	r := out.Clock.Report()
	c := &outputs.ClockInfo{ZeroWall: out.Clock.Zero().Format(time.RFC3339Nano), StampSource: "userspace"}
	if total := r.KernelReads + r.OtherReads; total > 0 {
		c.KernelShare = math.Round(1e4*float64(r.KernelReads)/float64(total)) / 1e4
		switch {
		case r.OtherReads == 0:
			c.StampSource = "kernel"
		case r.KernelReads > 0:
			c.StampSource = "mixed"
		}
	}
	drift := r.OffsetEndNS - r.OffsetStartNS
	steps := int(r.Steps)
	c.OffsetNS, c.DriftNS, c.Steps = &r.OffsetStartNS, &drift, &steps
	return c
}

// yamlOf renders a configuration as it is stored in the run folder.
func yamlOf(v any) ([]byte, error) {
	b, err := yaml.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("render a configuration: %w", err)
	}
	return b, nil
}
