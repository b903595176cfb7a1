package evaluators

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// pplScorers grade by the likelihood of each option.
var pplScorers = []entry{
	{"ppl", "1", "the label with the largest log-likelihood; option normalize: chars or bytes divides by the option text's length first; a label without a score makes the answer failed, never a winner; parts acc, acc_norm, acc_bytes", []string{"normalize"}, newPPL},
	{"truthfulqa_mc2", "1", "share of probability on the true answers: Σp(true)/Σp (columns mc2_targets or labels, 1 = true)", nil, newMC2},
}

func newPPL(m meta, o *options) (Scorer, error) {
	norm := o.text("normalize", "none")
	switch norm {
	case "none", "chars", "bytes":
	default:
		o.bad("normalize", "none, chars or bytes")
	}
	return scoreFunc{m, func(a Answer, it Item) Verdict {
		if v, bad := likelihoodsMissing(a, it); bad {
			return v
		}
		c := choices{labels: it.Labels, texts: optionTexts(it)}
		if len(c.labels) == 0 {
			c.labels = letters(len(a.LabelLogprobs))
		}
		if len(c.texts) != len(c.labels) {
			c.texts = c.labels
		}
		pick := map[string]int{
			"none":  argmax(a.LabelLogprobs, func(int) float64 { return 1 }),
			"chars": argmax(a.LabelLogprobs, func(i int) float64 { return float64(max(1, utf8.RuneCountInString(c.texts[i]))) }),
			"bytes": argmax(a.LabelLogprobs, func(i int) float64 { return float64(max(1, len(c.texts[i]))) }),
		}
		hit := func(i int) float64 {
			if anyReference(it, func(ref string) bool { want, ok := c.goldLabel(ref); return ok && want == c.labels[i] }) {
				return 1
			}
			return 0
		}
		i := pick[norm]
		v := Verdict{Outcome: Wrong, Extracted: c.labels[i], Score: hit(i),
			Parts: map[string]float64{"acc": hit(pick["none"]), "acc_norm": hit(pick["chars"]), "acc_bytes": hit(pick["bytes"])}}
		if v.Score == 1 {
			v.Outcome = Right
		}
		return v
	}}, nil
}

// likelihoodsMissing is the verdict of an answer whose likelihoods cannot be
// compared: the request failed, or a label has no score.
func likelihoodsMissing(a Answer, it Item) (Verdict, bool) {
	switch {
	case a.Failed:
		return Verdict{Outcome: Failed, Detail: "the request failed"}, true
	case len(a.LabelLogprobs) == 0:
		return Verdict{Outcome: Failed, Detail: "no log-likelihoods: the server must return prompt log-probs"}, true
	case len(it.Labels) > 0 && len(it.Labels) != len(a.LabelLogprobs):
		return Verdict{Outcome: Failed, Detail: fmt.Sprintf("%d log-likelihoods for %d labels", len(a.LabelLogprobs), len(it.Labels))}, true
	}
	var missing []string
	for i, p := range a.LabelLogprobs {
		if math.IsNaN(p) || math.IsInf(p, 0) {
			name := fmt.Sprint(i)
			if i < len(it.Labels) {
				name = it.Labels[i]
			}
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return Verdict{Outcome: Failed, Detail: "no log-likelihood for label " + strings.Join(missing, ", ")}, true
	}
	return Verdict{}, false
}

// argmax is the index of the largest p[i]/length(i), the first of equals.
func argmax(p []float64, length func(int) float64) int {
	best := 0
	for i := range p {
		if p[i]/length(i) > p[best]/length(best) {
			best = i
		}
	}
	return best
}

func newMC2(m meta, _ *options) (Scorer, error) {
	return scoreFunc{m, func(a Answer, it Item) Verdict {
		if v, bad := likelihoodsMissing(a, it); bad {
			return v
		}
		flags, ok := asStrings(it.Fields["labels"])
		if targets, is := it.Fields["mc2_targets"].(map[string]any); is {
			flags, ok = asStrings(targets["labels"])
		}
		if !ok || len(flags) != len(a.LabelLogprobs) {
			return Verdict{Outcome: Failed, Detail: fmt.Sprintf("%d truth labels for %d log-likelihoods", len(flags), len(a.LabelLogprobs))}
		}
		top := a.LabelLogprobs[argmax(a.LabelLogprobs, func(int) float64 { return 1 })]
		yes, all := 0.0, 0.0
		for i, p := range a.LabelLogprobs {
			w := math.Exp(p - top)
			all += w
			if flags[i] == "1" || flags[i] == "true" {
				yes += w
			}
		}
		return graded("", yes/all, nil)
	}}, nil
}
