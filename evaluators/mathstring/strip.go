package mathstring

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"ais_bench/evaluators/pytext"
)

// StripHendrycks is strip_string of the MATH benchmark (OpenCompass's v1). ok is
// false where the original raises: two or more "\text{ ", a \sqrt at the end, or
// a quotient that is not of two integers.
func StripHendrycks(s string) (stripped string, ok bool) {
	if s, ok = hendrycks(s); !ok || s == "" {
		return s, ok
	}
	return quotient(s, false)
}

// hendrycks is StripHendrycks up to the quotient rule.
func hendrycks(s string) (stripped string, ok bool) {
	s = strings.ReplaceAll(s, "\n", "")
	s = strings.ReplaceAll(s, `\!`, "")
	s = strings.ReplaceAll(s, `\\`, `\`)
	s = plainFractions(s)
	s = noSizes(s)
	s = noDegrees(s)
	s = strings.ReplaceAll(s, `\$`, "")
	if parts := strings.Split(s, `\text{ `); len(parts) > 1 {
		if len(parts) != 2 {
			return "", false
		}
		s = parts[0]
	}
	s = strings.ReplaceAll(s, `\%`, "")
	s = leadingZeros(s)
	if s == "" {
		return s, true
	}
	s = shortEquation(leadDot(s))
	if s, ok = braceSqrt(s); !ok {
		return "", false
	}
	s = strings.ReplaceAll(s, " ", "")
	if s, ok = BraceFractions(s); !ok {
		return "", false
	}
	if s == "0.5" {
		s = `\frac{1}{2}`
	}
	return s, true
}

var (
	textAtEnd   = regexp.MustCompile(`\\text\{.*?\}$`)
	mbox        = regexp.MustCompile(`\\mbox\{.*?\}`)
	zeroDecimal = regexp.MustCompile(`(\p{Nd}+)\.0+([^\p{Nd}])`)
	zeroEnd     = regexp.MustCompile(`(\p{Nd}+)\.0+$`)
	bareSqrt    = regexp.MustCompile(`\\sqrt([\p{L}\p{N}_]+)`)
)

// StripV2 is OpenCompass's and AISBench's version v2. ok is false where the
// original raises.
func StripV2(s string) (stripped string, ok bool) {
	s = strings.ReplaceAll(pytext.Strip(s), "\n", "")
	s = strings.TrimRight(s, ".")
	s = strings.ReplaceAll(s, `\!`, "")
	s = strings.ReplaceAll(s, `\ `, "")
	s = strings.ReplaceAll(strings.ReplaceAll(s, `\\`, `\`), `\\`, `\`)
	s = plainFractions(s)
	s = noSizes(s)
	s = dropUnit(s)
	s = noDegrees(s)
	for _, d := range []string{`\$`, "$", `\text`, `x\in`, `\%`, "%"} {
		s = strings.ReplaceAll(s, d, "")
	}
	s = leadingZeros(s)
	s = strings.ReplaceAll(s, `\cdot`, "")
	s = infinity(s)
	s = strings.ReplaceAll(s, "and", "")
	s = strings.ReplaceAll(s, `\mathbf`, "")
	s = mbox.ReplaceAllString(s, "")
	s = imaginary(s)
	s = zeroDecimal.ReplaceAllString(s, "$1$2")
	s = zeroEnd.ReplaceAllString(s, "$1")
	if s == "" {
		return s, true
	}
	s = shortEquation(leadDot(s))
	s = bareSqrt.ReplaceAllString(s, `\sqrt{$1}`)
	s = strings.ReplaceAll(s, " ", "")
	if s, ok = BraceFractions(s); !ok {
		return "", false
	}
	return quotient(s, false)
}

func plainFractions(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "tfrac", "frac"), "dfrac", "frac")
}

func noSizes(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, `\left`, ""), `\right`, "")
}

func noDegrees(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, `^{\circ}`, ""), `^\circ`, "")
}

// dropUnit deletes a trailing \text{…} unless nothing would remain.
func dropUnit(s string) string {
	if t := pytext.Strip(textAtEnd.ReplaceAllString(s, "")); t != "" && t != s {
		return t
	}
	return s
}

func leadingZeros(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, " .", " 0."), "{.", "{0.")
}

func leadDot(s string) string {
	if s[0] == '.' {
		return "0" + s
	}
	return s
}

// shortEquation keeps the right-hand side of "k = …" with a short left one.
func shortEquation(s string) string {
	if parts := strings.Split(s, "="); len(parts) == 2 && utf8.RuneCountInString(parts[0]) <= 2 {
		return parts[1]
	}
	return s
}

func infinity(s string) string {
	s = strings.ReplaceAll(s, "infinity", `\infty`)
	if !strings.Contains(s, `\infty`) {
		s = strings.ReplaceAll(s, "inf", `\infty`)
	}
	return s
}

func imaginary(s string) string {
	if strings.Contains(s, "j") && !strings.Contains(s, "i") {
		return strings.ReplaceAll(s, "j", "i")
	}
	return s
}

// braceSqrt writes \sqrt3 as \sqrt{3}.
func braceSqrt(s string) (string, bool) {
	parts := strings.Split(s, `\sqrt`)
	var b strings.Builder
	b.WriteString(parts[0])
	for _, p := range parts[1:] {
		if p == "" {
			return "", false
		}
		b.WriteString(`\sqrt`)
		if p[0] != '{' {
			_, size := utf8.DecodeRuneInString(p)
			b.WriteString("{" + p[:size] + "}" + p[size:])
			continue
		}
		b.WriteString(p)
	}
	return b.String(), true
}

// BraceFractions writes \frac12 and \frac1{72} with braces; a \frac with fewer
// than two characters behind it leaves the text as it was.
func BraceFractions(s string) (string, bool) {
	parts := strings.Split(s, `\frac`)
	var b strings.Builder
	b.WriteString(parts[0])
	for _, p := range parts[1:] {
		b.WriteString(`\frac`)
		if strings.HasPrefix(p, "{") {
			b.WriteString(p)
			continue
		}
		r := []rune(p)
		if len(r) < 2 {
			return s, true
		}
		b.WriteString("{" + string(r[0]) + "}")
		if r[1] == '{' {
			b.WriteString(string(r[1:]))
		} else {
			b.WriteString("{" + string(r[1]) + "}" + string(r[2:]))
		}
	}
	return b.String(), true
}

// quotient writes a/b of two integers as a fraction, if it is written exactly so.
// ok is false where int() raises and the original lets the exception through;
// lenient says that it does not, and that parts with "sqrt" are left as text.
func quotient(s string, lenient bool) (string, bool) {
	parts := strings.Split(s, "/")
	if len(parts) != 2 {
		return s, true
	}
	var exact [2]string
	for i, p := range parts {
		if lenient && strings.Contains(p, "sqrt") {
			exact[i] = p
			continue
		}
		n, ok := pytext.Int(p)
		if !ok {
			return s, lenient
		}
		exact[i] = n.String()
	}
	if s != exact[0]+"/"+exact[1] {
		return s, true
	}
	return `\frac{` + exact[0] + "}{" + exact[1] + "}", true
}
