package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"path"
	"strconv"
	"strings"
	"time"

	"ais_bench/datasets"
	"ais_bench/datasets/tokenizer"
	"ais_bench/datasets/workloads"
	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/tasks"
)

// Session is a benchmark that is ready to run.
type Session struct {
	Backend     Backend
	Service     models.Config // with address and model name
	ModelID     string
	TokenizerID string
	Tokenizer   tokenizer.Resolved
	Workload    string // one line: what is asked
	Set         *datasets.Set
	Timed       bool // arrivals come from the workload
	// Notes are what a reader must know: fall-backs, effective sampling.
	Notes []string

	opts   Options
	probe  *probe
	passes []Pass              // of a cold and warm comparison; nil = one measurement
	chat   *tasks.ChatRenderer // of completions backends; nil = none
}

// Prepare resolves everything and makes the requests. Errors of the
// surroundings are *tasks.EnvironmentError; all others are the caller's.
func Prepare(ctx context.Context, o Options) (*Session, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Observer == nil {
		o.Observer = tasks.Quiet{}
	}
	b, err := FindBackend(o.Backend)
	if err != nil {
		return nil, err
	}
	s := &Session{Backend: b, Notes: []string{}, opts: o}
	if s.Service, err = o.service(b); err != nil {
		return nil, err
	}
	if err := s.nameModel(ctx); err != nil {
		return nil, err
	}
	if err := s.findTokenizer(ctx); err != nil {
		return nil, err
	}
	s.planCold(ctx)
	if err := s.makeRequests(ctx); err != nil {
		return nil, err
	}
	s.describeSampling()
	return s, s.load()
}

// service is the model configuration the options describe.
func (o *Options) service(b Backend) (models.Config, error) {
	c := models.Config{Abbr: "model", Type: b.Type, Attr: "service", Stream: o.Stream && !b.Pooling, APIKey: o.APIKey, Headers: o.Headers,
		GenerationKwargs: o.Body, Timeouts: o.Timeouts, Insecure: o.Insecure, CAFile: o.CAFile, Proxy: o.Proxy}
	base := o.BaseURL
	if base == "" {
		host, port := o.Host, o.Port
		if host == "" || host == "0.0.0.0" {
			host = "127.0.0.1"
		}
		if port == 0 {
			port = b.Port
		}
		base = "http://" + net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port))
	} else if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	var err error
	if c.URL, err = b.URL(base, o.Endpoint); err != nil {
		return c, err
	}
	return c, c.Validate()
}

// nameModel finds what requests have to name. The list of models also tells the
// folder or hub id the model was loaded from, which is its tokenizer's name.
func (s *Session) nameModel(ctx context.Context) error {
	o := &s.opts
	s.ModelID = o.Model
	served := o.ServedModelName
	if served == "" {
		served = o.Model
	}
	root := ""
	if served == "" || o.AnyModel {
		list, err := s.waitForModels(ctx)
		switch {
		case err != nil && served == "":
			return &tasks.EnvironmentError{Err: tasks.NoModelName(err)}
		case err != nil: // a service without a list is asked for the name given
		case len(list) == 0 && served == "":
			return &tasks.EnvironmentError{Err: errors.New("the server lists no model at /v1/models: give --model NAME")}
		case len(list) > 0:
			found := list[0]
			known := served == ""
			for _, m := range list {
				if m.ID == served || !known && m.Root == served {
					found, known = m, true
					break
				}
			}
			if !known {
				if o.ServedModelName != "" {
					break // named explicitly: the readiness check says what is wrong
				}
				s.note("the server serves %s, not %s: requests name %s (--served-model-name chooses)", found.ID, served, found.ID)
			}
			served, root = found.ID, found.Root
			if s.ModelID == "" {
				s.ModelID = served
				if root != "" {
					s.ModelID = root
				}
			}
		}
	}
	s.Service.Model = served
	s.Service.Abbr = abbreviation(s.ModelID)
	s.TokenizerID = o.Tokenizer
	if s.TokenizerID == "" {
		s.TokenizerID = s.ModelID
		if root != "" {
			s.TokenizerID = root
		}
	}
	return nil
}

