// Package vllm recomputes the records of a run with the definitions of
// `vllm bench serve` and writes what that tool writes: the same JSON keys and
// types, the same file name, the same console table. A script that reads vLLM's
// results reads these.
//
// Compute makes a Result; Result.JSON, Result.WriteFile and Console show it;
// ReadResult reads results of vLLM and SGLang back for a comparison.
// ComputeSGLang, ComputeThroughput and ComputeLatency do the same for SGLang's
// bench_serving and vLLM's offline tests.
//
// The definitions are those of vLLM 0.33. Its quirks are kept on purpose (an empty list is 0, a
// chunk counts as a token in the peak rate, requests one after the other within a second as
// concurrent, a stream that just ends, without finish_reason and [DONE], as a success):
// the profile exists to be compared with
// vLLM's results. Differences lists where the records cannot tell
// what vLLM would have seen. For the truth use the strict profile.
package vllm

// Differences are the known deviations of this profile from vLLM's own numbers
// on the same traffic, one sentence each.
var Differences = []string{
	"A chunk without a payload between the first and the last event with output (an empty text) has no time in the records: vLLM counts it as one more ITL.",
	"Events that arrive in one read share a time stamp: where the last reasoning_content and the first output, or the last token and a closing empty text, come together, there is a gap of 0 more or less than in vLLM.",
	"Reasoning_content and refusals between the first and the last event with output count as ITL here; vLLM does not see them.",
	"Times are taken at the socket before any parsing, vLLM's in the interpreter after it.",
	"Duration ends with the last response; vLLM's includes stopping its helper tasks.",
	"Earlier versions counted a chat's role-only delta as the first token, which made TTFT too small and the first ITL too large.",
	"Output tokens of a streamed answer come from usage in any chunk; vLLM overlooks usage that stands on a chunk with choices and tokenizes the text instead.",
	"An answer whose tokens nobody reported counts as 1 output token, as in vLLM without a tokenizer; an unknown prompt counts as 0, where vLLM has its own tokenizer's count.",
	"What follows [DONE] or an error object is not waited for: a body that breaks off only there has failed in vLLM and is completed here.",
	"Events that are not one line \"data: …\" and a blank one (with an event name or an id, CR LF, no blank after the colon) are understood here; vLLM's reader fails on them or sees no event.",
	"Records from before stream_end was kept hold neither how the body ended nor the events with output: the end is taken from status and error text, a success for a proper end; the first event with output is the first payload, in a completion the first event of any kind, the last one the last payload.",
	"Requests that were not streamed have no time to first token here: they are left out of TTFT, TPOT and ITL, and keep no limit of goodput but e2el (vLLM's client streams every generation).",
	"Keys of diffusion models, and server_queue_times and server_ttfts, which a server may put into its last chunk, are not written.",
}
