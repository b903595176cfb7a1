package oc

import (
	"strings"

	"ais_bench/evaluators/pytext"
)

// TriviaQA is the prediction side of TriviaQAEvaluator: the lower-cased first
// line behind the last "answer is", then "a:", then "answer:", through General.
func TriviaQA(text string) string {
	text = strings.ToLower(pytext.FirstLine(pytext.Strip(text)))
	text = afterLast(afterLast(afterLast(text, "answer is"), "a:"), "answer:")
	return General(pytext.Strip(text))
}

// NQ is the prediction side of NQEvaluator: TriviaQA without "a:".
func NQ(text string) string {
	text = strings.ToLower(pytext.FirstLine(pytext.Strip(text)))
	text = afterLast(afterLast(text, "answer is"), "answer:")
	return General(pytext.Strip(text))
}

// ContainsReference is their comparison: some reference, through General and
// lower-cased, is a substring of the prediction. An empty reference always is.
func ContainsReference(pred string, refs []string) bool {
	for _, ref := range refs {
		if strings.Contains(pred, strings.ToLower(General(ref))) {
			return true
		}
	}
	return false
}

// SQuAD is the prediction side of SQuAD20Evaluator: the lower-cased first line
// behind the last "answer is", through General.
func SQuAD(text string) string {
	return General(afterLast(strings.ToLower(pytext.FirstLine(text)), "answer is"))
}

// EqualsReference is its comparison: equality with some reference.
func EqualsReference(pred string, refs []string) bool {
	for _, ref := range refs {
		if pred == strings.ToLower(General(ref)) {
			return true
		}
	}
	return false
}

func afterLast(s, cue string) string {
	if i := strings.LastIndex(s, cue); i >= 0 {
		return s[i+len(cue):]
	}
	return s
}

// Drop is the extraction of DropOpenAIEvaluator: the rest of the line behind the
// first "Answer:" in any letter case, else the whole text.
func Drop(text string) string {
	for at := 0; at+6 <= len(text); at++ {
		if !strings.EqualFold(text[at:at+6], "answer") {
			continue
		}
		rest := pytext.StripLeft(text[at+6:])
		if !strings.HasPrefix(rest, ":") {
			continue
		}
		if line := pytext.FirstLine(pytext.StripLeft(rest[1:])); line != "" {
			return line
		}
	}
	return text
}

// DropEqual is its comparison: after lower-casing, deleting punctuation and
// articles, one of the two contains the other, so that "17" matches "7".
func DropEqual(pred, ref string) bool {
	a, b := dropKey(pred), dropKey(ref)
	if a == "" || b == "" {
		return a == b
	}
	return strings.Contains(a, b) || strings.Contains(b, a)
}

func dropKey(s string) string {
	s = strings.ToLower(s)
	s = pytext.DeletePunctuation(s)
	var kept []string
	for _, w := range pytext.Fields(s) {
		if w != "a" && w != "an" && w != "the" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// Lambada is the prediction side of LambadaEvaluator: the first word, cut at the
// first ASCII punctuation character, through General.
func Lambada(text string) string {
	word, _, _ := strings.Cut(pytext.Strip(text), " ")
	if i := strings.IndexAny(word, pytext.Punctuation); i >= 0 {
		word = word[:i]
	}
	return General(word)
}

// NearestOption is EDAccEvaluator: the index of the option one of whose
// spellings is nearest to the prediction in edits; the first of equals.
func NearestOption(pred string, options [][]string) int {
	best, at := 1<<30, 0
	for i, spellings := range options {
		for _, s := range spellings {
			if d := Levenshtein(pred, s); d < best {
				best, at = d, i
			}
		}
	}
	return at
}

// Levenshtein is the number of insertions, deletions and substitutions between
// two texts, in characters.
func Levenshtein(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	if len(ra) < len(rb) {
		ra, rb = rb, ra
	}
	row := make([]int, len(rb)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range ra {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range rb {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(rb)]
}

// CustomChoice is OptionSimAccEvaluator of custom multiple-choice files: an
// exact label, else first_option without its cushion, else the one option whose
// text the prediction holds, else the option nearest in edits.
func CustomChoice(text string, labels, texts []string) string {
	text = pytext.Strip(text)
	for _, l := range labels {
		if text == l {
			return l
		}
	}
	if l := FirstOption(text, strings.Join(labels, ""), false); l != "" {
		return l
	}
	if len(texts) != len(labels) {
		return ""
	}
	found := ""
	for i, t := range texts {
		if strings.Contains(text, t) {
			if found != "" {
				found = "\x00"
				break
			}
			found = labels[i]
		}
	}
	if found != "" && found != "\x00" {
		return found
	}
	options := make([][]string, len(labels))
	for i, l := range labels {
		options[i] = []string{l, texts[i], l + ". " + texts[i]}
	}
	if len(options) == 0 {
		return ""
	}
	return labels[NearestOption(text, options)]
}
