// Package summarizers says what a run means: it reads the records and results
// of a run folder and makes tables, charts and reports of them. Everything is
// computed from what is on disk, so any report can be rebuilt offline.
package summarizers
