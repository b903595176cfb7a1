package evaluators

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"ais_bench/evaluators/lmeval"
	"ais_bench/evaluators/oc"
)

// gsm8kScorers grade GSM8K and other tasks whose answer is one number.
var gsm8kScorers = []entry{
	{"gsm8k", "1", "last explicit final number (####, answer is, answer:, 答案, \\boxed), else the last number; thousands separators, signs, units, currency and percent signs read as people write them; compared as exact numbers", nil,
		func(m meta, _ *options) (Scorer, error) {
			return numberRule(m), nil
		}},
	{"oc/gsm8k", "1", "AISBench's and OpenCompass's rule: text before \"Question:\", last -?digits[.digits], thousands separators not understood; |pred - gold| < 1e-6 with an integer gold", nil,
		func(m meta, _ *options) (Scorer, error) {
			return rule{meta: m, lax: true, clean: oc.NonReasoning,
				extract: func(text string, _ Item) (string, bool) { s := oc.GSM8K(text); return s, s != oc.GSM8KNone },
				equal: func(got string, it Item) bool {
					return anyReference(it, func(ref string) bool { return oc.GSM8KEqual(got, oc.GSM8KGold(ref)) })
				}}, nil
		}},
	{"lmeval/gsm8k-strict", "1", "lm-evaluation-harness strict-match: the first number after \"#### \"; exact match without commas, $, and a final full stop", nil,
		lmevalGSM8K(lmeval.GSM8KStrict)},
	{"lmeval/gsm8k-flexible", "1", "lm-evaluation-harness flexible-extract: the last run of digits, $, dots and commas; exact match without commas, $, and a final full stop", nil,
		lmevalGSM8K(lmeval.GSM8KFlexible)},
	{"lmeval/gsm8k_cot-strict", "1", "lm-evaluation-harness gsm8k_cot strict-match: the first number after \"The answer is \", whose last digit is lost where nothing follows it", nil,
		lmevalGSM8K(lmeval.GSM8KCoTStrict)},
	{"lmeval/gsm8k_cot_llama-strict", "1", "lm-evaluation-harness gsm8k_cot_llama strict-match: the last number after \"The final answer is \"", nil,
		lmevalGSM8K(lmeval.GSM8KCoTLlamaStrict)},
	{"openai/gsm8k", "1", "the data set's own grader: the first number after \"#### \", commas removed, equal strings", nil,
		func(m meta, _ *options) (Scorer, error) {
			return rule{meta: m, lax: true,
				extract: func(text string, _ Item) (string, bool) {
					s := openaiGSM8K(text)
					return s, s != lmeval.Invalid
				},
				equal: func(got string, it Item) bool {
					return got != lmeval.Invalid && anyReference(it, func(ref string) bool {
						gold := openaiGSM8K(ref)
						if gold == lmeval.Invalid { // the gold is already reduced to its number
							gold = strings.ReplaceAll(strings.TrimSpace(ref), ",", "")
						}
						return got == gold
					})
				}}, nil
		}},
}

func lmevalGSM8K(extract func(string) string) func(meta, *options) (Scorer, error) {
	return func(m meta, _ *options) (Scorer, error) {
		return rule{meta: m, lax: true, clean: lmeval.AfterThinking,
			extract: func(text string, _ Item) (string, bool) { s := extract(text); return s, s != lmeval.Invalid },
			equal: func(got string, it Item) bool {
				return anyReference(it, func(ref string) bool { return lmeval.GSM8KEqual(got, ref) })
			}}, nil
	}
}

// openaiGSM8K is the first number after "#### " without its commas.
func openaiGSM8K(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(lmeval.GSM8KStrict(text)), ",", "")
}

// numberRule is the default scorer of numeric answers.
func numberRule(m meta) rule {
	return rule{meta: m,
		extract: func(text string, _ Item) (string, bool) {
			n, ok := finalNumber(text)
			if !ok {
				return "", false
			}
			return n.String(), true
		},
		equal: func(got string, it Item) bool {
			pred, ok := new(big.Rat).SetString(got)
			return ok && anyReference(it, func(ref string) bool {
				gold, ok := goldNumber(ref)
				return ok && sameNumber(pred, gold)
			})
		}}
}

// goldNumber reduces a reference to its number: the text after the last ####
// of a worked solution, or the reference itself.
func goldNumber(ref string) (*big.Rat, bool) {
	if i := strings.LastIndex(ref, "####"); i >= 0 {
		ref = ref[i+len("####"):]
	}
	if all := numbersIn(ref); len(all) == 1 {
		return all[0].value, true
	}
	n, ok := finalNumber(ref)
	if !ok {
		return nil, false
	}
	return n.value, true
}

// finalNumber is the number a text gives as its final answer.
//
// The last explicit marker with a number behind it wins; without one, the last
// number of the text. A model that goes on to invent the next question
// ("\nQuestion: …") is not graded on it.
func finalNumber(text string) (number, bool) {
	text = beforeNextQuestion(text)
	marks := latest(finalMarkers(text))
	for i := len(marks) - 1; i >= 0; i-- {
		if n, ok := numberAfter(text, marks[i]); ok {
			return n, true
		}
	}
	all := numbersIn(text)
	if len(all) == 0 {
		return number{}, false
	}
	return all[len(all)-1], true
}

// beforeNextQuestion cuts a text where the model starts the next few-shot
// question; a restated question at the very beginning is no cut.
func beforeNextQuestion(text string) string {
	for _, cue := range []string{"\nQuestion:", "\nQ:", "\n问题：", "\n问题:"} {
		if i := strings.Index(text, cue); i > 0 && strings.TrimSpace(text[:i]) != "" {
			text = text[:i]
		}
	}
	return text
}

