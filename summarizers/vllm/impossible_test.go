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
		`{"duration": 1, "completed": 2, "mean_ttft_ms": 1e308}`:                         `key "mean_ttft_ms" is 1e308, which no run can leave: the run took 1 s`,
		`{"duration": 2, "completed": 4, "request_throughput": 99999}`:                   `key "request_throughput" is 99999, which no run can leave: 4 completed in 2 s are 2 a second`,
		`{"duration": 2, "completed": 4, "request_throughput": 2.01}`:                    "", // rounded
		`{"duration": 9, "median_ttft_ms": 20, "p99_ttft_ms": 10}`:                       `key "p99_ttft_ms" is 10, which no run can leave: median_ttft_ms is 20`,
		`{"duration": 9, "p99.9_itl_ms": 10, "p99_itl_ms": 20, "p50_itl_ms": 3}`:         `key "p99.9_itl_ms" is 10, which no run can leave: p99_itl_ms is 20`,
		`{"duration": 9, "median_ttft_ms": 20, "p50_ttft_ms": 20, "p99_ttft_ms": 20}`:    "",
		`{"duration": 9, "p99_e2el_ms": 8999, "median_e2el_ms": 100, "std_e2el_ms": 70}`: "",
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
