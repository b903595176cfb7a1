package evaluators

import (
	"math/big"
	"strings"

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
	marks := finalMarkers(text)
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

// numberAfter reads the number a marker announces at byte at: directly behind
// it (through markup, currency signs and up to three words), or, where prose
// follows, the last number of the line. An equation ("72 - 17 = 55") is worth
// its right-hand side.
func numberAfter(text string, at int) (number, bool) {
	region := markedRegion(text, at)
	first, next, ok := number{}, 0, false
	for pos := 0; ; pos = next {
		first, next, ok = nextNumber(region, pos)
		if ok || next <= pos {
			break
		}
	}
	if !ok {
		return number{}, false
	}
	if !direct(region[:first.start]) {
		all := numbersIn(region)
		first = all[len(all)-1]
	} else if rhs, found := rightHandSide(region, first.end); found {
		first = rhs
	}
	first.start += at
	first.end += at
	return first, true
}

// markedRegion is the rest of the line behind a marker, or the next line that
// says something when the rest is only markup. A boxed answer ends with its
// brace.
func markedRegion(text string, at int) string {
	rest := text[at:]
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

// direct reports whether only markup and a few words without a sentence end
// stand in lead.
func direct(lead string) bool {
	if strings.ContainsAny(lead, "=") {
		i := strings.LastIndexByte(lead, '=')
		lead = lead[i+1:]
	}
	words := 0
	for _, f := range strings.Fields(lead) {
		if strings.IndexFunc(f, func(r rune) bool { return isLatin(r) && r != '_' || r >= 0x3040 }) >= 0 {
			words++
		}
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
