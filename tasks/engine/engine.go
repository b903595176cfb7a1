// Package engine starts an inference engine for a test and makes sure that it
// is gone afterwards: with all its workers, after an interrupt, and when this
// program itself is killed.
//
// The command runs in a shell and in a process group of its own, so that a
// Ctrl-C at the terminal reaches this program alone, which then ends the engine
// in order. A second small process, the guard, holds one end of a pipe whose
// other end is here: when this program dies, however it dies, the pipe closes
// and the guard ends the group.
package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Config says what is started and when it counts as ready.
type Config struct {
	Command string   // for the shell; "vllm serve DIR --port 8000"
	Env     []string // NAME=VALUE, added to this program's environment
	// Server is the root of the service, scheme://host:port[/prefix]: ready when
	// GET Server/health or Server/v1/models answers 200.
	Server string
	Ready  time.Duration // how long that may take; 0 = 10 minutes
	Grace  time.Duration // between the request to end and the kill; 0 = 10 s
	Log    string        // file that gets what the engine prints; "" = nowhere
	Note   func(string)  // progress, one line; may be nil
}

// Engine is a running engine.
type Engine struct {
	cfg   Config
	cmd   *exec.Cmd
	log   *os.File
	guard *guard
	ended chan struct{} // closed when the shell has ended
	err   error         // of its end, after ended
	stop  sync.Once
}

// Start starts the engine and waits until it is ready. It returns an error, and
// nothing is left running, when the command ends before that, when Ready is
// over, or when ctx is cancelled.
func Start(ctx context.Context, cfg Config) (*Engine, error) {
	if strings.TrimSpace(cfg.Command) == "" {
		return nil, errors.New("no command to launch")
	}
	if cfg.Ready <= 0 {
		cfg.Ready = 10 * time.Minute
	}
	if cfg.Grace <= 0 {
		cfg.Grace = 10 * time.Second
	}
	if cfg.Note == nil {
		cfg.Note = func(string) {}
	}
	if answers(ctx, cfg.Server) {
		return nil, fmt.Errorf("something answers at %s already: stop it, or leave the launch out and test what is there", cfg.Server)
	}
	e := &Engine{cfg: cfg, ended: make(chan struct{})}
	e.cmd = shell(cfg.Command)
	e.cmd.Env = append(os.Environ(), cfg.Env...)
	if cfg.Log != "" {
		f, err := os.Create(cfg.Log)
		if err != nil {
			return nil, fmt.Errorf("log of the engine: %w", err)
		}
		e.log = f
		e.cmd.Stdout, e.cmd.Stderr = f, f
	}
	ownGroup(e.cmd)
	if err := e.cmd.Start(); err != nil {
		e.closeLog()
		return nil, fmt.Errorf("launch %q: %w", cfg.Command, err)
	}
	var err error
	if e.guard, err = startGuard(e.cmd.Process.Pid); err != nil {
		cfg.Note("the engine has no guard: if this program is killed it goes on running: " + err.Error())
	}
	go func() {
		e.err = e.cmd.Wait()
		close(e.ended)
	}()
	if err := e.ready(ctx); err != nil {
		e.Stop()
		if tail := e.tail(); tail != "" {
			err = fmt.Errorf("%w; it last said: %s", err, tail)
		}
		return nil, err
	}
	return e, nil
}

// ready waits for an answer.
func (e *Engine) ready(ctx context.Context) error {
	began := time.Now()
	e.cfg.Note(fmt.Sprintf("launched %q, waiting up to %s for %s", e.cfg.Command, e.cfg.Ready, e.cfg.Server))
	limit := time.NewTimer(e.cfg.Ready)
	defer limit.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-e.ended:
			return fmt.Errorf("the engine %q ended before it was ready: %w", e.cfg.Command, endOf(e.err))
		case <-ctx.Done():
			return fmt.Errorf("stopped while the engine was starting: %w", ctx.Err())
		case <-limit.C:
			return fmt.Errorf("the engine %q does not answer at %s after %s; give it the right port, or a longer wait", e.cfg.Command, e.cfg.Server, e.cfg.Ready)
		case <-tick.C:
			if answers(ctx, e.cfg.Server) {
				e.cfg.Note(fmt.Sprintf("the engine is ready after %.1f s", time.Since(began).Seconds()))
				return nil
			}
		}
	}
}

func endOf(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// answers reports whether the service is there.
func answers(ctx context.Context, server string) bool {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, path := range []string{"/health", "/v1/models"} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+path, nil)
		if err != nil {
			return false
		}
		res, err := client.Do(req)
		if err != nil {
			return false
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)) // the status is all that matters
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return true
		}
	}
	return false
}

// Ended is closed when the engine has ended by itself or by Stop.
func (e *Engine) Ended() <-chan struct{} { return e.ended }

// Pid is the process that was started, the leader of the engine's group.
func (e *Engine) Pid() int { return e.cmd.Process.Pid }

// Stop asks the whole process group to end, kills what is left after the grace
// period, and returns when it is gone. Calling it again does nothing.
func (e *Engine) Stop() {
	e.stop.Do(func() {
		terminate(e.cmd)
		over := time.Now().Add(e.cfg.Grace)
		for groupAlive(e.cmd) && time.Now().Before(over) {
			select {
			case <-e.ended:
			case <-time.After(20 * time.Millisecond):
			}
			time.Sleep(10 * time.Millisecond)
		}
		kill(e.cmd)
		<-e.ended
		e.guard.dismiss()
		e.closeLog()
	})
}

func (e *Engine) closeLog() {
	if e.log != nil {
		_ = e.log.Close() // what could not be written is lost to the log alone
	}
}

// tail is the last line of the log that says something.
func (e *Engine) tail() string {
	if e.cfg.Log == "" {
		return ""
	}
	f, err := os.Open(e.cfg.Log)
	if err != nil {
		return ""
	}
	defer f.Close()
	last := ""
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if t := strings.TrimSpace(sc.Text()); t != "" {
			last = t
		}
	}
	if len(last) > 300 {
		last = strings.ToValidUTF8(last[:300], "") + "…"
	}
	return last
}
