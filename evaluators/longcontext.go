package evaluators

import (
	"strings"

	"ais_bench/evaluators/lmeval"
	"ais_bench/evaluators/mathstring"
	"ais_bench/evaluators/oc"
	"ais_bench/evaluators/textmetrics"
)

// longContextScorers grade LongBench, L-Eval, NeedleBench and RULER.
var longContextScorers = []entry{
	{"longbench_qa_f1", "1", "SQuAD token F1 between the reply and a reference, best over references", []string{"first_line"}, bestOf(func(ref, pred string) float64 { return textmetrics.TokenF1(ref, pred).F })},
	{"longbench_qa_f1_zh", "1", "token F1 over Chinese words, without punctuation, best over references", []string{"first_line"}, bestOf(chineseF1)},
	{"longbench_rouge", "1", "ROUGE-L F of whitespace tokens, best over references", []string{"first_line"}, bestOf(func(ref, pred string) float64 { return textmetrics.RougeL(ref, pred).F })},
	{"longbench_rouge_zh", "1", "ROUGE-L F of Chinese words, best over references", []string{"first_line"}, bestOf(chineseRougeL)},
	{"longbench_count", "1", "share of the reply's numbers that are the gold", []string{"first_line"}, bestOf(func(ref, pred string) float64 { return lmeval.NumberShare(pred, strings.TrimSpace(ref)) })},
	{"longbench_retrieval", "1", "share of the reply's numbers that are the gold's paragraph number (\"Paragraph N\")", []string{"first_line"}, bestOf(retrieval("Paragraph "))},
	{"longbench_retrieval_zh", "1", "share of the reply's numbers that are the gold's paragraph number (段落N)", []string{"first_line"}, bestOf(retrieval("段落"))},
	{"longbench_code_sim", "1", "similarity of the first code line with the gold line (fuzz.ratio)", nil, bestOfRaw(textmetrics.CodeSimilarity)},
	{"longbench_classification", "1", "one over the number of class names (column all_classes) the reply names if the gold is among them; a name inside a longer one that is named does not count", []string{"first_line"}, newClassification(classShare)},
	{"lmeval/longbench_classification", "1", "lm-evaluation-harness: as published, where dropping a name lets its neighbour escape", []string{"first_line"}, newClassification(lmeval.Classification)},

	{"leval_em", "1", "the reply's short answer equals the reference or holds it as whole words, without letter case and punctuation", nil, newAliases},
	{"leval_choice", "1", "choice, also with several right answers (see choice)", []string{"labels", "multiple"}, newChoice},
	{"leval_gsm100", "1", "as gsm8k", nil, func(m meta, _ *options) (Scorer, error) { return numberRule(m), nil }},
	{"leval_rouge", "1", "ROUGE-L F, best over references; rouge1 and rouge2 are parts", nil, newRouge},
	{"leval_scifi", "1", "true or false before \"[fact:\" equals the reference's; part loyalty", nil, newSciFi},
	{"leval_codeu", "1", "the reply's last or first words, as many as the reference has plus three, hold the reference, blanks and quotes ignored", nil, newCodeU},
	{"oc/leval_em", "1", "OpenCompass's LEvalEMEvaluator: the reply up to its first comma, full stop or newline holds the reference", nil,
		ocQA(func(s string) string { return s }, func(pred string, refs []string) bool {
			for _, ref := range refs {
				if oc.LEvalContains(pred, ref) {
					return true
				}
			}
			return false
		})},
	{"oc/leval_gsm100", "1", "AISBench's rule: the digits of the first word with a digit behind \"The answer is\"", nil,
		ocQA(oc.LEvalGSM100, func(pred string, refs []string) bool {
			for _, ref := range refs {
				if pred == strings.ReplaceAll(ref, ",", "") {
					return true
				}
			}
			return false
		})},

	{"needlebench", "1", "the keyword of the reference \"sentence*keyword\" (or the reference itself) occurs in the reply, letter case ignored", nil,
		func(m meta, _ *options) (Scorer, error) {
			return rule{meta: m,
				extract: func(text string, _ Item) (string, bool) { return text, true },
				equal: func(got string, it Item) bool {
					return anyReference(it, func(ref string) bool {
						sentence, keyword, has := strings.Cut(ref, "*")
						if !has {
							keyword = sentence
						}
						return keyword != "" && strings.Contains(strings.ToLower(got), strings.ToLower(keyword))
					})
				}}, nil
		}},
	{"needlebench_parallel", "1", "share of the keywords of \"k1*k2…#d1*d2…\" that occur in the reply; parts by depth", nil, newNeedleParallel},
	{"needlebench_atc", "1", "the name in the last \\boxed{} equals the reference", nil,
		func(m meta, _ *options) (Scorer, error) {
			return rule{meta: m,
				extract: func(text string, _ Item) (string, bool) {
					s, ok := mathstring.LastBoxed(text)
					return trimAnswer(strings.TrimPrefix(s, `\text`)), ok
				},
				equal: func(got string, it Item) bool {
					return anyReference(it, func(ref string) bool { return answerKey(got) == answerKey(ref) })
				}}, nil
		}},
	{"oc/needlebench", "1", "NeedleBench's published score: 1 for the keyword, else a fifth of the similarity in edits", nil,
		func(m meta, _ *options) (Scorer, error) {
			return scoreFunc{m, func(a Answer, it Item) Verdict {
				text, v, done := gradable(a, oc.NonReasoning)
				if done {
					return v
				}
				best := 0.0
				for _, ref := range it.References() {
					best = max(best, oc.NeedleOrigin(text, ref))
				}
				return graded(text, best, nil)
			}}, nil
		}},
	{"ruler", "1", "share of the references the reply holds, letter case ignored (string_match_all); option match: part counts one as all, as for the question-answering tasks", []string{"match"},
		func(m meta, o *options) (Scorer, error) {
			match := lmeval.RulerAll
			switch v := o.text("match", "all"); v {
			case "all":
			case "part":
				match = lmeval.RulerPart
			default:
				o.bad("match", "all or part")
			}
			return scoreFunc{m, func(a Answer, it Item) Verdict {
				text, v, done := gradable(a, nil)
				if done {
					return v
				}
				return graded(lmeval.RulerClean(text), match(text, it.References()), nil)
			}}, nil
		}},
}

