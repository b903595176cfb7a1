// Package aisbench recomputes the records of a run with the definitions of
// AISBench's performance calculators: the tables "Performance Parameters" and
// "Common Metric", for all requests (stage total, summarizer default_perf) and
// for the stable stage (stable, summarizer stable_stage).
//
// The quirks are kept: latencies are rounded to 0.1 ms, a one-token answer has
// a TPOT of 0 that counts, the duration spans successful requests only. Tables
// gives the figures as numbers, WriteCSV and MarshalJSON as AISBench's own files have them:
// strings with units. For the truth use the strict profile.
package aisbench

// Differences are the known deviations of this profile from AISBench's own
// numbers on the same traffic, one sentence each.
var Differences = []string{
	"The events after the last payload (finish_reason, usage) are one time point at the last of them; AISBench has one for each.",
	"When the role-only delta and the first payload arrive in one read they share a time stamp and are one time point; AISBench has two, a gap of about 0 apart.",
	"AISBench asks again after an error (two attempts by default) and then judges the last attempt; here each request is asked once and judged by that.",
	"What follows an error object is not waited for: its E2EL ends there, and a body that breaks off or an event that is no JSON after it goes unnoticed.",
	"Records from before stream_end was kept: the end of the body is taken from status and error text, a success for a proper end, and E2EL ends with [DONE].",
	"Times are taken at the socket before any parsing, AISBench's in the interpreter.",
	"Token counts are usage's or 0, as in AISBench: counts from a tokenizer are not used.",
	"AISBench picks the success flags of the stable stage by their position in another list and so miscounts failures whenever a request failed; which ones depends on the order its workers wrote their rows, which no record holds: here failures in the stable stage are 0 and successes are its requests.",
	"Requests that start or end at the same moment have no order in AISBench; here ends and starts at one moment are taken request by request, earliest start first.",
}
