package simulator

import (
	"encoding/json"
	"math"
	"sort"
	"strings"
)

// Version is what GET /version reports: the release of vLLM whose interface
// is spoken, and a suffix that tells the simulator apart.
const Version = "0.11.0+ais-bench-sim"

func (s *Server) listModels() reply {
	data := make([]any, len(s.cfg.ServedModelNames))
	for i, n := range s.cfg.ServedModelNames {
		data[i] = map[string]any{"id": n, "object": "model", "created": s.start.Unix(), "owned_by": s.cfg.Flavor,
			"root": n, "parent": nil, "max_model_len": s.cfg.MaxModelLen}
	}
	return jsonReply(200, map[string]any{"object": "list", "data": data})
}

// settings are the parameters that /server_info reports under the names of the engine imitated.
func (s *Server) settings() map[string]any {
	c := &s.cfg
	if c.Flavor == "sglang" {
		out := map[string]any{"model_path": c.ServedModelNames[0], "served_model_name": c.ServedModelNames[0], "version": Version,
			"max_running_requests": c.MaxNumSeqs, "chunked_prefill_size": c.MaxNumBatchedTokens, "context_length": c.MaxModelLen,
			"page_size": c.BlockSize, "max_total_num_tokens": c.NumGPUBlocks * c.BlockSize, "disable_radix_cache": c.DisablePrefixCaching,
			"random_seed": c.Seed, "tp_size": 1, "dp_size": 1}
		out["internal_states"] = []any{map[string]any{"last_gen_throughput": s.generationRate(), "effective_max_running_requests_per_dp": c.MaxNumSeqs}}
		return out
	}
	return map[string]any{
		"vllm_config": map[string]any{
			"model_config":     map[string]any{"model": c.ServedModelNames[0], "max_model_len": c.MaxModelLen, "seed": c.Seed},
			"cache_config":     map[string]any{"block_size": c.BlockSize, "num_gpu_blocks": c.NumGPUBlocks, "enable_prefix_caching": !c.DisablePrefixCaching},
			"scheduler_config": map[string]any{"max_num_seqs": c.MaxNumSeqs, "max_num_batched_tokens": c.MaxNumBatchedTokens, "enable_chunked_prefill": true},
			"parallel_config":  map[string]any{"tensor_parallel_size": 1, "data_parallel_size": 1},
		},
		"system_env": map[string]any{"simulator": true, "version": Version, "preset": c.Preset},
	}
}

func (s *Server) tokenize(body []byte) reply {
	var r struct {
		Prompt        *string      `json:"prompt"`
		Text          *string      `json:"text"`
		Messages      []apiMessage `json:"messages"`
		AddGeneration *bool        `json:"add_generation_prompt"`
		ReturnStrs    bool         `json:"return_token_strs"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return jsonError(400, "BadRequestError", "the body is not valid JSON: "+err.Error())
	}
	var text string
	switch {
	case r.Messages != nil:
		var err error
		if text, _, err = renderChat(r.Messages, r.AddGeneration == nil || *r.AddGeneration); err != nil {
			return jsonError(400, "BadRequestError", err.Error())
		}
	case r.Prompt != nil:
		text = *r.Prompt
	case r.Text != nil:
		text = *r.Text
	default:
		return jsonError(400, "BadRequestError", "either prompt or messages is required")
	}
	ids := appendTokens(make([]int32, 0, len(text)/3), text)
	out := map[string]any{"count": len(ids), "max_model_len": s.cfg.MaxModelLen, "tokens": ids, "token_strs": nil}
	if r.ReturnStrs {
		strs := make([]string, len(ids))
		for i, id := range ids {
			strs[i] = string(appendText(nil, id))
		}
		out["token_strs"] = strs
	}
	return jsonReply(200, out)
}

func (s *Server) detokenize(body []byte) reply {
	var r struct {
		Tokens []int32 `json:"tokens"`
	}
	if err := json.Unmarshal(body, &r); err != nil || r.Tokens == nil {
		return jsonError(400, "BadRequestError", "tokens must be a list of token ids")
	}
	return jsonReply(200, map[string]any{"prompt": detokenize(r.Tokens), "text": detokenize(r.Tokens)})
}

// embeddingSize is the length of the vectors of /v1/embeddings.
const embeddingSize = 64

// embed gives a unit vector that depends on the words of a text: texts with
// common words have a positive cosine.
func embed(text string) []float64 {
	v := make([]float64, embeddingSize)
	for _, w := range strings.Fields(strings.ToLower(text)) {
		h := hashString(strings.Trim(w, ".,;:!?\"'()[]{}"))
		for i := range v {
			v[i] += normal(mix(h, uint64(i)))
		}
	}
	norm := 0.0
	for _, x := range v {
		norm += x * x
	}
	if norm == 0 {
		v[0], norm = 1, 1
	}
	for i := range v {
		v[i] /= math.Sqrt(norm)
	}
	return v
}

func (s *Server) embeddings(body []byte) reply {
	var r struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return jsonError(400, "BadRequestError", "the body is not valid JSON: "+err.Error())
	}
	if !s.knownModel(r.Model) {
		return jsonError(404, "NotFoundError", "The model `"+r.Model+"` does not exist.")
	}
	inputs, err := promptInputs(r.Input, "input")
	if err != nil {
		return jsonError(400, "BadRequestError", err.Error())
	}
	tokens := 0
	data := make([]any, len(inputs))
	for i, in := range inputs {
		tokens += len(in.ids)
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": embed(in.text)}
	}
	return jsonReply(200, map[string]any{"id": "embd-" + hexID(hashString(string(r.Input))), "object": "list", "model": s.cfg.ServedModelNames[0],
		"data": data, "usage": map[string]any{"prompt_tokens": tokens, "total_tokens": tokens}})
}

func (s *Server) rerank(body []byte) reply {
	var r struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
	}
	if err := json.Unmarshal(body, &r); err != nil || r.Query == "" || len(r.Documents) == 0 {
		return jsonError(400, "BadRequestError", "query must be a string and documents a list of strings, both not empty")
	}
	if !s.knownModel(r.Model) {
		return jsonError(404, "NotFoundError", "The model `"+r.Model+"` does not exist.")
	}
	type result struct {
		Index    int            `json:"index"`
		Document map[string]any `json:"document"`
		Score    float64        `json:"relevance_score"`
	}
	q := embed(r.Query)
	tokens := countTokens(r.Query)
	results := make([]result, len(r.Documents))
	for i, d := range r.Documents {
		dot := 0.0
		for j, x := range embed(d) {
			dot += x * q[j]
		}
		results[i] = result{i, map[string]any{"text": d}, (1 + dot) / 2}
		tokens += countTokens(d)
	}
	sort.SliceStable(results, func(a, b int) bool { return results[a].Score > results[b].Score })
	if r.TopN > 0 && r.TopN < len(results) {
		results = results[:r.TopN]
	}
	return jsonReply(200, map[string]any{"id": "rerank-" + hexID(hashString(r.Query)), "model": s.cfg.ServedModelNames[0],
		"results": results, "usage": map[string]any{"total_tokens": tokens}})
}
