// Package evaluators decides whether an answer is right.
//
// A scorer is an extractor and a comparator under one id and version; both go
// into results, so that a number can be traced to the rule that made it.
// New builds a scorer by id, IDs lists them, Describe says in a sentence what
// each accepts and what it does not.
//
// The plain ids (gsm8k, choice, math, drop …) are the rules that are right: they
// look for an explicit final answer, read numbers and letters the way people
// write them, and say "unparsable" rather than pick something out of prose.
// The namespaced ids reproduce other tools' published rules with their faults,
// so that a score can be compared with one measured elsewhere:
//
//	oc/…         OpenCompass and AISBench
//	lmeval/…     lm-evaluation-harness
//	evalscope/…  evalscope
//	openai/…     the graders of the data sets' authors
//
// What a scorer sees is the content of an answer after StripThinking; a
// server's separate reasoning field is never graded. Five outcomes are kept
// apart (see Outcome), and Summarize counts them: a failed request, an answer
// cut before it came to the point and an answer nobody can read are three
// different problems of a service and none of them is a wrong answer.
//
// Rules that are only text to text live in rooms of their own, where they can
// be used and tested without a scorer: oc, lmeval, evalscope (compatible
// extractors), mathstring (LaTeX string graders), mathequiv (exact mathematics),
// textmetrics, ifeval, code, sandbox, stats (intervals, pass@k, McNemar) and
// pytext (the Python string semantics the published rules rely on).
package evaluators
