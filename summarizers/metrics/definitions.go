package metrics

import "ais_bench/outputs"

// Definitions is the reading help: what each metric of profile strict is.
func Definitions() []outputs.Definition {
	return []outputs.Definition{
		{Metric: "E2EL", Unit: "ms", Text: "from the send to the last event with a payload (content, reasoning, refusal or tool-call arguments); usage and [DONE] are not part of it"},
		{Metric: "TTFT", Unit: "ms", Text: "from the send to the first event with a payload; role-only and empty deltas do not count; exists for streams only"},
		{Metric: "TTFAT", Unit: "ms", Text: "from the send to the first answer token, after the thinking; only for answers with reasoning"},
		{Metric: "TPOT", Unit: "ms", Text: "(E2EL − TTFT) / (output tokens − 1); undefined below two output tokens; does not contain the first token"},
		{Metric: "ITL", Unit: "ms", Text: "time between two chunks with a payload, whatever number of tokens they hold; pooled over all streams, so long answers weigh more"},
		{Metric: "ITL per token", Unit: "ms", Text: "the gap before a chunk divided by the tokens it brought, one value a token; only where the tokens of chunks are known"},
		{Metric: "E2EL from scheduled", Unit: "ms", Text: "as E2EL, from the time the request was due: contains the wait in the client when the concurrency cap was reached (coordinated omission)"},
		{Metric: "TTFT from scheduled", Unit: "ms", Text: "as TTFT, from the time the request was due"},
		{Metric: "Client queue time", Unit: "ms", Text: "from the time a request was due to its send"},
		{Metric: "Connect", Unit: "ms", Text: "set-up of new connections; requests on a reused connection have none"},
		{Metric: "Max stall", Unit: "ms", Text: "the longest silence within a stream, one value a request"},
		{Metric: "InputTokens", Unit: "tokens", Text: "prompt tokens as the server counted them (usage)"},
		{Metric: "OutputTokens", Unit: "tokens", Text: "generated tokens, reasoning included; from usage, else counted by a tokenizer, else unknown; never the requested length"},
		{Metric: "OutputTokenThroughput", Unit: "token/s", Text: "output tokens / E2EL of one request"},
		{Metric: "PrefillTokenThroughput", Unit: "token/s", Text: "input tokens / TTFT of one request; contains the queue in the server"},
		{Metric: "Benchmark Duration", Unit: "s", Text: "from the first scheduled arrival to the end of the last request, failed ones included"},
		{Metric: "Request Throughput", Unit: "req/s", Text: "successful requests / duration"},
		{Metric: "Output Token Throughput", Unit: "token/s", Text: "output tokens of successful requests / duration; does not contain input tokens"},
		{Metric: "Total Token Throughput", Unit: "token/s", Text: "input + output tokens of successful requests / duration; not to be compared with an output token throughput"},
		{Metric: "Peak Output Token Throughput", Unit: "token/s", Text: "output tokens in the best window of one second, by the time they arrived; tokens, not chunks; undefined for runs shorter than a second"},
		{Metric: "Concurrency", Unit: "requests", Text: "time-average of requests in flight: Σ(end − send) / duration, failed requests included"},
		{Metric: "Max Concurrency", Unit: "requests", Text: "most requests in flight at once; an end sorts before a send at the same time"},
		{Metric: "Request Goodput", Unit: "req/s", Text: "successful requests that kept every service level / duration"},
		{Metric: "Stable stage", Unit: "", Text: "the longest window with at least 95 % of the peak concurrency in flight, hand-overs between requests (up to 50 ms and a tenth of the median time in flight) aside; tokens are counted when they arrive, requests when they end"},
		{Metric: "Percentiles", Unit: "", Text: "linear interpolation between order statistics (numpy's default), of successful requests; marked where the sample is too small to support them"},
	}
}
