package compare

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"ais_bench/evaluators"
	"ais_bench/outputs"
)

// conditions are those of one pair of one input, in the order they are shown.
type conditions struct {
	order []string
	by    map[string]condition
}

func (c *conditions) put(subject string, v condition) {
	if _, ok := c.by[subject]; !ok {
		c.order = append(c.order, subject)
	}
	c.by[subject] = v
}

func (c *conditions) text(subject, v string) {
	c.put(subject, condition{text: v, unknown: v == ""})
}

// gather collects what the pair was measured under.
func gather(in *Input, p outputs.Pair, s *scan) (*conditions, error) {
	c := &conditions{by: map[string]condition{}}
	if in.Saved != nil {
		gatherSaved(c, in.Saved)
		return c, nil
	}
	m := in.Manifest
	if m == nil {
		m = &outputs.Manifest{}
	}
	c.text("data set", p.Dataset)
	gatherData(c, m, p)
	gatherRequests(c, s)
	gatherSampling(c, m, p)
	gatherLoad(c, m, p)
	gatherServer(c, m, s)
	gatherClient(c, in, m, p, s)
	gatherConfigs(c, in, m, p)
	var r evaluators.Result
	if outputs.ReadJSON(in.Run.ResultsPath(p.Model, p.Dataset), &r) == nil { // what is not there was not scored
		c.text("scorer", strings.TrimSpace(r.Scorer+" "+r.ScorerVersion))
		c.text("scored metric", r.Metric)
		c.text("prompt template", r.Version)
	}
	return c, nil
}

func gatherData(c *conditions, m *outputs.Manifest, p outputs.Pair) {
	var sums []string
	for _, f := range m.Data {
		if f.Dataset == p.Dataset && len(f.SHA256) >= 12 {
			sums = append(sums, filepath.Base(f.Path)+" "+f.SHA256[:12])
		}
	}
	if len(sums) > 0 {
		slices.Sort(sums)
		c.text("data files", strings.Join(sums, ", "))
	}
}

// gatherRequests is what the records say of what was asked and answered.
func gatherRequests(c *conditions, s *scan) {
	if s == nil {
		return
	}
	c.put("questions", known("%d requests", s.requests))
	c.put("input tokens", lengths(s.in))
	c.put("output tokens", lengths(s.out))
	if s.limited > 0 {
		mean := float64(s.asked) / float64(s.limited)
		c.put("tokens asked", condition{text: fmt.Sprintf("%.1f a request", mean), numbers: []float64{mean}})
	}
	c.put("failed", condition{text: fmt.Sprintf("%d of %d", s.failed, s.requests), numbers: []float64{float64(s.failed), float64(s.requests)}, unknown: s.requests == 0})
	if s.answered > 0 {
		var sources []string
		for _, k := range slices.Sorted(maps.Keys(s.sources)) {
			sources = append(sources, string(k))
		}
		c.text("token counts", strings.Join(sources, ", "))
		stamps := "mixed"
		switch s.kernel {
		case 0:
			stamps = "program"
		case s.answered:
			stamps = "kernel"
		}
		c.text("time stamps", stamps)
	}
}

// gatherSampling is how answers were drawn.
func gatherSampling(c *conditions, m *outputs.Manifest, p outputs.Pair) {
	for _, k := range slices.Sorted(maps.Keys(m.Seeds)) {
		name := "seed"
		if k != "seed" {
			name = "seed " + k
		}
		c.text(name, plainText(m.Seeds[k]))
	}
	s, _ := m.Sampling[p.Model].(map[string]any)
	kw, _ := s["generation_kwargs"].(map[string]any)
	for _, k := range slices.Sorted(maps.Keys(kw)) {
		c.text("sampling: "+k, plainText(kw[k]))
	}
	if v, ok := s["max_out_len"].(float64); ok && v > 0 {
		c.text("sampling: max_out_len", plainText(v))
	}
	if v, ok := s["stream"].(bool); ok {
		c.text("stream", plainText(v))
	}
}

