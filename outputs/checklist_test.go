package outputs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// state gives the item of a checklist by its name.
func state(t *testing.T, r *Run, m *Manifest, name string) CheckItem {
	t.Helper()
	items := r.Checklist(m)
	if len(items) != 10 {
		t.Fatalf("%d items, want 10", len(items))
	}
	for _, it := range items {
		if it.Evidence == "" {
			t.Errorf("%s: neither evidence nor absence", it.Item)
		}
		if it.Item == name {
			return it
		}
	}
	t.Fatalf("no item %q", name)
	return CheckItem{}
}

// asJSON reads a piece of a manifest as a reader would.
func asJSON[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestChecklistItemByItem(t *testing.T) {
	commit := "1234567"
	for _, c := range []struct {
		item, state, evidence string
		m                     string
	}{
		{ItemServerParameters, "no", "--server-meta", `{}`},
		{ItemServerParameters, "no", "--server-meta", `{"server_before":{"url":"http://x","engine":null,"version":null,"models":null}}`},
		{ItemServerParameters, "partly", "only engine, version and models of vllm 0.9.1", `{"server_before":{"engine":"vllm","version":"0.9.1","models":[{"id":"m"}]}}`},
		{ItemServerParameters, "partly", "only engine, version and models", `{"server_before":{"models":[{"id":"m"}]}}`},
		{ItemServerParameters, "yes", "2 settings of vllm 0.9.1 from vllm:cache_config_info", `{"server_before":{"engine":"vllm","version":"0.9.1","info":{"vllm:cache_config_info":[{"block_size":"16","enable_prefix_caching":"True"}]}}}`},
		{ItemServerParameters, "yes", "from /server_info", `{"server_before":{"engine":"sglang","info":{"/server_info":{"tp_size":2,"internal_states":[{"a":1}]},"/get_server_info":{"tp_size":2}}}}`},
		{ItemServerParameters, "no", "", `{"server_before":{"info":{"/server_info":{"internal_states":[{"a":1}]}}}}`},
		{ItemServerParameters, "yes", "the command it was started with", `{"extra":{"server_meta":{"command":"vllm serve m"}}}`},
		{ItemServerParameters, "partly", "tp, told by the user", `{"extra":{"server_meta":{"tp":"2"}}}`},

		{ItemClientParameters, "no", "no resolved configuration", `{}`},
		{ItemClientParameters, "partly", "are gone: configs/gone.yaml", `{"command":{"args":["x"]},"configs":[{"kind":"model","name":"m","path":"configs/gone.yaml"}]}`},
		{ItemClientParameters, "partly", "no configuration of dataset d", `{"command":{"args":["x"]},"configs":[{"kind":"model","name":"m","path":"configs/m.yaml"}],"pairs":[{"model":"m","dataset":"d","sessions":1}]}`},
		{ItemClientParameters, "partly", "no command line", `{"configs":[{"kind":"model","name":"m","path":"configs/m.yaml"}]}`},
		{ItemClientParameters, "yes", "2 resolved configurations", `{"command":{"args":["x"]},"configs":[{"kind":"model","name":"m","path":"configs/m.yaml"},{"kind":"dataset","name":"d","path":"configs/d.yaml"}],"pairs":[{"model":"m","dataset":"d","sessions":1},{"model":"m","dataset":"probe"}]}`},

		{ItemSeed, "no", "give --seed", `{}`},
		{ItemSeed, "yes", "--seed 7, 3 for the workload", `{"seeds":{"seed":7,"workload":3}}`},
		{ItemSeed, "partly", "seed=8 in session 2", `{"seeds":{"seed":7},"sessions":[{},{"seeds":{"seed":8}}]}`},

		{ItemSampling, "no", "no sampling parameters", `{}`},
		{ItemSampling, "no", "temperature is not sent", `{"sampling":{"m":{"generation_kwargs":{"ignore_eos":true}}}}`},
		{ItemSampling, "yes", "temperature 0 (greedy)", `{"sampling":{"m":{"generation_kwargs":{"temperature":0}}}}`},
		{ItemSampling, "partly", "0.7 without a seed", `{"sampling":{"m":{"generation_kwargs":{"temperature":0.7}}}}`},
		{ItemSampling, "yes", "0.7 with seed 5", `{"sampling":{"m":{"generation_kwargs":{"temperature":0.7,"seed":5}}}}`},
		{ItemSampling, "no", "b: temperature is not sent", `{"sampling":{"a":{"generation_kwargs":{"temperature":0.7}},"b":{"generation_kwargs":null}}}`},

		{ItemOutputLength, "no", "no sampling parameters", `{}`},
		{ItemOutputLength, "no", "ignore_eos=true", `{"sampling":{"m":{"generation_kwargs":{}}}}`},
		{ItemOutputLength, "no", "ignore_eos=true", `{"sampling":{"m":{"generation_kwargs":{"ignore_eos":false}}}}`},
		{ItemOutputLength, "no", "where the model ends them; --ignore-eos", `{"sessions":[{"mode":"perf"}],"sampling":{"m":{"generation_kwargs":{}}}}`},
		{ItemOutputLength, "n/a", "usual for accuracy", `{"sessions":[{"mode":"all"}],"sampling":{"m":{"generation_kwargs":{}}}}`},
		{ItemOutputLength, "yes", "ignore_eos with max_tokens", `{"sessions":[{"mode":"all"}],"sampling":{"m":{"generation_kwargs":{"ignore_eos":true}}}}`},
		{ItemOutputLength, "yes", "ignore_eos with max_tokens", `{"sampling":{"m":{"generation_kwargs":{"ignore_eos":true}}}}`},
		{ItemOutputLength, "partly", "not for b", `{"sampling":{"a":{"generation_kwargs":{"ignore_eos":true}},"b":{"generation_kwargs":{}}}}`},

		{ItemTailPercentiles, "no", "no records", `{}`},
		{ItemTailPercentiles, "no", "no records", `{"pairs":[{"model":"m","dataset":"d","requests":500,"records":"performances/gone.parquet"}]}`},
		{ItemTailPercentiles, "partly", "only 90 that succeeded", `{"pairs":[{"model":"m","dataset":"d","requests":100,"failed":10,"records":"configs/m.yaml"}]}`},
		{ItemTailPercentiles, "yes", "at least 100", `{"pairs":[{"model":"m","dataset":"d","requests":100,"records":"configs/m.yaml"}]}`},

		{ItemTimeStamps, "no", "no start time", `{}`},
		{ItemTimeStamps, "partly", "no clock", `{"started_at":"2026-01-02T03:04:05Z"}`},
		{ItemTimeStamps, "yes", "kernel stamps", `{"started_at":"2026-01-02T03:04:05Z","clock":{"zero_wall_time":"2026-01-02T03:04:05Z","stamp_source":"kernel"}}`},

		{ItemPrefixCaching, "no", "--server-meta enable_prefix_caching", `{}`},
		{ItemPrefixCaching, "yes", "on: ", `{"server_before":{"info":{"vllm:cache_config_info":[{"enable_prefix_caching":"True"}]}}}`},
		{ItemPrefixCaching, "partly", "differ", `{"server_before":{"info":{"vllm:cache_config_info":[{"enable_prefix_caching":"True"}]}},"extra":{"server of b":{"before":{"info":{"vllm:cache_config_info":[{"enable_prefix_caching":"False"}]}},"after":null}}}`},

		{ItemToolCommit, "no", "build with make", `{}`},
		{ItemToolCommit, "yes", "abc, version 1.0", `{"tool":{"commit":"abc","version":"1.0"}}`},
		{ItemToolCommit, "partly", "not committed", `{"tool":{"commit":"abc","dirty":true}}`},

		{ItemRepositoryCommit, "no", "not started inside", `{}`},
		{ItemRepositoryCommit, "yes", commit, `{"tool":{"surrounding_commit":"` + commit + `"}}`},
	} {
		r := newRun(t)
		for _, name := range []string{"m.yaml", "d.yaml"} {
			if err := r.WriteConfig(name, []byte("a: 1\n")); err != nil {
				t.Fatal(err)
			}
		}
		m := asJSON[Manifest](t, c.m)
		if got := state(t, r, &m, c.item); got.State != c.state || !strings.Contains(got.Evidence, c.evidence) {
			t.Errorf("%s of %s\n got %s: %s\nwant %s: …%s…", c.item, c.m, got.State, got.Evidence, c.state, c.evidence)
		}
	}
	if n := len(newRun(t).Checklist(nil)); n != 10 {
		t.Errorf("without a manifest: %d items", n)
	}
}

// TestChecklistLooksAtTheFigures: once the metrics are computed, they decide
// whether percentiles are recorded and whether answers had the forced length.
func TestChecklistLooksAtTheFigures(t *testing.T) {
	const forced = `{"sampling":{"m":{"generation_kwargs":{"ignore_eos":true}}}}`
	for _, c := range []struct{ perf, item, state, evidence string }{
		{`{"requests":{"success":200},"e2el":{"p95_ms":1,"p99_ms":2},"stopped_early_share":0}`, ItemTailPercentiles, "yes", "at least 200"},
		{`{"requests":{"success":99},"e2el":{"p95_ms":1,"p99_ms":2}}`, ItemTailPercentiles, "partly", "only 99 requests"},
		{`{"requests":{"success":200},"e2el":{"p50_ms":1}}`, ItemTailPercentiles, "partly", "--metric-percentiles"},
		{`{"requests":{"success":200},"e2el":{},"stopped_early_share":0}`, ItemOutputLength, "yes", "no answer ended early"},
		{`{"requests":{"success":200},"e2el":{},"stopped_early_share":0.25}`, ItemOutputLength, "partly", "25.0 % of the answers"},
		{`{"requests":{"success":200},"e2el":{},"stopped_early_share":null}`, ItemOutputLength, "partly", "no answer has a known length limit"},
	} {
		r := newRun(t)
		path := r.PerformancePath("m", "d", "json")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{path, r.PerformancePath("m", "d", "journal")} { // the journal makes it a pair
			if err := os.WriteFile(f, []byte(c.perf), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		m := asJSON[Manifest](t, forced)
		if got := state(t, r, &m, c.item); got.State != c.state || !strings.Contains(got.Evidence, c.evidence) {
			t.Errorf("%s of %s\n got %s: %s\nwant %s: …%s…", c.item, c.perf, got.State, got.Evidence, c.state, c.evidence)
		}
	}
}

func TestPrefixCachingIsFoundWhereServersSayIt(t *testing.T) {
	for _, c := range []struct{ m, state, evidence string }{
		{`{}`, "unknown", ""},
		{`{"server_before":{"info":{"vllm:cache_config_info":[{"enable_prefix_caching":"False"}]}}}`, "off", "metric vllm:cache_config_info"},
		{`{"server_before":{"info":{"/server_info":{"vllm_config":{"cache_config":{"enable_prefix_caching":true}}}}}}`, "on", "/server_info"},
		{`{"server_before":{"info":{"/server_info":{"vllm_config":"model='m', enable_prefix_caching=False, seed=0"}}}}`, "off", "/server_info"},
		{`{"server_before":{"info":{"/server_info":{"disable_radix_cache":true}}}}`, "off", "disable_radix_cache=true"},
		{`{"server_before":{"info":{"/get_server_info":{"server_args":{"disable_radix_cache":false}}}}}`, "on", "disable_radix_cache=false"},
		{`{"server_before":{"info":{"vllm:cache_config_info":[{"enable_prefix_caching":"None"}]}}}`, "unknown", ""},
		{`{"server_before":{"metrics":{"vllm:prefix_cache_hits_total":5}},"server_after":{"metrics":{"vllm:prefix_cache_hits_total":25}}}`, "on", "rose by 20"},
		{`{"server_before":{"metrics":{"vllm:prefix_cache_hits_total":5}},"server_after":{"metrics":{"vllm:prefix_cache_hits_total":5}}}`, "unknown", ""},
		{`{"extra":{"server_meta":{"enable_prefix_caching":"false"}}}`, "off", "told by the user"},
		{`{"extra":{"server_meta":{"disable-radix-cache":"true"}}}`, "off", "told by the user"},
		{`{"extra":{"server_meta":{"enable_prefix_caching":"perhaps"}}}`, "unknown", ""},
		{`{"extra":{"server_meta":{"command":"vllm serve m --enable-prefix-caching"}}}`, "on", "--server-command"},
		{`{"extra":{"server_meta":{"command":"vllm serve m --no-enable-prefix-caching --port 1"}}}`, "off", ""},
		{`{"extra":{"server_meta":{"command":"vllm serve m --enable-prefix-caching=False"}}}`, "off", ""},
		{`{"extra":{"server_meta":{"command":"python -m sglang.launch_server --disable-radix-cache"}}}`, "off", ""},
		{`{"extra":{"server_meta":{"command":"vllm serve m"}}}`, "unknown", ""},
		// The server's own word wins over the user's.
		{`{"server_before":{"info":{"vllm:cache_config_info":[{"enable_prefix_caching":"True"}]}},"extra":{"server_meta":{"enable_prefix_caching":"false"}}}`, "on", "metric"},
		// A session on another server.
		{`{"server_before":{"info":{"vllm:cache_config_info":[{"enable_prefix_caching":"True"}]}},"sessions":[{},{"server_before":{"info":{"vllm:cache_config_info":[{"enable_prefix_caching":"False"}]}}}]}`, "mixed", "off:"},
	} {
		m := asJSON[Manifest](t, c.m)
		if got := m.Server().PrefixCaching; got.State != c.state || !strings.Contains(got.Evidence, c.evidence) {
			t.Errorf("%s\n got %s: %s\nwant %s: …%s…", c.m, got.State, got.Evidence, c.state, c.evidence)
		}
	}
}

func TestServerParametersLeaveOutWhatChangesByItself(t *testing.T) {
	m := asJSON[Manifest](t, `{"server_before":{"models":[{"id":"a"},{"id":"b"}],"info":{
		"/server_info":{"tp_size":2,"status":"ready","port":8000,"internal_states":[{"last_gen_throughput":3}],"lists":[1,2]},
		"/get_server_info":{"tp_size":3},
		"vllm:cache_config_info":[{"block_size":"16"}],
		"vllm:lora_requests_info":[{"running":"x"}]}}}`)
	f := m.Server()
	want := map[string]string{"tp_size": "2", "lists": "[1,2]", "cache_config.block_size": "16"}
	if len(f.Parameters) != len(want) {
		t.Errorf("parameters %v, want %v", f.Parameters, want)
	}
	for k, v := range want {
		if f.Parameters[k] != v {
			t.Errorf("%s = %q, want %q", k, f.Parameters[k], v)
		}
	}
	if strings.Join(f.Models, ",") != "a,b" {
		t.Errorf("models %v", f.Models)
	}
}

func TestChecklistLineAndTable(t *testing.T) {
	items := []CheckItem{{"a", CheckYes, "x"}, {"b", CheckNo, strings.Repeat("long ", 40)}, {"c", CheckPartly, "z"}, {"d", CheckNA, "usual"}}
	if got, want := ChecklistLine(items), "Reproducibility checklist: 1 of 3 met; partly: c; missing: b; n/a: d"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var text strings.Builder
	tab := ChecklistTable(items)
	if err := tab.WriteText(&text, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "…") {
		t.Error("evidence was cut")
	}
}

func TestServerFactsTakeTheSnapshotsOwnWord(t *testing.T) {
	m := asJSON[Manifest](t, `{"server_before":{"prefix_caching":"off","prefix_caching_evidence":"enable_prefix_caching=false, /server_info",
		"parameters":{"max_num_seqs":{"value":256,"source":"/server_info"},"dtype":{"value":"bfloat16","source":"x"}},
		"info":{"vllm:cache_config_info":[{"enable_prefix_caching":"True"}]}}}`)
	f := m.Server()
	if f.PrefixCaching != (PrefixCaching{CachingOff, "enable_prefix_caching=false, /server_info"}) {
		t.Errorf("%+v", f.PrefixCaching)
	}
	if f.Settings["max_num_seqs"] != "256" || f.Settings["dtype"] != "bfloat16" {
		t.Errorf("%v", f.Settings)
	}
}

func TestMergeChecklists(t *testing.T) {
	a := []CheckItem{{ItemSeed, CheckYes, "a"}, {ItemSampling, CheckYes, "a"}, {ItemToolCommit, CheckNo, "a"}}
	b := []CheckItem{{ItemSeed, CheckYes, "b"}, {ItemSampling, CheckPartly, "b"}, {ItemToolCommit, CheckPartly, "b"}}
	c := []CheckItem{{ItemSeed, CheckYes, "c"}, {ItemSampling, CheckPartly, "c"}, {ItemToolCommit, CheckYes, "c"}}
	got := MergeChecklists(a, b, c)
	want := []CheckItem{{ItemSeed, CheckYes, "a"}, {ItemSampling, CheckPartly, "in 2 of 3 runs: b"}, {ItemToolCommit, CheckNo, "in 1 of 3 runs: a"}}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	if a[1].State != CheckYes {
		t.Error("merging changed a list")
	}
	if MergeChecklists() != nil {
		t.Error("no run has a checklist")
	}
}
