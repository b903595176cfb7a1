package capacity

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSLOsThatCannotBeMeant(t *testing.T) {
	for text, want := range map[string]string{
		"ttft_p99<=2000 && tpto_p99<=50":  `did you mean "tpot_p99"`,
		"succes >= 0.99":                  `did you mean "success"`,
		"ttft <= 5":                       "ttft_p99",
		"ttft_p99 <=":                     "character",
		"ttft_p99 == 5":                   "<= or >=",
		"ttft_p99":                        "no comparison",
		"1 <= 2":                          "compares no figure",
		"max(ttft_p99, 3) <= 5":           "cannot be used here",
		"ttft_p99 <= 'fast'":              "cannot be used here",
		"ttft_p99 <= 5 ? true : false":    "no comparison",
		"ttft_p0x <= 5":                   "unknown figure",
		"len([1]) <= 2 && ttft_p99 <= 10": "cannot be used here",
		"":                                "unexpected",
	} {
		_, err := ParseSLO(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q in one line", text, err, want)
		}
	}
}

func TestFigureNames(t *testing.T) {
	for _, name := range FigureNames() {
		if f, err := FigureNamed(name); err != nil || f.Name != name {
			t.Errorf("%s: %v, %v", name, f.Name, err)
		}
	}
	for name, p := range map[string]float64{"e2el_p999": 99.9, "itl_p5": 5, "ttft_median": 50, "tpot_p9999": 99.99, "ttft_p99_ms": 99, "ttft_p100": 100} {
		f, err := FigureNamed(name)
		if err != nil || f.Percentile == nil || *f.Percentile != p {
			t.Errorf("%s: %+v, %v", name, f.Percentile, err)
		}
	}
}

func judged(t *testing.T, text string, runs ...Run) Judgement {
	t.Helper()
	s, err := ParseSLO(text)
	if err != nil {
		t.Fatal(err)
	}
	return s.Judge(&Level{Value: 8, Runs: runs})
}

// ttft is a run whose TTFT P99 is v.
func ttft(number int, v float64) Run { return made(number, 1000, v/1.099, 10, 500) }

func TestIntervalsDecide(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		runs []Run
		want Truth
	}{
		{"one run, below", "ttft_p99 <= 100", []Run{ttft(1, 99)}, Holds},
		{"one run, above", "ttft_p99 <= 100", []Run{ttft(1, 101)}, Fails},
		{"two runs, clearly below", "ttft_p99 <= 100", []Run{ttft(1, 50), ttft(2, 51)}, Holds},
		{"two runs, close", "ttft_p99 <= 100", []Run{ttft(1, 97), ttft(2, 99)}, Undecided},
		{"two runs, clearly above", "ttft_p99 <= 100", []Run{ttft(1, 200), ttft(2, 201)}, Fails},
		{"five runs decide what two do not", "ttft_p99 <= 100", []Run{ttft(1, 97), ttft(2, 99), ttft(3, 98), ttft(4, 97), ttft(5, 98)}, Holds},
		{"one clause that fails decides", "ttft_p99 <= 100 && success >= 0.99 && tpot_p99 <= 1", []Run{ttft(1, 97), ttft(2, 99)}, Fails},
		{"an undecided clause leaves it open", "ttft_p99 <= 100 && success >= 0.99", []Run{ttft(1, 97), ttft(2, 99)}, Undecided},
		{"or: one that holds decides", "ttft_p99 <= 100 || success >= 0.99", []Run{ttft(1, 97), ttft(2, 99)}, Holds},
		{"negated", "!(ttft_p99 > 100)", []Run{ttft(1, 50), ttft(2, 51)}, Holds},
		{"the figure on the right", "100 >= ttft_p99", []Run{ttft(1, 200), ttft(2, 201)}, Fails},
		{"a strict limit met exactly", "success > 1", []Run{ttft(1, 50)}, Fails},
		{"a limit met exactly", "success >= 1", []Run{ttft(1, 50), ttft(2, 50)}, Holds},
		{"arithmetic", "ttft_mean + 99*tpot_mean <= 1200", []Run{ttft(1, 100), ttft(2, 101)}, Holds},
	} {
		if j := judged(t, c.text, c.runs...); j.State != c.want {
			t.Errorf("%s: %s, want %s (%+v)", c.name, j.State, c.want, j.Clauses)
		}
	}
}

