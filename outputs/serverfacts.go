package outputs

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ServerFacts is what a manifest tells of the servers of a run, gathered from
// what they said themselves (server_before) and from what the user said of them
// (--server-meta, --server-command).
type ServerFacts struct {
	Engine, Version string   // "" = unknown
	Models          []string // ids of /v1/models
	// Parameters are the server's own settings by name, as it told them: the
	// answers of its information endpoints and the labels of its *_config_info
	// metrics, nested keys joined by dots. What changes by itself is left out.
	Parameters map[string]string
	// Settings are those among them that decide how the server batches, caches and
	// cuts, by one name for every engine, what the user told of them included.
	Settings map[string]string
	// ParameterSources are the endpoints and metrics they come from.
	ParameterSources []string
	Told             map[string]string // by the user
	PrefixCaching    PrefixCaching
}

// PrefixCaching is whether prompts may be answered from the server's prefix cache.
type PrefixCaching struct {
	State    string // on, off, mixed (the servers of a run differ) or unknown
	Evidence string // where it is said; "" when unknown
}

// The states of prefix caching.
const (
	CachingOn      = "on"
	CachingOff     = "off"
	CachingMixed   = "mixed"
	CachingUnknown = "unknown"
)

// Server gathers the facts. Of a run on several servers Engine, Version, Models
// and Parameters are the first one's.
func (m *Manifest) Server() ServerFacts {
	f := ServerFacts{Parameters: map[string]string{}, Settings: map[string]string{}, Told: map[string]string{}}
	if told, ok := generic(m.Extra["server_meta"]).(map[string]any); ok {
		for k, v := range told {
			f.Told[k] = jsonText(v)
		}
	}
	s := m.ServerBefore
	if s != nil {
		if s.Engine != nil {
			f.Engine = *s.Engine
		}
		if s.Version != nil {
			f.Version = *s.Version
		}
		if list, ok := generic(s.Models).([]any); ok {
			for _, e := range list {
				m, _ := e.(map[string]any)
				if id, ok := m["id"].(string); ok {
					f.Models = append(f.Models, id)
				}
			}
		}
		f.parameters(s)
		for name, p := range s.Parameters {
			f.Settings[name] = jsonText(generic(p.Value))
		}
	}
	f.PrefixCaching = m.prefixCaching(f.Told)
	return f
}

// parameterAnswers are the endpoints that tell settings, in the order in which
// one stands for another: engines answer the same under two names.
var parameterAnswers = [][]string{{"/server_info", "/get_server_info"}, {"/info"}, {"/props"}}

// passing are keys whose values are state, not settings, or name the process
// rather than say how it works.
var passing = regexp.MustCompile(`(?i)(^|\.)(internal_states|status|uptime|load|last_gen_throughput|memory_usage|created|permission|timestamp|pid|host|port|nccl_port|dist_init_addr|system_env|api_key|admin_api_key|chat_template|default_generation_settings)(\.|$)`)

func (f *ServerFacts) parameters(s *ServerSnapshot) {
	info, ok := generic(s.Info).(map[string]any)
	if !ok {
		return
	}
	for _, names := range parameterAnswers {
		for _, name := range names {
			if info[name] == nil {
				continue
			}
			n := len(f.Parameters)
			flattenParameters(f.Parameters, "", info[name])
			if len(f.Parameters) > n {
				f.ParameterSources = append(f.ParameterSources, name)
			}
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(info)) {
		if !strings.HasSuffix(name, "_config_info") {
			continue
		}
		short := name
		if _, after, ok := strings.Cut(name, ":"); ok {
			short = after
		}
		n := len(f.Parameters)
		flattenParameters(f.Parameters, strings.TrimSuffix(short, "_info"), info[name])
		if len(f.Parameters) > n {
			f.ParameterSources = append(f.ParameterSources, name)
		}
	}
}

// flattenParameters joins nested keys by dots. A list of one object is the
// object (the only series of a metric); other lists are one value.
func flattenParameters(out map[string]string, path string, v any) {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			p := k
			if path != "" {
				p = path + "." + k
			}
			if !passing.MatchString(p) {
				flattenParameters(out, p, e)
			}
		}
		return
	case []any:
		if len(x) == 1 {
			if _, ok := x[0].(map[string]any); ok {
				flattenParameters(out, path, x[0])
				return
			}
		}
	}
	if v != nil && path != "" {
		out[path] = jsonText(v)
	}
}

