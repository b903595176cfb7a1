package tradeoff

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
)

// run is one with the given output tokens/s and P99 of TTFT in ms; NaN is
// undefined.
func run(number int, throughput, ttft float64) capacity.Run {
	r := &metrics.Result{}
	r.Requests.Total, r.Requests.Success = 200, 200
	if !math.IsNaN(throughput) {
		r.OutputThroughput = &throughput
	}
	if !math.IsNaN(ttft) {
		r.TTFT.P = []metrics.Percentile{{P: 99, Value: &ttft}}
		r.TTFT.N = 200
	}
	return capacity.Run{Number: number, Result: r}
}

func combination(a, b string, runs ...capacity.Run) *Combination {
	return &Combination{Settings: []Setting{{"seqs", a}, {"mnbt", b}}, Level: capacity.Level{Runs: runs}}
}

func grid(t *testing.T, slo string, list ...*Combination) *Grid {
	t.Helper()
	g := &Grid{Params: []string{"seqs", "mnbt"}, Combinations: list}
	if slo != "" {
		var err error
		if g.SLO, err = capacity.ParseSLO(slo); err != nil {
			t.Fatal(err)
		}
	}
	g.Evaluate()
	return g
}

func marks(g *Grid) (pareto, best string) {
	for _, c := range g.Combinations {
		if c.Pareto {
			pareto += c.Letter
		}
		if c.Best {
			best += c.Letter
		}
	}
	return pareto, best
}

