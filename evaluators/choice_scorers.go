package evaluators

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlclark/regexp2"

	"ais_bench/evaluators/evalscope"
	"ais_bench/evaluators/lmeval"
	"ais_bench/evaluators/oc"
)

// choiceScorers grade questions with lettered options.
var choiceScorers = []entry{
	{"choice", "1", "the option of the last explicit announcement (answer is, Answer:, 答案, \\boxed, correct option …), else a reply that is itself a label or names one option's text; brackets, Markdown, full-width forms and lower-case letters are read; a letter in running prose is never an answer", []string{"labels", "multiple"}, newChoice},
	{"mmlu_pro", "1", "choice over the up to ten options of a question (see choice)", []string{"labels"}, newChoice},
	{"gpqa", "1", "choice over A to D (see choice): the last announcement wins and Markdown is read through", []string{"labels"}, newChoice},
	{"custom_mcq", "1", "choice over the options of a custom file (columns A, B, …), whose answer column may hold the letter or the option's text", []string{"labels", "multiple"}, newChoice},

	{"oc/first_option", "1", "OpenCompass's and AISBench's first_option_postprocess: about fifty searches in a fixed order, of the first match the letter that comes first in options; equality with the gold", []string{"labels", "cushion"},
		func(m meta, o *options) (Scorer, error) {
			cushion := o.flag("cushion", true)
			return ocChoice(m, o, func(text, options string) string { return oc.FirstOption(text, options, cushion) }), nil
		}},
	{"oc/first_option_v1", "1", "oc/first_option over the last 200 characters", []string{"labels"},
		func(m meta, o *options) (Scorer, error) { return ocChoice(m, o, oc.FirstOptionV1), nil }},
	{"oc/last_option", "1", "AISBench's last_option_postprocess: the last option letter anywhere in the text", []string{"labels"},
		func(m meta, o *options) (Scorer, error) { return ocChoice(m, o, oc.LastOption), nil }},
	{"oc/first_capital", "1", "AISBench's first_capital_postprocess: the first upper-case letter of the text, whatever word it begins", nil, ocLetter(oc.FirstCapital)},
	{"oc/last_capital", "1", "AISBench's last_capital_postprocess: the last upper-case letter of the text", nil, ocLetter(oc.LastCapital)},
	{"oc/first_capital_multi", "1", "AISBench's first-capital-multi: the first run of the letters A to D", nil, ocLetter(oc.FirstCapitalMulti)},
	{"oc/multiple_select", "1", "AISBench's multiple-select: the set of all upper-case letters of the text", nil, ocLetter(oc.MultipleSelect)},
	{"oc/match_answer", "1", "OpenCompass's match_answer_pattern: group 1 of the first match of option pattern (Python syntax)", []string{"pattern"}, newMatchAnswer},
	{"oc/cmmlu", "1", "AISBench's CMMLU rule: the letter behind the first 答案 with an ASCII colon", nil,
		func(m meta, o *options) (Scorer, error) { return matchAnswer(m, `(?i)答案\s*:\s*[\W]*([A-D])[\W]*`) }},
	{"oc/mmlu_pro", "1", "AISBench's 0-shot MMLU-Pro rule: the letter of the first \"ANSWER: X\" (A to P, any letter case), nothing but blanks before it", nil, ocLetter(func(text string) string { s, _ := oc.LabelledAnswer(text, "ABCDEFGHIJKLMNOP"); return s })},
	{"oc/mmlu_pro_5shot", "1", "AISBench's 5-shot MMLU-Pro rule: the first line equals the letter or the text of the reference \"X. text\"; texts that hold \". \" can never match", nil,
		func(m meta, _ *options) (Scorer, error) {
			return rule{meta: m, clean: oc.NonReasoning,
				extract: func(text string, _ Item) (string, bool) { return strings.TrimSpace(firstLine(text)), true },
				equal: func(got string, it Item) bool {
					return anyReference(it, func(ref string) bool {
						if c := choicesOf(it, nil); len(ref) == 1 && c.textOf(ref) != "" {
							ref += ". " + c.textOf(ref)
						}
						return oc.MMLUProEqual(got, ref)
					})
				}}, nil
		}},
	{"oc/gpqa", "1", "AISBench's GPQA rule: the letter of the last \"ANSWER: X\" in any letter case, nothing but blanks before it", nil, ocLetter(func(text string) string { s, _ := oc.GPQALast(text); return s })},
	{"oc/gpqa_first", "1", "OpenCompass's GPQA rule: the letter of the first \"ANSWER: X\"", nil, ocLetter(func(text string) string { s, _ := oc.GPQAFirst(text); return s })},

	{"lmeval/mmlu_pro", "1", "lm-evaluation-harness mmlu_pro and the official script's first rule: the letter of the first \"answer is (X)\"", nil, lmevalLetter(lmeval.MMLUPro)},
	{"lmeval/gpqa-strict", "1", "lm-evaluation-harness gpqa strict-match: the rest of the line behind \"The answer is \" without its last character", nil, lmevalLetter(lmeval.GPQAStrict)},
	{"lmeval/gpqa-flexible", "1", "lm-evaluation-harness gpqa flexible-extract: the last bracketed capital, else a choice's text, else a letter behind a colon", nil,
		func(m meta, _ *options) (Scorer, error) {
			f := lmeval.ChoiceFilter{Last: true, IgnoreCase: true, IgnorePunctuation: true}
			r := lmevalLetterRule(m, nil)
			r.extract = func(text string, it Item) (string, bool) {
				s := f.Find(text, choicesOf(it, nil).texts)
				return s, s != lmeval.Invalid
			}
			return r, nil
		}},
	{"lmeval/mmlu_generative", "1", "lm-evaluation-harness mmlu_generative: the first line, compared without letter case and punctuation", nil,
		func(m meta, _ *options) (Scorer, error) {
			same := lmeval.ExactMatch{IgnoreCase: true, IgnorePunctuation: true}
			return rule{meta: m, clean: lmeval.AfterThinking,
				extract: func(text string, _ Item) (string, bool) { return lmeval.MMLUGenerative(text), true },
				equal: func(got string, it Item) bool {
					return anyReference(it, func(ref string) bool { return same.Equal(got, ref) })
				}}, nil
		}},

	{"evalscope/choice", "1", "evalscope parse_answers: the label behind the last usable \"ANSWER:\", else the text's last upper-case letter", []string{"labels", "multiple"}, evalscopeChoice(evalscope.ParseAnswers)},
	{"evalscope/choice_zh", "1", "evalscope parse_answers_zh: the label behind the last usable 答案：, else the text's last upper-case letter", []string{"labels", "multiple"}, evalscopeChoice(evalscope.ParseAnswersZH)},
	{"evalscope/ceval", "1", "evalscope's C-Eval rule: the letter of the last 答案：X with a full-width colon", nil,
		func(m meta, _ *options) (Scorer, error) {
			r := letterRule(m, evalscope.CEval)
			r.clean = evalscope.Thinking
			return r, nil
		}},
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// newChoice builds the default choice scorer.
func newChoice(m meta, o *options) (Scorer, error) {
	labels, multiple := o.list("labels"), o.flag("multiple", false)
	return rule{meta: m,
		extract: func(text string, it Item) (string, bool) {
			c := choicesOf(it, labels)
			if multiple {
				return c.extractMultiple(text)
			}
			return c.extract(text)
		},
		equal: func(got string, it Item) bool {
			c := choicesOf(it, labels)
			return anyReference(it, func(ref string) bool {
				if multiple {
					want := c.readLabels(strings.TrimSpace(ref), 0)
					return len(want) > 0 && got == strings.Join(want, "")
				}
				want, ok := c.goldLabel(ref)
				return ok && got == want
			})
		}}, nil
}

// letterRule compares an extracted letter with the gold as a string.
func letterRule(m meta, extract func(string) string) rule {
	return rule{meta: m, clean: oc.NonReasoning, lax: true,
		extract: func(text string, _ Item) (string, bool) { s := extract(text); return s, s != "" },
		equal:   func(got string, it Item) bool { return slices.Contains(it.References(), got) }}
}

func ocLetter(extract func(string) string) func(meta, *options) (Scorer, error) {
	return func(m meta, _ *options) (Scorer, error) { return letterRule(m, extract), nil }
}

// ocChoice is a letter rule that knows the item's labels.
func ocChoice(m meta, o *options, extract func(text, options string) string) Scorer {
	labels := o.list("labels")
	r := letterRule(m, nil)
	r.extract = func(text string, it Item) (string, bool) {
		s := extract(text, strings.Join(choicesOf(it, labels).labels, ""))
		return s, s != ""
	}
	return r
}

func newMatchAnswer(m meta, o *options) (Scorer, error) {
	p := o.text("pattern", "")
	if p == "" {
		return nil, fmt.Errorf("option pattern is missing: give a Python regular expression with one group")
	}
	return matchAnswer(m, p)
}

// matchAnswer applies a regular expression in Python's syntax; the engine has
// Unicode classes and look-around, and a time limit against patterns that
// backtrack without end.
func matchAnswer(m meta, pattern string) (Scorer, error) {
	find, err := patternGroup(pattern)
	if err != nil {
		return nil, err
	}
	return letterRule(m, find), nil
}

// patternGroup compiles a Python pattern to a function that gives group 1 of its
// first match, or "".
func patternGroup(pattern string) (func(string) string, error) {
	re, err := regexp2.Compile(pattern, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("option pattern: %w", err)
	}
	re.MatchTimeout = 5 * time.Second
	return func(text string) string {
		found, err := re.FindStringMatch(text)
		if err != nil || found == nil || found.GroupCount() < 2 {
			return ""
		}
		return found.GroupByNumber(1).String()
	}, nil
}

func lmevalLetter(extract func(string) string) func(meta, *options) (Scorer, error) {
	return func(m meta, _ *options) (Scorer, error) { return lmevalLetterRule(m, extract), nil }
}

// lmevalLetterRule compares with the gold letter, bracketed where the task's
// gold is.
func lmevalLetterRule(m meta, extract func(string) string) rule {
	return rule{meta: m, clean: lmeval.AfterThinking,
		extract: func(text string, _ Item) (string, bool) { s := extract(text); return s, s != lmeval.Invalid },
		equal: func(got string, it Item) bool {
			return anyReference(it, func(ref string) bool { return got == ref || got == "("+ref+")" })
		}}
}

func evalscopeChoice(parse func(string, []string, bool) []string) func(meta, *options) (Scorer, error) {
	return func(m meta, o *options) (Scorer, error) {
		labels, multiple := o.list("labels"), o.flag("multiple", false)
		return rule{meta: m, clean: evalscope.Thinking,
			extract: func(text string, it Item) (string, bool) {
				s := strings.Join(parse(text, choicesOf(it, labels).labels, multiple), "")
				return s, s != ""
			},
			equal: func(got string, it Item) bool { return slices.Contains(it.References(), got) }}, nil
	}
}