// generic turns any value into JSON's own types, so that a manifest that was
// just made and one that was read look the same.
func generic(v any) any {
	if v == nil {
		return nil
	}
	b, err := MarshalJSON(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out
}

// prefixCaching asks every server of the run, then the user's word. What a
// server says itself wins.
func (m *Manifest) prefixCaching(told map[string]string) PrefixCaching {
	states := map[string]string{} // state → evidence of the first server that is in it
	look := func(before, after *ServerSnapshot) {
		if before == nil {
			return
		}
		state, evidence := cachingOf(before, after)
		if _, ok := states[state]; !ok {
			states[state] = evidence
		}
	}
	look(m.ServerBefore, m.ServerAfter)
	for i := range m.Sessions {
		look(m.Sessions[i].ServerBefore, m.Sessions[i].ServerAfter)
	}
	for _, k := range slices.Sorted(maps.Keys(m.Extra)) {
		if !strings.HasPrefix(k, "server of ") {
			continue
		}
		pair := struct{ Before, After *ServerSnapshot }{}
		if b, err := MarshalJSON(m.Extra[k]); err == nil && json.Unmarshal(b, &pair) == nil {
			look(pair.Before, pair.After)
		}
	}
	delete(states, CachingUnknown)
	switch len(states) {
	case 2:
		return PrefixCaching{CachingMixed, "on: " + states[CachingOn] + "; off: " + states[CachingOff]}
	case 1:
		for state, evidence := range states {
			return PrefixCaching{state, evidence}
		}
	}
	for _, k := range []string{"enable_prefix_caching", "enable-prefix-caching", "prefix_caching", "prefix-caching"} {
		if v, ok := told[k]; ok {
			if on, known := truth(v); known {
				return PrefixCaching{onOff(on), k + "=" + v + ", told by the user (--server-meta)"}
			}
		}
	}
	for _, k := range []string{"disable_radix_cache", "disable-radix-cache"} {
		if v, ok := told[k]; ok {
			if off, known := truth(v); known {
				return PrefixCaching{onOff(!off), k + "=" + v + ", told by the user (--server-meta)"}
			}
		}
	}
	if word, on, ok := cachingInCommand(told["command"]); ok {
		return PrefixCaching{onOff(on), word + " in the command the user gave (--server-command)"}
	}
	return PrefixCaching{State: CachingUnknown}
}

// cachingOf is what one server says: its settings first, then whether its
// counters of hits moved.
func cachingOf(before, after *ServerSnapshot) (state, evidence string) {
	if s := before.PrefixCaching; s == CachingOn || s == CachingOff {
		return s, before.PrefixCachingEvidence
	}
	if info, ok := generic(before.Info).(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(info)) {
			if key, v, ok := cachingKey(info[name]); ok {
				where := name
				if !strings.HasPrefix(name, "/") {
					where = "metric " + name
				}
				on, _ := truth(v)
				if key == "disable_radix_cache" {
					on = !on
				}
				return onOff(on), fmt.Sprintf("%s=%s in the server's %s", key, v, where)
			}
		}
	}
	if after != nil {
		for _, name := range []string{"vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total", "sglang:cached_tokens_total"} {
			if x, ok := before.Metrics[name]; ok {
				if y, ok := after.Metrics[name]; ok && y > x {
					return CachingOn, fmt.Sprintf("the server's %s rose by %.0f during the run", name, y-x)
				}
			}
		}
	}
	return CachingUnknown, ""
}

// cachingNames are the settings that decide prefix caching.
var cachingNames = []string{"enable_prefix_caching", "enable_prefix_cache", "disable_radix_cache"}

// printed finds a setting in the text form that some versions of vLLM answer.
var printed = regexp.MustCompile(`\b(enable_prefix_caching|disable_radix_cache)\s*[=:]\s*(True|False|true|false)\b`)

func cachingKey(v any) (key, value string, ok bool) {
	switch x := v.(type) {
	case map[string]any:
		for _, k := range cachingNames {
			if e, has := x[k]; has {
				if _, known := truth(jsonText(e)); known {
					return k, jsonText(e), true
				}
			}
		}
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if key, value, ok = cachingKey(x[k]); ok {
				return key, value, true
			}
		}
	case []any:
		for _, e := range x {
			if key, value, ok = cachingKey(e); ok {
				return key, value, true
			}
		}
	case string:
		if m := printed.FindStringSubmatch(x); m != nil {
			return m[1], m[2], true
		}
	}
	return "", "", false
}

// cachingInCommand reads the flags of vLLM and SGLang. A command without them
// says nothing: the engine's default has changed between versions.
func cachingInCommand(command string) (word string, on, ok bool) {
	words := strings.Fields(strings.ReplaceAll(command, "_", "-"))
	for i, w := range words {
		name, value, has := strings.Cut(w, "=")
		if !has && i+1 < len(words) {
			if _, known := truth(words[i+1]); known {
				value = words[i+1]
			}
		}
		v, known := truth(value)
		if value == "" {
			v, known = true, true
		}
		switch name {
		case "--enable-prefix-caching":
			if known {
				word, on, ok = w, v, true
			}
		case "--no-enable-prefix-caching", "--disable-radix-cache":
			if known {
				word, on, ok = w, !v, true
			}
		}
	}
	return word, on, ok
}

func truth(s string) (value, known bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "1", "yes", "on", "enabled":
		return true, true
	case "false", "0", "no", "off", "disabled":
		return false, true
	}
	return false, false
}

func onOff(on bool) string {
	if on {
		return CachingOn
	}
	return CachingOff
}
