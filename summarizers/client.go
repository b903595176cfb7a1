package summarizers

import (
	"fmt"

	"ais_bench/outputs"
)

// ClientTable is the client's health in one row a pair, for the console and the
// summary files: whether the client may have been the bottleneck, and the
// figures one looks at first. HealthTable holds all of them.
func ClientTable(health any) outputs.Table {
	ms := func(name string) outputs.Column {
		return outputs.Column{Name: name, Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"}
	}
	share := func(name string) outputs.Column {
		return outputs.Column{Name: name, Unit: "%", Kind: outputs.KindPercent}
	}
	t := outputs.Table{ID: "client", Title: "Client health", Columns: []outputs.Column{{Name: "Client"}, {Name: "client-bound"},
		ms("schedule lag P50"), ms("P99"), ms("Max"), share("CPU"), ms("GC pause max"), share("coalesced"), {Name: "connections", Kind: outputs.KindInt}, {Name: "stamped by"}}}
	byPair, _ := plain(health).(map[string]any)
	for _, pair := range sortedNames(byPair) {
		sessions, ok := byPair[pair].([]any)
		if !ok {
			sessions = []any{byPair[pair]}
		}
		for i, s := range sessions {
			h, ok := s.(map[string]any)
			if !ok || h["client_bound"] == nil {
				continue
			}
			name := pair
			if len(sessions) > 1 {
				name = fmt.Sprintf("%s, session %d", pair, i+1)
			}
			lag, _ := h["schedule_lag_ms"].(map[string]any)
			gc, _ := h["gc"].(map[string]any)
			verdict := outputs.Cell{Value: h["client_bound"], Mark: outputs.MarkGood}
			switch h["client_bound"] {
			case "suspect":
				verdict.Mark = outputs.MarkWarn
			case "yes":
				verdict.Mark = outputs.MarkBad
			}
			t.Notes = append(t.Notes, connectionNotes(name, h)...)
			t.AddRow(name, verdict, lag["p50"], lag["p99"], lag["max"], h["cpu_share"], gc["pause_max_ms"], h["coalesced_share"], h["connections_opened"], h["stamp_source"])
		}
	}
	t.Notes = append(ClientBound(plain(health)), t.Notes...)
	return t
}

// connectionNotes tell what the client did between a request's send and its
// answer: it is inside the latencies and not the service's.
func connectionNotes(name string, h map[string]any) (notes []string) {
	wait, _ := h["setup_wait_ms"].(map[string]any)
	if n, ok := wait["n"].(float64); ok && n > 0 {
		worst, _ := wait["max"].(float64)
		notes = append(notes, fmt.Sprintf("%s: %.0f requests waited up to %.3g ms for one of the client's connection set-ups; that is part of their TTFT", name, n, worst))
	}
	if n, ok := h["resends"].(float64); ok && n > 0 {
		notes = append(notes, fmt.Sprintf("%s: %.0f requests were sent again because the reused connection had died; their times hold both", name, n))
	}
	if n, ok := h["fallbacks"].(float64); ok && n > 0 {
		notes = append(notes, fmt.Sprintf("%s: %.0f requests were sent again without an option that the server refused; their times are of the last sending", name, n))
	}
	return notes
}
