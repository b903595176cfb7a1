package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ais_bench/datasets"
	"ais_bench/models/simulator"
	"ais_bench/outputs"
)

// workloadChoice is a workload of the registry, with a small file where it reads one.
func workloadChoice(t *testing.T, name string) DatasetChoice {
	t.Helper()
	reg, err := datasets.OpenRegistry("")
	if err != nil {
		t.Fatal(err)
	}
	e, err := reg.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	d := DatasetChoice{Name: name, Config: e.Value, Load: datasets.LoadOptions{Seed: 7}}
	var b strings.Builder
	for i := range 6 {
		switch name {
		case "sharegpt_gen":
			fmt.Fprintf(&b, `{"conversations":[{"from":"human","value":"river %d"},{"from":"gpt","value":"the boat is here"},{"from":"human","value":"and now?"},{"from":"gpt","value":"gone"}]}`+"\n", i)
		case "mtbench_gen":
			fmt.Fprintf(&b, `{"question_id":%d,"category":"math","prompt":["first %d","second"],"reference":["a","b"]}`+"\n", i, i)
		case "mooncake_trace_gen":
			fmt.Fprintf(&b, `{"timestamp":%d,"input_length":%d,"output_length":3,"hash_ids":[%d]}`+"\n", 1000+2*i, 20+i, i/2)
		}
	}
	if b.Len() > 0 {
		d.Load.Path = filepath.Join(t.TempDir(), name+".jsonl")
		if err := os.WriteFile(d.Load.Path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func instant(t *testing.T) string {
	t.Helper()
	sim, err := simulator.New(simulator.Config{Preset: "instant", ServedModelNames: []string{"sim"}})
	if err != nil {
		t.Fatal(err)
	}
	url, err := sim.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sim.Close() })
	return url
}

// AISBench's performance data sets run against a server with nothing but its address:
// prompts are measured by its own tokenizer, the same seed makes the same bytes, and
// another seed others where anything is drawn.
func TestWorkloadsOfTheRegistry(t *testing.T) {
	url := instant(t)
	for _, c := range []struct {
		name           string
		samples, asked int // samples of the set, requests with all turns
		drawn          bool
	}{
		{"synthetic_gen", 10, 10, true},
		{"synthetic_gen_string", 10, 10, true},
		{"synthetic_gen_tokenid", 10, 10, true},
		{"sharegpt_gen", 6, 12, false},
		{"mtbench_gen", 6, 12, false},
		{"mooncake_trace_gen", 6, 6, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := workloadChoice(t, c.name)
			m := modelAt(url, set)
			bytes := func(seed int64) string {
				set.Load.Seed = seed
				plan, err := NewPlan([]ModelChoice{m}, []DatasetChoice{set})
				if err != nil {
					t.Fatal(err)
				}
				est, err := plan.Estimate(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if est[0].Samples != c.samples || est[0].Requests != c.asked {
					t.Errorf("%d samples, %d requests; want %d, %d", est[0].Samples, est[0].Requests, c.samples, c.asked)
				}
				b, err := json.Marshal(est[0].Set.Samples)
				if err != nil {
					t.Fatal(err)
				}
				return string(b)
			}
			one, again, other := bytes(1), bytes(1), bytes(2)
			if one != again {
				t.Error("the same seed gave other requests")
			}
			if (one != other) != c.drawn {
				t.Errorf("another seed: changed %v, want %v", one != other, c.drawn)
			}
			out, to := runOnce(t, m, set, Options{Mode: ModePerf})
			if to.Err != nil {
				t.Fatal(to.Err)
			}
			n := 0
			for rec, err := range out.Run.Records(to.Task.ModelAbbr, to.Task.DatasetAbbr) {
				if err != nil {
					t.Fatal(err)
				}
				if rec.Phase != outputs.PhaseMeasured {
					continue
				}
				n++
				if !rec.OK() {
					t.Errorf("request %s: %s %s", rec.SampleID, rec.Status, rec.Error)
				}
			}
			if n != c.asked {
				t.Errorf("%d records, want %d", n, c.asked)
			}
			if set.Load.Path != "" && len(to.Estimate.Set.Files) != 1 {
				t.Errorf("files of the set: %+v", to.Estimate.Set.Files)
			}
		})
	}
}

func TestWorkloadSaysWhatIsMissing(t *testing.T) {
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			fmt.Fprint(w, `{"data":[{"id":"served"}]}`)
			return
		}
		http.NotFound(w, r)
	}))
	defer bare.Close()
	estimate := func(set DatasetChoice, url string, offline bool) error {
		plan, err := NewPlan([]ModelChoice{modelAt(url, set)}, []DatasetChoice{set})
		if err != nil {
			t.Fatal(err)
		}
		plan.Offline = offline
		_, err = plan.Estimate(t.Context())
		return DataError(err)
	}
	var env *EnvironmentError
	missing := workloadChoice(t, "sharegpt_gen")
	missing.Load.Path, missing.Load.CacheDirs = "", []string{t.TempDir()}
	set := workloadChoice(t, "synthetic_gen_tokenid")
	for _, c := range []struct {
		what        string
		err         error
		want        string
		environment bool
	}{
		{"no file", estimate(missing, bare.URL, true), "ShareGPT_V3_unfiltered_cleaned_split.json", true},
		{"no tokenizer on the server", estimate(set, bare.URL, false), "it has no /tokenize", false},
		{"offline", estimate(set, bare.URL, true), "nothing is sent here", false},
		{"no server", estimate(set, "http://127.0.0.1:1", false), "--tokenizer DIR", true},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || strings.Contains(c.err.Error(), "\n") || errors.As(c.err, &env) != c.environment {
			t.Errorf("%s: %v", c.what, c.err)
		}
	}
}
