package lmeval

import (
	"regexp"
	"strings"

	"ais_bench/evaluators/pytext"
)

var (
	gsm8kStrict   = regexp.MustCompile(`#### (-?[0-9.,]+)`)
	gsm8kFlexible = regexp.MustCompile(`(-?[$0-9.,]{2,})|(-?[0-9]+)`)
	gsm8kCoT      = regexp.MustCompile(`The answer is (-?[0-9.,]+).`)
	gsm8kCoTLlama = regexp.MustCompile(`The final answer is ((-?[$0-9.,]{2,})|(-?[0-9]+))`)
)

// GSM8KStrict is gsm8k's strict-match: the first number behind "#### ".
func GSM8KStrict(text string) string { return firstGroup(gsm8kStrict, text) }

// GSM8KCoTStrict is gsm8k_cot's strict-match. Its pattern ends in a wildcard,
// which takes the last digit where nothing follows the number.
func GSM8KCoTStrict(text string) string { return firstGroup(gsm8kCoT, text) }

// GSM8KFlexible is flexible-extract: the last run of two or more of digits, $,
// dots and commas, or the last integer.
func GSM8KFlexible(text string) string { return lastMatch(gsm8kFlexible, text) }

// GSM8KCoTLlamaStrict is gsm8k_cot_llama's strict-match: the last number behind
// "The final answer is ".
func GSM8KCoTLlamaStrict(text string) string { return lastMatch(gsm8kCoTLlama, text) }

func firstGroup(re *regexp.Regexp, text string) string {
	m := re.FindStringSubmatch(text)
	if m == nil {
		return Invalid
	}
	return pytext.Strip(m[1])
}

// lastMatch is group_select=-1: the first non-empty group of the last match.
func lastMatch(re *regexp.Regexp, text string) string {
	all := re.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return Invalid
	}
	for _, g := range all[len(all)-1][1:] {
		if g != "" {
			return pytext.Strip(g)
		}
	}
	return Invalid
}

// GSM8KEqual is the metric of the gsm8k tasks: equality in lower case after
// deleting commas, dollar signs, everything through the last "#### " and a
// final full stop from both sides. The gold may be a whole worked solution.
func GSM8KEqual(pred, gold string) bool { return gsm8kKey(pred) == gsm8kKey(gold) }

func gsm8kKey(s string) string {
	s = strings.NewReplacer(",", "", "$", "").Replace(s)
	if i := strings.LastIndex(s, "#### "); i >= 0 {
		s = s[i+len("#### "):]
	}
	return strings.ToLower(strings.TrimSuffix(s, "."))
}
