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
// concurrent, a cut stream as a success): the profile exists to be compared with
// vLLM's results. Differences lists where the records cannot tell
// what vLLM would have seen. For the truth use the strict profile.
package vllm

// Differences are the known deviations of this profile from vLLM's own numbers
// on the same traffic, one sentence each.
var Differences = []string{
	"A chunk without a payload after the first (an empty text, a pure finish_reason chunk of a completion) has no time in the records: vLLM counts it as one more ITL and ends E2EL there.",
	"Times are taken at the socket before any parsing, vLLM's in the interpreter after it.",
	"Duration ends with the last response; vLLM's includes stopping its helper tasks.",
	"Earlier versions counted a chat's role-only delta as the first token, which made TTFT too small and the first ITL too large.",
	"Output tokens of a streamed answer come from usage in any chunk; vLLM overlooks usage that stands on a chunk with choices and tokenizes the text instead.",
	"An answer whose tokens nobody reported counts as 1 output token, as in vLLM without a tokenizer; an unknown prompt counts as 0, where vLLM has its own tokenizer's count.",
	"A stream that breaks after its first event (reset by the server, or an error object in the stream) counts as completed: vLLM overlooks the error object, but fails on the reset.",
	"Requests that were not streamed have no time to first token here: they are left out of TTFT, TPOT and ITL, and keep no limit of goodput but e2el (vLLM's client streams every generation).",
	"Keys of diffusion models, and server_queue_times and server_ttfts, which a server may put into its last chunk, are not written.",
}
