package bench

import (
	"slices"
	"strconv"

	"ais_bench/datasets"
	"ais_bench/outputs"
	"ais_bench/tasks"
)

// Conversations reports whether the run asks turns one after the other.
func (s *Session) Conversations() bool {
	return slices.ContainsFunc(s.Set.Samples, func(d datasets.Sample) bool { return len(d.FollowUps) > 0 })
}

// TurnFigures are the figures of all turns of one number, over the requests that
// succeeded. Times are in ms; nil where no request has one.
type TurnFigures struct {
	Turn      int      `json:"turn"` // from 0
	Completed int      `json:"completed"`
	Failed    int      `json:"failed"`
	Input     *float64 `json:"mean_input_tokens"`
	Cached    *float64 `json:"cached_share"` // cached tokens over input tokens, of the requests whose usage has both
	MeanTTFT  *float64 `json:"mean_ttft_ms"`
	MedTTFT   *float64 `json:"median_ttft_ms"`
	P99TTFT   *float64 `json:"p99_ttft_ms"`
	MeanTPOT  *float64 `json:"mean_tpot_ms"`
	MeanE2EL  *float64 `json:"mean_e2el_ms"`
	P99E2EL   *float64 `json:"p99_e2el_ms"`
}

// Turns are the figures turn by turn, by the strict definitions: how the service
// does with a growing context is seen nowhere else.
func (s *Session) Turns(out *tasks.Outcome) ([]TurnFigures, error) {
	type lists struct {
		failed                  int
		input, ttft, tpot, e2el []float64
		cached, of              float64
	}
	var all []lists
	model, dataset := s.Pair(out)
	err := outputs.EachMeasured(out.Run.Records(model, dataset), func(r *outputs.Record) {
		for int(r.Turn) >= len(all) {
			all = append(all, lists{})
		}
		l := &all[r.Turn]
		if r.Cancelled() {
			return
		}
		if !r.OK() {
			l.failed++
			return
		}
		if r.LastToken == outputs.Never {
			return
		}
		e2el := float64(r.LastToken-r.Sent) / 1e6
		l.e2el = append(l.e2el, e2el)
		if r.InputTokens >= 0 {
			l.input = append(l.input, float64(r.InputTokens))
			if r.CachedTokens >= 0 {
				l.cached, l.of = l.cached+float64(r.CachedTokens), l.of+float64(r.InputTokens)
			}
		}
		if !r.Stream || r.FirstToken == outputs.Never {
			return
		}
		ttft := float64(r.FirstToken-r.Sent) / 1e6
		l.ttft = append(l.ttft, ttft)
		if r.OutputTokens > 1 {
			l.tpot = append(l.tpot, (e2el-ttft)/float64(r.OutputTokens-1))
		}
	})
	if err != nil {
		return nil, err
	}
	var list []TurnFigures
	for turn, l := range all {
		slices.Sort(l.ttft)
		slices.Sort(l.e2el)
		f := TurnFigures{Turn: turn, Completed: len(l.e2el), Failed: l.failed, Input: mean(l.input), MeanTTFT: mean(l.ttft), MedTTFT: percentile(l.ttft, 50),
			P99TTFT: percentile(l.ttft, 99), MeanTPOT: mean(l.tpot), MeanE2EL: mean(l.e2el), P99E2EL: percentile(l.e2el, 99)}
		if l.of > 0 {
			share := l.cached / l.of
			f.Cached = &share
		}
		list = append(list, f)
	}
	return list, nil
}

func mean(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	sum /= float64(len(v))
	return &sum
}

// TurnTable shows the figures turn by turn.
func TurnTable(turns []TurnFigures) outputs.Table {
	t := outputs.Table{ID: "bench_turns", Title: "Turn by turn (ms)", Columns: []outputs.Column{{Name: "Turn"}, {Name: "Completed", Kind: outputs.KindInt}, {Name: "Failed", Kind: outputs.KindInt}}}
	for _, name := range []string{"Input tokens", "Cached %", "Mean TTFT", "Median TTFT", "P99 TTFT", "Mean TPOT", "Mean E2EL", "P99 E2EL"} {
		t.Columns = append(t.Columns, outputs.Column{Name: name, Kind: outputs.KindFloat, Format: "%.1f"})
	}
	cell := func(v *float64, scale float64) any {
		if v == nil {
			return nil
		}
		return *v * scale
	}
	for _, f := range turns {
		t.AddRow(strconv.Itoa(f.Turn+1), f.Completed, f.Failed, cell(f.Input, 1), cell(f.Cached, 100), cell(f.MeanTTFT, 1), cell(f.MedTTFT, 1), cell(f.P99TTFT, 1), cell(f.MeanTPOT, 1), cell(f.MeanE2EL, 1), cell(f.P99E2EL, 1))
	}
	return t
}
