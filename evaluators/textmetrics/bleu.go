package textmetrics

import (
	"math"
	"regexp"
	"strings"
)

// BLEUTokenizer names a sacreBLEU tokenizer.
type BLEUTokenizer string

// The tokenizers.
const (
	Tok13a  BLEUTokenizer = "13a"  // mteval-v13a's, the default
	TokZh   BLEUTokenizer = "zh"   // Chinese: every Han character or full-width mark alone
	TokNone BLEUTokenizer = "none" // words between white space
)

const maxOrder = 4

// CorpusBLEU agrees with sacrebleu.corpus_bleu (exponential smoothing, no
// effective order), on its scale of 0 to 100. refs[i] are the references of
// preds[i].
func CorpusBLEU(preds []string, refs [][]string, tok BLEUTokenizer) float64 {
	var s bleuStats
	for i, p := range preds {
		if i < len(refs) {
			s.add(p, refs[i], tok)
		}
	}
	return s.score(false)
}

// SentenceBLEU agrees with sacrebleu.sentence_bleu (exponential smoothing,
// effective order), 0 to 100.
func SentenceBLEU(pred string, refs []string, tok BLEUTokenizer) float64 {
	var s bleuStats
	s.add(pred, refs, tok)
	return s.score(true)
}

type bleuStats struct {
	correct, total   [maxOrder]int
	predLen, refsLen int
}

func (s *bleuStats) add(pred string, refs []string, tok BLEUTokenizer) {
	p := bleuTokens(pred, tok)
	closest, best := 0, -1
	most := [maxOrder]map[string]int{}
	for n := range most {
		most[n] = map[string]int{}
	}
	for _, ref := range refs {
		r := bleuTokens(ref, tok)
		if d := abs(len(r) - len(p)); best < 0 || d < best || d == best && len(r) < closest {
			best, closest = d, len(r)
		}
		for n := range most {
			for g, c := range ngrams(r, n+1) {
				most[n][g] = max(most[n][g], c)
			}
		}
	}
	s.predLen += len(p)
	s.refsLen += closest
	for n := range most {
		for g, c := range ngrams(p, n+1) {
			s.correct[n] += min(c, most[n][g])
		}
		s.total[n] += max(len(p)-n, 0)
	}
}

func abs(n int) int { return max(n, -n) }

// score is the geometric mean of the precisions times the brevity penalty; the
// k-th precision without a match counts as 100/(2^k · total).
func (s *bleuStats) score(effective bool) float64 {
	if s.correct == [maxOrder]int{} {
		return 0 // nothing matches: no smoothing makes a score of it
	}
	smooth, order := 1.0, maxOrder
	sum := 0.0
	for n := range maxOrder {
		if s.total[n] == 0 {
			if !effective {
				return 0
			}
			order = n
			break
		}
		precision := 100 * float64(s.correct[n]) / float64(s.total[n])
		if s.correct[n] == 0 {
			smooth *= 2
			precision = 100 / (smooth * float64(s.total[n]))
		}
		sum += math.Log(precision)
	}
	if order == 0 {
		return 0
	}
	penalty := 1.0
	if s.predLen < s.refsLen {
		penalty = math.Exp(1 - float64(s.refsLen)/float64(s.predLen))
	}
	return penalty * math.Exp(sum/float64(order))
}

var (
	bleuSymbols = regexp.MustCompile("([\\{-\\~\\[-\\` -\\&\\(-\\+\\:-\\@\\/])")
	stopAfter   = regexp.MustCompile(`([^0-9])([\.,])`)
	stopBefore  = regexp.MustCompile(`([\.,])([^0-9])`)
	digitDash   = regexp.MustCompile(`([0-9])(-)`)
)

func bleuTokens(s string, tok BLEUTokenizer) []string {
	switch tok {
	case TokNone:
		return strings.Fields(s)
	case TokZh:
		var b strings.Builder
		for _, r := range strings.TrimSpace(s) {
			if inRanges(r, chineseRanges) {
				b.WriteByte(' ')
				b.WriteRune(r)
				b.WriteByte(' ')
			} else {
				b.WriteRune(r)
			}
		}
		s = b.String()
	default:
		s = strings.ReplaceAll(s, "<skipped>", "")
		s = strings.ReplaceAll(s, "-\n", "")
		s = strings.ReplaceAll(s, "\n", " ")
		if strings.Contains(s, "&") {
			// one after another, as published: &amp;lt; becomes <
			for _, e := range [...][2]string{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}} {
				s = strings.ReplaceAll(s, e[0], e[1])
			}
		}
		s = " " + s + " "
	}
	s = bleuSymbols.ReplaceAllString(s, " $1 ")
	s = stopAfter.ReplaceAllString(s, "$1 $2 ")
	s = stopBefore.ReplaceAllString(s, " $1 $2")
	s = digitDash.ReplaceAllString(s, "$1 $2 ")
	return strings.Fields(s)
}

// chineseRanges are the blocks that sacreBLEU's zh tokenizer separates.
var chineseRanges = [][2]rune{{0x3400, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0x20000, 0x2A6D6}, {0x2F800, 0x2FA1D}, {0xFF00, 0xFFEF}, {0x2E80, 0x2EFF}, {0x3000, 0x303F}, {0x31C0, 0x31EF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3100, 0x312F}, {0x31A0, 0x31BF}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0x2600, 0x26FF}, {0x2700, 0x27BF}, {0x3200, 0x32FF}, {0x3300, 0x33FF}}

func inRanges(r rune, ranges [][2]rune) bool {
	for _, x := range ranges {
		if r >= x[0] && r <= x[1] {
			return true
		}
	}
	return false
}

// ChrF agrees with sacrebleu's chrF2 (character n-grams up to 6, white space
// removed, beta 2), 0 to 100, of a corpus with one reference each.
func ChrF(preds, refs []string) float64 {
	const order, factor = 6, 4.0
	var hyp, ref, match [order]int
	grams := func(s string, n int) map[string]int {
		r := []rune(strings.Join(strings.Fields(s), ""))
		m := map[string]int{}
		for i := 0; i+n <= len(r); i++ {
			m[string(r[i:i+n])]++
		}
		return m
	}
	for i, p := range preds {
		if i >= len(refs) {
			break
		}
		for n := range order {
			h, r := grams(p, n+1), grams(refs[i], n+1)
			for g, c := range h {
				hyp[n] += c
				match[n] += min(c, r[g])
			}
			for _, c := range r {
				ref[n] += c
			}
		}
	}
	precision, recall, orders := 0.0, 0.0, 0.0
	for n := range order {
		if hyp[n] > 0 && ref[n] > 0 {
			precision += float64(match[n]) / float64(hyp[n])
			recall += float64(match[n]) / float64(ref[n])
			orders++
		}
	}
	if orders == 0 || precision+recall == 0 {
		return 0
	}
	precision, recall = precision/orders, recall/orders
	return 100 * (1 + factor) * precision * recall / (factor*precision + recall)
}
