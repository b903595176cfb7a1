package models

import (
	"ais_bench/models/openai"
	"ais_bench/models/pooling"
	"ais_bench/models/sglang"
	"ais_bench/models/tgi"
	"ais_bench/models/wire"
)

// protocol is one wire protocol: where it is asked, with what, and how its
// answers are walked.
type protocol struct {
	path     string // below the API root, or below the server's root
	onServer bool
	body     func(s *service, q question) (map[string]any, error)
	scan     func(doc []byte, a *wire.Answer) wire.Verdict
	// output is what makes an event of a stream one that vLLM's client times: in a
	// chat its own rule, in a completion any choice, elsewhere (it does not speak
	// the protocol) a payload.
	output   wire.Verdict
	logprobs func(body []byte, promptTokens int32) ([]wire.Logprob, error)
}

var protocols = map[Protocol]protocol{
	Chat:        {path: "/chat/completions", body: (*service).chatBody, scan: openai.Scan, output: wire.Output, logprobs: openai.PromptLogprobs},
	Completions: {path: "/completions", body: (*service).completionsBody, scan: openai.Scan, output: wire.Choices, logprobs: openai.PromptLogprobs},
	Generate:    {path: "/generate", onServer: true, body: (*service).generateBody, scan: sglang.Scan, output: wire.Payload, logprobs: sglang.PromptLogprobs},
	TGI:         {path: "/generate_stream", onServer: true, body: (*service).tgiBody, scan: tgi.Scan, output: wire.Payload, logprobs: noLogprobs},
	Embeddings:  {path: "/embeddings", body: (*service).embeddingsBody, scan: pooling.Scan, logprobs: noLogprobs},
	Rerank:      {path: "/rerank", body: (*service).rerankBody, scan: pooling.Scan, logprobs: noLogprobs},
}
