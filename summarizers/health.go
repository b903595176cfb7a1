package summarizers

import (
	"fmt"

	"ais_bench/outputs"
)

// HealthTable shows the client's own condition, as the run recorded it in the
// manifest: a JSON object by pair, or one object. Nested keys become dotted.
func HealthTable(health any) outputs.Table {
	t := outputs.Table{ID: "client_health", Title: "Client health", Columns: []outputs.Column{{Name: "Figure"}, {Name: "Value", Kind: outputs.KindFloat}}}
	flattenHealth(&t, "", health)
	return t
}

func flattenHealth(t *outputs.Table, path string, v any) {
	switch x := v.(type) {
	case nil:
		if path != "" {
			t.AddRow(path, nil)
		}
	case map[string]any:
		for _, k := range sortedNames(x) {
			name := k
			if path != "" {
				name = path + "." + k
			}
			flattenHealth(t, name, x[k])
		}
	case []any:
		for _, e := range x {
			m, ok := e.(map[string]any)
			if text, isText := m["text"].(string); ok && isText {
				t.Notes = append(t.Notes, text)
				continue
			}
			t.AddRow(path, fmt.Sprint(e))
		}
	case string:
		cell := outputs.Cell{Value: x}
		switch x {
		case "no":
			cell.Mark = outputs.MarkGood
		case "suspect":
			cell.Mark = outputs.MarkWarn
		case "yes":
			cell.Mark = outputs.MarkBad
		}
		t.AddRow(path, cell)
	default:
		t.AddRow(path, x)
	}
}

// ClientBound lists the pairs for which the client was, or may have been, the
// bottleneck, as warnings for the head of a report.
func ClientBound(health any) []string {
	var out []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		if path != "" {
			path = " of " + path
		}
		switch m["client_bound"] {
		case "yes":
			out = append(out, "the client was the bottleneck"+path+": its figures describe this machine as much as the service (see Client health)")
		case "suspect":
			out = append(out, "the client may have been the bottleneck"+path+": see Client health before trusting tail latencies")
		}
		for _, k := range sortedNames(m) {
			walk(k, m[k])
		}
	}
	walk("", health)
	return out
}
