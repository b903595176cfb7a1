package inspect

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t *testing.T, m *Maps, text string) map[string]float64 {
	t.Helper()
	x, err := ParseMetrics(text)
	if err != nil {
		t.Fatal(err)
	}
	samples, _, _ := m.Read(x)
	out := map[string]float64{}
	for _, s := range samples {
		key := s.Series
		if s.Labels != "" {
			key += "{" + s.Labels + "}"
		}
		if _, twice := out[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		out[key] = s.Value
	}
	return out
}

// Both spellings of renamed series, with and without _total, mean the same.
func TestRenamedSeries(t *testing.T) {
	m := BuiltinMaps()
	for _, text := range []string{
		"# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc 0.5\n# TYPE vllm:prefix_cache_hits_total counter\nvllm:prefix_cache_hits_total 7\n" +
			"# TYPE vllm:inter_token_latency_seconds histogram\nvllm:inter_token_latency_seconds_bucket{le=\"0.1\"} 3\nvllm:inter_token_latency_seconds_bucket{le=\"+Inf\"} 4\nvllm:inter_token_latency_seconds_sum 1\nvllm:inter_token_latency_seconds_count 4\n",
		"# TYPE vllm:gpu_cache_usage_perc gauge\nvllm:gpu_cache_usage_perc 0.5\n# TYPE vllm:gpu_prefix_cache_hits counter\nvllm:gpu_prefix_cache_hits 7\n" +
			"# TYPE vllm:time_per_output_token_seconds histogram\nvllm:time_per_output_token_seconds_bucket{le=\"0.1\"} 3\nvllm:time_per_output_token_seconds_bucket{le=\"+Inf\"} 4\nvllm:time_per_output_token_seconds_sum 1\nvllm:time_per_output_token_seconds_count 4\n",
	} {
		got := read(t, m, text)
		want := map[string]float64{"kv_usage": 0.5, "prefix_hits": 7, `itl_bucket{le="0.1"}`: 3, `itl_bucket{le="+Inf"}`: 4, "itl_sum": 1, "itl_count": 4}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("read %v, want %v", got, want)
		}
	}
}

// Engines are kept apart or summed; the ranks of one engine say the same again.
func TestCombination(t *testing.T) {
	m := BuiltinMaps()
	got := read(t, m, `vllm:num_requests_running{engine="0",model_name="a"} 3
vllm:num_requests_running{engine="1",model_name="a"} 4
vllm:num_requests_running{engine="1",model_name="b"} 5
vllm:kv_cache_usage_perc{engine="0"} 0.2
vllm:kv_cache_usage_perc{engine="1"} 0.9
vllm:request_success_total{engine="0",finished_reason="stop"} 2
vllm:request_success_total{engine="1",finished_reason="stop"} 3
vllm:request_success_total{engine="1",finished_reason="abort"} 1
`)
	want := map[string]float64{`requests_running{engine="0"}`: 3, `requests_running{engine="1"}`: 9, "kv_usage": 0.9,
		`requests_finished{finished_reason="stop"}`: 5, `requests_finished{finished_reason="abort"}`: 1}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("read %v, want %v", got, want)
	}
	got = read(t, m, `sglang:num_running_reqs{dp_rank="0",tp_rank="0"} 3
sglang:num_running_reqs{dp_rank="0",tp_rank="1"} 3
sglang:num_running_reqs{dp_rank="1",tp_rank="0"} 4
sglang:cached_tokens_total{cache_source="device"} 10
sglang:cached_tokens_total{cache_source="host"} 5
sglang:cached_tokens_total{cache_source="total"} 15
`)
	want = map[string]float64{`requests_running{dp_rank="0"}`: 3, `requests_running{dp_rank="1"}`: 4, "cached_prompt_tokens": 15}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("read %v, want %v", got, want)
	}
}

func TestExportersAndScales(t *testing.T) {
	m := BuiltinMaps()
	got := read(t, m, `DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="n",pod="a"} 90
DCGM_FI_PROF_SM_ACTIVE{gpu="0",Hostname="n"} 0.5
tgi_request_input_length_sum 100
node_cpu_seconds_total{cpu="0",mode="idle"} 50
node_cpu_seconds_total{cpu="0",mode="user"} 7
npu_chip_info_utilization{id="0",container_name="a"} 40
npu_chip_info_utilization{id="0",container_name="b"} 40
`)
	want := map[string]float64{`accelerator_util{Hostname="n",gpu="0"}`: 90, `accelerator_sm_active{Hostname="n",gpu="0"}`: 50, `accelerator_util{id="0"}`: 40,
		"node_cpu_busy": 7, "prompt_tokens": 100}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("read %v, want %v", got, want)
	}
}

