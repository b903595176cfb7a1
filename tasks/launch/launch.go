// Package launch starts an engine for what is to be asked: for a benchmark (For) or
// for a plan of models and data sets (ForPlan). It settles where the engine listens,
// starts it with tasks/engine, writes it into the run's options, so that its facts
// reach the manifest and its death ends the run, and keeps its log (KeepLog).
//
//	s := launch.Spec{Command: "vllm serve DIR --port {port}", Ready: 10 * time.Minute, WorkDir: "outputs/default"}
//	e, err := launch.For(ctx, s, &o, true)
//	if err != nil { … }
//	defer e.Stop()
//
// Errors are of two kinds: a *tasks.EnvironmentError where the engine, a port or a
// folder is to blame, any other where the caller's settings are.
package launch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"ais_bench/outputs"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
	"ais_bench/tasks/engine"
)

// Spec is the engine that is wanted.
type Spec struct {
	Command string        // for the shell; {host} and {port} are filled in
	Ready   time.Duration // how long it may take until it answers
	WorkDir string        // gets its log while it runs; made where it is missing
}

// FolderError says that an engine's log cannot be written, so that no engine can be
// started.
type FolderError struct{ Err error }

func (e *FolderError) Error() string { return e.Err.Error() }
func (e *FolderError) Unwrap() error { return e.Err }

// Secrets are the credentials in the command and in the environment that the engine
// inherits.
func (s Spec) Secrets() []string { return engine.Secrets(s.Command, os.Environ()) }

// For starts the engine of a benchmark, and points the benchmark at it: o.Port is
// chosen here when choosePort allows it and the command leaves room for it. o.Stop is
// closed when the engine dies, too.
func For(ctx context.Context, s Spec, o *bench.Options, choosePort bool) (*engine.Engine, error) {
	if choosePort && engine.Uses(s.Command, "port") {
		port, free, err := ReservePort()
		if err != nil {
			return nil, err
		}
		defer free() // by then the engine has taken it, or never will
		o.Port = port
	}
	server, err := o.Server()
	if err != nil {
		return nil, err
	}
	e, err := s.start(ctx, server, o.Observer.Note, o.Secrets()...)
	if err != nil {
		return nil, err
	}
	s.tell(&o.ServerOptions, e)
	o.Stop = e.Watch(o.Stop, o.Observer.Note)
	return e, nil
}

// Choice says what of an engine's address is chosen here.
type Choice struct{ Host, Port bool }

// ForPlan is For for a plan: all its models are the one engine's. With at.Port a free
// port replaces theirs where the command leaves room for it, and with at.Host, too,
// the loopback address their host.
func ForPlan(ctx context.Context, s Spec, plan *tasks.Plan, o *tasks.Options, at Choice) (*engine.Engine, error) {
	if o.Mode.NeedsReuse() {
		return nil, fmt.Errorf("--launch goes with a mode that asks: --mode %s only reads what an earlier run left", o.Mode)
	}
	at.Port = at.Port && engine.Uses(s.Command, "port")
	port := 0
	if at.Port {
		var err error
		var free func()
		if port, free, err = ReservePort(); err != nil {
			return nil, err
		}
		defer free()
	}
	server := ""
	var secrets []string
	for _, t := range plan.Tasks {
		m := &t.Model.Config
		if m.Simulated() {
			return nil, fmt.Errorf("--launch: model %s is the built-in simulator, which needs no engine", t.Model.Name)
		}
		if at.Port {
			m.URL, m.HostPort = "", port
			if at.Host {
				m.HostIP = "127.0.0.1"
			}
		}
		ep, err := m.Endpoint()
		if err != nil {
			return nil, err
		}
		if server != "" && ep.Server != server {
			return nil, fmt.Errorf("--launch: the chosen models are at different addresses (%s and %s): one engine serves one; give --url or --host-port", server, ep.Server)
		}
		server = ep.Server
		secrets = append(secrets, m.Secrets()...)
	}
	e, err := s.start(ctx, server, o.Observer.Note, secrets...)
	if err != nil {
		return nil, err
	}
	s.tell(&o.ServerOptions, e)
	o.Stop = e.Watch(o.Stop, o.Observer.Note)
	return e, nil
}

// address fills in what a server's address tells: {host} and {port}.
func (s Spec) address(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	port := u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	command, err := engine.Expand(s.Command, map[string]string{"host": u.Hostname(), "port": port})
	if err != nil {
		return "", fmt.Errorf("--launch: %w", err)
	}
	return command, nil
}

// start starts the engine that is to listen at server and waits for it. note gets
// its progress without credentials; secrets are those that the engine is sent.
func (s *Spec) start(ctx context.Context, server string, note func(string), secrets ...string) (*engine.Engine, error) {
	var err error
	if s.Command, err = s.address(server); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.WorkDir, 0o755); err != nil {
		return nil, &tasks.EnvironmentError{Err: &FolderError{fmt.Errorf("--work-dir: %w", err)}}
	}
	scrub := outputs.NewRedactor(append(secrets, s.Secrets()...)...)
	log := filepath.Join(s.WorkDir, fmt.Sprintf("engine-%d.out", os.Getpid()))
	e, err := engine.Start(ctx, engine.Config{Command: s.Command, Server: server, Ready: s.Ready, Log: log, Scrub: scrub.String, Note: func(line string) { note(scrub.String(line)) }})
	if errors.Is(err, engine.ErrLog) {
		return nil, &tasks.EnvironmentError{Err: &FolderError{fmt.Errorf("--work-dir: %w", err)}}
	}
	if err != nil {
		// Not wrapped: the engine's exit status is not this program's.
		return nil, &tasks.EnvironmentError{Err: errors.New(scrub.String("--launch: " + err.Error()))}
	}
	return e, nil
}

// tell puts an engine into a run's options.
func (s Spec) tell(o *tasks.ServerOptions, e *engine.Engine) {
	o.Secrets = append(o.Secrets, s.Secrets()...)
	o.Engine = func() *outputs.LaunchedEngine {
		f := e.Facts()
		f.Log = "logs/" + logName
		return f
	}
}

const logName = "engine.out"

// KeepLog moves a stopped engine's log to the folders of the runs that were made
// with it, without what no output may hold. Where that fails it stays where it is.
func KeepLog(e *engine.Engine, runs ...*outputs.Run) {
	text, err := os.ReadFile(e.Log())
	if err != nil && !errors.Is(err, os.ErrNotExist) { // an engine that said nothing left no log
		return
	}
	kept := len(runs) > 0
	for _, run := range runs {
		kept = os.MkdirAll(run.Path("logs"), 0o755) == nil &&
			os.WriteFile(run.Path("logs", logName), []byte(run.Redactor().String(string(text))), 0o644) == nil && kept
	}
	if kept {
		_ = os.Remove(e.Log()) // a second copy does no harm
	}
}

// Blame puts the death of an engine, as engine.Died tells it, before an error that
// is its consequence; died is "" for an engine that lived.
func Blame(died string, err error) error {
	if died == "" {
		return err
	}
	text := "the engine ended during the run: " + died
	if err != nil {
		text += "; " + err.Error()
	}
	return errors.New(text)
}
