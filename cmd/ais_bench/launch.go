package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
	"ais_bench/tasks/engine"
)

// launchFlags start an engine for the test.
func launchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "launch", Category: groupLaunch, Usage: "start this engine `COMMAND` for the test and stop it, with all its processes, afterwards; {port} and {host} are filled in"},
		&cli.StringFlag{Name: "launch-timeout", Category: groupLaunch, Value: "10m", Usage: "how long it may take until /health or /v1/models answers"},
	}
}

// launchSpec is what --launch and its companions say.
type launchSpec struct {
	command string // placeholders not yet filled in; "" = none
	timeout time.Duration
	workDir string
}

func readLaunch(c *cli.Context) (launchSpec, error) {
	l := launchSpec{command: c.String("launch"), workDir: c.String("work-dir")}
	if strings.TrimSpace(l.command) == "" {
		if c.IsSet("launch") {
			return l, usagef("--launch is empty: give the engine's command, or leave it out for a service that runs")
		}
		if c.IsSet("launch-timeout") {
			return l, usagef("--launch-timeout goes with --launch")
		}
		return l, nil
	}
	wait, err := models.ParseDuration(c.String("launch-timeout"))
	if err != nil || wait <= 0 {
		return l, usagef("--launch-timeout %s: give seconds or a duration like 10m, above 0", c.String("launch-timeout"))
	}
	l.timeout = time.Duration(wait)
	return l, nil
}

// freePort is a port of the loopback address that nothing listens on.
func freePort() (int, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, &tasks.EnvironmentError{Err: fmt.Errorf("find a free port: %w", err)}
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port, nil
}

// address fills in what a server's address tells: {host} and {port}.
func (l launchSpec) address(server string) (launchSpec, error) {
	u, err := url.Parse(server)
	if err != nil {
		return l, usage(err)
	}
	port := u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	if l.command, err = engine.Expand(l.command, map[string]string{"host": u.Hostname(), "port": port}); err != nil {
		return l, usagef("--launch: %w", err)
	}
	return l, nil
}

// start starts the engine and waits for it. The error is the environment's.
func (l launchSpec) start(ctx context.Context, server string, note func(string)) (*engine.Engine, error) {
	if err := os.MkdirAll(l.workDir, 0o755); err != nil {
		return nil, &tasks.EnvironmentError{Err: fmt.Errorf("--work-dir: %w", err)}
	}
	scrub := outputs.NewRedactor(engine.Secrets(l.command, os.Environ())...)
	log := filepath.Join(l.workDir, fmt.Sprintf("engine-%d.out", os.Getpid()))
	e, err := engine.Start(ctx, engine.Config{Command: l.command, Server: server, Ready: l.timeout, Log: log, Scrub: scrub.String, Note: func(s string) { note(scrub.String(s)) }})
	if err != nil {
		// Not wrapped: the engine's exit status is not this program's.
		return nil, &tasks.EnvironmentError{Err: errors.New(scrub.String("--launch: " + err.Error()))}
	}
	return e, nil
}

// tell puts an engine into a run's options.
func (l launchSpec) tell(o *tasks.ServerOptions, e *engine.Engine) {
	o.Secrets = append(o.Secrets, engine.Secrets(l.command, os.Environ())...)
	o.Engine = func() *outputs.LaunchedEngine {
		f := e.Facts()
		f.Log = "logs/" + engineLogName
		return f
	}
}

const engineLogName = "engine.out"

// keepEngineLog moves a stopped engine's log to the folders of the runs that were
// made with it, without what no output may hold. Where that fails it stays where
// it is.
func keepEngineLog(e *engine.Engine, runs ...*outputs.Run) {
	text, err := os.ReadFile(e.Log())
	if err != nil && !errors.Is(err, os.ErrNotExist) { // an engine that said nothing left no log
		return
	}
	kept := len(runs) > 0
	for _, run := range runs {
		kept = os.MkdirAll(run.Path("logs"), 0o755) == nil &&
			os.WriteFile(run.Path("logs", engineLogName), []byte(run.Redactor().String(string(text))), 0o644) == nil && kept
	}
	if kept {
		_ = os.Remove(e.Log()) // a second copy does no harm
	}
}

// withEngine puts the engine's death before an error that is its consequence.
func withEngine(died string, err error) error {
	if died == "" {
		return err
	}
	text := "the engine ended during the run: " + died
	if err != nil {
		text += "; " + err.Error()
	}
	return errors.New(text)
}

// launchFor starts the engine that a benchmark's --launch describes, nil without
// one. A port that nobody chose is chosen here when the command leaves room for
// it.
func launchFor(ctx context.Context, l launchSpec, c *cli.Context, o *bench.Options) (*engine.Engine, error) {
	if l.command == "" {
		return nil, nil
	}
	if engine.Uses(l.command, "port") && !c.IsSet("port") && !c.IsSet("base-url") {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		o.Port = port
	}
	server, err := o.Server()
	if err != nil {
		return nil, usage(err)
	}
	if l, err = l.address(server); err != nil {
		return nil, err
	}
	e, err := l.start(ctx, server, o.Observer.Note)
	if err != nil {
		return nil, err
	}
	l.tell(&o.ServerOptions, e)
	o.Stop = e.Watch(o.Stop, o.Observer.Note)
	return e, nil
}

// launchForPlan is launchFor of the main command: all chosen models are the one
// engine's.
func launchForPlan(ctx context.Context, l launchSpec, c *cli.Context, plan *tasks.Plan, opts *tasks.Options) (*engine.Engine, error) {
	if l.command == "" {
		return nil, nil
	}
	if opts.Mode.NeedsReuse() {
		return nil, usagef("--launch goes with a mode that asks: --mode %s only reads what an earlier run left", opts.Mode)
	}
	choose := engine.Uses(l.command, "port") && !c.IsSet("host-port") && !c.IsSet("url")
	port := 0
	if choose {
		var err error
		if port, err = freePort(); err != nil {
			return nil, err
		}
	}
	server := ""
	for _, t := range plan.Tasks {
		m := &t.Model.Config
		if m.Simulated() {
			return nil, usagef("--launch: model %s is the built-in simulator, which needs no engine", t.Model.Name)
		}
		if choose {
			m.URL, m.HostPort = "", port
			if !c.IsSet("host-ip") {
				m.HostIP = "127.0.0.1"
			}
		}
		ep, err := m.Endpoint()
		if err != nil {
			return nil, usage(err)
		}
		if server != "" && ep.Server != server {
			return nil, usagef("--launch: the chosen models are at different addresses (%s and %s): one engine serves one; give --url or --host-port", server, ep.Server)
		}
		server = ep.Server
	}
	var err error
	if l, err = l.address(server); err != nil {
		return nil, err
	}
	e, err := l.start(ctx, server, opts.Observer.Note)
	if err != nil {
		return nil, err
	}
	l.tell(&opts.ServerOptions, e)
	opts.Stop = e.Watch(opts.Stop, opts.Observer.Note)
	return e, nil
}
