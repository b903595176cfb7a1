package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"ais_bench/outputs"
	"ais_bench/tasks"
)

// progress shows how a run goes: one bar on a terminal, a plain line every ten
// seconds elsewhere. It goes to stderr, so that stdout holds results alone.
type progress struct {
	w        io.Writer
	terminal bool
	debug    bool

	total, done, failed, tokens atomic.Int64
	limit                       atomic.Int64 // ns of a run for a time; 0 = by count
	began                       atomic.Int64 // unix ns of the first task's start
	scored, toScore             atomic.Int64

	mu   sync.Mutex
	bar  *progressbar.ProgressBar
	quit chan struct{}
	gone sync.WaitGroup
}

func newProgress(w io.Writer, debug bool) *progress {
	p := &progress{w: w, debug: debug, quit: make(chan struct{})}
	if f, ok := w.(*os.File); ok {
		p.terminal = term.IsTerminal(int(f.Fd()))
	}
	interval := 10 * time.Second
	if p.terminal {
		interval = 200 * time.Millisecond
	}
	p.gone.Add(1)
	go func() {
		defer p.gone.Done()
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.show()
			case <-p.quit:
				return
			}
		}
	}()
	return p
}

func (p *progress) TaskStarted(t *tasks.Task, requests int, limit time.Duration) {
	p.began.CompareAndSwap(0, time.Now().UnixNano())
	p.total.Add(int64(requests))
	p.limit.Add(int64(limit))
	what := outputs.Counted(requests, "request")
	if limit > 0 {
		what = "for " + limit.String()
		if requests > 0 {
			what = fmt.Sprintf("%s, at most %s", outputs.Counted(requests, "request"), limit)
		}
	}
	p.Note(fmt.Sprintf("%s: asking, %s", t, what))
}

func (p *progress) Answered(_ *tasks.Task, rec *outputs.Record) {
	p.done.Add(1)
	if !rec.OK() && !rec.Cancelled() {
		p.failed.Add(1)
	}
	if rec.OutputTokens > 0 {
		p.tokens.Add(int64(rec.OutputTokens))
	}
}

func (p *progress) Scored(_ *tasks.Task, done, of int) {
	p.scored.Store(int64(done))
	p.toScore.Store(int64(of))
}

func (p *progress) TaskEnded(*tasks.Task) {
	if p.terminal {
		p.show()
	}
}

// Note prints a line above the bar.
func (p *progress) Note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear() // a bar that cannot be cleared only looks untidy
	}
	fmt.Fprintln(p.w, line)
}

// show draws the state.
func (p *progress) show() {
	began := p.began.Load()
	if began == 0 {
		return
	}
	done, total, failed := p.done.Load(), p.total.Load(), p.failed.Load()
	elapsed := time.Since(time.Unix(0, began))
	rate := float64(p.tokens.Load()) / max(elapsed.Seconds(), 1e-3)
	eta := "?"
	if total > 0 && done > 0 && done <= total {
		eta = (time.Duration(float64(elapsed) * float64(total-done) / float64(done))).Round(time.Second).String()
	} else if limit := time.Duration(p.limit.Load()); limit > 0 {
		eta = max(limit-elapsed, 0).Round(time.Second).String()
	}
	text := fmt.Sprintf("%d/%d done, %d errors, %.0f tokens/s, ends in %s", done, total, failed, rate, eta)
	if total == 0 {
		text = fmt.Sprintf("%d done, %d errors, %.0f tokens/s, ends in %s", done, failed, rate, eta)
	}
	if n := p.toScore.Load(); n > 0 {
		text = fmt.Sprintf("%s; scored %d/%d", text, p.scored.Load(), n)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(max(total, 1), progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(24),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false))
	}
	p.bar.ChangeMax64(max(total, done, 1))
	p.bar.Describe(text)
	_ = p.bar.Set64(done) // see Note
}

// close stops drawing and leaves the terminal clean.
func (p *progress) close() {
	close(p.quit)
	p.gone.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
