package mathstring

import (
	"strings"

	"ais_bench/evaluators/mathequiv"
)

// VerifyExtract is what the math_verify profile of AISBench and OpenCompass
// reads of a reply: the last boxed answer, else the last formula between dollar
// signs or \( \); plain text holds no answer.
func VerifyExtract(text string) string {
	if s, ok := LastBoxed(text); ok {
		return s
	}
	best, at := "", -1
	for _, d := range [][2]string{{"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}} {
		end := strings.LastIndex(text, d[1])
		if end < 0 {
			continue
		}
		start := strings.LastIndex(text[:end], d[0])
		if start < 0 || start <= at {
			continue
		}
		if s := strings.TrimSpace(text[start+len(d[0]) : end]); s != "" {
			best, at = s, start
			// "$5$ or $6$" is one answer of two parts
			head := strings.TrimSpace(text[:start])
			for _, link := range []string{"or", "and", ","} {
				if rest, joined := strings.CutSuffix(head, link); joined && strings.HasSuffix(strings.TrimSpace(rest), d[1]) {
					best = VerifyExtract(strings.TrimSpace(rest)) + ", " + s
					break
				}
			}
		}
	}
	return best
}

// VerifyEqual compares as the profile does: exact mathematics, but lists in
// order, and an inequality only as it is written.
func VerifyEqual(pred, ref string) bool {
	if bareList(pred) && bareList(ref) {
		ps, rs := strings.Split(pred, ","), strings.Split(ref, ",")
		if len(ps) != len(rs) {
			return false
		}
		for i := range ps {
			if !VerifyEqual(strings.TrimSpace(ps[i]), strings.TrimSpace(rs[i])) {
				return false
			}
		}
		return true
	}
	if direction(pred)*direction(ref) < 0 {
		return false
	}
	same, _ := mathequiv.Equal(ref, pred)
	return same
}

// bareList is a comma list without brackets that is no thousands-grouped number.
func bareList(s string) bool {
	return strings.Contains(s, ",") && !strings.ContainsAny(s, "()[]{}") && !esThousands.MatchString(s)
}

// direction is −1 for "less", 1 for "greater", 0 for neither.
func direction(s string) int {
	switch {
	case strings.Contains(s, "<") || strings.Contains(s, `\le`) && !strings.Contains(s, `\left`):
		return -1
	case strings.Contains(s, ">") || strings.Contains(s, `\ge`):
		return 1
	}
	return 0
}
