// Package engine starts an inference engine for a test and makes sure that it
// is gone afterwards: with all its workers, after an interrupt, and when this
// program itself is killed.
//
// The command runs in a shell and in a process group of its own, so that a
// Ctrl-C at the terminal reaches this program alone, which then ends the engine
// in order. A second small process, the guard, holds one end of a pipe whose
// other end is here: when this program dies, however it dies, the pipe closes
// and the guard ends the group. It is itself in the group, which keeps the group's
// number from meaning other processes as long as it may be signalled.
package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ais_bench/outputs"
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
	Log    string        // file that gets what the engine prints, its beginning and its end when it is long; "" = nowhere
	// Scrub takes credentials out of the log when the engine has ended, wherever the
	// log goes from there, and out of what is told of its last words, in notes, errors
	// and Facts; nil = nothing to hide.
	Scrub func(string) string
	Note  func(string) // progress, one line; may be nil
}

// Engine is a running engine.
type Engine struct {
	cfg    Config
	cmd    *exec.Cmd
	log    *boundedLog // nil without one
	guard  *guard
	mark   string        // of the environment of everything the engine starts
	ended  chan struct{} // closed when the shell has ended and its last words were read
	reaped chan struct{} // closed as soon as the shell's process id is free again
	err    error         // of its end, after ended
	stop   sync.Once

	scrubbing sync.Mutex
	looking   sync.WaitGroup // for versions

	mu       sync.Mutex
	facts    outputs.LaunchedEngine
	stopping bool
}

// markVariable is in the environment of the engine and of whatever it starts, so
// that processes that left its group are found, too.
const markVariable = "AIS_BENCH_ENGINE"

// ErrLog is in the error of a Start whose log cannot be written.
var ErrLog = errors.New("log of the engine")

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
	e := &Engine{cfg: cfg, ended: make(chan struct{}), reaped: make(chan struct{}), mark: uuid.NewString()}
	e.look(ctx)
	e.cmd = shell(cfg.Command)
	e.cmd.Env = append(append(os.Environ(), cfg.Env...), markVariable+"="+e.mark)
	var err error
	var said *os.File // a file of the process's own: nothing of this program stands in between when it ends
	if cfg.Log != "" {
		if e.log, err = newLog(cfg.Log, logHead, logSegment); err == nil {
			said, err = e.log.input()
		}
		if err != nil {
			e.closeLog()
			return nil, fmt.Errorf("%w: %w", ErrLog, err)
		}
		logs.add(e)
		e.cmd.Stdout, e.cmd.Stderr = said, said
	}
	ownGroup(e.cmd)
	if err = e.cmd.Start(); err != nil {
		e.closeLog()
		return nil, fmt.Errorf("launch %q: %w", cfg.Command, err)
	}
	if e.guard, err = startGuard(e.cmd.Process.Pid, e.mark); err != nil {
		cfg.Note("the engine has no guard: if this program is killed it goes on running: " + err.Error())
	}
	go func() {
		e.err = e.cmd.Wait()
		close(e.reaped)
		if e.log != nil {
			e.log.settle() // its last words are in the pipe
		}
		e.mu.Lock()
		if !e.stopping {
			how := endOf(e.err).Error()
			if tail := e.tail(); tail != "" {
				how += "; it last said: " + tail
			}
			e.facts.Died = &how
		}
		e.mu.Unlock()
		close(e.ended)
	}()
	if err := e.ready(ctx); err != nil {
		e.Stop()
		lines := e.tailLines(logLines)
		if len(lines) > 0 {
			err = fmt.Errorf("%w; it last said: %s", err, clip(lines[len(lines)-1]))
		}
		if len(lines) > 1 {
			cfg.Note("the end of the engine's log (" + cfg.Log + "):")
			for _, l := range lines {
				cfg.Note("  | " + l)
			}
		}
		return nil, err
	}
	return e, nil
}

// look records the surroundings before the engine is in them; versions are looked
// up while it starts.
func (e *Engine) look(ctx context.Context) {
	env := append(os.Environ(), e.cfg.Env...)
	list, processes, driver, known := accelerators(ctx)
	e.facts = outputs.LaunchedEngine{Command: e.cfg.Command, Executable: executable(e.cfg.Command), Env: environment(env), Versions: driver,
		OtherProcesses: processes, StartedAt: time.Now().Format(time.RFC3339Nano)}
	if known {
		e.facts.Accelerators = list
		if list == nil {
			e.facts.Accelerators = []outputs.Accelerator{}
		}
	}
	if e.facts.Versions == nil {
		e.facts.Versions = map[string]string{}
	}
	for _, p := range processes {
		e.cfg.Note(fmt.Sprintf("WARNING: process %d (%s) is on accelerator %s already%s: it takes memory and time from the engine", p.PID, p.Name, p.Accelerator, mebibytes(p.MemoryMiB)))
	}
	e.looking.Go(func() {
		v := versions(ctx, e.facts.Executable)
		e.mu.Lock()
		defer e.mu.Unlock()
		maps.Copy(e.facts.Versions, v)
	})
}

func mebibytes(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(" with %.0f MiB", *v)
}

// Facts are what was started, where, and how it ended so far.
func (e *Engine) Facts() *outputs.LaunchedEngine {
	e.looking.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.facts
	return &f
}

