package tasks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ais_bench/evaluators"
	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// Outcome is what a run led to.
type Outcome struct {
	Run      *outputs.Run
	Tasks    []*TaskOutcome
	Stopped  bool // interrupted by the user
	Warnings []string
	Clock    *transport.Clock
	// Continues tells that what is missing can be asked for by another session
	// (Options.Reuse); a performance run cannot.
	Continues bool
}

// TaskOutcome is what one task led to. Err is the reason it did not complete.
type TaskOutcome struct {
	Task      *Task
	Estimate  Estimate
	Inference *Inference // nil when the mode did not ask
	Accuracy  *evaluators.Result
	Served    string // model name that was asked
	URL       string
	Proxy     string // in use, without its credentials; "" = none
	// ServerBefore and ServerAfter are what the server said about itself; Changed
	// is what differed, one line each: the run is then invalid.
	ServerBefore, ServerAfter *outputs.ServerSnapshot
	Changed                   []string
	SpecDecode                *SpecDecode          // nil without --spec-decode
	Cache                     *outputs.ServerCache // what was done with the prefix cache; nil = nothing
	// Chat is what rendered the conversations; nil when nothing had to or could.
	Chat *ChatRenderer
	// Notes are what a reader of the results must know of how they were asked.
	Notes []string
	Err   error

	scoring bool // Err came from scoring: asking was not its cause
}

// Failed reports whether the run must end with a failure: a task that did not
// complete, or questions without an answer.
func (o *Outcome) Failed() bool {
	for _, t := range o.Tasks {
		if t.Err != nil || len(t.Changed) > 0 || t.Inference != nil && t.Inference.Failed > 0 && !t.Inference.Stopped {
			return true
		}
	}
	return false
}

// AnyAnswer reports whether a task got as far as leaving records or scores.
func (o *Outcome) AnyAnswer() bool {
	for _, t := range o.Tasks {
		if t.Inference != nil || t.Accuracy != nil {
			return true
		}
	}
	return false
}

// NothingMeasured reports whether every task failed before its first measured
// request: there are no figures to show then, only the reason.
func (o *Outcome) NothingMeasured() bool {
	for _, to := range o.Tasks {
		if to.Err == nil || to.Inference == nil || to.Inference.Load.Dispatched > 0 {
			return false
		}
	}
	return true
}

// OnlyRequestsFailed reports whether the run came to its end, whatever single
// requests did: no task failed or was interrupted.
func (o *Outcome) OnlyRequestsFailed() bool {
	for _, to := range o.Tasks {
		if to.Err != nil || to.Inference != nil && to.Inference.Stopped {
			return false
		}
	}
	return !o.Stopped
}

// Err is the error the run ends with, nil when every task came to its end: one part a
// failed task, and the command (again) that goes on with what is missing, where one can.
// It is an *EnvironmentError only when the surroundings are to blame for every failure.
func (o *Outcome) Err(again string) error {
	var lines []string
	goOn := ""
	environment := true
	for _, to := range o.Tasks {
		switch {
		case to.Err != nil:
			var env *EnvironmentError
			environment = environment && errors.As(to.Err, &env)
			lines = append(lines, o.Run.Redactor().String(to.Err.Error()))
		case len(to.Changed) > 0:
			environment = false
			lines = append(lines, fmt.Sprintf("%s: the server changed during the run (%s): the figures are of two servers", to.Task, strings.Join(to.Changed, ", ")))
		case to.Inference != nil && to.Inference.Stopped:
			environment = false
			lines = append(lines, to.interrupted(o.Continues))
			goOn = "continue with "
		case to.Inference != nil && to.Inference.Failed > 0:
			environment = false
			line := fmt.Sprintf("%s: %d of %d questions have no answer", to.Task, to.Inference.Failed, to.Inference.Asked)
			if goOn == "" {
				goOn = "ask them again with "
			}
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	lines = slices.Compact(lines)
	if o.Continues && goOn != "" {
		lines = append(lines, goOn+again)
	}
	err := errors.New(strings.Join(lines, "; "))
	if environment {
		return &EnvironmentError{Err: err}
	}
	return err
}

// interrupted says how far an interrupted task has come and how it goes on.
func (to *TaskOutcome) interrupted(continues bool) string {
	in := to.Inference
	line := fmt.Sprintf("%s: interrupted after %d answers", to.Task, in.Answered+in.Resumed)
	if in.NotAsked > 0 {
		line += fmt.Sprintf(", %d questions not asked", in.NotAsked)
	}
	if in.Cancelled > 0 {
		line += fmt.Sprintf(", %d cut off", in.Cancelled)
	}
	if in.Failed > 0 {
		line += fmt.Sprintf(", %d failed", in.Failed)
	}
	if continues {
		return line
	}
	return line + "; the figures are of what ended (a performance run is never continued)"
}
