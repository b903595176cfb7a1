package facts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// noFigures are the keys of a result that hold no single figures.
var noFigures = map[string]bool{"profile": true, "model": true, "dataset": true, "time_series": true, "itl_by_position": true, "undersampled": true}

// openGroups are objects whose keys depend on the run: what is not in them
// happened to no request.
var openGroups = []string{"requests.by_status", "finish_reasons", "token_sources"}

// flatten gives the figures of a result by dotted name: numbers, texts, booleans
// and nil. Ranges of input lengths and service levels go by their names.
func flatten(r *metrics.Result) (map[string]any, error) {
	text, err := outputs.MarshalJSON(r)
	if err != nil {
		return nil, fmt.Errorf("the metrics as JSON: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var doc map[string]any
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("the metrics as JSON: %w", err)
	}
	out := map[string]any{}
	flattenInto(out, "", doc)
	return out, nil
}

func flattenInto(out map[string]any, prefix string, v any) {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if noFigures[k] {
				continue
			}
			name := k
			if prefix != "" {
				name = prefix + "." + k
			}
			flattenInto(out, name, e)
		}
	case []any:
		for _, e := range x {
			m, ok := e.(map[string]any)
			if !ok {
				continue
			}
			for _, key := range []string{"name", "metric"} {
				if name, ok := m[key].(string); ok {
					delete(m, key)
					flattenInto(out, prefix+"."+name, m)
					break
				}
			}
		}
	case json.Number:
		f, err := x.Float64()
		if err != nil {
			out[prefix] = nil
			return
		}
		out[prefix] = f
	default:
		out[prefix] = v
	}
}

// unitOf is the unit that a key of the JSON files carries.
func unitOf(name string) string {
	key := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case strings.HasSuffix(key, "_ms"):
		return "ms"
	case strings.HasSuffix(key, "_tps"), key == "input_throughput", key == "output_throughput", key == "total_token_throughput", key == "peak_output_throughput":
		return "token/s"
	case key == "request_throughput", key == "request_goodput":
		return "req/s"
	case strings.HasSuffix(key, "_s"):
		return "s"
	case strings.HasPrefix(name, "input_tokens."), strings.HasPrefix(name, "output_tokens."), strings.HasSuffix(key, "_tokens"):
		return "tokens"
	case strings.HasPrefix(name, "requests.") && key != "failed_share":
		return "requests"
	}
	return ""
}
