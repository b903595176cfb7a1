package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/interval"
	"ais_bench/summarizers/vllm"
)

// savedDataset is the data set of a saved result, as far as it says.
func savedDataset(s *vllm.Saved) string {
	for _, key := range []string{"dataset_name", "dataset"} {
		var name string
		if json.Unmarshal(s.Raw[key], &name) == nil && name != "" {
			return name
		}
	}
	var own struct {
		Dataset string `json:"dataset"`
	}
	if json.Unmarshal(s.Raw["ais_bench"], &own) == nil && own.Dataset != "" {
		return own.Dataset
	}
	return ""
}

// gatherSaved are the conditions that a saved result tells.
func gatherSaved(c *conditions, s *vllm.Saved) {
	c.text("data set", savedDataset(s))
	total := int64(s.Values["num_prompts"])
	if s.Completed != nil && s.Failed != nil {
		total = *s.Completed + *s.Failed
	}
	if total == 0 && s.Completed != nil {
		total = *s.Completed
	}
	c.put("questions", known("%d requests", total))
	mean := func(subject, key string) {
		v, ok := s.Values[key]
		if !ok || s.Completed == nil || *s.Completed == 0 {
			c.put(subject, condition{unknown: true})
			return
		}
		v /= float64(*s.Completed)
		c.put(subject, condition{text: fmt.Sprintf("mean %.1f", v), numbers: []float64{v}})
	}
	mean("input tokens", "total_input_tokens")
	mean("output tokens", "total_output_tokens")
	if s.MaxConcurrency > 0 {
		c.put("concurrency", known("%d", s.MaxConcurrency))
	} else {
		c.put("concurrency", known("%d", total)) // no bound: all of them
	}
	rate := "as fast as the concurrency allows"
	if !math.IsInf(s.RequestRate, 1) && s.RequestRate > 0 {
		rate = strconv.FormatFloat(s.RequestRate, 'g', -1, 64) + "/s"
	}
	c.text("request rate", rate)
	arrivals := "default"
	if b, ok := s.Values["burstiness"]; ok && b != 1 {
		arrivals = "Burstiness " + plainText(b)
	}
	c.text("arrivals", arrivals)
	failed := condition{unknown: true}
	if s.Failed != nil && total > 0 {
		failed = condition{text: fmt.Sprintf("%d of %d", *s.Failed, total), numbers: []float64{float64(*s.Failed), float64(total)}}
	}
	c.put("failed", failed)
	c.text("protocol", protocolOf(s.Backend))
	c.text("model", s.Model)
	c.text("definitions", s.Tool)
	c.put("prefix caching", savedCaching(s))
	c.text("engine", "")
	c.text("engine version", "")
	c.text("server settings", "")
	var own struct {
		Version   string         `json:"version"`
		Seed      *int64         `json:"seed"`
		IgnoreEOS *bool          `json:"ignore_eos"`
		Sampling  map[string]any `json:"sampling"`
	}
	if json.Unmarshal(s.Raw["ais_bench"], &own) == nil && own.Version != "" {
		c.text("tool", "ais_bench "+strings.Fields(own.Version)[0])
		if own.Seed != nil {
			c.put("seed", known("%d", *own.Seed))
		}
		for k, v := range own.Sampling {
			c.text("sampling: "+k, plainText(v))
		}
	} else {
		c.text("tool", map[string]string{"vllm": "vllm bench serve", "sglang": "sglang.bench_serving"}[s.Tool])
	}
	for _, k := range []string{"tokenizer_id", "random_input_len", "random_output_len", "random_range_ratio", "sharegpt_output_len"} {
		if v, ok := s.Raw[k]; ok && string(v) != "null" {
			c.text("client setting: "+k, strings.Trim(string(v), `"`))
		}
	}
}