// bestOf grades by a share, the best over references.
func bestOf(share func(ref, pred string) float64) func(meta, *options) (Scorer, error) {
	return bestShare(share, StripThinking)
}

// bestOfRaw is bestOf with the reply's indentation kept.
func bestOfRaw(share func(ref, pred string) float64) func(meta, *options) (Scorer, error) {
	return bestShare(share, stripThoughts)
}

func bestShare(share func(ref, pred string) float64, clean func(string) string) func(meta, *options) (Scorer, error) {
	return func(m meta, o *options) (Scorer, error) {
		first := o.flag("first_line", false)
		return scoreFunc{m, func(a Answer, it Item) Verdict {
			text, v, done := gradable(a, clean)
			if done {
				return v
			}
			if first { // trec, triviaqa, samsum, lsht: a model that goes on with the next example is graded on its answer
				text = firstLine(text)
			}
			best := 0.0
			for _, ref := range it.References() {
				best = max(best, share(ref, text))
			}
			return graded(text, best, nil)
		}}, nil
	}
}

func retrieval(prefix string) func(ref, pred string) float64 {
	return func(ref, pred string) float64 {
		s, ok := lmeval.Retrieval(pred, ref, prefix)
		if !ok {
			s = lmeval.NumberShare(pred, strings.TrimSpace(ref))
		}
		return s
	}
}

// chineseF1 is qa_f1_zh_score: F1 over words without punctuation and blanks.
func chineseF1(ref, pred string) float64 {
	words := func(s string) []string {
		var out []string
		for _, w := range textmetrics.SegmentChinese(s) {
			if w = strings.ReplaceAll(answerKeyWithArticles(w), " ", ""); w != "" {
				out = append(out, w)
			}
		}
		return out
	}
	return textmetrics.TokenF1Words(words(ref), words(pred)).F
}

