package engine

import (
	"os"
	"slices"
	"sync"
)

// A program that ends without Stop (an interrupt that is not waited for) must leave no
// credentials in logs that are still being written: SealLogs ends and scrubs them. The
// engines themselves are the guards' affair.

// openLogs are the engines whose logs are not closed.
type openLogs struct {
	mu   sync.Mutex
	list []*Engine
}

var logs openLogs

func (o *openLogs) add(e *Engine) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, e)
}

func (o *openLogs) drop(e *Engine) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = slices.DeleteFunc(o.list, func(x *Engine) bool { return x == e })
}

func (o *openLogs) all() []*Engine {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.list)
}

// SealLogs ends the logs of all engines that were not stopped, takes credentials out
// of them, and gives the files that are left. What the engines say afterwards is not
// kept. It is for the end of the program, and does not wait for an engine.
func SealLogs() []string {
	var left []string
	for _, e := range logs.all() {
		_ = e.log.finish() // what could not be written is lost to the log alone
		e.scrubLog()
		for _, path := range e.log.paths() {
			if _, err := os.Stat(path); err == nil {
				left = append(left, path)
			}
		}
	}
	return left
}

// scrubLog takes credentials out of the log's files: the whole log, and its end where
// that could not be put together with the beginning (a full disk).
func (e *Engine) scrubLog() {
	e.scrubbing.Lock() // Stop and SealLogs at once
	defer e.scrubbing.Unlock()
	if e.cfg.Scrub == nil {
		return
	}
	for _, path := range e.log.paths() {
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			clean := e.cfg.Scrub(string(text))
			if clean == string(text) || os.WriteFile(path, []byte(clean), 0o600) == nil {
				continue
			}
		}
		_ = os.Remove(path) // better no log than one with a key in it
	}
}