// gatherLoad is how requests arrived.
func gatherLoad(c *conditions, m *outputs.Manifest, p outputs.Pair) {
	w, _ := m.Workload[p.Model+" × "+p.Dataset].(map[string]any)
	if w == nil {
		return
	}
	number := func(key string) (float64, bool) { v, ok := w[key].(float64); return v, ok }
	if v, ok := number("batch_size"); ok {
		c.text("concurrency", plainText(v))
	}
	rate := "as fast as the concurrency allows"
	if v, ok := number("request_rate"); ok && v > 0 {
		rate = plainText(v) + "/s"
	}
	c.text("request rate", rate)
	if t, ok := w["traffic_cfg"].(map[string]any); ok {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(t)) {
			v := plainText(t[k])
			if v == "0" || v == "" || k == "Burstiness" && v == "1" { // a default that says nothing
				continue
			}
			parts = append(parts, k+" "+v)
		}
		if len(parts) == 0 {
			parts = []string{"default"}
		}
		c.text("arrivals", strings.Join(parts, ", "))
	}
	if v, ok := w["pressure"].(bool); ok {
		c.text("pressure", plainText(v))
	}
	for key, subject := range map[string]string{"duration_s": "duration", "num_warmups": "warm-ups", "repeats": "repeats", "mode": "mode", "stages": "stages"} {
		if v, ok := w[key]; ok && v != nil {
			c.text(subject, plainText(v))
		}
	}
	if b, ok := m.Workload["benchmark"].(map[string]any); ok {
		if v, ok := b["self_timed"].(bool); ok && v {
			c.text("arrivals", "the trace's time stamps")
		}
		if v, ok := b["lora_modules"]; ok && v != nil {
			c.text("LoRA modules", plainText(v))
		}
	}
}