func TestUserMaps(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("gw.yaml", "detect: [gw_]\nseries:\n  queue: {kind: gauge, metrics: [gw_old, gw_queue], where: {stage: [in]}, scale: 2}\n")
	m, err := OpenMaps(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, m, "gw_queue{stage=\"in\"} 3\ngw_queue{stage=\"out\"} 4\ngw_queue 9\n")
	if fmt.Sprint(got) != "map[queue:6]" {
		t.Errorf("read %v", got)
	}
	for text, want := range map[string]string{
		"series: {}\n": "detect",
		"detect: [a]\nseries:\n  q: {kind: gauge, metrics: []}\n":                "at least one metric",
		"detect: [a]\nseries:\n  q: {kind: meter, metrics: [a]}\n":               `kind "meter"`,
		"detect: [a]\nseries:\n  q: {kind: gauge, metric: [a]}\n":                `"metric"`,
		"detect: [a]\nseries:\n  q: {kind: gauge, metrics: [a], combine: avg}\n": `combine "avg"`,
	} {
		write("gw.yaml", text)
		if _, err := OpenMaps(dir); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one that says %s", text, err, want)
		}
	}
}

func TestParametersOfEngines(t *testing.T) {
	snap := func(info map[string]any) Parameters { return (&Snapshot{Info: info}).parameters() }
	vllm := snap(map[string]any{"/server_info": map[string]any{"vllm_config": map[string]any{
		"scheduler_config": map[string]any{"max_num_seqs": 32.0, "max_num_batched_tokens": 8192.0}, "cache_config": map[string]any{"enable_prefix_caching": true}}},
		"vllm:cache_config_info": []any{map[string]any{"num_gpu_blocks": "100", "block_size": "16", "enable_prefix_caching": "False", "cache_dtype": "None"}}})
	if n, ok := vllm.Number(ParamMaxSeqs); !ok || n != 32 {
		t.Errorf("vllm %v", vllm)
	}
	if n, _ := vllm.Number(ParamBlocks); n != 100 || vllm[ParamBlocks].Source != "metric vllm:cache_config_info" {
		t.Errorf("vllm %v", vllm)
	}
	if state, _ := vllm.PrefixCaching(); state != CachingOn {
		t.Errorf("/server_info wins over the metric: %v", state)
	}
	if _, ok := vllm["kv_cache_dtype"]; ok {
		t.Error("None is no value")
	}
	text := snap(map[string]any{"/server_info": map[string]any{"vllm_config": "model='m', max_seq_len=4096, enable_prefix_caching=False, quantization=None"}})
	if state, _ := text.PrefixCaching(); state != CachingOff || text[ParamMaxModelLen].Value != 4096.0 {
		t.Errorf("printed configuration %v", text)
	}
	sgl := snap(map[string]any{"/get_server_info": map[string]any{"max_running_requests": nil, "disable_radix_cache": true, "chunked_prefill_size": 4096.0,
		"internal_states": []any{map[string]any{"effective_max_running_requests_per_dp": 48.0}}}})
	if n, _ := sgl.Number(ParamMaxSeqs); n != 48 {
		t.Errorf("sglang %v", sgl)
	}
	if state, _ := sgl.PrefixCaching(); state != CachingOff {
		t.Errorf("sglang caching %v", state)
	}
	if n, _ := snap(map[string]any{"/props": map[string]any{"total_slots": 4.0}}).Number(ParamMaxSeqs); n != 4 {
		t.Error("llama.cpp slots")
	}
	if state, evidence := snap(nil).PrefixCaching(); state != CachingUnknown || evidence == "" {
		t.Errorf("unknown: %s %s", state, evidence)
	}
}

func TestToldParameters(t *testing.T) {
	told := Told(map[string]string{"max_num_seqs": "64", "gpu": "H100",
		"command": "vllm serve m --max-num-seqs 32 \\\n --no-enable-prefix-caching --max_num_batched_tokens=2048"}, "vllm serve m --block-size 16 --max-num-seqs 8")
	if n, _ := told.Number(ParamMaxSeqs); n != 64 {
		t.Errorf("--server-meta wins over the command: %v", told)
	}
	if n, _ := told.Number(ParamBatchedTokens); n != 2048 {
		t.Errorf("%v", told)
	}
	if state, _ := told.PrefixCaching(); state != CachingOff || len(told) != 4 || told[ParamBlockSize].Source != "the command of --launch" {
		t.Errorf("%v", told)
	}
	all, conflict := Parameters{ParamMaxSeqs: {32.0, "/server_info"}}.With(told)
	if n, _ := all.Number(ParamMaxSeqs); n != 32 || len(conflict) != 1 || !strings.Contains(conflict[0], "max_num_seqs is 32") {
		t.Errorf("%v, %v", all, conflict)
	}
}

