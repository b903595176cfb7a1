package evaluators

import (
	"strings"
	"testing"
)

// BenchmarkMMLUPro scores all 12,032 real outputs of one model per iteration.
func BenchmarkMMLUPro(b *testing.B) {
	rows := readJSONL[mmluProRow](b, conformanceFile(b, "mmlu_pro", "Qwen1.5-72B-Chat.jsonl.gz"))
	items := make([]Item, len(rows))
	bytes := 0
	for i, r := range rows {
		items[i] = r.item()
		bytes += len(r.Prediction)
	}
	for _, id := range []string{"mmlu_pro", "lmeval/mmlu_pro", "oc/mmlu_pro", "oc/first_option", "oc/last_option", "evalscope/choice"} {
		b.Run(id, func(b *testing.B) {
			s := mustNew(b, id, nil)
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			for b.Loop() {
				for i, r := range rows {
					if _, err := s.Score(b.Context(), Answer{Text: r.Prediction, FinishReason: "stop"}, items[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkGSM8K scores 1,319 real solutions per iteration.
func BenchmarkGSM8K(b *testing.B) {
	type row struct {
		Gold     string
		Solution struct{ Solution string } `json:"175b_verification"`
	}
	rows := readJSONL[row](b, conformanceFile(b, "gsm8k", "model_solutions.jsonl"))
	for _, id := range []string{"gsm8k", "oc/gsm8k", "lmeval/gsm8k-flexible"} {
		b.Run(id, func(b *testing.B) {
			s := mustNew(b, id, nil)
			b.ReportAllocs()
			for b.Loop() {
				for _, r := range rows {
					if _, err := s.Score(b.Context(), Answer{Text: r.Solution.Solution}, Item{Gold: r.Gold}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkRunawayReply scores a reply that repeats itself up to a length limit.
func BenchmarkRunawayReply(b *testing.B) {
	text := strings.Repeat("so the answer is the answer is that (A) or (B) and 答案 ", 4000)
	it := Item{Gold: "1", Fields: map[string]any{"options": []string{"red fox", "blue whale"}}}
	for _, id := range []string{"gsm8k", "choice", "bbh_freeform", "triviaqa", "drop", "math", "oc/first_option", "evalscope/math"} {
		b.Run(id, func(b *testing.B) {
			s := mustNew(b, id, nil)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := s.Score(b.Context(), Answer{Text: text, FinishReason: "length"}, it); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
