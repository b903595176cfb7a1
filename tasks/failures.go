package tasks

import (
	"strings"
	"sync"

	"ais_bench/outputs"
)

// failureLog counts why requests failed.
type failureLog struct {
	mu sync.Mutex
	n  map[string]int
}

func (f *failureLog) add(rec *outputs.Record) {
	reason := string(rec.Status)
	if e := oneLine(rec.Error); e != "" {
		reason += ": " + e
	}
	if len(reason) > 200 {
		reason = strings.ToValidUTF8(reason[:200], "") + "…"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == nil {
		f.n = map[string]int{}
	}
	if _, seen := f.n[reason]; !seen && len(f.n) >= 100 {
		reason = string(rec.Status) // a server that words every failure differently must not fill memory
	}
	f.n[reason]++
}

func (f *failureLog) counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}
