package oc

import (
	"math/big"
	"regexp"
	"strings"

	"ais_bench/evaluators/pytext"
)

// GSM8KNone is what GSM8K returns where the text holds no number.
const GSM8KNone = "NULL"

// \d of the original matches digits of every script.
var gsm8kNumber = regexp.MustCompile(`-?\p{Nd}+\.\p{Nd}+|-?\p{Nd}+`)

// GSM8K is the last number before the first "Question:". Commas end a number, so
// "1,055" gives "055".
func GSM8K(text string) string {
	text, _, _ = strings.Cut(text, "Question:")
	all := gsm8kNumber.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return GSM8KNone
	}
	last := all[len(all)-1]
	return text[last[0]:last[1]]
}

// GSM8KGold is the number of a worked solution: what follows "#### " without
// commas. A gold that is already a number is only freed of commas.
func GSM8KGold(gold string) string {
	if parts := strings.Split(gold, "#### "); len(parts) > 1 {
		gold = parts[1]
	}
	return strings.ReplaceAll(gold, ",", "")
}

// GSM8KEqual compares an extraction with a gold: equal text, or numbers less
// than 1e-6 apart where the gold is an integer literal.
func GSM8KEqual(pred, gold string) bool {
	if pred == gold {
		return true
	}
	p, ok := pytext.Float(pred)
	if !ok {
		return false
	}
	g, ok := pytext.Int(gold)
	if !ok {
		return false
	}
	f, _ := new(big.Float).SetInt(g).Float64()
	d := p - f
	return -1e-6 < d && d < 1e-6
}
