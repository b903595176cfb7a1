package summarizers

import (
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// TestDoubtfulStableStageIsNotShown: figures that say little do not stand beside
// those of the run.
func TestDoubtfulStableStageIsNotShown(t *testing.T) {
	d, n := 1.5, int64(3)
	r := &metrics.Result{Stable: metrics.Stable{Exists: true, DurationS: &d, PeakConcurrency: &n, RequestThroughput: &d}}
	for _, warning := range []string{"", "only 3 requests ended in it"} {
		r.Stable.Warning = warning
		var text strings.Builder
		table := common(r)
		if err := table.WriteText(&text, outputs.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if shown := strings.Contains(text.String(), "1.500"); shown != (warning == "") || !strings.Contains(text.String(), warning) {
			t.Errorf("with warning %q:\n%s", warning, text.String())
		}
	}
}