// gatherServer is what answered.
func gatherServer(c *conditions, m *outputs.Manifest, s *scan) {
	f := m.Server()
	c.put("prefix caching", condition{text: f.PrefixCaching.State, unknown: f.PrefixCaching.State == outputs.CachingUnknown})
	if share, ok := cachedShareOf(m, s); ok {
		c.put("cached share", condition{text: fmt.Sprintf("%.1f %% of the prompt tokens", 100*share), numbers: []float64{share}})
	}
	c.text("engine", f.Engine)
	c.text("engine version", f.Version)
	c.text("model", strings.Join(f.Models, ", "))
	settings := ""
	if n := len(f.Settings) + len(f.Parameters); n > 0 {
		settings = "told"
	}
	c.text("server settings", settings)
	for _, k := range slices.Sorted(maps.Keys(f.Settings)) {
		if k != "enable_prefix_caching" {
			c.text("server: "+k, f.Settings[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(f.Parameters)) {
		last := k[strings.LastIndexByte(k, '.')+1:]
		if _, told := f.Settings[last]; !told && last != "enable_prefix_caching" && last != "disable_radix_cache" && last != "model_name" {
			c.text("server detail: "+k, f.Parameters[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(f.Told)) {
		c.text("server detail: told by the user, "+k, f.Told[k])
	}
	if m.ServerBefore != nil {
		c.text("server address", m.ServerBefore.URL)
	}
	for _, w := range m.Warnings {
		if strings.HasPrefix(w, "INVALID: the server changed") {
			c.text("server changed", strings.TrimPrefix(w, "INVALID: "))
		}
	}
}

// cachedShareOf is the share of the prompt tokens that came from the server's prefix
// cache: by the answers' usage, else by the server's counters.
func cachedShareOf(m *outputs.Manifest, s *scan) (float64, bool) {
	if s != nil && s.ofPrompt > 0 {
		return float64(s.cached) / float64(s.ofPrompt), true
	}
	if m.ServerBefore == nil || m.ServerAfter == nil {
		return 0, false
	}
	rise := func(name string) (float64, bool) {
		x, ok := m.ServerBefore.Metrics[name]
		y, ok2 := m.ServerAfter.Metrics[name]
		return y - x, ok && ok2 && y >= x
	}
	for _, names := range [][2]string{{"vllm:prefix_cache_hits_total", "vllm:prefix_cache_queries_total"}, {"vllm:gpu_prefix_cache_hits_total", "vllm:gpu_prefix_cache_queries_total"},
		{"sglang:cached_tokens_total", "sglang:prompt_tokens_total"}} {
		hits, ok := rise(names[0])
		all, ok2 := rise(names[1])
		if ok && ok2 && all > 0 {
			return hits / all, true
		}
	}
	return 0, false
}

// gatherClient is what measured.
func gatherClient(c *conditions, in *Input, m *outputs.Manifest, p outputs.Pair, s *scan) {
	if m.Tool.Name != "" {
		c.text("tool", m.Tool.Name+" "+m.Tool.Version)
		c.text("tool commit", m.Tool.Commit)
		c.text("definitions", "strict")
		cpu := "unknown processor"
		if m.Host.CPUModel != nil {
			cpu = *m.Host.CPUModel
		}
		c.put("client machine", known("%d × %s, %s/%s", m.Host.CPUs, cpu, m.Host.OS, m.Host.Arch))
		c.text("client host", m.Host.Hostname)
	}
	if v, ok := m.Extra["proxy of "+p.Model]; ok {
		c.text("proxy", plainText(v))
	}
	if bound := clientBoundOf(m, p); bound != "" {
		c.text("client-bound", bound)
	}
	if st := in.state(p); st != nil {
		c.text("state", st.State)
		if st.Sessions > 0 {
			c.put("sessions", known("%d", st.Sessions))
		}
	}
}

// clientBoundOf is the worst verdict on the client over all sessions of a pair.
func clientBoundOf(m *outputs.Manifest, p outputs.Pair) string {
	all, _ := m.ClientHealth.(map[string]any)
	rank := map[string]int{"no": 1, "suspect": 2, "yes": 3}
	verdict := ""
	for task, v := range all {
		if name := p.Model + " × " + p.Dataset; task != name && !strings.HasPrefix(task, name+" (session ") {
			continue
		}
		h, _ := v.(map[string]any)
		if s, ok := h["client_bound"].(string); ok && rank[s] > rank[verdict] {
			verdict = s
		}
	}
	return verdict
}

// covered are the keys of configurations that other conditions stand for, or that
// only name things.
var covered = map[string]bool{"abbr": true, "url": true, "host_ip": true, "host_port": true, "api_key": true, "batch_size": true, "request_rate": true, "traffic_cfg": true,
	"generation_kwargs": true, "max_out_len": true, "stream": true, "model": true, "type": true, "description": true, "attr": true, "sim": true}

// gatherConfigs are the other keys of the stored configurations.
func gatherConfigs(c *conditions, in *Input, m *outputs.Manifest, p outputs.Pair) {
	for _, f := range m.Configs {
		if f.Session > 1 || !(f.Kind == "model" && f.Name == p.Model || f.Kind == "dataset" && f.Name == p.Dataset) {
			continue
		}
		doc, err := outputs.ReadFile(in.Run.Path(f.Path))
		if err != nil {
			continue // verify tells
		}
		var all map[string]any
		if yaml.Unmarshal(doc, &all) != nil {
			continue
		}
		group := "client setting: "
		if f.Kind == "dataset" {
			group = "data set setting: "
		}
		if f.Kind == "model" {
			c.text("protocol", plainText(all["type"]))
			if served, ok := all["model"].(string); ok && c.by["model"].unknown {
				c.text("model", served)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(all)) {
			if !covered[k] {
				c.text(group+k, plainText(all[k]))
			}
		}
	}
}

// plainText is a value as a condition shows it.
func plainText(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	}
	b, err := outputs.MarshalJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
