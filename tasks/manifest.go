package tasks

import (
	"fmt"
	"math"
	"time"

	"ais_bench/outputs"
	"ais_bench/tasks/load"
)

// startManifest writes the resolved configurations and the first manifest,
// before anything is sent: a run that is killed still says what it was.
func startManifest(out *Outcome, plan *Plan, est []Estimate, opts *Options) (*outputs.Manifest, error) {
	m := outputs.NewManifest(out.Run, opts.Tool, opts.Args)
	if opts.resuming {
		if before, err := out.Run.ReadManifest(); err == nil {
			m.StartedAt, m.Warnings = before.StartedAt, before.Warnings
			m.Warnings = append(m.Warnings, fmt.Sprintf("continued at %s by %v", time.Now().Format(time.RFC3339), opts.Args))
		}
	}
	m.Seeds = map[string]any{"seed": opts.Seed}
	m.Calibration = opts.Calibration
	if len(opts.ServerMeta) > 0 {
		m.Extra = map[string]any{"server_meta": opts.ServerMeta}
	}
	m.Sampling, m.Workload = map[string]any{}, map[string]any{}
	stored := map[string]bool{}
	for i, t := range plan.Tasks {
		c := t.Model.Config.Redacted()
		if err := storeConfig(out.Run, m, stored, "model", t.ModelAbbr, t.Model.Origin, c); err != nil {
			return nil, err
		}
		if err := storeConfig(out.Run, m, stored, "dataset", t.DatasetAbbr, t.Dataset.Origin, est[i].Set.Config); err != nil {
			return nil, err
		}
		m.Sampling[t.ModelAbbr] = map[string]any{"generation_kwargs": c.GenerationKwargs, "max_out_len": c.MaxOutLen, "stream": c.Stream}
		m.Workload[t.String()] = map[string]any{"samples": est[i].Samples, "requests": est[i].Requests, "repeats": t.repeats(),
			"batch_size": max(c.BatchSize, 1), "request_rate": c.RequestRate, "traffic_cfg": c.TrafficCfg, "num_warmups": opts.NumWarmups,
			"pressure": opts.Pressure, "duration_s": opts.Duration.Seconds(), "mode": opts.Mode}
		for _, f := range est[i].Set.Files {
			key := "data\x00" + t.DatasetAbbr + f.Path
			if !stored[key] {
				stored[key] = true
				m.Data = append(m.Data, outputs.DataFile{Dataset: t.DatasetAbbr, Path: f.Path, SHA256: f.SHA256, Bytes: f.Bytes, Rows: int64(est[i].Samples)})
			}
		}
		m.Pairs = append(m.Pairs, outputs.PairState{Model: t.ModelAbbr, Dataset: t.DatasetAbbr, State: "planned"})
	}
	return m, out.Run.WriteManifest(m)
}

func storeConfig(run *outputs.Run, m *outputs.Manifest, stored map[string]bool, kind, abbr, origin string, cfg any) error {
	name := kind + "-" + outputs.FileName(abbr) + ".yaml"
	if stored[name] {
		return nil
	}
	stored[name] = true
	text, err := yamlOf(cfg)
	if err != nil {
		return err
	}
	if err := run.WriteConfig(name, text); err != nil {
		return err
	}
	sum, _, err := outputs.HashFile(run.ConfigPath(name))
	if err != nil {
		return err
	}
	m.Configs = append(m.Configs, outputs.ConfigFile{Kind: kind, Name: abbr, Source: origin, Path: "configs/" + name, SHA256: sum})
	return nil
}

