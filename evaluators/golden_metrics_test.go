package evaluators

import (
	"strings"

	"ais_bench/evaluators/oc"
	"ais_bench/evaluators/textmetrics"
)

func (r goldenRow) listOf(v any) [][]string {
	var out [][]string
	for _, e := range v.([]any) {
		out = append(out, spans(e))
	}
	return out
}

func rougeParts(m textmetrics.Rouge, scale float64, withSum bool) any {
	out := map[string]float64{"rouge1": scale * m.R1.F, "rouge2": scale * m.R2.F, "rougeL": scale * m.RL.F}
	if withSum {
		out["rougeLsum"] = scale * m.RLsum.F
	}
	return out
}

func google(stem bool) goldenFunc {
	return func(r goldenRow) any { return rougeParts(textmetrics.RougeScore(r.ref(), r.text(), stem), 1, true) }
}

func corpusBLEU(tok textmetrics.BLEUTokenizer) goldenFunc {
	return func(r goldenRow) any {
		preds := spans(r.Input)
		streams := r.listOf(r.Reference) // one list of references per reference stream
		refs := make([][]string, len(preds))
		for _, stream := range streams {
			for i := range preds {
				refs[i] = append(refs[i], stream[i])
			}
		}
		return textmetrics.CorpusBLEU(preds, refs, tok)
	}
}

const (
	esRouge = "evalscope/evalscope/metrics/utils/bundled_rouge_score/rouge_scorer.py:RougeScorer.score (= google rouge_score; default tokenizer, "
	aisBLEU = "sacrebleu.corpus_bleu(2.6.0) via benchmark/ais_bench/benchmark/openicl/icl_evaluator/hf_metrics/sacrebleu.py semantics"
)

var goldenMetrics = map[string]goldenFunc{
	lmLong + "qa_f1_score":                               func(r goldenRow) any { return textmetrics.TokenF1(r.ref(), r.text()).F },
	lmLong + "qa_f1_zh_score (jieba 0.42.1)":             func(r goldenRow) any { return chineseF1(r.ref(), r.text()) },
	lmLong + "code_sim_score":                            func(r goldenRow) any { return textmetrics.CodeSimilarity(r.ref(), r.text()) },
	lmLong + "rouge_score (pltrdy rouge, rouge-l f)":     func(r goldenRow) any { return textmetrics.RougeL(r.ref(), r.text()).F },
	lmLong + "rouge_zh_score (jieba + pltrdy rouge-l f)": func(r goldenRow) any { return chineseRougeL(r.ref(), r.text()) },
	esRouge + "no stemmer; f-measures)":                  google(false),
	esRouge + "use_stemmer=True; f-measures)":            google(true),
	"benchmark/ais_bench/benchmark/openicl/icl_evaluator/icl_jieba_rouge_evaluator.py:JiebaRougeEvaluator.score (rouge_chinese + jieba 0.42.1)": func(r goldenRow) any {
		return rougeParts(chineseRouge(r.ref(), r.text()), 100, false)
	},
	"opencompass/opencompass/datasets/flores.py:flores_postprocess_chinese": func(r goldenRow) any {
		return segmented(strings.Join(strings.Fields(oc.XSum(r.text())), " "))
	},
	aisBLEU + "[13a]":         corpusBLEU(textmetrics.Tok13a),
	aisBLEU + "[tokenize=zh]": corpusBLEU(textmetrics.TokZh),
}
