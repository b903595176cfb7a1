package metrics

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"ais_bench/outputs"
)

// AISBenchStable recomputes records as AISBench's stable-stage calculator does,
// quirks included: the window begins at the second start that brings the
// concurrency to exactly the configured one and ends at the last event at that
// level; requests that start inside count in full, however long they last, and
// success is looked up by the wrong index once a request has failed. Reason is
// set where that tool finds no stable stage. records is read twice.
func AISBenchStable(records iter.Seq2[*outputs.Record, error], o AISBenchOptions) (*AISBenchResult, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	var flights []flight // of successful requests
	var succeeded []bool // of all requests
	err = eachMeasured(records, func(r *outputs.Record) {
		q := seenByAISBench(r)
		succeeded = append(succeeded, q.ok)
		if q.ok {
			flights = append(flights, flight{q.start, q.end})
		}
	})
	if err != nil {
		return nil, fmt.Errorf("compute profile aisbench: %w", err)
	}
	from, to, ok := aisWindow(flights, o.MaxConcurrency)
	if !ok {
		return &AISBenchResult{Stage: "stable", StatsList: o.StatsList,
			Reason: fmt.Sprintf("AISBench finds no stable stage: the concurrency did not reach the configured %d twice (CALC-DATA-002)", o.MaxConcurrency)}, nil
	}
	t := newAISTally("stable", o)
	id := -1
	err = eachMeasured(records, func(r *outputs.Record) {
		q := seenByAISBench(r)
		if !q.ok {
			return
		}
		id++
		if q.start < from || q.start > to {
			return
		}
		t.total++
		if succeeded[id] { // AISBench's index: successes only, into a list of all
			t.success++
		}
		t.add(q)
	})
	if err != nil {
		return nil, fmt.Errorf("compute profile aisbench: %w", err)
	}
	return t.result(float64(to-from), float64(o.MaxConcurrency)), nil
}

// aisWindow is AISBench's stable stage in ns.
func aisWindow(flights []flight, peak int) (from, to int64, ok bool) {
	type event struct {
		at    int64
		delta int
	}
	events := make([]event, 0, 2*len(flights))
	for _, f := range flights {
		events = append(events, event{f.sent, 1}, event{f.end, -1})
	}
	slices.SortStableFunc(events, func(a, b event) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	n, reached := 0, 0
	from, to = math.MaxInt64, math.MinInt64
	for _, e := range events {
		n += e.delta
		if n != peak {
			continue
		}
		to = e.at
		if e.delta > 0 {
			if reached++; reached == 2 {
				from = e.at
			}
		}
	}
	return from, to, reached >= 2 && peak > 0 && to > from
}
