package evaluators

import "testing"

type mathRow struct {
	GT        string   `json:"gt"`
	Responses []string `json:"responses"`
	Score     []bool   `json:"score"`
}

// TestMathOnSampledResponses scores 50 problems × 8 real responses with every
// mathematics scorer. The default must agree with the stored verdicts; the
// string graders are held to what they are known to reach on such answers.
func TestMathOnSampledResponses(t *testing.T) {
	rows := readJSONL[mathRow](t, conformanceFile(t, "math", "math_sampled_responses.jsonl"))
	for id, least := range map[string]float64{"math": 0.98, "oc/math": 1, "oc/math_v1": 1, "oc/math_verify": 0.98, "evalscope/math": 1, "lmeval/aime": 1} {
		s := mustNew(t, id, nil)
		var scored []Scored
		agree, n := 0, 0
		for i, r := range rows {
			for k, text := range r.Responses {
				v := score(t, s, text, Item{Gold: r.GT})
				scored = append(scored, Scored{ItemID: string(rune(i)), Repeat: k, Verdict: v})
				n++
				if (v.Outcome == Right) == r.Score[k] {
					agree++
				} else {
					t.Logf("%s, problem %d response %d: ours %s %q against %q, stored %v", id, i, k, v.Outcome, v.Extracted, r.GT, r.Score[k])
				}
			}
		}
		sum := Summarize(scored)
		t.Logf("%s: %d right of %d, agreement %.2f %%, avg@8 %.4f, pass@8 %.4f, cons@8 %.4f", id, sum.Right, n, 100*float64(agree)/float64(n), sum.Repeats.AvgAtN, sum.Repeats.PassAt[8], sum.Repeats.ConsAt[8])
		if n != 400 || float64(agree) < least*float64(n) {
			t.Errorf("%s agrees on %d of %d, want at least %.0f %%", id, agree, n, 100*least)
		}
	}
	// the published hendrycks_math grader reads between the outermost dollar signs
	// and so misses nearly every boxed answer
	s := mustNew(t, "lmeval/hendrycks_math", nil)
	right := 0
	for _, r := range rows {
		for _, text := range r.Responses {
			if score(t, s, text, Item{Gold: r.GT}).Outcome == Right {
				right++
			}
		}
	}
	if right > 4 {
		t.Errorf("lmeval/hendrycks_math gives %d right of 400; the published rule gives almost none", right)
	}
}