// abbreviation names files after a model: the last element of its id.
func abbreviation(model string) string {
	name := path.Base(strings.ReplaceAll(strings.TrimRight(model, `/\`), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '_'
		}
		return r
	}, name)
	if name == "" || name == "." || name == ".." {
		return "model"
	}
	return name
}

// waitForModels asks for the list of models, while a server is coming up again
// and again until ReadyTimeout is over.
func (s *Session) waitForModels(ctx context.Context) ([]models.ModelInfo, error) {
	until := time.Now().Add(s.opts.ReadyTimeout)
	for {
		list, err := models.Discover(ctx, s.Service)
		var down *models.Unavailable
		if err == nil || !errors.As(err, &down) || down.Status != outputs.StatusDial && down.Status != outputs.StatusHTTP5xx || !time.Now().Before(until) {
			return list, err
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *Session) findTokenizer(ctx context.Context) error {
	var opts tokenizer.Options
	server, err := models.NewServerTokenizer(s.Service)
	if err != nil {
		return err
	}
	opts.Server = server
	mode := s.opts.TokenizerMode
	if named := s.opts.Tokenizer; named != "" && (mode == "" || mode == tokenizer.ModeAuto) {
		// Lengths by another tokenizer than the one asked for would be wrong without
		// anybody noticing.
		if _, err := tokenizer.Find(named, opts); err != nil {
			return fmt.Errorf("--tokenizer: %w; leave it out to use the server's own, or give --tokenizer-mode none", err)
		}
	}
	s.Tokenizer, err = tokenizer.Resolve(ctx, s.TokenizerID, mode, opts)
	if err != nil {
		return fmt.Errorf("--tokenizer: %w", err)
	}
	switch {
	case s.Tokenizer.Note != "":
		s.note("%s", s.Tokenizer.Note)
	case s.Tokenizer.Source == "server":
		s.note("no tokenizer on this machine: prompts are made and measured by the server's /tokenize")
	}
	return nil
}

// describeSampling says what decides the answers' text and length. A run that
// leaves the temperature to the server cannot be compared with one that does not.
func (s *Session) describeSampling() {
	if s.Backend.Pooling {
		return
	}
	if _, ok := s.opts.Body["temperature"]; !ok {
		s.note("sampling: temperature is not sent, so the server's own default decides (its generation_config); --temperature 0 asks for greedy decoding")
	}
}

// load lays the arrival process over the service's configuration.
func (s *Session) load() error {
	o, c := &s.opts, &s.Service
	n := len(s.Set.Samples)
	c.BatchSize = o.MaxConcurrency
	if c.BatchSize == 0 || c.BatchSize > n {
		c.BatchSize = min(max(n, 1), maxConcurrency) // no more can be in flight than there are
	}
	if o.Batch > 0 {
		c.BatchSize = o.Batch
	}
	if !math.IsInf(o.RequestRate, 1) {
		c.RequestRate = o.RequestRate
	}
	c.TrafficCfg = models.TrafficCfg{Burstiness: o.Burstiness, RampUpStrategy: o.RampUp, RampUpStartRPS: o.RampStart, RampUpEndRPS: o.RampEnd}
	if s.Timed {
		c.UseTimestamp, c.RequestRate = true, 0
		if o.RequestRate > 0 && !math.IsInf(o.RequestRate, 1) {
			s.note("--request-rate is not used: the trace's time stamps say when requests are sent (--no-self-timed gives it back)")
		}
		if o.MaxConcurrency > 0 {
			s.note("--max-concurrency is not used: it would rewrite the trace's times")
		}
		return c.Validate()
	}
	if o.ReplaySpeed != 0 && o.ReplaySpeed != 1 {
		return fmt.Errorf("--replay-speed goes with time stamps: workload %s is not sent by any", o.Dataset)
	}
	for i := range s.Set.Samples {
		s.Set.Samples[i].ArriveNS = -1 // a trace that is not to be replayed
	}
	return c.Validate()
}

func (s *Session) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// Run carries the benchmark out. The outcome has one task, or one a pass.
func (s *Session) Run(ctx context.Context) (*tasks.Outcome, error) {
	o := &s.opts
	sets, passes := s.choices(ctx)
	s.passes = passes
	plan, err := tasks.NewPlan([]tasks.ModelChoice{{Name: s.Service.Abbr, Origin: "command line", Config: s.Service}}, sets)
	if err != nil {
		return nil, err
	}
	observer, end, err := s.aside(ctx)
	if err != nil {
		return nil, err
	}
	topts := tasks.Options{Mode: tasks.ModePerf, WorkDir: o.WorkDir, RunDir: o.RunDir, NumWarmups: o.NumWarmups, Seed: o.Seed, ReplaySpeed: o.ReplaySpeed, Drain: o.Drain, ReadyTimeout: o.ReadyTimeout,
		MaxNumWorkers: 1, SpecDecode: o.SpecDecode, NoStorePrompts: o.NoStorePrompts, Batch: o.Batch, RequestIDPrefix: o.RequestIDPrefix, Tool: o.Tool, Args: o.Args,
		Observer: observer, Stop: o.Stop, Cut: o.Cut, Chat: s.chat, ServerOptions: o.ServerOptions, FlushCache: o.FlushCache, Attached: o.Attached}
	if local := s.Tokenizer.Local; local != nil {
		topts.CountTokens = local.Count
	}
	out, err := tasks.Run(ctx, plan, topts)
	end()
	if out == nil || out.Run == nil || err != nil {
		return out, err
	}
	return out, s.keep(out)
}

// Pair names the run's records.
func (s *Session) Pair(out *tasks.Outcome) (model, dataset string) {
	t := out.Tasks[0].Task
	return t.ModelAbbr, t.DatasetAbbr
}

// Duplicated reports whether rows of the file had to be repeated.
func (s *Session) Duplicated() int {
	n := 0
	for i := range s.Set.Samples {
		if s.Set.Samples[i].Fields[workloads.FieldOversampled] == true {
			n++
		}
	}
	return n
}
