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
	if g != nil {
		opts, err := runOptions(c, mode)
		if err != nil {
			return err
		}
		if err := g.check(planned(est, opts)); err != nil {
			return err
		}
	}
	t := outputs.Table{Title: "Plan (dry run: nothing is sent)", Columns: []outputs.Column{{Name: "Model"}, {Name: "Dataset"}, {Name: "Service"},
		{Name: "Samples", Kind: outputs.KindInt}, {Name: "Requests", Kind: outputs.KindInt},
		{Name: "Input tokens (estimate)", Kind: outputs.KindInt}, {Name: "Output tokens (at most)", Kind: outputs.KindInt}, {Name: "Concurrency", Kind: outputs.KindInt}}}
	requests, in := 0, int64(0)
	for _, e := range est {
		m := e.Task.Model.Config
		service := "built-in simulator"
		if !m.Simulated() {
			ep, err := m.Endpoint()
			if err != nil {
				return usagef("model %s: %w", e.Task.Model.Name, err)
			}
			service = ep.Server
		}
		var out any = e.MaxOutputTokens
		if e.MaxOutputTokens < 0 {
			out = nil
		}
		t.AddRow(e.Task.ModelAbbr, e.Task.DatasetAbbr, service, e.Samples, e.Requests, e.InputTokens, out, max(m.BatchSize, 1))
		requests += e.Requests
		in += e.InputTokens
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%d requests and about %d input tokens in all, without warm-ups (%d a task) and retries; input tokens by four ASCII bytes or one other character a token",
		requests, in, c.Int("num-warmups")))
	return t.WriteText(c.App.Writer, outputs.TextOptions{})
}
