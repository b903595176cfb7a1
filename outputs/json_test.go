package outputs

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
)

func TestMarshalJSONIsFinite(t *testing.T) {
	type inner struct {
		F float64 `json:"f"`
	}
	type outer struct {
		inner
		Name  string             `json:"name"`
		Skip  string             `json:"-"`
		Omit  *int               `json:"omit,omitempty"`
		List  []float64          `json:"list"`
		Map   map[string]float64 `json:"map"`
		Any   any                `json:"any"`
		Plain float32
		priv  int
	}
	v := outer{inner: inner{math.Inf(1)}, Name: "<b>", Skip: "x", List: []float64{1, math.NaN()},
		Map: map[string]float64{"z": math.Inf(-1), "a": 2}, Any: []any{math.NaN(), "t", nil, 3}, Plain: 1.5, priv: 1}
	got, err := MarshalJSON(v)
	want := `{"f":null,"name":"<b>","list":[1,null],"map":{"a":2,"z":null},"any":[null,"t",null,3],"Plain":1.5}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s (%v)\nwant %s", got, err, want)
	}
	// The ordinary path and the careful one agree.
	v.F, v.List, v.Map, v.Any = 1, []float64{1, 2}, map[string]float64{"a": 1}, nil
	plain, _ := MarshalJSON(v)
	v.F = math.NaN()
	careful, _ := MarshalJSON(v)
	if strings.Replace(string(plain), `"f":1`, `"f":null`, 1) != string(careful) {
		t.Errorf("plain   %s\ncareful %s", plain, careful)
	}
}

func TestCheckNumbers(t *testing.T) {
	for doc, want := range map[string]string{
		`{"ttft":{"mean":1.5,"p99":null},"model":"m","n":3}`: "",
		`{"ttft":{"mean":"12.3 ms"}}`:                        "$.ttft.mean",
		`{"a":[1,"2"]}`:                                      "$.a[1]",
		`{"a":"NaN"}`:                                        "$.a",
		`{"a":"-Infinity"}`:                                  "$.a",
		`{"a":"45.2%"}`:                                      "$.a",
		`{"a":NaN}`:                                          "invalid JSON",
		`{"a":1e999}`:                                        "$.a",
		`{"details":[{"prediction":"42"}],"accuracy":0.5}`: "",
	} {
		err := CheckNumbers(strings.NewReader(doc), "details")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", doc, err, want)
		}
	}
}

func TestWritePerformance(t *testing.T) {
	r := newRun(t)
	if err := r.WritePerformance("m", "d", map[string]any{"ttft_ms": map[string]float64{"mean": 12.25, "p99": math.NaN()}}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(r.PerformancePath("m", "d", "json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckNumbers(bytes.NewReader(raw)); err != nil {
		t.Error(err)
	}
	var back map[string]map[string]*float64
	if err := ReadJSON(r.PerformancePath("m", "d", "json"), &back); err != nil || back["ttft_ms"]["p99"] != nil || *back["ttft_ms"]["mean"] != 12.25 {
		t.Errorf("%v, %v", back, err)
	}
}
