package evaluators

import (
	"math"
	"strings"
	"unicode"

	"ais_bench/evaluators/evalscope"
	"ais_bench/evaluators/lmeval"
	"ais_bench/evaluators/numword"
	"ais_bench/evaluators/oc"
	"ais_bench/evaluators/pytext"
)

// qaScorers grade short free-text answers.
var qaScorers = []entry{
	{"exact", "1", "the whole reply, trimmed, equals a reference; options ignore letter case or punctuation, or compare the first line only", []string{"ignore_case", "ignore_punctuation", "first_line"},
		func(m meta, o *options) (Scorer, error) {
			same := lmeval.ExactMatch{IgnoreCase: o.flag("ignore_case", false), IgnorePunctuation: o.flag("ignore_punctuation", false)}
			first := o.flag("first_line", false)
			return rule{meta: m,
				extract: func(text string, _ Item) (string, bool) {
					if first {
						text = firstLine(text)
					}
					return strings.TrimSpace(text), true
				},
				equal: func(got string, it Item) bool {
					return anyReference(it, func(ref string) bool { return same.Equal(got, strings.TrimSpace(ref)) })
				}}, nil
		}},
	{"custom_qa", "1", "the text behind the last explicit marker, else the whole reply; equal to a reference without letter case, punctuation, articles and extra blanks, or as a number", nil,
		func(m meta, _ *options) (Scorer, error) {
			return rule{meta: m,
				extract: func(text string, _ Item) (string, bool) {
					if s, ok := markedAnswer(text); ok {
						return s, true
					}
					return strings.TrimSpace(text), true
				},
				equal: func(got string, it Item) bool {
					return anyReference(it, func(ref string) bool { return sameShortAnswer(got, ref) })
				}}, nil
		}},
	{"triviaqa", "1", "the text behind the last explicit marker, else the first line; right when it equals an alias, or a short answer holds one as whole words, without letter case, punctuation and articles; an empty alias never matches; parts em, f1", nil, newAliases},
	{"nq", "1", "as triviaqa", nil, newAliases},
	{"squad", "1", "the text behind the last explicit marker, else the first line; SQuAD's exact match is the score, em and f1 are parts; a reply that calls the question unanswerable is right where the reference does", nil, newSQuAD},
	{"drop", "1", "the text behind the last explicit marker, else the reply; DROP's F1 is the score, em and f1 are parts; currency, percent, thousands separators, signs and number words are read as numbers, several spans in any order", nil,
		func(m meta, _ *options) (Scorer, error) {
			return dropRule(m, lmeval.Drop{Normalize: dropNormalize}, StripThinking, func(text string) string {
				if s, ok := markedAnswer(text); ok {
					return s
				}
				return text
			}, true), nil
		}},
	{"lambada", "1", "the first word of the reply, or of the text behind an explicit marker; equal without letter case and punctuation", nil,
		func(m meta, _ *options) (Scorer, error) {
			return rule{meta: m,
				extract: func(text string, _ Item) (string, bool) {
					if s, ok := markedAnswer(text); ok {
						text = s
					}
					for _, w := range strings.Fields(text) {
						if w = wordKey(w); w != "" {
							return w, true
						}
					}
					return "", false
				},
				equal: func(got string, it Item) bool {
					return anyReference(it, func(ref string) bool { return got == wordKey(ref) })
				}}, nil
		}},
	{"edacc", "1", "choice, and where that finds none, the option nearest in edits among \"X. text\", \"X\" and \"text\" if it is nearer than half its length", []string{"labels"}, newNearest},

	{"oc/exact", "1", "OpenCompass's and AISBench's AccEvaluator: the reply after think-stripping equals a reference", nil,
		func(m meta, _ *options) (Scorer, error) {
			return letterRule(m, func(s string) string { return s }), nil
		}},
	{"oc/triviaqa", "1", "OpenCompass's and AISBench's rule: some reference is a substring of the cleaned first line; an empty reference always matches", nil, ocQA(oc.TriviaQA, oc.ContainsReference)},
	{"oc/nq", "1", "OpenCompass's rule: some reference is a substring of the cleaned first line", nil, ocQA(oc.NQ, oc.ContainsReference)},
	{"oc/squad", "1", "OpenCompass's SQuAD 2.0 rule: the cleaned first line equals some reference", nil, ocQA(oc.SQuAD, oc.EqualsReference)},
	{"oc/lambada", "1", "AISBench's rule: the first blank-delimited word cut at punctuation equals the reference, letter case included", nil,
		ocQA(oc.Lambada, func(pred string, refs []string) bool {
			for _, ref := range refs {
				if pred == oc.General(ref) {
					return true
				}
			}
			return false
		})},
	{"oc/drop", "1", "AISBench's simple-evals rule: behind the first \"Answer:\", either string contains the other (\"17\" matches \"7\"); references separated by |", nil,
		ocQA(oc.Drop, func(pred string, refs []string) bool {
			for _, joined := range refs {
				for _, ref := range strings.Split(joined, "|") {
					if oc.DropEqual(pred, ref) {
						return true
					}
				}
			}
			return false
		})},
	{"oc/siqa", "1", "AISBench's EDAcc: the option nearest in edits among \"X. text\", \"X\" and \"text\"; something is always chosen", []string{"labels"},
		func(m meta, o *options) (Scorer, error) {
			labels := o.list("labels")
			return rule{meta: m, clean: oc.NonReasoning,
				extract: func(text string, it Item) (string, bool) {
					c := choicesOf(it, labels)
					return c.labels[oc.NearestOption(text, c.spellings())], true
				},
				equal: func(got string, it Item) bool {
					want, ok := choicesOf(it, labels).goldLabel(it.Gold)
					return ok && got == want
				}}, nil
		}},
	{"oc/custom_mcq", "1", "AISBench's OptionSimAcc: exact letter, else first_option, else the one option text in the reply, else the nearest in edits", []string{"labels"},
		func(m meta, o *options) (Scorer, error) {
			labels := o.list("labels")
			return rule{meta: m, clean: oc.NonReasoning,
				extract: func(text string, it Item) (string, bool) {
					c := choicesOf(it, labels)
					s := oc.CustomChoice(text, c.labels, c.texts)
					return s, s != ""
				},
				equal: func(got string, it Item) bool { return got == it.Gold }}, nil
		}},
	{"lmeval/drop", "1", "lm-evaluation-harness and evalscope: DROP's exact match and F1 over the whole reply; F1 is the score", nil,
		func(m meta, _ *options) (Scorer, error) {
			return dropRule(m, lmeval.Drop{Normalize: lmeval.DropNormalize}, lmeval.AfterThinking, func(s string) string { return s }, false), nil
		}},
	{"lmeval/triviaqa", "1", "lm-evaluation-harness: the reply equals an alias without letter case and punctuation (articles stay)", nil,
		lmevalExact(lmeval.ExactMatch{IgnoreCase: true, IgnorePunctuation: true})},
	{"lmeval/nq_open", "1", "lm-evaluation-harness: the reply equals a reference without leading articles, letter case and punctuation", nil,
		lmevalExact(lmeval.NQOpen)},
	{"evalscope/triviaqa", "1", "evalscope: the line behind the last \"ANSWER:\" is a substring of all aliases joined, so that \"a\" is right", nil,
		func(m meta, _ *options) (Scorer, error) {
			return rule{meta: m, clean: evalscope.Thinking,
				extract: func(text string, _ Item) (string, bool) { s := evalscope.TriviaQA(text); return s, s != "" },
				equal:   func(got string, it Item) bool { return evalscope.TriviaQAEqual(got, it.References()) }}, nil
		}},
}

