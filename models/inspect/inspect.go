// Package inspect asks an inference server what it is: version, models,
// parameters and counters. What a server does not tell stays unknown and says
// why; nothing is guessed.
package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"ais_bench/models"
)

// Snapshot is what a server said about itself at one moment.
type Snapshot struct {
	TakenAt time.Time
	URL     string
	Engine  string // vllm, sglang, tgi, llama.cpp; "" = unknown
	Version string
	Models  any            // the data of /v1/models
	Info    map[string]any // answers of the other endpoints, by path
	Metrics map[string]float64
	Headers map[string]string // of an answer, that tell what stands before the engine
	// Parameters are the settings among Info, by one name for every engine.
	Parameters Parameters
	// Errors are what could not be asked, one line each.
	Errors []string
}

// endpoints that a server may have; those that answer JSON are kept.
var endpoints = []string{"/version", "/server_info", "/get_server_info", "/model_info", "/get_model_info", "/info", "/props"}

// queries are what an endpoint is asked with: vLLM's /server_info (in its
// development mode) answers a printed configuration otherwise.
var queries = map[string]string{"/server_info": "?config_format=json"}

// limit bounds every single question.
const limit = 5 * time.Second

// maxBody bounds an answer.
const maxBody = 8 << 20

// Take asks every endpoint it knows. It does not fail: what cannot be asked is
// in Errors.
func Take(ctx context.Context, cfg models.Config) *Snapshot {
	s := &Snapshot{TakenAt: time.Now(), Info: map[string]any{}}
	ep, err := cfg.Endpoint()
	if err != nil {
		s.Errors = append(s.Errors, err.Error())
		return s
	}
	s.URL = ep.Server
	get, err := models.NewGetter(cfg)
	if err != nil {
		s.Errors = append(s.Errors, err.Error())
		return s
	}
	defer get.Close()
	body, header, err := ask(ctx, get, ep.API+"/models")
	s.Headers = gatewayHeaders(header)
	if err == nil {
		var list struct {
			Data any `json:"data"`
		}
		if json.Unmarshal(body, &list) == nil {
			s.Models = list.Data
		}
	} else {
		s.Errors = append(s.Errors, "/models: "+err.Error())
	}
	for _, path := range endpoints {
		body, _, err := ask(ctx, get, ep.Server+path+queries[path])
		if err != nil {
			continue // a server has few of them; the absence of the others is not an error
		}
		var v any
		if json.Unmarshal(body, &v) == nil {
			models.RedactCredentials(v) // SGLang tells its admin key, vLLM its environment
			s.Info[path] = v
		}
	}
	if text, _, err := ask(ctx, get, ep.Server+"/metrics"); err != nil {
		s.Errors = append(s.Errors, "/metrics: "+err.Error())
	} else if m, err := ParseMetrics(string(text)); err != nil {
		s.Errors = append(s.Errors, "/metrics: "+err.Error())
	} else {
		s.Metrics = m.Totals()
		for name, labels := range m.Infos() {
			s.Info[name] = labels
		}
	}
	s.identify()
	s.Parameters = s.parameters()
	return s
}

