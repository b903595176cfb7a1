package tasks

import (
	"cmp"
	"slices"
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

// Failure is a reason why requests failed and how many did.
type Failure struct {
	Reason string
	Count  int
}

// Failures are the reasons why requests failed, most frequent first.
func (in *Inference) Failures() []Failure {
	list := make([]Failure, 0, len(in.Reasons))
	for reason, n := range in.Reasons {
		list = append(list, Failure{reason, n})
	}
	slices.SortFunc(list, func(a, b Failure) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Reason, b.Reason))
	})
	return list
}
