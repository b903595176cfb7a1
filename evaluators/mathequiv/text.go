package mathequiv

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// clean takes off what surrounds an answer: math delimiters, an outer box,
// emphasis, a final full stop.
func clean(s string) string {
	s = canonicalRunes(strings.TrimSpace(s))
	for range 8 {
		before := s
		s = strings.TrimSpace(s)
		s = strings.TrimSuffix(s, `\\`)
		for _, pair := range [...][2]string{{"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}, {"**", "**"}, {"`", "`"}, {`"`, `"`}} {
			if len(s) > len(pair[0])+len(pair[1]) && strings.HasPrefix(s, pair[0]) && strings.HasSuffix(s, pair[1]) {
				inner := s[len(pair[0]) : len(s)-len(pair[1])]
				if !strings.Contains(inner, pair[0]) {
					s = inner
				}
			}
		}
		for _, box := range [...]string{`\boxed{`, `\fbox{`, `\displaystyle{`} {
			if strings.HasPrefix(s, box) && matchBrace(s, len(box)-1) == len(s)-1 {
				s = s[len(box) : len(s)-1]
			}
		}
		for _, suffix := range [...]string{".", "。", ",", ":", `\text{.}`} {
			if !strings.HasSuffix(s, "..") {
				s = strings.TrimSuffix(s, suffix)
			}
		}
		s = strings.TrimPrefix(s, ":")
		s = strings.TrimLeft(s, " ")
		s = strings.TrimPrefix(s, "=")
		if s == before {
			break
		}
	}
	return s
}

var wrapper = regexp.MustCompile(`\\(?:text|textbf|textit|mathrm|mathbf|mbox|textrm|mathit|mathsf|textsf|texttt|operatorname)\s*\{([^{}]*)\}`)

// unwrapText replaces \text{x} by x.
func unwrapText(s string) string {
	for range 4 {
		t := wrapper.ReplaceAllString(s, " $1 ")
		if t == s {
			break
		}
		s = t
	}
	return s
}

var letterOnly = regexp.MustCompile(`^\(?\s*([A-J])\s*\)?\s*[.:]?$`)
var letterFirst = regexp.MustCompile(`^(?:(?i:option|choice|answer)\s*:?\s*)?\(?\s*([A-Ja-j])\s*(?:\)|[.:)]\s|[.:)]?$)`)

// choiceLetter is the letter when a reference is a choice letter.
func choiceLetter(s string) string {
	if len(s) > 40 {
		return ""
	}
	if m := letterOnly.FindStringSubmatch(strings.TrimSpace(unwrapText(s))); m != nil {
		return m[1]
	}
	return ""
}

// predictedLetter is the letter an answer chooses: "B", "(B)", "B. 5 cm".
func predictedLetter(s string) string {
	if len(s) > 400 {
		return ""
	}
	if m := letterFirst.FindStringSubmatch(strings.TrimSpace(unwrapText(s))); m != nil {
		return strings.ToUpper(m[1])
	}
	return ""
}

var clock = regexp.MustCompile(`^(\d{1,2}):([0-5]\d)\s*(?:([aApP])\s*\.*\s*[mM]?\s*\.*)?$`)

// clockEqual compares times of day; ok is false unless both are ones and at
// least one says a.m. or p.m. (otherwise 4:30 may be a ratio).
func clockEqual(g, p string) (equal, ok bool) {
	read := func(s string) (minutes int, half string, ok bool) {
		if len(s) > 60 {
			return 0, "", false
		}
		s = strings.NewReplacer("~", " ", `\,`, " ", `\ `, " ", `\;`, " ", "{:}", ":", `\!`, "", "$", "").Replace(unwrapText(s))
		m := clock.FindStringSubmatch(strings.TrimSpace(s))
		if m == nil {
			return 0, "", false
		}
		h, _ := strconv.Atoi(m[1])
		min, _ := strconv.Atoi(m[2])
		return h*60 + min, strings.ToLower(m[3]), true
	}
	gm, gh, ok1 := read(g)
	pm, ph, ok2 := read(p)
	if !ok1 || !ok2 || gh == "" && ph == "" {
		return false, false
	}
	day := func(m int, half string) int { // minutes since midnight
		if half == "p" && m < 12*60 {
			m += 12 * 60
		}
		if half == "a" && m >= 12*60 {
			m -= 12 * 60
		}
		return m
	}
	if gh != "" && ph != "" {
		return day(gm, gh) == day(pm, ph), true
	}
	half := gh + ph
	return gm == pm || day(gm, half) == day(pm, half), true
}

var latexCommand = regexp.MustCompile(`\\[a-zA-Z]+|\\.`)

// textForm is an answer reduced to its lower-case letters, digits and operators,
// for answers that are words.
func textForm(s string) string {
	s = unwrapText(s)
	s = latexCommand.ReplaceAllStringFunc(s, func(m string) string {
		switch m {
		case `\ `, `\,`, `\!`, `\;`, `\:`, `\left`, `\right`, `\\`, `\quad`, `\displaystyle`, `\$`:
			return " "
		}
		return m
	})
	var b strings.Builder
	runes := []rune(strings.ToLower(s))
	for i, r := range runes {
		if unicode.IsSpace(r) || strings.ContainsRune("{}$\"'`~", r) {
			continue
		}
		if r == '.' || r == ',' {
			// punctuation goes, a decimal point or a separator of digits stays
			if i == 0 || i+1 == len(runes) || !unicode.IsDigit(runes[i-1]) && !unicode.IsDigit(runes[i+1]) {
				continue
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// unit is a known unit of measurement: answers in units of one dimension are
// converted, answers in different dimensions differ.
type unit struct{ dimension, factor string }

var units = unitTable(`
length 1 m meter meters metre metres
length 1/100 cm centimeter centimeters centimetre centimetres
length 1/1000 mm millimeter millimeters
length 1000 km kilometer kilometers kilometre kilometres
length 0.3048 ft foot feet
length 0.0254 inch inches in
length 1609.344 mile miles mi
length 0.9144 yard yards yd
mass 1 kg kilogram kilograms
mass 1/1000 g gram grams
mass 1/1000000 mg milligram milligrams
mass 0.45359237 pound pounds lb lbs
mass 0.028349523125 ounce ounces oz
time 1 s sec secs second seconds
time 60 min mins minute minutes
time 3600 h hr hrs hour hours
time 86400 day days
time 604800 week weeks
angle 1 degree degrees deg °
volume 1 liter liters litre litres L
volume 1/1000 ml mL milliliter milliliters
money 1 dollar dollars USD
money 1/100 cent cents
`)

func unitTable(s string) map[string]unit {
	m := map[string]unit{}
	for _, line := range strings.Split(strings.TrimSpace(s), "\n") {
		f := strings.Fields(line)
		for _, name := range f[2:] {
			m[name] = unit{f[0], f[1]}
		}
	}
	return m
}

// isUnitTree reports whether a factor is only words: cm, cm^2, \frac{m}{s}.
func isUnitTree(n *node) bool {
	switch n.kind {
	case kWords:
		return true
	case kPow:
		return isUnitTree(n.args[0])
	case kDiv, kMul:
		for _, a := range n.args {
			if !isUnitTree(a) {
				return false
			}
		}
		return len(n.args) > 0
	}
	return false
}

// unitOf names the unit a value is given in, "" for none. Powers of a unit are
// part of the name, and so are not converted.
func unitOf(n *node) string {
	switch n.kind {
	case kNeg:
		return unitOf(n.args[0])
	case kDiv: // 5 m / s
		if isUnitTree(n.args[1]) && !isUnitTree(n.args[0]) {
			return unitOf(n.args[0]) + "/" + unitName(n.args[1])
		}
	case kMul:
		var parts []string
		values := 0
		for _, a := range n.args {
			if isUnitTree(a) {
				parts = append(parts, unitName(a))
			} else {
				values++
			}
		}
		if values > 0 {
			return strings.Join(parts, " ")
		}
	}
	return ""
}

func unitName(n *node) string {
	switch n.kind {
	case kWords:
		return strings.TrimRight(strings.TrimSpace(n.name), ".")
	case kPow:
		return unitName(n.args[0]) + "^" + n.args[1].key()
	}
	names := make([]string, len(n.args))
	for i, a := range n.args {
		names[i] = unitName(a)
	}
	return strings.Join(names, map[bool]string{true: "/", false: " "}[n.kind == kDiv])
}

// simplify takes units off a value and an outer grouping off a list; words that
// stand alone are joined into one.
func simplify(n *node) *node {
	switch n.kind {
	case kList:
		if len(n.args) == 1 {
			return simplify(n.args[0])
		}
	case kSet:
		if len(n.args) == 1 && n.args[0].kind == kSet {
			return simplify(n.args[0])
		}
	case kNeg:
		return op(kNeg, simplify(n.args[0]))
	case kDiv:
		if isUnitTree(n.args[1]) && !isUnitTree(n.args[0]) {
			return simplify(n.args[0])
		}
	case kRel:
		c := *n
		c.args = make([]*node, len(n.args))
		for i, a := range n.args {
			c.args[i] = simplify(a)
		}
		return &c
	case kMul:
		var values, words []*node
		for _, a := range n.args {
			if a.kind == kWords && strings.EqualFold(a.name, "mod") {
				break // 3 (mod 5) is 3
			}
			if isUnitTree(a) {
				words = append(words, a)
			} else {
				values = append(values, a)
			}
		}
		if len(words) == 0 && len(values) == len(n.args) {
			return n
		}
		if len(values) == 0 {
			names := make([]string, len(words))
			for i, w := range words {
				names[i] = unitName(w)
			}
			return &node{kind: kWords, name: strings.Join(names, " ")}
		}
		core := values[0]
		if len(values) > 1 {
			core = op(kMul, values...)
		}
		// A noun behind a number is what is counted. Behind an expression in
		// variables only a known unit is dropped: "x is even" is not x.
		if len(variables(core)) > 0 {
			for _, w := range words {
				if _, known := units[strings.Fields(unitName(w) + " .")[0]]; !known {
					all := make([]string, len(n.args))
					for i, a := range n.args {
						all[i] = a.name
						if a.kind != kWords && a.kind != kSym {
							all[i] = a.key()
						}
					}
					return &node{kind: kWords, name: strings.Join(all, " ")}
				}
			}
		}
		return simplify(core)
	}
	return n
}
