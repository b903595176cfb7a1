// Package tasks is THE RUN: it pairs models with data sets, asks, keeps what
// came back, scores it, and writes the reports.
//
// A Plan is the list of tasks (model × data set). Run carries it out in the
// stages of the chosen Mode: inference asks each question once and records
// every attempt; evaluation scores the stored answers; the summaries are
// computed from the records on disk, so each stage can be repeated on what the
// one before left (Options.Reuse).
//
// models, datasets and evaluators do not know each other; they meet here:
// request.go turns a sample into a request, record.go a result into a Record,
// evaluate.go a stored answer into a verdict.
package tasks