// identify names the engine by what it speaks.
func (s *Snapshot) identify() {
	version := func(path, key string) string {
		if m, ok := s.Info[path].(map[string]any); ok {
			if v, ok := m[key].(string); ok {
				return v
			}
		}
		return ""
	}
	hasPrefix := func(p string) bool {
		for name := range s.Metrics {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
		return false
	}
	_, vllmConfig := dig(s.Info["/server_info"], []string{"vllm_config", "model_config", "model"})
	sglang := s.Info["/get_server_info"] != nil || s.Info["/model_info"] != nil || s.Info["/get_model_info"] != nil
	switch {
	case hasPrefix("vllm:") || vllmConfig && !hasPrefix("sglang:"): // metrics tell engines apart better than paths, which gateways imitate
		s.Engine = "vllm"
	case sglang || hasPrefix("sglang:"):
		s.Engine = "sglang"
		for _, p := range []string{"/server_info", "/get_server_info"} {
			if v := version(p, "version"); v != "" {
				s.Version = v
			}
		}
	case s.Info["/info"] != nil:
		s.Engine, s.Version = "tgi", version("/info", "version")
	case s.Info["/props"] != nil:
		s.Engine, s.Version = "llama.cpp", version("/props", "build_info")
	}
	if s.Version == "" {
		s.Version = version("/version", "version")
	}
}

// ask sends one question. The header is that of any answer, an error's too.
func ask(ctx context.Context, get *models.Getter, url string) ([]byte, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	resp, err := get.Get(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, resp.Header, err
	case resp.StatusCode != http.StatusOK:
		return nil, resp.Header, &statusError{resp.StatusCode, resp.Status}
	case len(body) > maxBody:
		return nil, resp.Header, errors.New("the answer is larger than 8 MiB")
	}
	return body, resp.Header, nil
}

// parameterFamilies are the *_info metrics that hold an engine's parameters,
// which stay the same while it runs. The list is a positive one because others
// are state under the same ending: vllm:lora_requests_info lists the adapters
// of the requests at this moment.
var parameterFamilies = []string{"sglang:cache_config_info", "sglang:engine_config_info", "sglang:model_config_info",
	"vllm:cache_config_info", "vllm:engine_config_info", "vllm:model_config_info"}

// Differences are the parameters that changed between two snapshots: a restart
// or a changed server makes a run's figures those of two servers. Only what
// both snapshots know is compared: a question that was not answered once is no
// change.
func Differences(before, after *Snapshot) []string {
	var out []string
	if before.Version != "" && after.Version != "" && before.Version != after.Version {
		out = append(out, fmt.Sprintf("version %q became %q", before.Version, after.Version))
	}
	a, b := canonical(before.Models), canonical(after.Models)
	if a != b && after.Models != nil && before.Models != nil {
		out = append(out, "the list of models changed")
	}
	const start = "process_start_time_seconds"
	if x, ok := before.Metrics[start]; ok {
		if y, ok := after.Metrics[start]; ok && x != y {
			out = append(out, "the server was restarted, or several replicas answer behind one address: process_start_time_seconds differs")
		}
	}
	if x, y := before.Headers["server"], after.Headers["server"]; x != "" && y != "" && x != y {
		out = append(out, fmt.Sprintf("another server answers: %q became %q", x, y))
	}
	for _, name := range slices.Sorted(maps.Keys(before.Parameters)) {
		x, y := before.Parameters[name], after.Parameters[name]
		if y.Value != nil && x.Source == y.Source && valueText(x.Value) != valueText(y.Value) {
			out = append(out, fmt.Sprintf("%s was %s and became %s", name, valueText(x.Value), valueText(y.Value)))
		}
	}
	for _, name := range backwards(before.Metrics, after.Metrics) {
		out = append(out, fmt.Sprintf("%s fell from %.0f to %.0f: the server was restarted, or several replicas answer behind one address", name, before.Metrics[name], after.Metrics[name]))
	}
	for _, n := range parameterFamilies {
		if x, y := before.Info[n], after.Info[n]; x != nil && y != nil && canonical(x) != canonical(y) {
			out = append(out, n+" changed")
		}
	}
	return out
}

// backwards are the engine's counters that fell, which a counter never does by
// itself: one is enough, the first in order. Restarts are told by the start time
// where there is one; multi-process servers have none.
func backwards(before, after map[string]float64) []string {
	if _, ok := after["process_start_time_seconds"]; ok {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if y, ok := after[name]; ok && engineCounter(name) && y < before[name] {
			return []string{name}
		}
	}
	return nil
}

// engineCounter tells counters of an inference engine by their name.
func engineCounter(name string) bool {
	for _, p := range []string{"vllm:", "sglang:", "tgi_", "llamacpp:"} {
		if strings.HasPrefix(name, p) {
			return strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_count")
		}
	}
	return false
}

// canonical is a value as JSON without what changes by itself: the creation
// times of the list of models, and the order of a list.
func canonical(v any) string {
	list, ok := v.([]any)
	if !ok {
		return asJSON(v)
	}
	lines := make([]string, len(list))
	for i, e := range list {
		if m, ok := e.(map[string]any); ok {
			c := maps.Clone(m)
			delete(c, "created")
			delete(c, "permission")
			e = c
		}
		lines[i] = asJSON(e)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
