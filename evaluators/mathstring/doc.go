// Package mathstring holds the published string graders of mathematics answers:
// extraction of boxed answers, LaTeX normalisation and string equivalence as
// OpenCompass, AISBench, lm-evaluation-harness (Hendrycks, Minerva) and evalscope
// (Qwen2.5-Math, PRM800K) do them, faults included. They compare spellings, not
// values; the exact engine behind the default math scorer is package mathequiv.
//
// Where an original raises an exception, the functions here return ok == false,
// and the comparison does what the original does with the exception.
package mathstring
