package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"ais_bench/tasks"
)

// runFolder says where the run is, or removes the folder of a start that failed
// before anything was asked.
func runFolder(c *cli.Context, out *tasks.Outcome) error {
	gone, err := out.Run.Discard()
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	if !gone {
		fmt.Fprintf(c.App.Writer, "\nRun folder: %s\n", out.Run.Dir())
	}
	return nil
}

// printSpecDecode shows what --spec-decode found.
func printSpecDecode(w io.Writer, out *tasks.Outcome) {
	for _, to := range out.Tasks {
		s := to.SpecDecode
		if s == nil {
			continue
		}
		if s.Reason != "" {
			fmt.Fprintf(w, "\nSpeculative decoding of %s: N/A, %s\n", to.Task, s.Reason)
			continue
		}
		fmt.Fprintf(w, "\nSpeculative decoding of %s: acceptance rate %.2f %%, acceptance length %.3f, %.0f drafts, %.0f draft tokens, %.0f accepted", to.Task,
			100**s.AcceptanceRate, *s.AcceptanceLength, s.Drafts, s.DraftTokens, s.AcceptedTokens)
		for i, r := range s.PerPosition {
			fmt.Fprintf(w, ", position %d %.2f %%", i, 100*r)
		}
		fmt.Fprintln(w)
	}
}

// printFailures lists why requests failed, most frequent first.
func printFailures(w io.Writer, out *tasks.Outcome) {
	for _, to := range out.Tasks {
		if to.Inference == nil || len(to.Inference.Reasons) == 0 {
			continue
		}
		list := to.Inference.Failures()
		fmt.Fprintf(w, "%s: %d of %d requests failed:\n", to.Task, to.Inference.Failed, to.Inference.Asked-to.Inference.Resumed)
		for i, f := range list {
			if i == 10 {
				fmt.Fprintf(w, "  … and %d more reasons, see logs/infer\n", len(list)-i)
				break
			}
			fmt.Fprintf(w, "  %d × %s\n", f.Count, out.Run.Redactor().String(f.Reason))
		}
	}
}
