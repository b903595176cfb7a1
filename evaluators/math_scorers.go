package evaluators

import (
	"strings"

	"ais_bench/evaluators/evalscope"
	"ais_bench/evaluators/lmeval"
	"ais_bench/evaluators/mathequiv"
	"ais_bench/evaluators/mathstring"
	"ais_bench/evaluators/oc"
)

// mathScorers grade answers that are mathematics.
var mathScorers = []entry{
	{"math", mathequiv.Version, "the last \\boxed answer, else the text behind the last final-answer phrase, else the last formula or number; equal as exact mathematics (fractions, surds, sets, intervals, tuples, matrices, units, percentages); a rounded decimal is not an exact value", nil,
		func(m meta, _ *options) (Scorer, error) { return mathRule(m, false), nil }},
	{"aime", mathequiv.Version, "as math, for competition answers that are integers: leading zeros mean nothing", nil,
		func(m meta, _ *options) (Scorer, error) { return mathRule(m, true), nil }},
	{"dapo_math", mathequiv.Version, "as math; the line behind the last \"Answer:\" counts as the final answer where nothing is boxed", nil,
		func(m meta, _ *options) (Scorer, error) { return mathRule(m, false), nil }},

	{"oc/math", "1", "OpenCompass's and AISBench's math_postprocess_v2 and MATHEvaluator version v2: boxed text, else the sentence with \"answer is\"; strings after LaTeX normalisation", nil,
		mathStrings(oc.NonReasoning, mathstring.OCPostprocessV2, func(got, ref string) bool { return mathstring.OCEqual(got, ref, mathstring.StripV2) })},
	{"oc/math_v1", "1", "OpenCompass's math_postprocess_v2 and MATHEvaluator version v1 (Hendrycks's string rules)", nil,
		mathStrings(oc.NonReasoning, mathstring.OCPostprocessV2, func(got, ref string) bool { return mathstring.OCEqual(got, ref, mathstring.StripHendrycks) })},
	{"oc/math_verify", "1", "AISBench's and OpenCompass's math_verify profile: only the last box or, without one, LaTeX between dollar signs is read (a plain \"The answer is 5\" is not); lists keep their order; compared as exact mathematics where the original asks sympy", nil,
		mathStrings(oc.NonReasoning, mathstring.VerifyExtract, mathstring.VerifyEqual)},
	{"lmeval/hendrycks_math", "1", "lm-evaluation-harness hendrycks_math: the text between the first and the last dollar sign; Hendrycks's string rules. A boxed answer between dollar signs never matches", nil,
		mathStrings(lmeval.AfterThinking, mathstring.LMAnswer, mathstring.LMEqual)},
	{"lmeval/aime", "1", "lm-evaluation-harness aime: the boxed text, else the text between dollar signs; Hendrycks's string rules", nil,
		mathStrings(lmeval.AfterThinking, mathstring.LMAimeAnswer, mathstring.LMEqual)},
	{"lmeval/minerva_math", "1", "lm-evaluation-harness minerva_math: \"Final Answer: The final answer is … . I hope it is correct.\", normalised; equal strings or mathematics", nil,
		mathStrings(lmeval.AfterThinking, func(text string) string {
			if s := mathstring.MinervaAnswer(text); s != mathstring.MinervaNone {
				return mathstring.MinervaNormalize(s)
			}
			return ""
		}, func(got, ref string) bool {
			ref = mathstring.MinervaNormalize(ref)
			if got == ref {
				return true
			}
			same, _ := mathequiv.Equal(ref, got)
			return same
		})},
	{"evalscope/math", "1", "evalscope's MathAcc (Qwen2.5-Math): boxed text or final-answer phrase or last number; numbers within 1e-4, also a hundredth or a hundred times the reference", nil,
		mathStrings(evalscope.Thinking, mathstring.ESExtract, func(got, ref string) bool {
			return mathstring.ESEqual(mathstring.ESStrip(got), mathstring.ESStrip(ref))
		})},
	{"evalscope/gsm8k", "1", "evalscope's GSM8K: evalscope/math", nil,
		mathStrings(evalscope.Thinking, mathstring.ESExtract, func(got, ref string) bool {
			return mathstring.ESEqual(mathstring.ESStrip(got), mathstring.ESStrip(ref))
		})},
	{"evalscope/aime", "1", "evalscope's AIME grader (PRM800K): integers must be integers, fractions reduced", nil,
		mathStrings(evalscope.Thinking, mathstring.ESExtract, mathstring.PRM800KEqual)},
	{"oc/dapo_math", "1", "AISBench's DAPO rule, mode minerva: the line behind the last \"Answer:\", normalised; equal strings", nil,
		mathStrings(oc.NonReasoning, func(text string) string {
			if s := mathstring.DapoMinerva(text); s != mathstring.DapoNone {
				return s
			}
			return ""
		}, func(got, ref string) bool { return got == mathstring.MinervaNormalize(ref) })},
	{"oc/dapo_math_box", "1", "AISBench's DAPO rule, strict box: the box within the last 100 characters; equal strings", nil,
		mathStrings(oc.NonReasoning, mathstring.DapoBox, func(got, ref string) bool { return got == ref })},
}

// mathStrings pairs a published extraction with a published comparison.
func mathStrings(clean, extract func(string) string, equal func(got, ref string) bool) func(meta, *options) (Scorer, error) {
	return func(m meta, _ *options) (Scorer, error) {
		return rule{meta: m, clean: clean,
			extract: func(text string, _ Item) (string, bool) { s := extract(text); return s, s != "" },
			equal: func(got string, it Item) bool {
				return anyReference(it, func(ref string) bool { return equal(got, mathGold(ref)) })
			}}, nil
	}
}

// mathGold reduces a worked solution to its boxed or #### answer; a reference
// that is an answer stays as it is.
func mathGold(ref string) string {
	if strings.Contains(ref, `\boxed`) || strings.Contains(ref, `\fbox`) {
		if s, ok := mathstring.LastBoxed(ref); ok {
			return s
		}
	}
	if i := strings.LastIndex(ref, "####"); i >= 0 {
		return strings.TrimSpace(ref[i+len("####"):])
	}
	return ref
}

// mathRule is the default mathematics scorer. Its Detail says why two answers
// are or are not the same.
func mathRule(m meta, integers bool) Scorer {
	return scoreFunc{m, func(a Answer, it Item) Verdict {
		text, v, done := gradable(a, nil)
		if done {
			return v
		}
		got, ok := mathequiv.Extract(beforeNextQuestion(text))
		if !ok {
			return unreadable(a, got)
		}
		why := ""
		for _, ref := range it.References() {
			gold := mathGold(ref)
			if integers {
				if want, isNumber := plainNumber(strings.TrimSpace(gold)); isNumber {
					if have, isNumber := plainNumber(strings.Trim(got, " $.")); isNumber && sameNumber(have.value, want.value) {
						return Verdict{Outcome: Right, Extracted: got, Score: 1}
					}
				}
			}
			equal, reason := mathequiv.Equal(gold, got)
			if equal {
				return Verdict{Outcome: Right, Extracted: got, Score: 1, Detail: reason}
			}
			why = reason
		}
		return Verdict{Outcome: Wrong, Extracted: got, Detail: why}
	}}
}