// Died is how the engine ended by itself, "" while it runs and when it was
// stopped.
func (e *Engine) Died() string {
	select {
	case <-e.ended:
	default:
		return ""
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.facts.Died == nil {
		return ""
	}
	return *e.facts.Died
}

// DiedWithin is Died for a failure that an engine's death would explain: a connection
// breaks a moment before the process has ended.
func (e *Engine) DiedWithin(wait time.Duration) string {
	select {
	case <-e.ended:
	case <-time.After(wait):
	}
	return e.Died()
}

// Watch is a channel that closes with stop, or when the engine ends by itself,
// of which note is then told. It is for what must not go on without the engine.
func (e *Engine) Watch(stop <-chan struct{}, note func(string)) <-chan struct{} {
	both := make(chan struct{})
	go func() {
		defer close(both)
		select {
		case <-stop:
		case <-e.ended:
			if how := e.Died(); how != "" {
				note("WARNING: the engine ended during the run: " + how)
			}
		}
	}()
	return both
}

// ready waits for an answer.
func (e *Engine) ready(ctx context.Context) error {
	began := time.Now()
	e.cfg.Note(fmt.Sprintf("launched %q, waiting up to %s for %s", e.cfg.Command, e.cfg.Ready, e.cfg.Server))
	limit := time.NewTimer(e.cfg.Ready)
	defer limit.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	said, last := began, ""
	for {
		select {
		case <-e.ended:
			return fmt.Errorf("the engine %q ended before it was ready: %w", e.cfg.Command, endOf(e.err))
		case <-ctx.Done():
			return fmt.Errorf("stopped while the engine was starting: %w", ctx.Err())
		case <-limit.C:
			return fmt.Errorf("the engine %q does not answer at %s after %s; give it the right port, or a longer wait", e.cfg.Command, e.cfg.Server, e.cfg.Ready)
		case <-tick.C:
			took := time.Since(began).Seconds()
			if answers(ctx, e.cfg.Server) {
				e.mu.Lock()
				e.facts.ReadyAfterS = &took
				e.mu.Unlock()
				e.cfg.Note(fmt.Sprintf("the engine is ready after %.1f s", took))
				return nil
			}
			if time.Since(said) < progressEvery {
				continue
			}
			said = time.Now()
			line := e.tail()
			if line == last || line == "" {
				line = "no news in its log"
			} else {
				last = line
			}
			e.cfg.Note(fmt.Sprintf("starting for %.0f s: %s", took, line))
		}
	}
}

// progressEvery is how often a starting engine is told of.
const progressEvery = 5 * time.Second

func endOf(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// answers reports whether the service is there. One that asks for a key is; the
// certificate does not matter, because it is this program's own engine.
func answers(ctx context.Context, server string) bool {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
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
		switch res.StatusCode {
		case http.StatusOK, http.StatusUnauthorized, http.StatusForbidden:
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
// period, here or in groups of its own, and returns when it is gone. Calling it
// again does nothing.
func (e *Engine) Stop() {
	e.stop.Do(func() {
		e.mu.Lock()
		e.stopping = true
		e.mu.Unlock()
		if e.ours() {
			terminate(e.cmd)
		}
		over := time.Now().Add(e.cfg.Grace)
		for groupAlive(e.cmd, e.guard) && time.Now().Before(over) {
			select {
			case <-e.ended: // others of the group may still be there
				time.Sleep(50 * time.Millisecond)
			case <-time.After(50 * time.Millisecond):
			}
		}
		if e.ours() {
			kill(e.cmd)
		}
		<-e.ended
		if n := killMarked(markVariable + "=" + e.mark); n > 0 {
			e.cfg.Note(fmt.Sprintf("%d processes of the engine had left its group and were killed", n))
		}
		e.guard.dismiss()
		e.closeLog()
	})
}

// ours reports whether the number of the engine's group can mean no other group by
// now. It cannot while a process of this program's own making is in the group and has
// not been reaped: the guard, until it is dismissed, or the engine's shell. Where
// there is no such guard a shell that was reaped leaves the number to others.
func (e *Engine) ours() bool {
	if e.guard.holds() {
		return true
	}
	select {
	case <-e.reaped:
		return groupAlive(e.cmd, nil) // its other processes still have it
	default:
		return true
	}
}

func (e *Engine) closeLog() {
	if e.log == nil { // also where it could not be made
		return
	}
	_ = e.log.close() // what could not be written is lost to the log alone
	e.scrubLog()
	logs.drop(e)
}

// Log is the file that gets what the engine prints, "" for none.
func (e *Engine) Log() string { return e.cfg.Log }

// logLines is how much of its log a failed start shows.
const logLines = 15

// tail is the last line of the log that says something.
func (e *Engine) tail() string {
	lines := e.tailLines(1)
	if len(lines) == 0 {
		return ""
	}
	return clip(lines[0])
}

func clip(s string) string {
	if len(s) > 300 {
		return strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// tailLines are the last lines of the log that say something, without what drives
// a terminal. A progress bar's line counts as its last state.
func (e *Engine) tailLines(n int) []string {
	if e.log == nil {
		return nil
	}
	var lines []string
	for line := range strings.Lines(terminalCodes.ReplaceAllString(string(e.log.end()), "")) {
		line = strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		lines[i] = strings.ToValidUTF8(e.scrub(line), "\uFFFD")
	}
	return lines
}

// scrub is text without credentials. What is cut to a length is scrubbed before: half
// a key is found by nobody.
func (e *Engine) scrub(text string) string {
	if e.cfg.Scrub == nil {
		return text
	}
	return e.cfg.Scrub(text)
}

var terminalCodes = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