func newClassification(share func(pred, gold string, classes []string) float64) func(meta, *options) (Scorer, error) {
	return func(m meta, o *options) (Scorer, error) {
		first := o.flag("first_line", false)
		return scoreFunc{m, func(a Answer, it Item) Verdict {
			text, v, done := gradable(a, nil)
			if done {
				return v
			}
			if first {
				text = firstLine(text)
			}
			classes, _ := asStrings(it.Fields["all_classes"])
			best := 0.0
			for _, ref := range it.References() {
				list := classes
				if len(list) == 0 {
					list = []string{ref}
				}
				best = max(best, share(text, ref, list))
			}
			return graded(text, best, nil)
		}}, nil
	}
}

// classShare counts the class names in a prediction that are not part of a
// longer name that is in it too.
func classShare(pred, gold string, classes []string) float64 {
	var found []string
	for _, c := range classes {
		if c != "" && containsWhole(strings.ToLower(pred), strings.ToLower(c)) {
			found = append(found, c)
		}
	}
	n, hit := 0, false
	for _, c := range found {
		inner := false
		for _, other := range found {
			inner = inner || len(other) > len(c) && strings.Contains(strings.ToLower(other), strings.ToLower(c))
		}
		if inner {
			continue
		}
		n++
		hit = hit || strings.EqualFold(c, gold)
	}
	if !hit {
		return 0
	}
	return 1 / float64(n)
}

// newSciFi grades L-Eval's SciFi: loyalty to the story (before "[fact:") and
// truth in the world (behind it), each "true" or "false".
func newSciFi(m meta, _ *options) (Scorer, error) {
	return scoreFunc{m, func(a Answer, it Item) Verdict {
		text, v, done := gradable(a, nil)
		if done {
			return v
		}
		loyal, _, _ := strings.Cut(strings.ToLower(text), "[fact:")
		want, _, _ := strings.Cut(strings.ToLower(it.Gold), "[fact:")
		t, f := containsWhole(loyal, "true"), containsWhole(loyal, "false")
		if t == f {
			return unreadable(a, "")
		}
		got := "false"
		if t {
			got = "true"
		}
		if containsWhole(want, got) {
			return Verdict{Outcome: Right, Extracted: got, Score: 1}
		}
		return Verdict{Outcome: Wrong, Extracted: got}
	}}, nil
}

// newCodeU grades L-Eval's CodeU, whose answers are printed values.
func newCodeU(m meta, _ *options) (Scorer, error) {
	key := func(s string) string {
		return strings.ToLower(strings.NewReplacer(" ", "", "\n", "", "\t", "", "'", "", "\"", "", "`", "", "*", "").Replace(s))
	}
	return rule{meta: m,
		extract: func(text string, it Item) (string, bool) {
			words, n := strings.Fields(text), len(strings.Fields(it.Gold))+3
			if len(words) <= n {
				return text, true
			}
			ends := strings.Join(words[len(words)-n:], " ")
			if strings.Contains(key(ends), key(it.Gold)) {
				return ends, true
			}
			return strings.Join(words[:n], " "), true
		},
		equal: func(got string, it Item) bool {
			return anyReference(it, func(ref string) bool { return key(ref) != "" && strings.Contains(key(got), key(ref)) })
		}}, nil
}

// newNeedleParallel grades several needles in one haystack.
func newNeedleParallel(m meta, _ *options) (Scorer, error) {
	return scoreFunc{m, func(a Answer, it Item) Verdict {
		text, v, done := gradable(a, nil)
		if done {
			return v
		}
		words, depths, _ := strings.Cut(it.Gold, "#")
		keys, at := strings.Split(words, "*"), strings.Split(depths, "*")
		parts, found := map[string]float64{}, 0.0
		for i, k := range keys {
			hit := 0.0
			if k != "" && strings.Contains(strings.ToLower(text), strings.ToLower(k)) {
				hit = 1
			}
			found += hit
			if i < len(at) && at[i] != "" {
				parts["Depth"+at[i]] = hit
			}
		}
		return graded(text, found/float64(len(keys)), parts)
	}}, nil
}