// finishManifest writes how the run ended.
func finishManifest(out *Outcome, m *outputs.Manifest, opts *Options) error {
	m.State = outputs.StateDone
	if out.Failed() {
		m.State = outputs.StateFailed
	}
	if out.Stopped {
		m.State = outputs.StateInterrupted
	}
	m.Warnings = append(m.Warnings, out.Warnings...)
	health := map[string]*load.Health{}
	for _, to := range out.Tasks {
		if in := to.Inference; in != nil && in.Health != nil {
			health[to.Task.String()] = in.Health
		}
	}
	if len(health) > 0 {
		m.ClientHealth = health
	}
	for i, to := range out.Tasks {
		p := &m.Pairs[i]
		p.State = "done"
		if to.Err != nil {
			p.State, p.Error = "failed", to.Err.Error()
		}
		if in := to.Inference; in != nil {
			p.Requests, p.Failed = int64(in.Asked), int64(in.Failed)
			if in.Stopped {
				p.State = "interrupted"
			}
		}
		path := out.Run.RecordsPath(p.Model, p.Dataset)
		if path == "" {
			continue
		}
		sum, _, err := outputs.HashFile(path)
		if err != nil {
			return err
		}
		p.Records, p.SHA256 = relative(out.Run, path), sum
	}
	for _, to := range out.Tasks { // one server a run is the rule; the first asked stands for it, the others are in Extra
		if to.ServerBefore == nil {
			continue
		}
		if m.ServerBefore == nil {
			m.ServerBefore, m.ServerAfter = to.ServerBefore, to.ServerAfter
		} else if to.ServerBefore.URL != m.ServerBefore.URL {
			if m.Extra == nil {
				m.Extra = map[string]any{}
			}
			m.Extra["server of "+to.Task.ModelAbbr] = map[string]any{"before": to.ServerBefore, "after": to.ServerAfter}
		}
		for _, c := range to.Changed {
			m.Warnings = append(m.Warnings, "INVALID: the server changed while "+to.Task.String()+" ran: "+c)
		}
	}
	if opts.Mode.infers() {
		m.Clock = clockInfo(out)
	}
	m.Checklist = outputs.Checklist(evidence(out, opts))
	return out.Run.WriteManifest(m)
}

func relative(run *outputs.Run, path string) string {
	if n := len(run.Dir()) + 1; len(path) > n {
		return path[n:]
	}
	return path
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

// evidence is what this run can show for each item of the reproducibility
// checklist.
func evidence(out *Outcome, opts *Options) outputs.Evidence {
	e := outputs.Evidence{
		ClientParameters: "configs/*.yaml and the command line in manifest.json",
		Seed:             fmt.Sprintf("--seed %d", opts.Seed),
		TailPercentiles:  "performances/*.json holds P95 and P99",
		TimeStamps:       "run folder name, started_at and ended_at in manifest.json",
		ToolCommit:       opts.Tool.Commit,
	}
	if opts.Tool.Repository != nil {
		e.RepositoryCommit = *opts.Tool.Repository
	}
	e.ServerParameters, e.PrefixCaching = serverEvidence(out)
	if len(opts.ServerMeta) > 0 && e.ServerParameters == "" {
		e.ServerParameters = "told by the user, in server_meta of manifest.json"
	}
	if v, ok := opts.ServerMeta["enable_prefix_caching"]; ok && e.PrefixCaching == "" {
		e.PrefixCaching = "enable_prefix_caching=" + v + ", told by the user"
	}
	fixed, forced := len(out.Tasks) > 0, len(out.Tasks) > 0
	for _, to := range out.Tasks {
		kw := to.Task.Model.Config.GenerationKwargs
		if _, ok := kw["temperature"]; !ok {
			fixed = false
		}
		if v, ok := kw["ignore_eos"].(bool); !ok || !v {
			forced = false
		}
	}
	if fixed {
		e.Sampling = "temperature set in generation_kwargs of every model"
	}
	if forced {
		e.OutputLength = "ignore_eos with max_tokens"
	}
	return e
}

// serverEvidence is what the servers said of their parameters and of prefix
// caching; "" when one of them said nothing.
func serverEvidence(out *Outcome) (parameters, caching string) {
	for _, to := range out.Tasks {
		s := to.ServerBefore
		if s == nil || s.Engine == nil {
			return "", ""
		}
		parameters = *s.Engine
		if s.Version != nil {
			parameters += " " + *s.Version
		}
		parameters += ", in server_before of manifest.json"
		info, ok := s.Info.(map[string]any)
		if !ok {
			continue
		}
		for _, v := range info {
			sets, ok := v.([]any)
			if !ok {
				continue
			}
			for _, set := range sets {
				if labels, ok := set.(map[string]any); ok && labels["enable_prefix_caching"] != nil {
					caching = fmt.Sprintf("enable_prefix_caching=%v in the server's metrics", labels["enable_prefix_caching"])
				}
			}
		}
	}
	return parameters, caching
}
