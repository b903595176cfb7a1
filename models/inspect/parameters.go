package inspect

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Parameter is one setting of a server and who says so.
type Parameter struct {
	Value  any    `json:"value"`
	Source string `json:"source"` // the endpoint or metric; "told by the user (…)"
}

// Parameters are a server's settings by vLLM's names for them, whatever the
// engine calls them: what decides how it batches, caches and cuts.
type Parameters map[string]Parameter

// Names of the parameters that others than reports look at.
const (
	ParamMaxModelLen    = "max_model_len"          // tokens of prompt and answer
	ParamMaxSeqs        = "max_num_seqs"           // requests in a batch, of one engine
	ParamBatchedTokens  = "max_num_batched_tokens" // tokens of a step: the prefill budget
	ParamBlockSize      = "block_size"             // tokens a KV block
	ParamBlocks         = "num_gpu_blocks"         // KV blocks
	ParamKVTokens       = "kv_cache_tokens"        // KV memory in tokens
	ParamPrefixCaching  = "enable_prefix_caching"  // true or false
	ParamDataParallel   = "data_parallel_size"     // engines behind one address
	ParamTensorParallel = "tensor_parallel_size"
)

// places are where engines tell their parameters: endpoint, then the path of
// keys. The first place that has a value counts.
var places = []struct {
	name     string
	endpoint string
	path     []string
	negate   bool
}{
	{ParamMaxModelLen, "/server_info", []string{"vllm_config", "model_config", "max_model_len"}, false},
	{ParamMaxSeqs, "/server_info", []string{"vllm_config", "scheduler_config", "max_num_seqs"}, false},
	{ParamBatchedTokens, "/server_info", []string{"vllm_config", "scheduler_config", "max_num_batched_tokens"}, false},
	{"enable_chunked_prefill", "/server_info", []string{"vllm_config", "scheduler_config", "enable_chunked_prefill"}, false},
	{"enable_chunked_prefill", "/server_info", []string{"vllm_config", "scheduler_config", "chunked_prefill_enabled"}, false},
	{ParamBlockSize, "/server_info", []string{"vllm_config", "cache_config", "block_size"}, false},
	{ParamBlocks, "/server_info", []string{"vllm_config", "cache_config", "num_gpu_blocks"}, false},
	{ParamPrefixCaching, "/server_info", []string{"vllm_config", "cache_config", "enable_prefix_caching"}, false},
	{"gpu_memory_utilization", "/server_info", []string{"vllm_config", "cache_config", "gpu_memory_utilization"}, false},
	{"kv_cache_dtype", "/server_info", []string{"vllm_config", "cache_config", "cache_dtype"}, false},
	{ParamTensorParallel, "/server_info", []string{"vllm_config", "parallel_config", "tensor_parallel_size"}, false},
	{"pipeline_parallel_size", "/server_info", []string{"vllm_config", "parallel_config", "pipeline_parallel_size"}, false},
	{ParamDataParallel, "/server_info", []string{"vllm_config", "parallel_config", "data_parallel_size"}, false},
	{"dtype", "/server_info", []string{"vllm_config", "model_config", "dtype"}, false},
	{"quantization", "/server_info", []string{"vllm_config", "model_config", "quantization"}, false},
	{"speculative_method", "/server_info", []string{"vllm_config", "speculative_config", "method"}, false},

	// SGLang: all of its arguments, flat.
	{ParamMaxModelLen, "/server_info", []string{"context_length"}, false},
	{ParamMaxSeqs, "/server_info", []string{"internal_states", "effective_max_running_requests_per_dp"}, false},
	{ParamMaxSeqs, "/server_info", []string{"max_running_requests"}, false},
	{ParamBatchedTokens, "/server_info", []string{"chunked_prefill_size"}, false},
	{ParamBatchedTokens, "/server_info", []string{"max_prefill_tokens"}, false},
	{ParamBlockSize, "/server_info", []string{"page_size"}, false},
	{ParamKVTokens, "/server_info", []string{"max_total_num_tokens"}, false},
	{ParamKVTokens, "/server_info", []string{"internal_states", "max_total_num_tokens"}, false},
	{ParamPrefixCaching, "/server_info", []string{"disable_radix_cache"}, true},
	{"gpu_memory_utilization", "/server_info", []string{"mem_fraction_static"}, false},
	{"kv_cache_dtype", "/server_info", []string{"kv_cache_dtype"}, false},
	{ParamTensorParallel, "/server_info", []string{"tp_size"}, false},
	{"pipeline_parallel_size", "/server_info", []string{"pp_size"}, false},
	{ParamDataParallel, "/server_info", []string{"dp_size"}, false},
	{"dtype", "/server_info", []string{"dtype"}, false},
	{"quantization", "/server_info", []string{"quantization"}, false},
	{"speculative_method", "/server_info", []string{"speculative_algorithm"}, false},
	{"schedule_policy", "/server_info", []string{"schedule_policy"}, false},

	// TGI.
	{ParamMaxModelLen, "/info", []string{"max_total_tokens"}, false},
	{ParamMaxSeqs, "/info", []string{"max_batch_size"}, false},
	{"max_concurrent_requests", "/info", []string{"max_concurrent_requests"}, false},
	{ParamBatchedTokens, "/info", []string{"max_batch_prefill_tokens"}, false},
	{ParamKVTokens, "/info", []string{"max_batch_total_tokens"}, false},
	{"dtype", "/info", []string{"model_dtype"}, false},

	// llama.cpp.
	{ParamMaxSeqs, "/props", []string{"total_slots"}, false},
	{ParamMaxModelLen, "/props", []string{"default_generation_settings", "n_ctx"}, false},

	// The labels of the metrics that every vLLM and SGLang shows.
	{ParamBlockSize, "vllm:cache_config_info", []string{"block_size"}, false},
	{ParamBlocks, "vllm:cache_config_info", []string{"num_gpu_blocks"}, false},
	{ParamPrefixCaching, "vllm:cache_config_info", []string{"enable_prefix_caching"}, false},
	{"gpu_memory_utilization", "vllm:cache_config_info", []string{"gpu_memory_utilization"}, false},
	{"kv_cache_dtype", "vllm:cache_config_info", []string{"cache_dtype"}, false},
	{ParamBlockSize, "sglang:cache_config_info", []string{"page_size"}, false},
	{ParamBlocks, "sglang:cache_config_info", []string{"num_pages"}, false},
}