func TestHeadroom(t *testing.T) {
	j := judged(t, "ttft_p99 <= 200 && success >= 0.9 && output_throughput >= 800 && 5 < tpot_p99", ttft(1, 150), ttft(2, 150))
	want := []float64{0.25, 1, 0.25, 10.99/5 - 1}
	if len(j.Clauses) != 4 {
		t.Fatalf("%+v", j.Clauses)
	}
	for i, c := range j.Clauses {
		if c.Headroom == nil || math.Abs(*c.Headroom-want[i]) > 1e-9 || c.State != Holds || c.Low == nil {
			t.Errorf("%s: head-room %v, want %g", c.Text, c.Headroom, want[i])
		}
	}
}

func TestUndefinedFiguresDecideNothing(t *testing.T) {
	r := ttft(1, 50)
	r.Result.TPOT.P, r.Result.TPOT.Mean = nil, nil
	if j := judged(t, "tpot_p99 <= 50 || ttft_p99 <= 100", r); j.State != Undecided || len(j.Undefined) != 1 {
		t.Errorf("%+v", j)
	}
	if j := judged(t, "ttft_p99 <= 50"); j.State != Undecided {
		t.Errorf("no run at all: %+v", j)
	}
}

// TestErrorsOfRepeatedLooks computes what docs/sweep.md says of a search's
// decisions: looking again after every run, from the second to the fifth, is wrong
// more often than one look would be.
func TestErrorsOfRepeatedLooks(t *testing.T) {
	slo, err := ParseSLO("ttft_p99 <= 100")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(6, 6))
	const trials = 1000
	for _, c := range []struct {
		beyond   float64 // of the true figure over the limit, in standard deviations of a run
		low, top float64 // share of searches that say it holds
	}{{0, 0.04, 0.1}, {0.5, 0, 0.03}, {1, 0, 0.015}, {-2, 0.88, 0.97}} {
		holds := 0
		for range trials {
			l := &Level{Value: 8}
			for n := 1; n <= 5; n++ {
				l.Runs = append(l.Runs, ttft(n, 100+c.beyond+rng.NormFloat64()))
				if n < 2 {
					continue
				}
				if s := slo.Judge(l).State; s != Undecided {
					if s == Holds {
						holds++
					}
					break
				}
			}
		}
		share := float64(holds) / trials
		t.Logf("true figure %+.1f sd from the limit: %.1f %% hold", c.beyond, 100*share)
		if share < c.low || share > c.top {
			t.Errorf("true figure %+.1f sd from the limit: %.1f %% hold, want %.0f to %.0f %%", c.beyond, 100*share, 100*c.low, 100*c.top)
		}
	}
}

// TestWideIntervals: two runs 111 ms apart leave ±703 ms. A limit inside is
// undecided, one beyond holds; what is printed does not go below 0, which no
// latency can.
func TestWideIntervals(t *testing.T) {
	runs := []Run{ttft(1, 21.89), ttft(2, 132.61)}
	for text, want := range map[string]Truth{"ttft_p99 <= 500": Undecided, "ttft_p99 <= 780": Undecided, "ttft_p99 <= 781": Holds, "ttft_p99 >= 1": Undecided, "ttft_p99 - 2000 <= -1500": Undecided} {
		if j := judged(t, text, runs...); j.State != want {
			t.Errorf("%s: %s, %+v", text, j.State, j.Clauses)
		}
	}
	l := Level{Value: 8, Runs: runs}
	f, err := FigureNamed("ttft_p99")
	if err != nil {
		t.Fatal(err)
	}
	s := l.Over(f)
	if *s.Low > -600 || s.LowShown() != 0 || s.Spread("%.2f") != "(0 to 780.67)" {
		t.Errorf("%v to %v is shown as %q", *s.Low, *s.High, s.Spread("%.2f"))
	}
	if got := spread(9, 11, 1, "%.2f"); got != "±1.00" {
		t.Error(got)
	}
	slo, err := ParseSLO("ttft_p99 <= 500")
	if err != nil {
		t.Fatal(err)
	}
	c := &Curve{Axis: Concurrency, Levels: []Level{l}}
	at := 8.0
	if why := c.why(slo, &at); !strings.Contains(why, "interval 0.00 ms to 781 ms over 2 runs") {
		t.Error(why)
	}
}
