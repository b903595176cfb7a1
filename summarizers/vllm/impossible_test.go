package vllm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImpossibleResultsAreRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.json")
	for doc, want := range map[string]string{
		`{"duration": 0, "completed": 3}`:                                            `:1: key "duration" is 0, which no run can leave: it has to be above 0 s`,
		`{"duration": -1}`:                                                           `key "duration" is -1`,
		`{"duration": NaN, "completed": 3}`:                                          `key "duration" is null`,
		`{"duration": Infinity, "completed": 3}`:                                     `key "duration" is "inf"`,
		`{"duration": "12.5", "completed": 3}`:                                       `it has to be a number`,
		"{\"duration\": 1, \"completed\": 1}\n" + `{"duration": 1, "completed": -3}`: `:2: key "completed" is -3`,
		`{"duration": 1, "completed": "3"}`:                                          `key "completed" is "3", which no run can leave: it has to be a whole number`,
		`{"duration": 1, "completed": 2.5}`:                                          `key "completed" is 2.5`,
		`{"duration": 1, "completed": 2, "failed": -1}`:                              `key "failed" is -1`,
		`{"duration": 1, "completed": 2, "mean_ttft_ms": "NaN"}`:                     `key "mean_ttft_ms" is "NaN", which no run can leave: it has to be a number`,
		`{"duration": 1, "completed": 2, "p99_tpot_ms": -0.5}`:                       `it has to be 0 or more`,
		`{"duration": 1, "completed": 2, "output_throughput": Infinity}`:             `key "output_throughput" is "inf"`,
		`{"duration": 1, "total_output_tokens": true}`:                               `key "total_output_tokens" is true`,
		`{"duration": 1, "completed": 0, "mean_ttft_ms": NaN, "request_goodput:": null, "max_concurrency": null, "request_rate": Infinity, "note": "x"}`: "",
		`[1]`: "give an object",
	} {
		if err := os.WriteFile(name, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadResult(name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", doc, err, want)
		}
	}
}