// parameters gathers the settings from what the server said.
func (s *Snapshot) parameters() Parameters {
	out := Parameters{}
	for _, p := range places {
		if _, have := out[p.name]; have {
			continue
		}
		endpoint := p.endpoint
		if endpoint == "/server_info" && s.Info[endpoint] == nil {
			endpoint = "/get_server_info" // SGLang's older name
		}
		v, ok := dig(s.Info[endpoint], p.path)
		if !ok {
			continue
		}
		if p.negate {
			off, isBool := v.(bool)
			if !isBool {
				continue
			}
			v = !off
		}
		source := endpoint
		if !strings.HasPrefix(source, "/") {
			source = "metric " + source
		}
		out[p.name] = Parameter{v, source}
	}
	printedParameters(out, s.Info["/server_info"])
	if list, ok := s.Models.([]any); ok && len(list) > 0 {
		if m, ok := list[0].(map[string]any); ok && m["max_model_len"] != nil {
			if _, have := out[ParamMaxModelLen]; !have {
				out[ParamMaxModelLen] = Parameter{m["max_model_len"], "/v1/models"}
			}
		}
	}
	return out
}

// dig follows a path of keys; a list on the way (SGLang's states of several
// engines, the series of a metric) stands for its first element. Text that is a
// number or a truth value becomes one. What is null is not told.
func dig(v any, path []string) (any, bool) {
	for {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
			continue
		}
		if len(path) == 0 {
			break
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		v, path = m[path[0]], path[1:]
	}
	switch x := v.(type) {
	case nil, map[string]any, []any:
		return nil, false
	case string:
		return plainValue(x)
	}
	return v, true
}

// plainValue reads the text form of a value; "None" is no value.
func plainValue(s string) (any, bool) {
	switch strings.ToLower(s) {
	case "", "none", "null":
		return nil, false
	case "true":
		return true, true
	case "false":
		return false, true
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return n, true
	}
	return s, true
}

// printed finds settings in the text form in which vLLM prints its configuration.
var printed = regexp.MustCompile(`\b(max_seq_len|enable_prefix_caching|tensor_parallel_size|pipeline_parallel_size|data_parallel_size|chunked_prefill_enabled|quantization|dtype|kv_cache_dtype)=([A-Za-z0-9_.]+)`)

var printedNames = map[string]string{"max_seq_len": ParamMaxModelLen, "chunked_prefill_enabled": "enable_chunked_prefill"}

func printedParameters(out Parameters, info any) {
	m, ok := info.(map[string]any)
	if !ok {
		return
	}
	text, ok := m["vllm_config"].(string)
	if !ok {
		return
	}
	for _, f := range printed.FindAllStringSubmatch(text, -1) {
		name := f[1]
		if n, ok := printedNames[name]; ok {
			name = n
		}
		if _, have := out[name]; have {
			continue
		}
		if v, ok := plainValue(f[2]); ok {
			out[name] = Parameter{v, "/server_info"}
		}
	}
}

