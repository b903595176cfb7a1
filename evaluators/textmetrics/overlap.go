package textmetrics

import (
	"math"
	"strings"
	"unicode"
)

func isHan(r rune) bool   { return unicode.Is(unicode.Han, r) }
func isSpace(r rune) bool { return unicode.IsSpace(r) }
func isPunctuation(r rune) bool {
	return r < 0x80 && isASCIIPunctuation(byte(r)) && r != '%' && r != '.' || r >= 0x80 && unicode.IsPunct(r)
}

func isASCIIPunctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// NormalizeSQuAD lower-cases, deletes ASCII punctuation and the articles, and
// squeezes white space: the normalisation of SQuAD's official script. An article
// is a, an or the between characters that are not letters, digits or '_'.
func NormalizeSQuAD(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if r >= 0x80 || !isASCIIPunctuation(byte(r)) {
			b.WriteRune(r)
		}
	}
	// After punctuation is gone a word boundary is the edge of a run of word
	// characters; other symbols (≤, €) separate too.
	var out strings.Builder
	var word strings.Builder
	flush := func() {
		switch w := word.String(); w {
		case "a", "an", "the":
			out.WriteByte(' ')
		default:
			out.WriteString(w)
		}
		word.Reset()
	}
	for _, r := range b.String() {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			word.WriteRune(r)
			continue
		}
		flush()
		out.WriteRune(r)
	}
	flush()
	return strings.Join(strings.Fields(out.String()), " ")
}

// ExactMatch compares after NormalizeSQuAD.
func ExactMatch(ref, pred string) bool { return NormalizeSQuAD(ref) == NormalizeSQuAD(pred) }

// TokenF1 is SQuAD's token F1 after NormalizeSQuAD.
func TokenF1(ref, pred string) PRF {
	return TokenF1Words(strings.Fields(NormalizeSQuAD(ref)), strings.Fields(NormalizeSQuAD(pred)))
}

// TokenF1Words is token F1 over words as they are given, each counted as often
// as it occurs.
func TokenF1Words(ref, pred []string) PRF {
	r, p := ngrams(ref, 1), ngrams(pred, 1)
	hits := 0
	for g, c := range p {
		hits += min(c, r[g])
	}
	return harmonic(hits, len(pred), len(ref))
}

// TokenF1Chinese is LongBench's qa_f1_zh over SegmentChinese: punctuation is
// dropped and letters are lower-cased.
func TokenF1Chinese(ref, pred string) PRF {
	words := func(s string) (out []string) {
		for _, w := range SegmentChinese(strings.ToLower(s)) {
			keep := strings.IndexFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
			if keep >= 0 {
				out = append(out, w)
			}
		}
		return out
	}
	return TokenF1Words(words(ref), words(pred))
}

// EditDistance is the Levenshtein distance in code points.
func EditDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) < len(y) {
		x, y = y, x
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, c := range x {
		diag := row[0]
		row[0] = i + 1
		for j, d := range y {
			cost := diag
			if c != d {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
		}
	}
	return row[len(y)]
}

// ANLS is the average normalised Levenshtein similarity of one prediction
// (Biten et al., 2019): 1 − distance/longest of lower-cased, trimmed texts, 0
// below 0.5; the best over refs.
func ANLS(refs []string, pred string) float64 {
	normal := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	best := 0.0
	p := normal(pred)
	for _, ref := range refs {
		r := normal(ref)
		longest := max(len([]rune(r)), len([]rune(p)))
		s := 1.0
		if longest > 0 {
			s = 1 - float64(EditDistance(r, p))/float64(longest)
		}
		if s >= 0.5 {
			best = max(best, s)
		}
	}
	return best
}

// Ratio is fuzzywuzzy's fuzz.ratio/100 as computed with python-Levenshtein:
// twice the longest common subsequence over the sum of the lengths, rounded to
// whole percent, halves to even.
func Ratio(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	if len(x)+len(y) == 0 {
		return 1
	}
	return math.RoundToEven(200*float64(lcsOf(x, y))/float64(len(x)+len(y))) / 100
}

// CodeSimilarity is LongBench's code_sim_score: the first line of pred that
// holds no backquote, '#' or "//", after leading line ends, compared by Ratio.
func CodeSimilarity(ref, pred string) float64 {
	line := ""
	for _, l := range strings.Split(strings.TrimLeft(pred, "\n"), "\n") {
		if !strings.Contains(l, "`") && !strings.Contains(l, "#") && !strings.Contains(l, "//") {
			line = l
			break
		}
	}
	return Ratio(line, ref)
}
