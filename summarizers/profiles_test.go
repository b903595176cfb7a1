package summarizers

import (
	"iter"
	"strings"
	"testing"

	"ais_bench/outputs"
)

func sequence(recs ...*outputs.Record) iter.Seq2[*outputs.Record, error] {
	return func(yield func(*outputs.Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// rowOf is the row of a metric as numbers (nil for undefined) and its reason.
func rowOf(t *testing.T, table outputs.Table, name string) (v [3]*float64, why string) {
	t.Helper()
	for _, r := range table.Rows {
		if r[0] == name {
			for i := range v {
				v[i], _ = r[2+i].(*float64)
			}
			return v, r[5].(string)
		}
	}
	t.Fatalf("no row %q", name)
	return
}

func TestProfilesSayWhatDiffersAndWhy(t *testing.T) {
	role := record(0, outputs.StatusOK) // a role-only delta 10 ms before the first token
	role.FirstEvent = role.FirstToken - 10*ms
	usage := record(1, outputs.StatusOK) // usage comes 5 ms after the last token
	usage.End += 5 * ms
	one := record(2, outputs.StatusOK) // a single token
	one.ChunkAt, one.OutputTokens, one.LastToken, one.End = []int64{50 * ms}, 1, one.FirstToken, one.FirstToken
	cut := record(3, outputs.StatusOK) // the stream just ended after three tokens
	cut.Status, cut.Error = outputs.StatusTruncated, outputs.ErrorNoTerminal
	cut.FinishReason = ""
	broken := record(5, outputs.StatusOK) // the connection was closed after three tokens: everybody's failure
	broken.Status, broken.Error, broken.FinishReason = outputs.StatusTruncated, "read the response: the server closed the connection", ""
	reset := record(6, outputs.StatusOK)
	reset.Status, reset.Error, reset.FinishReason = outputs.StatusStreamError, "read the response: connection reset by the server", ""
	unknown := record(4, outputs.StatusOK) // nobody counted its tokens
	unknown.OutputTokens, unknown.TokenSource = outputs.UnknownTokens, outputs.TokensUnknown
	table, err := Profiles(sequence(role, usage, one, cut, unknown, broken, reset, record(9, outputs.StatusHTTP5xx)), ProfilesOptions{MaxConcurrency: 7})
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		row                    string
		strict, vllm, aisbench float64
		why                    []string
	}{
		{"successful requests", 4, 5, 5, []string{"vllm: counts 1 stream(s) as successes that ended without finish_reason", "aisbench: counts 1 answer(s) as successes that ended without"}},
		{"TTFT, mean", 50, 50, 48, []string{"no token in 1 request"}},
		// 3 successes with gaps, 20 ms each; aisbench adds the cut stream's, the 10 ms gap and the end's.
		{"ITL, mean", 20, 20, (8*20 + 10 + 5) / 10.0, []string{"after the last token (finish_reason, usage) counts in 1 request"}},
		{"output tokens", 7, 11, 10, []string{"1 answer(s) of unknown length count as 1 token", "1 answer(s) without usage count as 0 tokens"}},
		{"maximum concurrency", 1, 5, 7, []string{"vllm: counts every request that touches the busiest whole second", "repeats the configured value"}},
		{"duration", 0.99, 0.99, 0.49, []string{"aisbench: the run lasts from the first to the last successful request only"}},
	} {
		got, why := rowOf(t, table, c.row)
		for i, want := range []float64{c.strict, c.vllm, c.aisbench} {
			grain := 1e-9
			if i == 2 {
				grain = 0.051 // AISBench rounds to 0.1 ms
			}
			if got[i] == nil || *got[i] < want-grain || *got[i] > want+grain {
				t.Errorf("%s in column %d: %v, want %v", c.row, i, show(got[i]), want)
			}
		}
		for _, w := range c.why {
			if !strings.Contains(why, w) {
				t.Errorf("%s: the reason %q does not say %q", c.row, why, w)
			}
		}
	}
	for _, r := range table.Rows {
		s, _ := r[2].(*float64)
		v, _ := r[3].(*float64)
		a, _ := r[4].(*float64)
		same := !differ(s, v, 0) && !differ(s, a, 0)
		if why := r[5].(string); same != (why == "") {
			t.Errorf("%v: figures %v %v %v, reason %q", r[0], show(s), show(v), show(a), why)
		}
	}
}

func show(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// What the other tools' clients see otherwise: reasoning_content before the content,
// an empty text at the end, [DONE] long after it, an answer that broke off after its end.
func TestProfilesOfWhatOthersSee(t *testing.T) {
	thinks := record(0, outputs.StatusOK) // 50, 70 and 90 ms; content is the last only
	thinks.StreamEnd, thinks.FirstOutput, thinks.LastOutput, thinks.LastEvent, thinks.End = outputs.EndDone, thinks.LastToken, thinks.LastToken, thinks.LastToken, thinks.LastToken+40*ms
	empty := record(1, outputs.StatusOK)
	empty.StreamEnd, empty.FirstOutput, empty.LastOutput, empty.LastEvent = outputs.EndDone, empty.FirstToken, empty.LastToken+10*ms, empty.LastToken+10*ms
	empty.End = empty.LastEvent
	broke := record(2, outputs.StatusOK)
	broke.StreamEnd, broke.FirstOutput, broke.LastOutput, broke.LastEvent = outputs.EndBroken, broke.FirstToken, broke.LastToken, broke.LastToken
	table, err := Profiles(sequence(thinks, empty, broke), ProfilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		row                    string
		strict, vllm, aisbench float64
		why                    []string
	}{
		{"successful requests", 3, 2, 2, []string{"vllm: fails 1 answer(s) whose body broke off", "aisbench: fails 1 answer(s)"}},
		{"TTFT, mean", 50, (90 + 50) / 2.0, 50, []string{"vllm: fails 1 answer(s)", "another event than the first token in 1 request(s)"}},
		{"E2EL, mean", 90, (90 + 100) / 2.0, (90 + 100) / 2.0, []string{"another event than the last token in 1 request(s)", "(finish_reason, usage) counts in 1 request"}},
	} {
		got, why := rowOf(t, table, c.row)
		for i, want := range []float64{c.strict, c.vllm, c.aisbench} {
			if got[i] == nil || *got[i] < want-0.051 || *got[i] > want+0.051 {
				t.Errorf("%s in column %d: %v, want %v", c.row, i, show(got[i]), want)
			}
		}
		for _, w := range c.why {
			if !strings.Contains(why, w) {
				t.Errorf("%s: the reason %q does not say %q", c.row, why, w)
			}
		}
	}
}

// Nothing went wrong and nothing is ambiguous: only rounding and figures that a
// tool does not have remain.
func TestProfilesOfPlainStreamsAgree(t *testing.T) {
	table, err := Profiles(sequence(record(0, outputs.StatusOK), record(1, outputs.StatusOK)), ProfilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"successful requests", "duration", "TTFT, mean", "TPOT, p99", "ITL, mean", "E2EL, p99", "output tokens"} {
		if _, why := rowOf(t, table, name); why != "" {
			t.Errorf("%s: %q, want no difference", name, why)
		}
	}
}

func TestProfilesWithoutASuccess(t *testing.T) {
	table, err := Profiles(sequence(record(0, outputs.StatusHTTP5xx)), ProfilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, why := rowOf(t, table, "TTFT, mean")
	if v[0] != nil || v[1] == nil || *v[1] != 0 || v[2] != nil || !strings.Contains(why, "vllm: writes 0") {
		t.Errorf("TTFT %v %v %v: %s", show(v[0]), show(v[1]), show(v[2]), why)
	}
	if len(table.Notes) == 0 || !strings.Contains(table.Notes[0], "every request failed") {
		t.Errorf("notes %v", table.Notes)
	}
}