func TestGatewayHeaders(t *testing.T) {
	got := gatewayHeaders(map[string][]string{"Server": {"nginx"}, "Via": {"1.1 gw", "1.1 b"}, "X-Api-Key-Id": {"abc"}, "X-Served-By": {"n1"}, "Content-Type": {"x"}, "Set-Cookie": {"s"}})
	if fmt.Sprint(got) != "map[server:nginx via:1.1 gw, 1.1 b x-api-key-id:[redacted] x-served-by:n1]" {
		t.Errorf("headers %v", got)
	}
}

func TestCountersThatFall(t *testing.T) {
	at := func(m map[string]float64) *Snapshot { return &Snapshot{Metrics: m} }
	if d := Differences(at(map[string]float64{"vllm:prompt_tokens_total": 9}), at(map[string]float64{"vllm:prompt_tokens_total": 3})); len(d) != 1 {
		t.Errorf("a counter that fell: %v", d)
	}
	if d := Differences(at(map[string]float64{"vllm:num_requests_running": 9}), at(map[string]float64{"vllm:num_requests_running": 3})); len(d) != 0 {
		t.Errorf("a gauge that fell: %v", d)
	}
	a, b := at(nil), at(nil)
	a.Parameters, b.Parameters = Parameters{ParamMaxSeqs: {32.0, "/server_info"}}, Parameters{ParamMaxSeqs: {64.0, "/server_info"}}
	if d := Differences(a, b); len(d) != 1 || d[0] != "max_num_seqs was 32 and became 64" {
		t.Errorf("a changed parameter: %v", d)
	}
}

// What a server cannot have is left out, the whole series of it, and named.
func TestNonsenseIsLeftOut(t *testing.T) {
	x, err := ParseMetrics(`# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} -5
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting 1e308
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc 50
# TYPE vllm:request_success counter
vllm:request_success_total{finished_reason="stop"} +Inf
# TYPE vllm:prompt_tokens counter
vllm:prompt_tokens_total -1e18
# TYPE vllm:generation_tokens counter
vllm:generation_tokens_total 7
`)
	if err != nil {
		t.Fatal(err)
	}
	samples, _, odd := BuiltinMaps().Read(x)
	if len(samples) != 1 || samples[0].Series != "generation_tokens" || samples[0].Value != 7 {
		t.Errorf("samples %+v", samples)
	}
	got := map[string]string{}
	for _, o := range odd {
		got[o.Metric] = o.Text
	}
	for metric, text := range map[string]string{"vllm:num_requests_running": "-5 is below 0", "vllm:num_requests_waiting": "1e+308 is more than anything can be counted",
		"vllm:kv_cache_usage_perc": "50 is no share of 1", "vllm:request_success_total": "+Inf is no number", "vllm:prompt_tokens_total": "-1e+18 is below 0"} {
		if !strings.HasPrefix(got[metric], text) {
			t.Errorf("%s: %q", metric, got[metric])
		}
	}
	if len(odd) != 5 {
		t.Errorf("%+v", odd)
	}
	// A percentage that the map scales, rounding, and a rate before anything happened are honest.
	rule := &SeriesRule{Kind: KindGauge, Scale: 0.01}
	for series, v := range map[string]float64{"kv_usage": 50, "hit_rate": math.NaN(), "temperature": -20} {
		if why := rule.nonsense(series, v*rule.scale()); why != "" && !rule.undefined(series, v) {
			t.Errorf("%s %v: %s", series, v, why)
		}
	}
	if why := rule.nonsense("kv_usage", 1.001); why != "" {
		t.Errorf("rounding: %s", why)
	}
}

func TestRepeatedSeriesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"a 1\na 2\n": "the series a several times",
		"a{x=\"1\",y=\"2\"} 1\na{y=\"2\",x=\"1\"} 1\n":                                                                  `the series a{x="1",y="2"} several times`,
		"# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 2\nh_sum 1\nh_count 2\n": "the series h several times",
		"a{x=\"1\"} 1\na{x=\"2\"} 1\na 5\n":                                                                             "",
		"# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 1\nh_count 2\n":                       "",
	} {
		_, err := ParseMetrics(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