func ocQA(clean func(string) string, same func(string, []string) bool) func(meta, *options) (Scorer, error) {
	return func(m meta, _ *options) (Scorer, error) {
		return rule{meta: m, clean: oc.NonReasoning, lax: true,
			extract: func(text string, _ Item) (string, bool) { s := clean(text); return s, s != "" },
			equal:   func(got string, it Item) bool { return same(got, it.References()) }}, nil
	}
}

func lmevalExact(same lmeval.ExactMatch) func(meta, *options) (Scorer, error) {
	return func(m meta, _ *options) (Scorer, error) {
		return rule{meta: m, clean: lmeval.AfterThinking,
			extract: func(text string, _ Item) (string, bool) { return strings.TrimSpace(text), true },
			equal: func(got string, it Item) bool {
				return anyReference(it, func(ref string) bool { return same.Equal(got, ref) })
			}}, nil
	}
}

// markedAnswer is the rest of the line behind the last explicit marker that has
// one, without markup and a final full stop.
func markedAnswer(text string) (string, bool) {
	text = beforeNextQuestion(text)
	marks := latest(finalMarkers(text))
	for i := len(marks) - 1; i >= 0; i-- {
		s := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(markedRegion(text, marks[i])), ":："))
		if s = trimAnswer(s); s != "" {
			return s, true
		}
	}
	return "", false
}