func TestParetoAndBest(t *testing.T) {
	failed := combination("64", "512")
	failed.Failure = "the engine did not start"
	g := grid(t, "ttft_p99 <= 150",
		combination("16", "2048", run(1, 1000, 100)), // A: lowest latency
		combination("16", "8192", run(1, 1000, 120)), // B: beaten by A
		combination("32", "2048", run(1, 1500, 140)), // C: best within
		combination("32", "8192", run(1, 1500, 140)), // D: the same figures: neither beats the other
		combination("64", "2048", run(1, 2000, 400)), // E: fastest, out of the SLO
		combination("64", "8192", run(1, 1900, 500)), // F: beaten by E
		failed)
	if pareto, best := marks(g); pareto != "ACDE" || best != "C" {
		t.Errorf("Pareto %s, best %s", pareto, best)
	}
	all := strings.Join(g.Texts, "\n")
	for _, want := range []string{"Pareto front (no other combination has both more output throughput and a lower TTFT P99): A, C, D, E",
		"best within ttft_p99 <= 150: C (seqs 32, mnbt 2048), output throughput 1500 token/s, TTFT P99 140 ms", "--num-runs 3 tells", "1 of 7 combinations are incomplete"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if g.Throughput.Name != "output_throughput" || g.Latency.Name != "ttft_p99" {
		t.Errorf("figures %s and %s", g.Throughput.Name, g.Latency.Name)
	}
	row := g.Table().Rows[6]
	if got := row[len(row)-1]; got != "the engine did not start" {
		t.Errorf("the failure is not in the table: %v", got)
	}
}

func TestNoneHolds(t *testing.T) {
	g := grid(t, "ttft_p99 <= 50", combination("16", "1", run(1, 1000, 100)), combination("32", "1", run(1, 1500, 90)))
	all := strings.Join(g.Texts, "\n")
	if _, best := marks(g); best != "" || !strings.Contains(all, "no combination holds ttft_p99 <= 50; the lowest TTFT P99 is 90 ms, of B (seqs 32, mnbt 1)") {
		t.Errorf("best %q\n%s", best, all)
	}
}

func TestSeveralRuns(t *testing.T) {
	g := grid(t, "ttft_p99 <= 150",
		combination("16", "1", run(1, 1000, 100), run(2, 1010, 101), run(3, 990, 99)),
		combination("32", "1", run(1, 1005, 120), run(2, 1015, 121), run(3, 995, 119)),  // best, not to be told apart from A
		combination("64", "1", run(1, 2000, 140), run(2, 2000, 170), run(3, 2000, 130)), // undecided
		combination("128", "1", run(1, 3000, math.NaN()), run(2, 3000, 100), run(3, 3000, 100)))
	if _, best := marks(g); best != "B" {
		t.Errorf("best %s", best)
	}
	all := strings.Join(g.Texts, "\n")
	for _, want := range []string{"not to be told apart from it by these runs (their intervals of output throughput overlap): A",
		"undecided, because the interval over the runs contains the limit: C; more runs (--num-runs) narrow it", "the condition is undefined for D"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
}

// Answers that are not streamed have no TTFT, those without counts no tokens.
func TestOtherFigures(t *testing.T) {
	whole := func(rps, e2e float64) capacity.Run {
		r := &metrics.Result{}
		r.Requests.Total, r.Requests.Success = 10, 10
		r.RequestThroughput = &rps
		r.E2EL.P = []metrics.Percentile{{P: 99, Value: &e2e}}
		return capacity.Run{Number: 1, Result: r}
	}
	g := grid(t, "", combination("1", "1", whole(5, 300)), combination("2", "1", whole(9, 500)))
	if g.Throughput.Name != "request_throughput" || g.Latency.Name != "e2el_p99" {
		t.Errorf("figures %s and %s", g.Throughput.Name, g.Latency.Name)
	}
	if pareto, best := marks(g); pareto != "AB" || best != "" {
		t.Errorf("Pareto %s, best %q", pareto, best)
	}
	if len(g.Headlines()) != 2 {
		t.Errorf("%d headlines", len(g.Headlines()))
	}
}

func TestEffects(t *testing.T) {
	g := grid(t, "",
		combination("16", "1", run(1, 1000, 100)), combination("16", "2", run(1, 1200, 100)),
		combination("32", "1", run(1, 2000, 300)), combination("32", "2", run(1, 2400, 300)))
	e := g.Effects()
	if len(e.Rows) != 4 {
		t.Fatalf("%d rows", len(e.Rows))
	}
	if r := e.Rows[1]; r[0] != "seqs" || r[1] != "32" || r[2] != 2 || r[3] != 2200.0 || r[4] != 100.0 || r[5] != 300.0 || r[6] != 200.0 {
		t.Errorf("seqs 32: %v", r)
	}
	if r := e.Rows[3]; r[0] != "mnbt" || math.Abs(r[4].(float64)-20) > 1e-9 || r[6] != 0.0 {
		t.Errorf("mnbt 2: %v", r)
	}
}

func TestChartsAndFiles(t *testing.T) {
	g := grid(t, "ttft_p99 <= 150",
		combination("16", "1", run(1, 1000, 100)), combination("16", "2", run(1, 1200, 130)),
		combination("32", "1", run(1, 2000, 300)), combination("32", "2"))
	charts := g.Charts()
	if len(charts) != 5 || charts[0].Kind != "scatter" || len(charts[0].Series) != 3 || charts[0].Series[1].Name != "B: seqs 16, mnbt 2 (best)" {
		t.Fatalf("%d charts, %+v", len(charts), charts[0].Series)
	}
	if s := charts[1].Series; charts[1].XLabel != "seqs" || len(s) != 2 || s[0].Name != "mnbt 1" || len(s[0].X) != 2 || s[0].X[1] != 32 || s[0].Y[1] != 2000 {
		t.Errorf("along seqs: %+v", s)
	}
	for _, table := range []outputs.Table{g.Table(), g.Effects(), g.CSVTable(), g.RunsTable()} {
		if err := table.Check(); err != nil {
			t.Error(err)
		}
	}
	b, err := json.Marshal(g.JSON(map[string]any{"settings": 1}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"settings":{"mnbt":"1","seqs":"16"}`, `"best":true`, `"ttft_p99_ms":{"runs":1`, `"latency":"ttft_p99_ms"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is missing in grid.json", want)
		}
	}
	// A parameter of words has no axis.
	words := grid(t, "", combination("fp8", "1", run(1, 1000, 100)), combination("awq", "1", run(1, 1200, 130)))
	if n := len(words.Charts()); n != 1 {
		t.Errorf("%d charts of a parameter of words", n)
	}
	// Many combinations are two series.
	var many []*Combination
	for i := range 14 {
		many = append(many, combination(string(rune('a'+i)), "1", run(1, float64(1000+i), float64(100+(i*7)%5))))
	}
	if s := grid(t, "", many...).Charts()[0].Series; len(s) != 2 || !strings.HasPrefix(s[0].Name, "Pareto front ") || len(s[0].X)+len(s[1].X) != 14 {
		t.Errorf("series %+v", s)
	}
}

func TestPlot(t *testing.T) {
	g := grid(t, "", combination("16", "1", run(1, 1000, 100)), combination("16", "2", run(1, 1000, 100)), combination("32", "1", run(1, 2000, 300)), combination("32", "2", run(1, 1500, 350)))
	p := g.Plot()
	lines := strings.Split(p, "\n")
	if lines[0] != "TTFT P99 (ms) ↑" || !strings.HasPrefix(lines[1], "350 ┤") || !strings.Contains(lines[1], "D") || strings.Contains(lines[1], "D*") {
		t.Errorf("top of\n%s", p)
	}
	if !strings.HasPrefix(lines[14], "100 ┤ A*") || !strings.Contains(p, "behind others: B*") || !strings.Contains(p, "→ output throughput (token/s)") {
		t.Errorf("bottom of\n%s", p)
	}
	if !strings.Contains(p, "C*\n") {
		t.Errorf("the largest throughput is not at the right edge of\n%s", p)
	}
	if grid(t, "", combination("16", "1", run(1, 1000, 100))).Plot() != "" {
		t.Error("one point was drawn")
	}
	if p := grid(t, "", combination("1", "1", run(1, 5, 5)), combination("2", "1", run(1, 5, 6))).Plot(); !strings.Contains(p, "B") {
		t.Errorf("equal throughput:\n%s", p)
	}
}

func TestLetters(t *testing.T) {
	for i, want := range map[int]string{0: "A", 25: "Z", 26: "A1", 53: "B2"} {
		if got := letter(i); got != want {
			t.Errorf("letter %d: %s, want %s", i, got, want)
		}
	}
}