// numberAfter reads the number a marker announces at byte at.
//
// Directly behind the marker (through markup, currency signs and a few words)
// the first number counts, and an equation ("72 - 17 = 55") is worth its
// right-hand side. Where prose follows, the last number of the line counts.
// "Answer:" may also open a whole derivation, because prompts end in it: when
// numbers go on behind prose or an equation, such a marker announces nothing.
func numberAfter(text string, at int) (number, bool) {
	region := markedRegion(text, at)
	first, ok := firstNumber(region)
	if !ok {
		return spelledNumber(region, at)
	}
	opens := opensDerivation(text, at)
	isDirect := direct(region[:first.start], opens) && !partOf(region[first.end:])
	rhs, isEquation := rightHandSide(region, first.end)
	if opens && (!isDirect || isEquation) {
		if _, more := firstNumber(text[at+len(region):]); more {
			return number{}, false
		}
		if after, more := firstNumber(region[max(first.end, rhs.end):]); isEquation && more && after.value != nil {
			isDirect = false
		}
	}
	switch {
	case !isDirect:
		all := numbersIn(region)
		first = all[len(all)-1]
	case isEquation:
		first = rhs
	}
	first.start += at
	first.end += at
	return first, true
}

// firstNumber is the first number of a text.
func firstNumber(text string) (number, bool) {
	for pos := 0; ; {
		n, next, ok := nextNumber(text, pos)
		if ok {
			return n, true
		}
		if next <= pos {
			return number{}, false
		}
		pos = next
	}
}

// opensDerivation reports whether the marker before byte at ends in a colon or a
// line break, as a prompt's cue does, unless it says that the answer is final.
func opensDerivation(text string, at int) bool {
	head := strings.TrimRight(text[:at], " \t*_`\"'")
	if !strings.HasSuffix(head, ":") && !strings.HasSuffix(head, "：") && !strings.HasSuffix(head, "\n") {
		return false
	}
	line := head[max(0, len(head)-40):]
	return indexFold(line, "final") < 0
}

// partOf recognises "10% of 200, which is 20": the number is not the answer but
// part of its computation.
func partOf(rest string) bool {
	rest = strings.TrimLeft(rest, "%\\ ")
	if !hasPrefixFold(rest, "of ") {
		return false
	}
	n, ok := firstNumber(rest)
	return ok && n.start <= len("of the $")
}

// spelledNumber reads a number written in English words ("eighteen").
func spelledNumber(region string, at int) (number, bool) {
	spelled := spellOut(strings.Trim(region, " .*_"))
	n, ok := firstNumber(spelled)
	if !ok || n.start != 0 || hasPrefixFold(strings.TrimSpace(spelled[n.end:]), "of ") { // "one of them" counts nothing
		return number{}, false
	}
	n.start, n.end = at, at+len(region)
	return n, true
}

// markedRegion is the rest of the line behind a marker, or the next line that
// says something when the rest is only markup. A boxed answer ends with its
// brace.
func markedRegion(text string, at int) string {
	rest := text[at:]
	if len(rest) > maxRegion {
		cut := maxRegion
		for !utf8.RuneStart(rest[cut]) {
			cut--
		}
		rest = rest[:cut]
	}
	if strings.HasSuffix(text[:at], "{") {
		depth := 1
		for i := range len(rest) {
			switch rest[i] {
			case '{':
				depth++
			case '}':
				if depth--; depth == 0 {
					return rest[:i]
				}
			}
		}
	}
	end := 0
	for {
		nl := strings.IndexByte(rest[end:], '\n')
		if nl < 0 {
			return rest
		}
		line := rest[:end+nl]
		if strings.Trim(line, " \t\r\n*_:：#`$\\[]().。") != "" {
			return line
		}
		end += nl + 1
	}
}

// leadWords may stand between a cue and its number.
var leadWords = map[string]bool{"about": true, "approximately": true, "around": true, "roughly": true, "exactly": true, "is": true, "equal": true, "equals": true,
	"to": true, "be": true, "a": true, "the": true, "total": true, "of": true, "at": true, "least": true, "most": true, "only": true, "just": true, "text": true, "boxed": true, "frac": true}

// direct reports whether only markup and a few words stand in lead; strict
// wants the words to be of the kind that qualifies a number.
func direct(lead string, strict bool) bool {
	if i := strings.LastIndexByte(lead, '='); i >= 0 {
		lead = lead[i+1:]
	}
	words := 0
	for _, f := range strings.Fields(lead) {
		f = strings.Trim(f, "*_`$\\(){}[]:,.\"'")
		if strings.IndexFunc(f, func(r rune) bool { return isLatin(r) && r != '_' || r >= 0x3040 }) < 0 || leadWords[strings.ToLower(f)] {
			continue
		}
		words++
	}
	if strict {
		return words == 0
	}
	return words <= 3
}

// rightHandSide finds the number behind the last equals sign of the sentence
// that a number started.
func rightHandSide(region string, from int) (number, bool) {
	end := len(region)
	for i := from; i < len(region); i++ {
		c := region[i]
		if c == '(' || c == ';' || c == '.' && (i+1 == len(region) || region[i+1] == ' ') || c == ',' && i+1 < len(region) && region[i+1] == ' ' {
			end = i
			break
		}
	}
	eq := strings.LastIndexByte(region[from:end], '=')
	if eq < 0 {
		return number{}, false
	}
	at := from + eq + 1
	for pos := at; ; {
		n, next, ok := nextNumber(region, pos)
		if ok {
			return n, n.start < end+1
		}
		if next <= pos {
			return number{}, false
		}
		pos = next
	}
}
