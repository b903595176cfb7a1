package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ais_bench/registry"
)

// Backend is one of the services that can be benchmarked: which protocol it
// speaks and where.
type Backend struct {
	Name     string // as given
	Type     string // of models.Config
	Endpoint string // default path
	Suffix   string // what every endpoint of this backend ends with
	Port     int    // default
	OpenAI   bool   // takes OpenAI's sampling parameters, and ignore_eos by default for random prompts
	Chat     bool   // the server renders the chat template
	Pooling  bool   // answers with numbers: only E2EL exists
	SGLang   bool   // SGLang's defaults hold where the two tools differ
	NoIDs    bool   // takes text only, no token ids
}

// backends are the names of --backend of `vllm bench serve` and of SGLang's
// bench_serving.
var backends = func() map[string]Backend {
	completions := Backend{Type: "openai_completions", Endpoint: "/v1/completions", Suffix: "completions", Port: 8000, OpenAI: true}
	chat := Backend{Type: "openai_chat", Endpoint: "/v1/chat/completions", Suffix: "chat/completions", Port: 8000, OpenAI: true, Chat: true, NoIDs: true}
	embeddings := Backend{Type: "openai_embeddings", Endpoint: "/v1/embeddings", Suffix: "embeddings", Port: 8000, Pooling: true}
	rerank := Backend{Type: "openai_rerank", Endpoint: "/v1/rerank", Suffix: "rerank", Port: 8000, Pooling: true, NoIDs: true}
	generate := Backend{Type: "sglang_generate", Endpoint: "/generate", Suffix: "generate", Port: 30000, SGLang: true}
	tgi := Backend{Type: "tgi_generate_stream", Endpoint: "/generate_stream", Suffix: "generate_stream", Port: 8000, NoIDs: true}
	sglang := func(b Backend) Backend {
		b.SGLang, b.Port = true, 30000
		return b
	}
	at := func(b Backend, port int) Backend {
		b.Port = port
		return b
	}
	m := map[string]Backend{
		"openai": completions, "vllm": completions, "openai-chat": chat, "vllm-chat": chat,
		"sglang": generate, "sglang-native": generate, "sglang-oai": sglang(completions), "sglang-oai-chat": sglang(chat),
		"lmdeploy": at(completions, 23333), "lmdeploy-chat": at(chat, 23333),
		"tgi": tgi, "openai-embeddings": embeddings, "vllm-embedding": embeddings, "sglang-embedding": sglang(embeddings), "vllm-rerank": rerank,
	}
	for name, b := range m {
		b.Name = name
		m[name] = b
	}
	return m
}()

// elsewhere are backends of the tools we stand in for that are not spoken here,
// with the way out.
var elsewhere = map[string]string{
	"openai-audio":              "audio is not supported",
	"openai-embeddings-chat":    "multimodal embeddings are not supported; text goes to openai-embeddings",
	"openai-embeddings-clip":    "multimodal embeddings are not supported; text goes to openai-embeddings",
	"openai-embeddings-vlm2vec": "multimodal embeddings are not supported; text goes to openai-embeddings",
	"infinity-embeddings":       "give openai-embeddings with --endpoint /embeddings",
	"infinity-embeddings-clip":  "multimodal embeddings are not supported",
	"vllm-pooling":              "give openai-embeddings, or vllm-rerank",
	"openai-responses":          "give openai-chat: every engine that serves /v1/responses serves it too",
	"trt":                       "serve the model with an OpenAI-compatible front end and give openai",
	"gserver":                   "serve the model with an OpenAI-compatible front end and give openai",
	"truss":                     "give openai with --base-url",
}

// BackendNames lists the backends in alphabetical order.
func BackendNames() []string { return slices.Sorted(maps.Keys(backends)) }

// FindBackend is the backend called name; underscores are dashes.
func FindBackend(name string) (Backend, error) {
	key := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	if b, ok := backends[key]; ok {
		return b, nil
	}
	if why, ok := elsewhere[key]; ok {
		return Backend{}, fmt.Errorf("--backend %s: %s", name, why)
	}
	return Backend{}, fmt.Errorf("--backend %q is not known%s; one of %s", name, registry.DidYouMean(key, BackendNames()), strings.Join(BackendNames(), ", "))
}

// URL joins the base address and the endpoint. Users give the version in either
// or in both ("…/v1" and "/v1/chat/completions"), and base addresses with a path
// of their own ("…/api"). endpoint "" is the backend's own.
func (b Backend) URL(base, endpoint string) (string, error) {
	base = strings.TrimRight(strings.TrimSpace(base), "/")
	if endpoint == "" {
		endpoint = b.Endpoint
		if b.Type == "sglang_generate" || b.Type == "tgi_generate_stream" {
			base = strings.TrimSuffix(base, "/v1")
		}
	}
	endpoint = "/" + strings.Trim(endpoint, "/")
	if !strings.HasSuffix(endpoint, "/"+b.Suffix) || b.Suffix == "completions" && strings.HasSuffix(endpoint, "/chat/completions") {
		return "", fmt.Errorf("--endpoint %s does not go with --backend %s, which asks %s%s", endpoint, b.Name, b.Endpoint, forEndpoint(endpoint))
	}
	if strings.HasSuffix(base, endpoint) {
		return base, nil
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(endpoint, "/"), "/")
	if rest != "" && strings.HasSuffix(base, "/"+first) {
		return base + "/" + rest, nil
	}
	return base + endpoint, nil
}

// BackendFor is the backend that an endpoint belongs to; "" when none does.
func BackendFor(endpoint string) string {
	for _, name := range []string{"openai-chat", "openai", "openai-embeddings", "vllm-rerank", "tgi", "sglang"} {
		if strings.HasSuffix("/"+strings.Trim(endpoint, "/"), "/"+backends[name].Suffix) {
			return name
		}
	}
	return ""
}

// forEndpoint suggests the backend that an endpoint belongs to.
func forEndpoint(endpoint string) string {
	if name := BackendFor(endpoint); name != "" {
		return "; for this endpoint give --backend " + name
	}
	return ""
}

// Secrets are the values that no output may hold: the key, credentials in headers,
// passwords in addresses.
func (o *Options) Secrets() []string {
	b, err := FindBackend(o.Backend)
	if err != nil {
		return nil
	}
	c, _ := o.service(b) // of a configuration that is refused the secrets are secrets too
	return c.Secrets()
}

// Server is the root of the service, below which /health lies.
func (o *Options) Server() (string, error) {
	b, err := FindBackend(o.Backend)
	if err != nil {
		return "", err
	}
	c, err := o.service(b)
	if err != nil {
		return "", err
	}
	ep, err := c.Endpoint()
	return ep.Server, err
}
