package models

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"ais_bench/registry"
)

// Validate checks what can be checked without the network or the environment.
// The error is one line that names the field, the value and the remedy. Ranges
// are AISBench's.
func (c Config) Validate() error {
	bad := func(field string, value any, remedy string) error {
		return fmt.Errorf("model %s: %s %v %s", c.name(), field, value, remedy)
	}
	if c.Abbr == "" {
		return fmt.Errorf("model configuration without abbr: give it a short name")
	}
	if strings.ContainsAny(c.Abbr, "/\\:*?\"<>|\n") || c.Abbr == "." || c.Abbr == ".." {
		return bad("abbr", fmt.Sprintf("%q", c.Abbr), "cannot name a file: use letters, digits, -, _ and .")
	}
	if c.Protocol() == "" {
		names := make([]string, 0, len(Types))
		for t := range Types {
			names = append(names, t)
		}
		sort.Strings(names)
		return bad("type", fmt.Sprintf("%q", c.Type), "is not one of "+strings.Join(names, ", ")+registry.DidYouMean(c.Type, names))
	}
	if c.Attr != "" && c.Attr != "service" {
		return bad("attr", fmt.Sprintf("%q", c.Attr), `is not supported: serve the model and use "service"`)
	}
	if !c.Simulated() || c.URL != "" || c.HostIP != "" {
		if _, err := c.Endpoint(); err != nil {
			return err
		}
	}
	switch {
	case c.HostPort < 0 || c.HostPort > 65535:
		return bad("host_port", c.HostPort, "is not within 1..65535")
	case !(c.RequestRate >= 0 && c.RequestRate <= 64000):
		return bad("request_rate", c.RequestRate, "is not within 0..64000 requests/s")
	case c.Retry < 0 || c.Retry > 1000:
		return bad("retry", c.Retry, "is not within 0..1000")
	case c.BatchSize < 0 || c.BatchSize > 100000:
		return bad("batch_size", c.BatchSize, "is not within 1..100000")
	case c.MaxOutLen < 0:
		return bad("max_out_len", c.MaxOutLen, "is negative; 0 leaves the length to the server")
	case len(c.Sim) > 0 && !c.Simulated():
		return bad("sim", "options", "only go with type sim_chat or sim_completions")
	}
	for k := range c.GenerationKwargs {
		if instead, ok := reservedKwargs[k]; ok {
			return bad("generation_kwargs."+k, "", "is set elsewhere and would not be sent: use "+instead)
		}
	}
	if at := unspeakable(c.GenerationKwargs); at != "" {
		return bad("generation_kwargs."+at, "", "is no finite number, which JSON cannot carry: give one, or leave it out")
	}
	t := c.TrafficCfg
	switch {
	case !(t.Burstiness >= 0):
		return bad("traffic_cfg.burstiness", t.Burstiness, "is not positive; 1 is Poisson")
	case t.RampUpStrategy != "" && t.RampUpStrategy != "linear" && t.RampUpStrategy != "exponential":
		return bad("traffic_cfg.ramp_up_strategy", fmt.Sprintf("%q", t.RampUpStrategy), "is not linear or exponential")
	case !(t.RampUpStartRPS >= 0):
		return bad("traffic_cfg.ramp_up_start_rps", t.RampUpStartRPS, "is negative")
	case !(t.RampUpEndRPS >= 0):
		return bad("traffic_cfg.ramp_up_end_rps", t.RampUpEndRPS, "is negative")
	case t.RampUpStrategy == "" && (t.RampUpStartRPS != 0 || t.RampUpEndRPS != 0):
		return bad("traffic_cfg", "with a ramp", "needs ramp_up_strategy linear or exponential")
	case t.RampUpStrategy != "" && t.RampUpEndRPS == 0:
		return bad("traffic_cfg.ramp_up_end_rps", 0, "must be above 0 for a ramp")
	case t.RampUpStrategy == "exponential" && t.RampUpStartRPS == 0:
		return bad("traffic_cfg.ramp_up_start_rps", 0, "must be above 0 for an exponential ramp")
	}
	for _, f := range []struct {
		name string
		d    Duration
	}{{"connect", c.Timeouts.Connect}, {"first_token", c.Timeouts.FirstToken}, {"idle", c.Timeouts.Idle}, {"total", c.Timeouts.Total}} {
		if f.d < 0 {
			return bad("timeouts."+f.name, f.d, "is negative; 0 is no limit")
		}
	}
	for k, v := range c.Headers {
		if !validHeaderName(k) || strings.ContainsAny(v, "\r\n\x00") {
			return bad("headers", fmt.Sprintf("%q", k), "is not a valid HTTP header; use letters, digits and -, and a value of one line")
		}
	}
	if c.Proxy != "" && c.Proxy != "env" && !strings.HasPrefix(c.Proxy, "http://") && !strings.HasPrefix(c.Proxy, "https://") && !strings.HasPrefix(c.Proxy, "${") {
		return bad("proxy", redactURL(c.Proxy), `is not http://host:port, https://host:port or "env"`)
	}
	return nil
}

// unspeakable is the path of a number in a value that JSON has no form for; "" = none.
func unspeakable(v any) string {
	join := func(key, rest string) string {
		if rest == "." {
			return key
		}
		return key + "." + rest
	}
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "."
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if rest := unspeakable(v[k]); rest != "" {
				return join(k, rest)
			}
		}
	case []any:
		for i, e := range v {
			if rest := unspeakable(e); rest != "" {
				return join(fmt.Sprint(i), rest)
			}
		}
	}
	return ""
}

func validHeaderName(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return true
}

// reservedKwargs are request fields with a setting of their own, which wins. A
// generation_kwarg of that name would stand in the manifest and never be sent.
var reservedKwargs = map[string]string{
	"model": "model (--model)", "stream": "stream (--stream, --no-stream)", "max_tokens": "max_out_len (--max-out-len)",
	"max_completion_tokens": "max_out_len (--max-out-len)", "messages": "the data set's template", "prompt": "the data set's template",
}
