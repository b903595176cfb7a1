package evaluators

import (
	"context"
	"strings"

	"ais_bench/evaluators/textmetrics"
)

// textScorers compare free text with reference texts.
var textScorers = []entry{
	{"rouge", "1", "ROUGE-L F (Google's definition) of the reply, best over references; rouge1, rouge2, rougeL, rougeLsum are parts; option first_line grades the first line only, stem applies Porter's stemmer", []string{"first_line", "stem"}, newRouge},
	{"rouge_zh", "1", "ROUGE-L F over Chinese words, best over references; rouge1, rouge2, rougeL are parts", []string{"first_line"}, newRougeZH},
	{"bleu", "1", "BLEU (sacreBLEU, tokenizer 13a) per reply as the score; the set's corpus BLEU is metric bleu; option tokenize: zh for Chinese", []string{"tokenize", "first_line"}, newBLEU},
	{"anls", "1", "average normalised Levenshtein similarity, 0 below 0.5, best over references", nil, bestOf(func(ref, pred string) float64 { return textmetrics.ANLS([]string{ref}, pred) })},
	{"code_sim", "1", "similarity of the first code line with the gold line (fuzz.ratio)", nil, bestOfRaw(textmetrics.CodeSimilarity)},
	{"f1", "1", "SQuAD token F1 of the reply, best over references", []string{"first_line"}, bestOf(func(ref, pred string) float64 { return textmetrics.TokenF1(ref, pred).F })},
}

// bestRouge keeps the reference with the best ROUGE-L.
func bestRouge(m meta, first bool, measure func(ref, pred string) textmetrics.Rouge, withSum bool) Scorer {
	return scoreFunc{m, func(a Answer, it Item) Verdict {
		text, v, done := gradable(a, nil)
		if done {
			return v
		}
		if first {
			text = firstLine(text)
		}
		var best textmetrics.Rouge
		for i, ref := range it.References() {
			if r := measure(ref, text); i == 0 || r.RL.F > best.RL.F {
				best = r
			}
		}
		parts := map[string]float64{"rouge1": best.R1.F, "rouge2": best.R2.F, "rougeL": best.RL.F}
		if withSum {
			parts["rougeLsum"] = best.RLsum.F
		}
		return graded(text, best.RL.F, parts)
	}}
}

func newRouge(m meta, o *options) (Scorer, error) {
	stem := o.flag("stem", false)
	return bestRouge(m, o.flag("first_line", false), func(ref, pred string) textmetrics.Rouge {
		return textmetrics.RougeScore(ref, pred, stem)
	}, true), nil
}

func newRougeZH(m meta, o *options) (Scorer, error) {
	return bestRouge(m, o.flag("first_line", false), chineseRouge, false), nil
}

// chineseRouge is ROUGE over segmented Chinese.
func chineseRouge(ref, pred string) textmetrics.Rouge {
	return textmetrics.RougeChinese(segmented(ref), segmented(pred))
}

// chineseRougeL is LongBench's ROUGE-L F over segmented Chinese.
func chineseRougeL(ref, pred string) float64 {
	return textmetrics.RougeL(segmented(ref), segmented(pred)).F
}

func segmented(s string) string { return strings.Join(textmetrics.SegmentChinese(s), " ") }

// bleuScorer scores replies one by one, and the set as a corpus.
type bleuScorer struct {
	meta
	tok   textmetrics.BLEUTokenizer
	first bool
}

func newBLEU(m meta, o *options) (Scorer, error) {
	s := bleuScorer{meta: m, tok: textmetrics.Tok13a, first: o.flag("first_line", false)}
	switch v := o.text("tokenize", "13a"); v {
	case "13a":
	case "zh":
		s.tok = textmetrics.TokZh
	case "none":
		s.tok = textmetrics.TokNone
	default:
		o.bad("tokenize", "13a, zh or none")
	}
	return s, nil
}

func (s bleuScorer) Score(_ context.Context, a Answer, it Item) (Verdict, error) {
	text, v, done := gradable(a, nil)
	if done {
		return v, nil
	}
	if s.first {
		text = firstLine(text)
	}
	return graded(text, textmetrics.SentenceBLEU(text, it.References(), s.tok)/100, nil), nil
}

// Aggregate is the corpus BLEU of the set on sacreBLEU's scale of 0 to 100, when
// every verdict came with its references. A failed or empty answer counts as an
// empty translation.
func (s bleuScorer) Aggregate(scored []Scored) map[string]float64 {
	preds, refs := make([]string, len(scored)), make([][]string, len(scored))
	for i, v := range scored {
		if len(v.References) == 0 {
			return nil
		}
		preds[i], refs[i] = v.Verdict.Extracted, v.References
	}
	return map[string]float64{"bleu": textmetrics.CorpusBLEU(preds, refs, s.tok)}
}
