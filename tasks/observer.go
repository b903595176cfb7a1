package tasks

import (
	"time"

	"ais_bench/outputs"
)

// Observer is told how a run goes. Its methods are called from many goroutines
// at once and must return quickly.
type Observer interface {
	// TaskStarted announces a task and how many requests it will send; 0 = not
	// known (a run for a time).
	TaskStarted(t *Task, requests int, limit time.Duration)
	// Answered is called after each attempt of the measured phase.
	Answered(t *Task, rec *outputs.Record)
	// Scored is called after each answer scored.
	Scored(t *Task, done, of int)
	// TaskEnded tells that inference of the task is over.
	TaskEnded(t *Task)
	// Note is one line a user should see: a step of the readiness check, a
	// fall-back, a warning.
	Note(line string)
}

// Quiet observes nothing.
type Quiet struct{}

func (Quiet) TaskStarted(*Task, int, time.Duration) {}
func (Quiet) Answered(*Task, *outputs.Record)       {}
func (Quiet) Scored(*Task, int, int)                {}
func (Quiet) TaskEnded(*Task)                       {}
func (Quiet) Note(string)                           {}
