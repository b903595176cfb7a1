package summarizers

import (
	"fmt"

	"ais_bench/outputs"
)

// HealthTable shows the client's own condition, as the run recorded it in the
// manifest: a JSON object by pair, or one object. One row a figure, one column a
// pair; nested keys become dotted.
func HealthTable(health any) outputs.Table {
	t := outputs.Table{ID: "client_health", Title: "Client health", Columns: []outputs.Column{{Name: "Figure"}}}
	all, ok := health.(map[string]any)
	if !ok {
		return t
	}
	pairs := map[string]any{"Value": health}
	for _, v := range all {
		if m, ok := v.(map[string]any); ok && m["client_bound"] != nil {
			pairs = all
		}
	}
	rows := map[string][]any{}
	var order []string
	for i, pair := range sortedNames(pairs) {
		t.Columns = append(t.Columns, outputs.Column{Name: pair, Kind: outputs.KindFloat})
		flattenHealth(&t, "", pairs[pair], func(figure string, v any) {
			if rows[figure] == nil {
				rows[figure] = make([]any, len(pairs))
				order = append(order, figure)
			}
			rows[figure][i] = v
		})
	}
	for _, figure := range order {
		t.AddRow(append([]any{figure}, rows[figure]...)...)
	}
	return t
}

func flattenHealth(t *outputs.Table, path string, v any, put func(figure string, v any)) {
	switch x := v.(type) {
	case map[string]any:
		for _, k := range sortedNames(x) {
			name := k
			if path != "" {
				name = path + "." + k
			}
			flattenHealth(t, name, x[k], put)
		}
	case []any:
		for _, e := range x {
			m, ok := e.(map[string]any)
			if text, isText := m["text"].(string); ok && isText {
				t.Notes = append(t.Notes, text)
				continue
			}
			put(path, fmt.Sprint(e))
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
		put(path, cell)
	default:
		put(path, x)
	}
}

// ClientBound lists the pairs for which the client was, or may have been, the
// bottleneck, as warnings for the head of a report.
func ClientBound(health any) []string {
	var out []string
	for _, p := range boundPairs(health) {
		out = append(out, p.text)
	}
	return out
}

// boundReasons are the figures that crossed their thresholds, to stand before what
// they mean; "" where a run recorded none.
func boundReasons(health map[string]any) string {
	out := ""
	list, _ := health["reasons"].([]any)
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			if text, ok := m["text"].(string); ok {
				out += text + "; "
			}
		}
	}
	return out
}

// boundPair is a pair whose client was, or may have been, the bottleneck.
type boundPair struct{ name, text string }

func boundPairs(health any) []boundPair {
	var out []boundPair
	var walk func(path string, v any)
	walk = func(path string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		who := path
		if who == "" {
			who = "this run"
		}
		why := boundReasons(m)
		switch m["client_bound"] {
		case "yes":
			out = append(out, boundPair{who, fmt.Sprintf("the client was the bottleneck of %s: %sits figures describe this machine as much as the service (see Client health)", who, why)})
		case "suspect":
			out = append(out, boundPair{who, fmt.Sprintf("the client may have been the bottleneck of %s: %ssee Client health before trusting tail latencies", who, why)})
		}
		for _, k := range sortedNames(m) {
			walk(k, m[k])
		}
	}
	walk("", health)
	return out
}
