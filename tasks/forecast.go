package tasks

import (
	"fmt"
	"time"

	"ais_bench/outputs"
	"ais_bench/tasks/load"
)

// Forecast is how many requests the measured phase of a task would send.
type Forecast struct {
	// Requests is without warm-ups, retries and cool-down; < 0 where only the
	// service's speed decides.
	Requests int
	// Why says what decides in a run for a length of time; "" in one that asks
	// every question so often.
	Why string
}

// forecastArrivals is how many arrivals are counted; more are extrapolated.
const forecastArrivals = 1_000_000

// Forecast is what the task would send under opts. The error is that of a load
// that cannot be meant, as Run would give it.
func (e *Estimate) Forecast(opts *Options) (Forecast, error) {
	if err := checkLoad(e.Task, e.Set, opts); err != nil {
		return Forecast{}, err
	}
	m := e.Task.Model.Config
	questions := allQuestions(e.Task, e.Set)
	cfg, err := loadConfig(e.Task, opts, m, questions)
	if err != nil {
		return Forecast{}, err
	}
	if cfg.Duration <= 0 || len(questions) == 0 {
		return Forecast{Requests: e.Requests}, nil
	}
	f := Forecast{Requests: -1}
	again := ""
	switch {
	case cfg.Count > 0:
	case e.Samples == 1:
		again = "; the one row is asked again and again"
	default:
		again = fmt.Sprintf("; the %d rows are asked again and again", e.Samples)
	}
	_, atOnce := cfg.Schedule.(load.AllAtOnce)
	if cfg.Clients > 0 || atOnce {
		most := ""
		if cfg.Count > 0 {
			most = fmt.Sprintf(", and not more than %d", e.Requests)
		}
		f.Why = fmt.Sprintf("as many requests as the service answers in %s%s%s", cfg.Duration, most, again)
		return f, nil
	}
	due := dueWithin(cfg.Schedule, cfg.Duration, cfg.Count)
	f.Requests = int(due * float64(e.Requests) / float64(len(questions)))
	f.Why = fmt.Sprintf("about %s due in %s (%s)", outputs.Counted(f.Requests, "request"), cfg.Duration, cfg.Schedule)
	if n := cfg.MaxConcurrency; n > 0 {
		f.Why += fmt.Sprintf("; fewer are sent if the service keeps %d of them in flight", n)
	}
	f.Why += again
	return f, nil
}

// dueWithin is how many arrivals a schedule has before end, at most most (0 = no
// bound).
func dueWithin(s load.Schedule, end time.Duration, most int) float64 {
	n := 0
	for at := range s.Arrivals() {
		if at >= end || most > 0 && n == most {
			break
		}
		if n++; n == forecastArrivals && at > 0 && most == 0 {
			return float64(n) * end.Seconds() / at.Seconds()
		}
	}
	return float64(n)
}
