package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/tasks"
)

// search prints where the chosen configurations come from.
func search(w io.Writer, plan *tasks.Plan) error {
	t := outputs.Table{Columns: []outputs.Column{{Name: "Task Type"}, {Name: "Task Name"}, {Name: "Config File Path"}}}
	seen := map[string]bool{}
	add := func(kind, name, origin string) {
		if !seen[kind+name] {
			seen[kind+name] = true
			t.AddRow(kind, name, origin)
		}
	}
	for _, task := range plan.Tasks {
		add("--models", task.Model.Name, task.Model.Origin)
	}
	for _, task := range plan.Tasks {
		add("--datasets", task.Dataset.Name, task.Dataset.Origin)
	}
	return t.WriteText(w, outputs.TextOptions{})
}

// dryRun prints the plan and sends nothing.
func dryRun(c *cli.Context, plan *tasks.Plan, mode tasks.Mode) error {
	g, err := evaluateGate(c)
	if err != nil {
		return err
	}
	plan.Offline = true
	est, err := plan.Estimate(c.Context)
	if err != nil {
		return usageUnlessEnvironment(tasks.DataError(err))
	}
	opts, err := runOptions(c, mode)
	if err != nil {
		return err
	}
	if g != nil {
		if err := g.check(planned(est, opts)); err != nil {
			return err
		}
	}
	per, bound := "", "at most"
	if opts.Duration > 0 {
		per, bound = " a request", "at most, mean"
	}
	t := outputs.Table{Title: "Plan (dry run: nothing is sent)", Columns: []outputs.Column{{Name: "Model"}, {Name: "Dataset"}, {Name: "Service"},
		{Name: "Samples", Kind: outputs.KindInt}, {Name: "Requests", Kind: outputs.KindInt},
		{Name: "Input tokens" + per + " (estimate)", Kind: outputs.KindInt}, {Name: "Output tokens" + per + " (" + bound + ")", Kind: outputs.KindInt}, {Name: "Concurrency", Kind: outputs.KindInt}}}
	requests, in := 0, int64(0)
	for i := range est {
		e := &est[i]
		m := e.Task.Model.Config
		service := "built-in simulator"
		if !m.Simulated() {
			ep, err := m.Endpoint()
			if err != nil {
				return usagef("model %s: %w", e.Task.Model.Name, err)
			}
			service = ep.Server
		}
		f, err := e.Forecast(&opts)
		if err != nil {
			return usageUnlessEnvironment(err)
		}
		t.AddRow(planRow(e, f, service, opts.Duration > 0)...)
		if f.Why != "" {
			t.Notes = append(t.Notes, e.Task.String()+": "+f.Why)
		}
		requests += e.Requests
		in += e.InputTokens
	}
	without := fmt.Sprintf("without warm-ups (%d a task) and retries", opts.NumWarmups)
	if mode == tasks.ModePerf {
		without = fmt.Sprintf("without warm-ups (%d a task)", opts.NumWarmups)
		if opts.Cooldown > 0 {
			without = fmt.Sprintf("without warm-ups (%d a task) and cool-down (%d)", opts.NumWarmups, opts.Cooldown)
		}
	}
	const rule = "input tokens by four ASCII bytes or one other character a token"
	if opts.Duration > 0 {
		t.Notes = append(t.Notes, "requests are counted "+without+"; "+rule)
	} else {
		t.Notes = append(t.Notes, fmt.Sprintf("%s and about %s in all, %s; %s", outputs.Counted(requests, "request"), outputs.Counted(in, "input token"), without, rule))
	}
	return t.WriteText(c.App.Writer, outputs.TextOptions{})
}

// planRow is a task's row. The tokens are those of all requests or, where their
// number is not known before, those of one on average; what is unknown is nil.
func planRow(e *tasks.Estimate, f tasks.Forecast, service string, timed bool) []any {
	var requests, in, out any = f.Requests, e.InputTokens, e.MaxOutputTokens
	if f.Requests < 0 {
		requests = nil
	}
	if timed {
		in, out = mean(e.InputTokens, e.Requests), mean(e.MaxOutputTokens, e.Requests)
	}
	if e.MaxOutputTokens < 0 {
		out = nil
	}
	return []any{e.Task.ModelAbbr, e.Task.DatasetAbbr, service, e.Samples, requests, in, out, max(e.Task.Model.Config.BatchSize, 1)}
}

// mean is the mean of n counts, rounded; nil of none.
func mean(sum int64, n int) any {
	if n == 0 {
		return nil
	}
	return (sum + int64(n)/2) / int64(n)
}
