package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ais_bench/models/simulator"
)

// With a contract it is the contract that says whether failed requests matter;
// without one a run with failed requests fails.
func TestFailedRequestsAreTheContractsAffair(t *testing.T) {
	srv, err := simulator.New(simulator.Config{Preset: "instant", Seed: 1, Faults: []simulator.Fault{{Kind: "empty", Rate: 0.4, When: simulator.FaultStart}}})
	if err != nil {
		t.Fatal(err)
	}
	url, err := srv.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	contract := func(clauses ...string) string {
		file := filepath.Join(t.TempDir(), "contract.yaml")
		if err := os.WriteFile(file, []byte("clauses:\n  - expr: "+strings.Join(clauses, "\n  - expr: ")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	ask := []string{"--num-prompts", "60", "--random-input-len", "8", "--random-output-len", "2", "--max-concurrency", "4"}
	for _, c := range []struct {
		contract string
		code     int
		out, err string
	}{
		{"", 1, "", "requests failed"},
		{contract("success_rate >= 0.2", "perf.requests.by_status.empty > 0"), 0, "Verdict: PASS", "note: "},
		{contract("success_rate >= 0.9"), 1, "Verdict: FAIL", "error: FAIL"},
		{contract("success_rate >= 0.2", "perf.ttfat.p50_ms < 9"), 4, "Verdict: INCONCLUSIVE", "error: INCONCLUSIVE"},
	} {
		flags := ask
		if c.contract != "" {
			flags = append(flags[:len(flags):len(flags)], "--contract", c.contract)
		}
		out, errs, code, _ := benchOnce(t, url, flags...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.err) {
			t.Errorf("exit code %d, want %d\n%s\n%s", code, c.code, out, errs)
		}
		if strings.Count(errs, "error: ") > 1 {
			t.Errorf("more than one error line:\n%s", errs)
		}
	}
}
