package textmetrics

import (
	"strings"
)

// PRF is precision, recall and F-measure, each in [0,1].
type PRF struct{ P, R, F float64 }

// Rouge holds the scores of one prediction against one reference.
type Rouge struct{ R1, R2, RL, RLsum PRF }

// RougeScore agrees with Google's rouge_score with its default tokenizer
// (lower-cased runs of [a-z0-9]); stem applies its Porter stemmer to tokens
// longer than three letters. RLsum is the union LCS over lines.
func RougeScore(ref, pred string, stem bool) Rouge {
	r, p := rougeTokens(ref, stem), rougeTokens(pred, stem)
	out := Rouge{R1: rougeN(r, p, 1), R2: rougeN(r, p, 2)}
	if len(r) > 0 && len(p) > 0 {
		out.RL = harmonic(lcsLength(r, p), len(p), len(r))
	}
	var rs, ps [][]string
	for _, l := range strings.Split(ref, "\n") {
		if l != "" {
			rs = append(rs, rougeTokens(l, stem))
		}
	}
	for _, l := range strings.Split(pred, "\n") {
		if l != "" {
			ps = append(ps, rougeTokens(l, stem))
		}
	}
	out.RLsum = summaryLCS(rs, ps)
	return out
}

// rougeTokens are lower-cased runs of ASCII letters and digits.
func rougeTokens(s string, stem bool) []string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	if stem {
		for i, w := range words {
			if len(w) > 3 {
				words[i] = porterStem(w)
			}
		}
	}
	return words
}

func harmonic(hits, pred, ref int) PRF {
	if hits == 0 || pred == 0 || ref == 0 {
		return PRF{}
	}
	p, r := float64(hits)/float64(pred), float64(hits)/float64(ref)
	return PRF{p, r, 2 * p * r / (p + r)}
}

func ngrams(words []string, n int) map[string]int {
	m := map[string]int{}
	for i := 0; i+n <= len(words); i++ {
		m[strings.Join(words[i:i+n], "\x00")]++
	}
	return m
}

func rougeN(ref, pred []string, n int) PRF {
	r, p := ngrams(ref, n), ngrams(pred, n)
	hits := 0
	for g, c := range r {
		hits += min(c, p[g])
	}
	return harmonic(hits, max(len(pred)-n+1, 0), max(len(ref)-n+1, 0))
}

// maxCells bounds the table of a longest common subsequence that must be traced
// back; a longer prediction is compared by its first words.
const maxCells = 1 << 27

// lcsLength is the length of the longest common subsequence.
func lcsLength(a, b []string) int {
	if len(a) < len(b) {
		a, b = b, a
	}
	ids := map[string]int32{}
	id := func(s []string) []int32 {
		out := make([]int32, len(s))
		for i, w := range s {
			k, ok := ids[w]
			if !ok {
				k = int32(len(ids))
				ids[w] = k
			}
			out[i] = k
		}
		return out
	}
	return lcsOf(id(a), id(b))
}

func lcsOf[T comparable](a, b []T) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diag := 0
		for j, y := range b {
			up := row[j+1]
			switch {
			case x == y:
				row[j+1] = diag + 1
			case row[j] > up:
				row[j+1] = row[j]
			}
			diag = up
		}
	}
	return row[len(b)]
}

// lcsIndices are the positions in ref of one longest common subsequence; where
// several are possible, going back prefers a step in ref, as rouge_score does.
func lcsIndices(ref, pred []string) []int {
	if len(ref) == 0 {
		return nil
	}
	if len(pred) > maxCells/len(ref) {
		pred = pred[:maxCells/len(ref)]
	}
	w := len(pred) + 1
	table := make([]int32, (len(ref)+1)*w)
	for i, x := range ref {
		for j, y := range pred {
			if x == y {
				table[(i+1)*w+j+1] = table[i*w+j] + 1
			} else {
				table[(i+1)*w+j+1] = max(table[i*w+j+1], table[(i+1)*w+j])
			}
		}
	}
	var out []int
	for i, j := len(ref), len(pred); i > 0 && j > 0; {
		switch {
		case ref[i-1] == pred[j-1]:
			i--
			j--
			out = append(out, i)
		case table[i*w+j-1] > table[(i-1)*w+j]:
			j--
		default:
			i--
		}
	}
	return out
}

