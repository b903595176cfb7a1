package summarizers

import (
	"fmt"
	"strings"
	"testing"

	"ais_bench/outputs"
)

// The engine that a run started stands in its environment, with how it ended.
func TestEnvironmentNamesTheEngine(t *testing.T) {
	died, ready := "exit status 137", 12.5
	s := environment(&outputs.Manifest{Engine: &outputs.LaunchedEngine{Command: "serve --port 8000", StartedAt: "2026-11-29T20:00:00Z", ReadyAfterS: &ready, Died: &died,
		Versions: map[string]string{"vllm": "0.33.0"}, Env: map[string]string{"VLLM_USE_V1": "1"}}})
	var text strings.Builder
	for _, table := range s.Tables {
		if table.ID == "engine" {
			fmt.Fprint(&text, table.Rows)
		}
	}
	for _, want := range []string{"serve --port 8000", "version of vllm", "0.33.0", "variable VLLM_USE_V1"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the engine's table %q lacks %q", text.String(), want)
		}
	}
}
