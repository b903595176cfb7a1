// Package metrics computes performance figures from records, and from nothing
// else: what is measured here can be recomputed by anyone who has the run's
// Parquet file.
//
// Accumulator is the strict profile (the default): New, Add every record,
// Result; or Compute for a sequence. It needs one pass and bounded memory.
// VLLM and AISBench recompute the same records as those tools would, with their
// definitions, names, units and quirks; Differences says in one sentence a
// metric why the three differ. Definitions is the reading help.
//
// An undefined figure is nil (null in JSON), never 0 and never NaN.
package metrics