// summaryLCS is ROUGE-Lsum: for each reference sentence the union of its common
// subsequences with all predicted ones, each token counted at most as often as
// both sides have it.
func summaryLCS(ref, pred [][]string) PRF {
	m, n := 0, 0
	left, right := map[string]int{}, map[string]int{}
	for _, s := range ref {
		m += len(s)
		for _, w := range s {
			left[w]++
		}
	}
	for _, s := range pred {
		n += len(s)
		for _, w := range s {
			right[w]++
		}
	}
	if m == 0 || n == 0 {
		return PRF{}
	}
	hits := 0
	for _, r := range ref {
		in := make([]bool, len(r))
		for _, p := range pred {
			for _, i := range lcsIndices(r, p) {
				in[i] = true
			}
		}
		for i, w := range r {
			if in[i] && left[w] > 0 && right[w] > 0 {
				hits++
				left[w]--
				right[w]--
			}
		}
	}
	return harmonic(hits, n, m)
}

// RougeL agrees with the rouge-l of pltrdy's "rouge" package: words between
// white space, sentences between full stops, distinct words counted once, F
// with 1e-8 in the denominator. An empty side scores 0.
func RougeL(ref, pred string) PRF {
	return unionRouge(sentences(ref, "."), sentences(pred, "."))
}

// RougeChinese agrees with "rouge_chinese" on texts already cut into words
// joined by spaces, sentences ending in 。; R1, R2 and RL are set.
func RougeChinese(ref, pred string) Rouge {
	r, p := sentences(ref, "。"), sentences(pred, "。")
	return Rouge{R1: distinctRouge(r, p, 1), R2: distinctRouge(r, p, 2), RL: unionRouge(r, p)}
}

func sentences(text, stop string) [][]string {
	var out [][]string
	for _, s := range strings.Split(text, stop) {
		if w := strings.Fields(s); len(w) > 0 {
			out = append(out, w)
		}
	}
	return out
}

func join(sentences [][]string) []string {
	var out []string
	for _, s := range sentences {
		out = append(out, s...)
	}
	return out
}

// smoothed is the F-measure as pltrdy computes it.
func smoothed(hits, pred, ref int) PRF {
	if pred == 0 || ref == 0 {
		return PRF{}
	}
	p, r := float64(hits)/float64(pred), float64(hits)/float64(ref)
	return PRF{p, r, 2 * (p * r / (p + r + 1e-8))}
}

func distinctRouge(ref, pred [][]string, n int) PRF {
	r, p := ngrams(join(ref), n), ngrams(join(pred), n)
	hits := 0
	for g := range r {
		if p[g] > 0 {
			hits++
		}
	}
	return smoothed(hits, len(p), len(r))
}

func unionRouge(ref, pred [][]string) PRF {
	union := map[string]bool{}
	for _, r := range ref {
		for _, p := range pred {
			for _, i := range lcsIndices(r, p) {
				union[r[i]] = true
			}
		}
	}
	return smoothed(len(union), len(ngrams(join(pred), 1)), len(ngrams(join(ref), 1)))
}

// SegmentChinese cuts text into words where no dictionary is at hand: every Han
// character is one, other runs between white space and punctuation stay whole,
// punctuation stands alone.
func SegmentChinese(s string) []string {
	var out []string
	var run strings.Builder
	flush := func() {
		if run.Len() > 0 {
			out = append(out, run.String())
			run.Reset()
		}
	}
	for _, r := range s {
		switch {
		case isHan(r):
			flush()
			out = append(out, string(r))
		case isSpace(r):
			flush()
		case isPunctuation(r):
			flush()
			out = append(out, string(r))
		default:
			run.WriteRune(r)
		}
	}
	flush()
	return out
}