// answerKey is SQuAD's normalisation: lower case, no punctuation of any script,
// no English articles, single blanks.
func answerKey(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || r < 0x80 && strings.ContainsRune(pytext.Punctuation, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	words := pytext.Fields(s)
	kept := words[:0]
	for _, w := range words {
		if w != "a" && w != "an" && w != "the" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

func wordKey(s string) string { return strings.ReplaceAll(answerKeyWithArticles(s), " ", "") }

func answerKeyWithArticles(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || r < 0x80 && strings.ContainsRune(pytext.Punctuation, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, strings.TrimSpace(s))
}

// sameShortAnswer compares two short answers by answerKey, or as numbers.
func sameShortAnswer(got, ref string) bool {
	if want, ok := plainNumber(strings.TrimSpace(ref)); ok {
		have, ok := finalNumber(got)
		return ok && len(numbersIn(got)) == 1 && sameNumber(have.value, want.value)
	}
	g, r := answerKey(got), answerKey(ref)
	if r == "" { // nothing but articles or punctuation: compare as written
		return strings.TrimSpace(got) == strings.TrimSpace(ref)
	}
	return g == r
}

// shortAnswer is the text behind the last explicit marker, else the first line.
func shortAnswer(text string) string {
	if s, ok := markedAnswer(text); ok {
		return s
	}
	return trimAnswer(firstLine(text))
}

// aliases grades answers of which several spellings are accepted.
func newAliases(m meta, _ *options) (Scorer, error) {
	return scoreFunc{m, func(a Answer, it Item) Verdict {
		text, v, done := gradable(a, nil)
		if done {
			return v
		}
		got := shortAnswer(text)
		key := answerKey(got)
		if key == "" {
			return unreadable(a, got)
		}
		em, f1, holds := 0.0, 0.0, false
		for _, ref := range it.References() {
			want := answerKey(ref)
			if want == "" {
				continue
			}
			if key == want || sameShortAnswer(got, ref) {
				em = 1
			}
			f1 = max(f1, tokenF1(key, want))
			// a short answer may add words ("It is Mount Everest, in Nepal."); a long
			// one that names many candidates is no answer
			if containsWhole(key, want) && len(strings.Fields(key)) <= len(strings.Fields(want))+10 && !negates(key, want) {
				holds = true
			}
		}
		out := Verdict{Outcome: Wrong, Extracted: got, Parts: map[string]float64{"em": em, "f1": f1}}
		if em == 1 || holds {
			out.Outcome, out.Score = Right, 1
		}
		return out
	}}, nil
}

// negates reports whether the alias stands behind "not" or "n't".
func negates(key, alias string) bool {
	i := strings.Index(key, alias)
	head := strings.TrimSpace(key[:max(i, 0)])
	return strings.HasSuffix(head, " not") || head == "not" || strings.HasSuffix(head, "isnt") || strings.HasSuffix(head, "wasnt")
}

// tokenF1 is SQuAD's F1 between two normalised texts.
func tokenF1(pred, gold string) float64 {
	p, g := strings.Fields(pred), strings.Fields(gold)
	if len(p) == 0 || len(g) == 0 {
		if len(p) == len(g) {
			return 1
		}
		return 0
	}
	count := map[string]int{}
	for _, w := range g {
		count[w]++
	}
	same := 0.0
	for _, w := range p {
		if count[w] > 0 {
			count[w]--
			same++
		}
	}
	if same == 0 {
		return 0
	}
	precision, recall := same/float64(len(p)), same/float64(len(g))
	return 2 * precision * recall / (precision + recall)
}

// noAnswer are the ways to say that a question cannot be answered.
var noAnswer = []string{"unanswerable", "impossible to answer", "cannot be answered", "can not be answered", "no answer", "not answerable", "not enough information", "does not say", "not mentioned"}

func saysNoAnswer(s string) bool {
	s = strings.ToLower(s)
	for _, p := range noAnswer {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

func newSQuAD(m meta, _ *options) (Scorer, error) {
	return scoreFunc{m, func(a Answer, it Item) Verdict {
		text, v, done := gradable(a, nil)
		if done {
			return v
		}
		got := shortAnswer(text)
		key := answerKey(got)
		em, f1 := 0.0, 0.0
		for _, ref := range it.References() {
			want := answerKey(ref)
			if saysNoAnswer(ref) || want == "" {
				if saysNoAnswer(got) {
					em, f1 = 1, 1
				}
				continue
			}
			if key == want {
				em = 1
			}
			f1 = max(f1, tokenF1(key, want))
		}
		out := Verdict{Outcome: Wrong, Extracted: got, Score: em, Parts: map[string]float64{"em": em, "f1": f1}}
		if em == 1 {
			out.Outcome = Right
		}
		return out
	}}, nil
}

// dropRule grades DROP; split tries the prediction as several spans too.
func dropRule(m meta, metric lmeval.Drop, clean, extract func(string) string, split bool) Scorer {
	return scoreFunc{m, func(a Answer, it Item) Verdict {
		text, v, done := gradable(a, clean)
		if done {
			return v
		}
		got := extract(text)
		em, f1 := 0.0, 0.0
		for _, ref := range it.References() {
			for _, gold := range dropGolds(ref) {
				preds := [][]string{{got}}
				if split && len(gold) > 1 {
					preds = append(preds, splitSpans(got))
				}
				for _, p := range preds {
					e, f := metric.Metrics(p, gold)
					if e > em || e == em && f > f1 {
						em, f1 = e, f
					}
				}
			}
		}
		return graded(got, f1, map[string]float64{"em": em, "f1": f1})
	}}
}

// dropGolds reads a reference: alternatives separated by |, each one span, or a
// JSON list of spans that belong together.
func dropGolds(ref string) [][]string {
	if spans, ok := asStrings(ref); ok && strings.HasPrefix(ref, "[") {
		return [][]string{spans}
	}
	var out [][]string
	for _, alt := range strings.Split(ref, "|") {
		out = append(out, []string{alt})
	}
	return out
}

func splitSpans(s string) []string {
	var out []string
	for _, p := range strings.FieldsFunc(strings.ReplaceAll(s, " and ", ","), func(r rune) bool { return r == ',' || r == ';' || r == '\n' || r == '、' }) {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return []string{s}
	}
	return out
}

// dropNormalize is DROP's normalisation with numbers read as people write them:
// "$5.00", "1,200", "12.5%", "-3" and "twenty-one" are numbers.
func dropNormalize(s string) string {
	s = spellOut(s)
	nums := numbersIn(s)
	var b strings.Builder
	last := 0
	var out []string
	flush := func(text string) {
		if n := lmeval.DropNormalize(text); n != "" {
			out = append(out, n)
		}
	}
	for _, n := range nums {
		if n.start < last || n.end < len(s) && isLatin(firstRune(s[n.end:])) { // "10th" is a word
			continue
		}
		b.Reset()
		flush(strings.TrimRight(s[last:n.start], "$€£¥"))
		f, _ := n.value.Float64()
		if math.IsInf(f, 0) {
			continue
		}
		out = append(out, pytext.FormatFloat(f))
		last = n.end
		for last < len(s) && s[last] == '%' {
			last++
		}
	}
	flush(s[last:])
	return strings.Join(out, " ")
}

// spellOut replaces runs of English number words by digits.
func spellOut(s string) string {
	fields := strings.Fields(strings.ReplaceAll(s, "-", " - "))
	var out []string
	for i := 0; i < len(fields); {
		j := i
		for j < len(fields) && (numword.IsWord(fields[j]) || j > i && fields[j] == "-" && j+1 < len(fields) && numword.IsWord(fields[j+1])) {
			j++
		}
		if j > i {
			if n, ok := numword.Parse(strings.Join(fields[i:j], " ")); ok {
				out = append(out, n)
				i = j
				continue
			}
		}
		out = append(out, fields[i])
		i++
	}
	if !numword.Any(fields) {
		return s
	}
	return strings.ReplaceAll(strings.Join(out, " "), " - ", "-")
}

// spellings are the ways to name each option that EDAcc compares with.
func (c choices) spellings() [][]string {
	out := make([][]string, len(c.labels))
	for i, l := range c.labels {
		out[i] = []string{l}
		if i < len(c.texts) {
			out[i] = []string{l + ". " + c.texts[i], l, c.texts[i]}
		}
	}
	return out
}

func newNearest(m meta, o *options) (Scorer, error) {
	labels := o.list("labels")
	return rule{meta: m,
		extract: func(text string, it Item) (string, bool) {
			c := choicesOf(it, labels)
			if l, ok := c.extract(text); ok {
				return l, true
			}
			all := c.spellings()
			i := oc.NearestOption(text, all)
			for _, s := range all[i] {
				if d := oc.Levenshtein(text, s); 2*d < len([]rune(s)) {
					return c.labels[i], true
				}
			}
			return "", false
		},
		equal: func(got string, it Item) bool {
			c := choicesOf(it, labels)
			return anyReference(it, func(ref string) bool {
				want, ok := c.goldLabel(ref)
				return ok && got == want
			})
		}}, nil
}
