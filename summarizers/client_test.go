package summarizers

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestClientTableTellsOfConnections: what lies inside the latencies and is not
// the service's is told; nothing is said where nothing happened.
func TestClientTableTellsOfConnections(t *testing.T) {
	for doc, want := range map[string][]string{
		`{"m × d":{"client_bound":"no","setup_wait_ms":{"n":0,"p50":null,"p99":null,"max":null},"resends":0,"fallbacks":0}}`: nil,
		`{"m × d":{"client_bound":"no"}}`: nil, // a run from before they were counted
		`{"m × d":{"client_bound":"no","setup_wait_ms":{"n":17,"p50":1,"p99":4,"max":4.25},"resends":2,"fallbacks":1}}`: {
			"17 requests waited up to 4.25 ms", "2 requests were sent again because", "1 requests were sent again without an option"},
	} {
		var health any
		if err := json.Unmarshal([]byte(doc), &health); err != nil {
			t.Fatal(err)
		}
		table := ClientTable(health)
		if len(table.Rows) != 1 || len(table.Notes) != len(want) {
			t.Errorf("%s: notes %q", doc, table.Notes)
			continue
		}
		for i, w := range want {
			if !strings.Contains(table.Notes[i], w) {
				t.Errorf("note %q, want %q", table.Notes[i], w)
			}
		}
	}
}
