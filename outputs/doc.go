// Package outputs holds what a run leaves behind, and reads it back.
//
// A [Run] is a folder. While requests are in flight, each (model, data set)
// pair has a [Journal]: an append-only log of [Record] values that survives
// kill -9 with at most the last second missing. When the pair is done,
// [Run.Seal] turns the journal into Parquet (everything, one row per request)
// and CSV (numbers only). Answers go to a [PredictionWriter] line by line, in
// AISBench's keys, so that an interrupted run can be resumed and an
// evaluation repeated without asking the service again. Every number in every
// report is computed from those files, so any report can be rebuilt offline.
//
// Reports are fed with two plain values: a [Table] (the unit of txt, md, csv,
// Excel and HTML alike) and a [ReportData] (tables, charts and samples by
// section). Numbers stay numbers until the last moment: a table cell holds a
// value, its column holds unit and format. Undefined is nil and shows as "-",
// null or an empty cell; never 0, never NaN.
//
// The [Manifest] says what could change a number: tool, command, configs,
// data, seeds, server, host, clock; and the reproducibility checklist.
//
// Secrets never reach a file: every writer of this package scrubs what it
// writes with the run's [Redactor]. Write errors are never swallowed: the
// first one surfaces at the next Append and again at Close.
package outputs