// protocolOf is what a backend of `vllm bench serve` or SGLang speaks, by the names
// of model configurations.
func protocolOf(backend string) string {
	switch {
	case strings.HasSuffix(backend, "-chat"):
		return "openai_chat"
	case backend == "openai" || backend == "vllm" || backend == "sglang-oai" || backend == "lmdeploy":
		return "openai_completions"
	case backend == "sglang" || backend == "sglang-native":
		return "sglang_generate"
	}
	return backend
}

// savedCaching: SGLang's results may hold what the server said of itself.
func savedCaching(s *vllm.Saved) condition {
	var info any
	if json.Unmarshal(s.Raw["server_info"], &info) == nil && info != nil {
		m := outputs.Manifest{ServerBefore: &outputs.ServerSnapshot{Info: map[string]any{"/server_info": info}}}
		if c := m.Server().PrefixCaching; c.State != outputs.CachingUnknown {
			return condition{text: c.State}
		}
	}
	return condition{unknown: true}
}

// savedKeys are the figures of a saved result by ours.
var savedKeys = map[string]string{"request_throughput": "request_throughput", "output_throughput": "output_throughput", "total_token_throughput": "total_token_throughput",
	"request_goodput": "request_goodput", "input_throughput": "input_throughput"}

// savedArray are the lists of single values that a detailed result has, and by how
// much their unit has to be multiplied to be ours.
var savedArray = map[string]string{"ttft": "ttfts", "itl": "itls", "e2el": "latencies"}

// savedFigure is a figure of a saved result.
func savedFigure(s *vllm.Saved, name string) figure {
	f := figure{}
	if name == successRate {
		if s.Completed != nil && s.Failed != nil && *s.Completed+*s.Failed > 0 {
			return shareFigure(*s.Completed, *s.Completed+*s.Failed)
		}
		f.reason = "the file has no number of failed requests"
		return f
	}
	key := savedKeys[name]
	dist, stat, isDist := strings.Cut(name, ".")
	if isDist {
		stat = strings.TrimSuffix(stat, "_ms")
		if stat == "p50" {
			stat = "median"
		}
		key = stat + "_" + dist + "_ms"
	}
	v, ok := s.Values[key]
	if !ok {
		f.reason = "the file does not have it"
		return f
	}
	f.value = &v
	if s.Completed != nil {
		f.n = *s.Completed
	}
	if isDist {
		savedInterval(&f, s, dist, stat)
	}
	return f
}

// savedInterval is the interval of a statistic where the file lists the single
// values. They are taken as independent, which one list cannot tell.
func savedInterval(f *figure, s *vllm.Saved, dist, stat string) {
	values := savedValues(s, dist)
	if len(values) == 0 {
		return
	}
	f.n = int64(len(values))
	f.notes = append(f.notes, "its values are taken as independent")
	f.at = func(level float64) (interval.Interval, error) {
		var i interval.Interval
		ok := false
		if stat == "mean" {
			i, ok = interval.Mean(values, level, 1)
		} else {
			q := 0.5
			if p, err := strconv.ParseFloat(strings.TrimPrefix(stat, "p"), 64); err == nil {
				q = p / 100
			}
			n, at := interval.Sorted(values)
			i, ok = interval.Percentile(n, at, q, level)
		}
		if !ok {
			return i, fmt.Errorf("%d values are too few for an interval", len(values))
		}
		return i, nil
	}
}

// savedValues are single values in ms, sorted; nil where the file has none.
func savedValues(s *vllm.Saved, dist string) []float64 {
	var out []float64
	if raw, ok := s.Raw[savedArray[dist]]; ok {
		var flat []float64
		var nested [][]float64
		switch {
		case json.Unmarshal(raw, &flat) == nil:
			out = flat
		case json.Unmarshal(raw, &nested) == nil:
			for _, l := range nested {
				out = append(out, l...)
			}
		}
	}
	out = slices.DeleteFunc(out, func(v float64) bool { return v == 0 }) // failed requests
	for i := range out {
		out[i] *= 1e3
	}
	slices.SortFunc(out, cmp.Compare)
	return out
}