// Number is a parameter as a number; false when it is unknown or none.
func (p Parameters) Number(name string) (float64, bool) {
	switch v := p[name].Value.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// Prefix caching of a server.
const (
	CachingOn      = "on"
	CachingOff     = "off"
	CachingUnknown = "unknown"
)

// PrefixCaching is on, off or unknown, with where that is said.
func (p Parameters) PrefixCaching() (state, evidence string) {
	x, ok := p[ParamPrefixCaching]
	on, isBool := x.Value.(bool)
	switch {
	case !ok || !isBool:
		return CachingUnknown, "the server does not tell; say it with --server-meta enable_prefix_caching=true or false"
	case on:
		return CachingOn, "enable_prefix_caching=true, " + x.Source
	}
	return CachingOff, "enable_prefix_caching=false, " + x.Source
}

// userNames are spellings of the parameters on the command lines of engines, by
// ours; the value ! stands for a switch that turns it off.
var userNames = map[string]string{
	"max-num-seqs": ParamMaxSeqs, "max-running-requests": ParamMaxSeqs, "parallel": ParamMaxSeqs, "np": ParamMaxSeqs, "max-batch-size": ParamMaxSeqs,
	"max-num-batched-tokens": ParamBatchedTokens, "chunked-prefill-size": ParamBatchedTokens, "max-batch-prefill-tokens": ParamBatchedTokens,
	"max-model-len": ParamMaxModelLen, "context-length": ParamMaxModelLen, "block-size": ParamBlockSize, "page-size": ParamBlockSize,
	"tensor-parallel-size": ParamTensorParallel, "tp": ParamTensorParallel, "tp-size": ParamTensorParallel,
	"data-parallel-size": ParamDataParallel, "dp": ParamDataParallel, "dp-size": ParamDataParallel,
	"gpu-memory-utilization": "gpu_memory_utilization", "mem-fraction-static": "gpu_memory_utilization", "kv-cache-dtype": "kv_cache_dtype",
	"num-gpu-blocks": ParamBlocks, "num-gpu-blocks-override": ParamBlocks, "kv-cache-tokens": ParamKVTokens, "max-batch-total-tokens": ParamKVTokens,
	"quantization": "quantization", "dtype": "dtype", "enable-chunked-prefill": "enable_chunked_prefill",
	"enable-prefix-caching": ParamPrefixCaching, "prefix-caching": ParamPrefixCaching,
	"no-enable-prefix-caching": "!" + ParamPrefixCaching, "disable-radix-cache": "!" + ParamPrefixCaching,
}

// Told are the parameters that the user gave: KEY=VALUE pairs (--server-meta) and
// the words of the command that started the server: key "command", or launched where
// this program started it. Later ones in this order win: launched, command, pairs.
func Told(meta map[string]string, launched string) Parameters {
	out := Parameters{}
	put := func(key, value, source string) {
		name, known := userNames[strings.ReplaceAll(strings.TrimLeft(key, "-"), "_", "-")]
		if !known {
			return
		}
		name, off := strings.CutPrefix(name, "!")
		v, ok := plainValue(value)
		if !ok {
			return
		}
		if b, isBool := v.(bool); isBool && off {
			v = !b
		}
		out[name] = Parameter{v, source}
	}
	for _, c := range []struct{ text, source string }{{launched, "the command of --launch"}, {meta["command"], "told by the user (--server-command)"}} {
		words := strings.Fields(c.text)
		for i, w := range words {
			if !strings.HasPrefix(w, "-") {
				continue
			}
			key, value, has := strings.Cut(w, "=")
			if !has {
				value = "true"
				if i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
					value = words[i+1]
				}
			}
			put(key, strings.Trim(value, `"'\`), c.source)
		}
	}
	keys := make([]string, 0, len(meta))
	for k := range meta {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if k != "command" {
			put(k, meta[k], "told by the user (--server-meta)")
		}
	}
	return out
}

// With adds what the user told where the server says nothing, and lists where
// the two contradict each other; the server's word counts.
func (p Parameters) With(told Parameters) (all Parameters, contradictions []string) {
	all = Parameters{}
	for k, v := range p {
		all[k] = v
	}
	names := make([]string, 0, len(told))
	for k := range told {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, k := range names {
		own, have := p[k]
		if !have {
			all[k] = told[k]
			continue
		}
		if !sameValue(own.Value, told[k].Value) {
			contradictions = append(contradictions, fmt.Sprintf("%s is %s, says the server (%s), not %s as %s", k, valueText(own.Value), own.Source, valueText(told[k].Value), told[k].Source))
		}
	}
	return all, contradictions
}

// sameValue compares what a server says with what its command says: torch.bfloat16
// is bfloat16, True is true, and auto is whatever the server chose.
func sameValue(own, told any) bool {
	plain := func(v any) string { return strings.ToLower(strings.TrimPrefix(valueText(v), "torch.")) }
	return plain(own) == plain(told) || plain(told) == "auto"
}

func valueText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}
