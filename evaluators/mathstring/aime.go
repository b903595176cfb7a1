package mathstring

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"ais_bench/evaluators/mathequiv"
	"ais_bench/evaluators/pytext"
)

var (
	textWhole    = regexp.MustCompile(`(?s)^\\text\{(.+?)\}$`)
	prmUnits     = regexp.MustCompile(`(?:degree|centimeter|cm|meter|mile|second|minute|hour|day|week|month|year|foot|feet|inch|yard)(?:es)?s? *(?:\^[0-9]+)?`)
	prmCirc      = regexp.MustCompile(`\^ *\\circ`)
	prmThin      = regexp.MustCompile(`,\\! *`)
	prmMinus     = regexp.MustCompile(`- *`)
	prmMixed     = regexp.MustCompile(`([0-9]) +([0-9])`)
	prmThousand  = regexp.MustCompile(`(\p{Nd}),(\p{Nd}{3})($|\P{Nd})`)
	prmFraction  = regexp.MustCompile(`^-?[0-9]+.?/0*[1-9][0-9]*.?$`)
	prmBadPowers = regexp.MustCompile(`\^[0-9]+\^|\^[0-9][0-9]+`)
	prmFrac      = regexp.MustCompile(`\\frac\{([^{}]*)\}\{([^{}]*)\}`)
	prmSqrt      = regexp.MustCompile(`\\sqrt\{([^{}]*)\}`)
)

// PRM800KEqual is evalscope's grader of the AIME tasks (OpenAI's PRM800K
// grade_answer): equal after the MATH data set's normalisation or after a
// second one (units, thousands commas, mixed numbers, letter case); else element
// by element, where an integer gold wants the integer itself and fractions must
// be reduced. The symbolic step asks package mathequiv where the original asks
// sympy.
func PRM800KEqual(pred, gold string) bool {
	if mathd(gold) == mathd(pred) {
		return true
	}
	g, p := prmNormalize(gold), prmNormalize(pred)
	if g == p {
		return true
	}
	if p == "" || g == "" {
		return false
	}
	gs, ps := prmSplit(g), prmSplit(p)
	if len(gs) > 1 && (g[0] != p[0] || g[len(g)-1] != p[len(p)-1]) || len(gs) != len(ps) {
		return false
	}
	for i := range gs {
		switch {
		case prmFraction.MatchString(gs[i]) && prmFraction.MatchString(ps[i]):
			if gs[i] != ps[i] {
				return false
			}
		case isInteger(gs[i]) != isInteger(ps[i]):
			return false
		case !prmSymbolic(gs[i], ps[i]):
			return false
		}
	}
	return len(gs) > 0
}

// mathd is the MATH data set's normalisation; a string it cannot handle stays.
func mathd(s string) string {
	s = pytext.Strip(s)
	if m := textWhole.FindStringSubmatch(s); m != nil {
		s = pytext.Strip(m[1])
	}
	stripped, ok := hendrycks(s)
	if !ok {
		return s
	}
	stripped, _ = quotient(stripped, true) // this version of the rule does not raise
	return stripped
}

func prmNormalize(s string) string {
	if m := textWhole.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	for _, r := range [][2]string{{`\%`, "%"}, {`\$`, "$"}, {"$", ""}, {"%", ""}, {" or ", " , "}, {" and ", " , "}, {"million", "*10^6"}, {"billion", "*10^9"}, {"trillion", "*10^12"}} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	s = prmUnits.ReplaceAllString(s, "")
	s = prmCirc.ReplaceAllString(s, "")
	if len(s) > 0 && s[0] == '{' && s[len(s)-1] == '}' {
		s = s[1 : len(s)-1]
	}
	s = prmThin.ReplaceAllString(s, "")
	if f, ok := pytext.Float(s); ok && math.Abs(f) < 1e15 && math.Abs(f-math.RoundToEven(f)) <= 1e-7 {
		s = strconv.FormatInt(int64(math.RoundToEven(f)), 10)
	}
	if strings.Contains(s, `\`) {
		s = latexToText(s)
	}
	s = prmMinus.ReplaceAllString(s, "-")
	s = prmMixed.ReplaceAllString(s, "$1+$2")
	s = strings.NewReplacer(" ", "", "{", "", "}", "").Replace(s)
	s = strings.ToLower(s)
	if isInteger(s) {
		f, _ := pytext.Float(strings.ReplaceAll(s, ",", ""))
		if math.Abs(f) < 1e15 {
			s = strconv.FormatInt(int64(f), 10)
		}
	}
	return s
}

// latexToText writes the LaTeX that occurs in answers as plain text.
func latexToText(s string) string {
	s = plainFractions(s)
	s = strings.ReplaceAll(s, `\frac`, ` \frac`)
	for range 8 {
		t := prmSqrt.ReplaceAllString(prmFrac.ReplaceAllString(s, "$1/$2"), "sqrt($1)")
		if t == s {
			break
		}
		s = t
	}
	s = strings.NewReplacer(`\pi`, "pi", `\infty`, "inf", `\cup`, "U", `\cdot`, "*", `\times`, "*", `\left`, "", `\right`, "", `\{`, "{", `\}`, "}", `\,`, " ", `\ `, " ").Replace(s)
	s = textUnwrap.ReplaceAllString(s, "$1")
	return strings.TrimSpace(s)
}

func noThousands(s string) string {
	for range 20 {
		t := prmThousand.ReplaceAllString(s, "$1$2$3")
		if t == s {
			break
		}
		s = t
	}
	return s
}

func isInteger(s string) bool {
	f, ok := pytext.Float(noThousands(s))
	return ok && !math.IsInf(f, 0) && !math.IsNaN(f) && math.Abs(f-math.RoundToEven(f)) <= 1e-7
}

// prmSplit splits a bracketed tuple at its commas.
func prmSplit(s string) []string {
	s = noThousands(s)
	if s == "" {
		return nil
	}
	if len(s) > 2 && strings.ContainsRune("()[]", rune(s[0])) && strings.ContainsRune("()[]", rune(s[len(s)-1])) && !strings.ContainsAny(s[1:len(s)-1], "()[]") {
		parts := strings.Split(s[1:len(s)-1], ",")
		for i := range parts {
			parts[i] = pytext.Strip(parts[i])
		}
		return parts
	}
	return []string{s}
}

// prmSymbolic compares values where the original would dare to: at most two
// letters, no powers it considers dangerous.
func prmSymbolic(gold, pred string) bool {
	expr := "(" + gold + ")-(" + pred + ")"
	letters := map[rune]bool{}
	for _, r := range strings.NewReplacer("sqrt", "", "frac", "").Replace(expr) {
		if unicode.IsLetter(r) {
			letters[r] = true
		}
	}
	if len(letters) > 2 || strings.Contains(expr, "^{") || strings.Contains(expr, "^(") || prmBadPowers.MatchString(expr) {
		return false
	}
	equal, _ := mathequiv.Equal(gold, pred)
	return equal && sameLetters(gold, pred)
}
