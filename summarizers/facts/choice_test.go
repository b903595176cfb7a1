package facts

import (
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/facts/synthetic"
)

// A slip of the pen in an open group would always be 0, and so always pass.
func TestAWordThatNoRequestCanHave(t *testing.T) {
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := synthetic.Write(run, synthetic.Config{Requests: 20, Concurrency: 2, Seed: 1, TTFTMedianMS: 50, TPOTMedianMS: 10, Tokens: 5}); err != nil {
		t.Fatal(err)
	}
	measured := open(t, Options{}, run)
	planned := Plan([]PlannedPair{{Model: "model", Dataset: "synthetic", Requests: 20, Stream: true}}, nil)
	for _, s := range []*Set{measured, planned} {
		for _, name := range []string{"perf.finish_reasons.length.share", "perf.finish_reasons.content_filter.n", "perf.token_sources.usage.share", "perf.requests.by_status.timeout_idle"} {
			if f, err := s.Lookup(strings.Split(name, ".")); err != nil || !s.planned && (f.Value == nil) {
				t.Errorf("%s: %+v %v", name, f, err)
			}
		}
		for name, want := range map[string]string{
			"perf.finish_reasons.lenght.share":        "did you mean perf.finish_reasons.length.share?",
			"perf.finish_reasons.lenght.n":            "did you mean perf.finish_reasons.length.n?",
			"perf.finish_reasons.aliens.share":        "no request had it, and it is none of abort, ",
			"perf.token_sources.usgae.share":          "did you mean perf.token_sources.usage.share?",
			"perf.requests.by_status.timeout_ide":     "did you mean perf.requests.by_status.timeout_idle?",
			"perf.requests.by_status.timeout_idle.n":  "unknown metric",
			"perf.by_input_length.nowhere.e2el.count": "unknown metric",
		} {
			if f, err := s.Lookup(strings.Split(name, ".")); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %+v %v, want %q", name, f, err, want)
			}
		}
	}
}
