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
	t := outputs.Table{ID: "client", Title: "Client", Columns: []outputs.Column{{Name: "Client"}, {Name: "client-bound"},
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
			t.AddRow(name, verdict, lag["p50"], lag["p99"], lag["max"], h["cpu_share"], gc["pause_max_ms"], h["coalesced_share"], h["connections_opened"], h["stamp_source"])
		}
	}
	t.Notes = ClientBound(plain(health))
	return t
}
