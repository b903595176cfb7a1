package lmeval

import (
	"math"
	"strings"

	"ais_bench/evaluators/pytext"
	"ais_bench/evaluators/stats"
)

// DropMetrics are exact match and F1 of DROP between a prediction and one gold
// answer, each one or more spans. F1 is over an optimal one-to-one assignment
// of spans and rounded to two decimals.
func DropMetrics(pred, gold []string) (em, f1 float64) {
	return Drop{Normalize: DropNormalize}.Metrics(pred, gold)
}

// Drop is DROP's metric over a choice of normalisation.
type Drop struct {
	// Normalize brings a span to its tokens separated by single blanks.
	Normalize func(string) string
}

// Metrics are exact match and F1 (see DropMetrics).
func (d Drop) Metrics(pred, gold []string) (em, f1 float64) {
	ps, gs := d.bags(pred), d.bags(gold)
	if sameSpans(ps, gs) {
		em = 1
	}
	scores := make([][]float64, len(gs))
	for i, g := range gs {
		scores[i] = make([]float64, len(ps))
		for j, p := range ps {
			if numbersAgree(g.tokens, p.tokens) {
				scores[i][j] = setF1(p.tokens, g.tokens)
			}
		}
	}
	total := 0.0
	for _, s := range stats.BestAssignment(scores) {
		total += s
	}
	f1 = total / float64(max(len(ps), len(gs)))
	return em, math.RoundToEven(f1*100) / 100
}

type bag struct {
	span   string
	tokens map[string]bool
}

func (d Drop) bags(spans []string) []bag {
	out := make([]bag, len(spans))
	for i, s := range spans {
		n := d.Normalize(s)
		out[i] = bag{n, map[string]bool{}}
		for _, t := range strings.Fields(n) {
			out[i].tokens[t] = true
		}
	}
	return out
}

func sameSpans(a, b []bag) bool {
	if len(a) != len(b) {
		return false
	}
	in := func(l []bag, s string) bool {
		for _, x := range l {
			if x.span == s {
				return true
			}
		}
		return false
	}
	for i := range a {
		if !in(b, a[i].span) || !in(a, b[i].span) {
			return false
		}
	}
	return true
}

func setF1(pred, gold map[string]bool) float64 {
	both := 0.0
	for t := range gold {
		if pred[t] {
			both++
		}
	}
	p, r := 1.0, 1.0
	if len(pred) > 0 {
		p = both / float64(len(pred))
	}
	if len(gold) > 0 {
		r = both / float64(len(gold))
	}
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

// numbersAgree is false where the gold holds numbers and none is predicted.
func numbersAgree(gold, pred map[string]bool) bool {
	any := false
	for t := range gold {
		if _, ok := pytext.Float(t); ok {
			any = true
			if pred[t] {
				return true
			}
		}
	}
	return !any
}

// DropNormalize is DROP's normalisation: per token between blanks and hyphens,
// lower case, no punctuation unless the token is a number, numbers as floats,
// no articles.
func DropNormalize(s string) string {
	var out []string
	for _, t := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '-' }) {
		t = strings.ToLower(t)
		if _, ok := pytext.Float(t); !ok {
			t = pytext.DeletePunctuation(t)
		}
		if f, ok := pytext.Float(t); ok {
			t = pytext.FormatFloat(f)
		}
		var words []string
		for _, w := range pytext.Fields(t) {
			if w != "a" && w != "an" && w != "the" {
				words = append(words, w)
			}
		}
		if len(words) > 0 {
			out = append(out, strings.Join(words, " "))
		}
	}
	return strings.Join(out, " ")
}
