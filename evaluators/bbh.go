package evaluators

import (
	"strings"

	"ais_bench/evaluators/evalscope"
	"ais_bench/evaluators/lmeval"
	"ais_bench/evaluators/oc"
)

// bbhScorers grade BIG-Bench Hard.
var bbhScorers = []entry{
	{"bbh_mcq", "1", "choice over the options of the question, \"(B)\" or \"B\" as gold (see choice)", nil,
		func(m meta, o *options) (Scorer, error) {
			return rule{meta: m,
				extract: func(text string, it Item) (string, bool) { return bbhChoices(it).extract(text) },
				equal: func(got string, it Item) bool {
					c := bbhChoices(it)
					return anyReference(it, func(ref string) bool {
						want, ok := c.goldLabel(strings.Trim(strings.TrimSpace(ref), "()"))
						return ok && got == want
					})
				}}, nil
		}},
	{"bbh_freeform", "1", "what follows the last \"answer is\" (or another explicit marker, or a reply of one line); compared without letter case, emphasis, quotes, a final full stop and commas between words; numbers as numbers, brackets without blanks, yes/no/true/false/valid/invalid by the first word", nil,
		func(m meta, _ *options) (Scorer, error) {
			return rule{meta: m,
				extract: func(text string, it Item) (string, bool) { return freeform(text) },
				equal: func(got string, it Item) bool {
					return anyReference(it, func(ref string) bool { return freeformEqual(got, ref) })
				}}, nil
		}},
	{"oc/bbh_mcq", "1", "AISBench's and OpenCompass's rule: behind the FIRST \"answer is \", the first bracketed capital, else the first capital, else the text; applied to the gold too", nil,
		bbhStrings(oc.BBHChoice, oc.BBHChoice, false)},
	{"oc/bbh_freeform", "1", "AISBench's rule: the line behind the FIRST \"answer is \" without a final full stop, or what stands between **; equal strings", nil,
		bbhStrings(oc.BBHFreeform, func(s string) string { return s }, false)},
	{"oc/bbh_freeform_2026", "1", "OpenCompass's rule since 2026: the line behind the LAST \"answer is\", yes/no/true/false alone, commas between words removed, letter case ignored; applied to the gold too", nil,
		bbhStrings(oc.BBHFreeform2026, oc.BBHFreeform2026, true)},
	{"lmeval/bbh", "1", "lm-evaluation-harness bbh_cot_fewshot: the rest of the line behind \"the answer is \" without its last character; equal strings", nil,
		bbhStrings(lmeval.BBHCoT, func(s string) string { return s }, false)},
	{"evalscope/bbh_mcq", "1", "evalscope's multiple-choice rule", nil, bbhStrings(evalscope.BBHChoice, evalscope.BBHChoice, false)},
	{"evalscope/bbh_freeform", "1", "evalscope's free-form rule: the line behind the last \"So the answer is \"", nil,
		bbhStrings(evalscope.BBHFreeform, func(s string) string { return s }, false)},
}

// bbhStrings compares strings that went through published rules.
func bbhStrings(pred, gold func(string) string, fold bool) func(meta, *options) (Scorer, error) {
	return func(m meta, _ *options) (Scorer, error) {
		return rule{meta: m, clean: oc.NonReasoning, lax: true,
			extract: func(text string, _ Item) (string, bool) {
				s := pred(text)
				return s, s != "" && s != lmeval.Invalid
			},
			equal: func(got string, it Item) bool {
				return anyReference(it, func(ref string) bool {
					want := gold(ref)
					return got == want || fold && strings.EqualFold(got, want)
				})
			}}, nil
	}
}

// bbhChoices reads the options out of the question ("Options:\n(A) …").
func bbhChoices(it Item) choices {
	question := it.fieldText("input")
	if question == "" {
		question = it.fieldText("question")
	}
	if i := strings.LastIndex(question, "Options:"); i >= 0 {
		question = question[i:]
	} else {
		question = ""
	}
	var texts []string
	for _, t := range lmeval.ChoicesOf(question) {
		texts = append(texts, strings.TrimSpace(t))
	}
	c := choices{texts: texts}
	n := len(texts)
	if n < 2 {
		c.texts, n = nil, 18 // the task with most options has 18
	}
	c.labels = letters(n)
	return c
}

// freeform is the text a reply gives as its answer: behind the last marker to
// the end of the line or, for a reply of one line without a marker, the reply.
func freeform(text string) (string, bool) {
	text = beforeNextQuestion(text)
	marks := latest(finalMarkers(text))
	for i := len(marks) - 1; i >= 0; i-- {
		s := strings.TrimSpace(markedRegion(text, marks[i]))
		s = strings.TrimSpace(strings.TrimLeft(s, ":："))
		if j := strings.Index(s, `\boxed{`); j >= 0 {
			s = markedRegion(s, j+len(`\boxed{`))
		}
		if trimmed := trimAnswer(s); trimmed != "" {
			return trimmed, true
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := trimAnswer(lines[len(lines)-1])
	if last == "" || len(lines) > 1 && len(strings.Fields(last)) > 12 {
		return "", false
	}
	return last, true
}

// trimAnswer removes emphasis, quotes and a final full stop around an answer.
func trimAnswer(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.Index(s, "**"); i == 0 {
		if j := strings.Index(s[2:], "**"); j > 0 {
			s = s[2 : 2+j]
		}
	}
	for {
		before := s
		s = strings.TrimSpace(strings.Trim(s, "*_`\"“”$"))
		s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(s, "."), "。"))
		if len(s) > 1 && s[0] == '\'' && s[len(s)-1] == '\'' {
			s = s[1 : len(s)-1]
		}
		if s == before {
			return s
		}
	}
}

// closedWords are the golds of the yes/no-like subtasks.
var closedWords = map[string]bool{"yes": true, "no": true, "true": true, "false": true, "valid": true, "invalid": true}

func freeformEqual(got, ref string) bool {
	g, r := freeformKey(got), freeformKey(ref)
	if g == r {
		return true
	}
	if closedWords[r] {
		word := g
		if i := strings.IndexFunc(g, func(c rune) bool { return !isLatin(c) }); i >= 0 {
			word = g[:i]
		}
		return word == r
	}
	if onlyBrackets(r) {
		return strings.ReplaceAll(g, " ", "") == strings.ReplaceAll(r, " ", "")
	}
	want, ok := plainNumber(r)
	if !ok {
		return false
	}
	have, ok := finalNumber(got)
	return ok && len(numbersIn(got)) == 1 && sameNumber(have.value, want.value)
}

// plainNumber is s as one number and nothing else.
func plainNumber(s string) (number, bool) {
	all := numbersIn(s)
	if len(all) != 1 || strings.TrimSpace(s[:all[0].start]+s[all[0].end:]) != "" {
		return number{}, false
	}
	return all[0], true
}

func freeformKey(s string) string {
	s = strings.ToLower(trimAnswer(s))
	if _, isNumber := plainNumber(s); !isNumber {
		s = strings.ReplaceAll(s, ",", " ")
	}
	return strings.Join(strings.Fields(s), " ")
}

func onlyBrackets(s string) bool {
	return s != "" && strings.Trim(s, "()[]{}<> ") == ""
}
