// Package metrics computes performance figures from records, and from nothing
// else: what is measured here can be recomputed by anyone who has the run's
// Parquet file.
//
// Accumulator is the strict profile (the default): New, Add every record,
// Result; or Compute for a sequence. It needs one pass and bounded memory.
// Definitions is the reading help. Packages vllm and aisbench beside this one
// recompute the same records as those tools would, quirks included.
//
// An undefined figure is nil (null in JSON), never 0 and never NaN.
package metrics
