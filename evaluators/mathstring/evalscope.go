package mathstring

import (
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"ais_bench/evaluators/mathequiv"
	"ais_bench/evaluators/numword"
	"ais_bench/evaluators/pytext"
)

var (
	esArray      = regexp.MustCompile(`\\begin\{array\}\{.*?\}`)
	esArrayEnd   = regexp.MustCompile(`\\end\{array\}`)
	esTextWord   = regexp.MustCompile(`\\text\{([a-zA-Z]+)\}`)
	esSquared    = regexp.MustCompile(`(cm|inches)\}\^2`)
	esDecimal    = regexp.MustCompile(`(\p{Nd}+)\.0*([^\p{Nd}])`)
	esDecimalEnd = regexp.MustCompile(`(\p{Nd}+)\.0*$`)
	esThousands  = regexp.MustCompile(`^[\s\p{Z}]*-?\p{Nd}{1,3}(?:,\p{Nd}{3})+(?:\.\p{Nd}+)?[\s\p{Z}]*$`)
	esIntegers   = regexp.MustCompile(`^([\s\p{Z}]*-?\p{Nd}+[\s\p{Z}]*,)*[\s\p{Z}]*-?\p{Nd}+[\s\p{Z}]*$`)
	esLastNumber = regexp.MustCompile(`-?\p{Nd}*\.?\p{Nd}+`)
	esNewline    = regexp.MustCompile(`\n[\s\p{Z}]*`)
	esLetter     = regexp.MustCompile(`[A-E]`)
	esBackslash  = regexp.MustCompile(`^-?\p{Nd}+(\\|\)|,|\]|$)`)
)

// ESStrip is evalscope's (Qwen2.5-Math's) strip_answer_string.
func ESStrip(s string) string {
	s = strings.TrimRight(strings.ReplaceAll(pytext.Strip(s), "\n", ""), ".")
	s = strings.ReplaceAll(s, `\!`, "")
	s = esArray.ReplaceAllString(s, `\begin{pmatrix}`)
	s = esArrayEnd.ReplaceAllString(s, `\end{pmatrix}`)
	s = strings.ReplaceAll(s, "bmatrix", "pmatrix")
	s = plainFractions(s)
	for _, r := range [][2]string{{`\neq`, `\ne`}, {`\leq`, `\le`}, {`\geq`, `\ge`}} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	s = noSizes(s)
	s = strings.ReplaceAll(strings.ReplaceAll(s, `\{`, "{"), `\}`, "}")
	s = esTextWord.ReplaceAllStringFunc(s, func(m string) string {
		word := strings.ToLower(m[len(`\text{`) : len(m)-1])
		if n, ok := numword.Parse(word); ok && n != word {
			return n
		}
		return m
	})
	s = esSquared.ReplaceAllString(s, "$1}")
	s = dropUnit(s)
	s = noDegrees(s)
	for _, d := range []string{`\$`, "$", `\(`, `\)`} {
		s = strings.ReplaceAll(s, d, "")
	}
	if n, ok := numword.Parse(s); ok {
		s = n
	}
	s = textUnwrap.ReplaceAllString(s, "$1")
	for _, d := range []string{"x=", "y=", "z=", `x\in`, `y\in`, `z\in`, `x\to`, `y\to`, `z\to`} {
		s = strings.ReplaceAll(s, d, "")
	}
	s = strings.ReplaceAll(s, `\emptyset`, "{}")
	s = strings.ReplaceAll(s, `(-\infty,\infty)`, `\mathbb{R}`)
	s = strings.ReplaceAll(strings.ReplaceAll(s, `\%`, ""), "%", "")
	s = infinity(leadingZeros(s))
	s = strings.ReplaceAll(s, "and", "")
	s = strings.ReplaceAll(s, `\mathbf`, "")
	s = mbox.ReplaceAllString(s, "")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "'", ""), `"`, "")
	s = imaginary(s)
	s = esDecimal.ReplaceAllString(s, "$1$2")
	s = esDecimalEnd.ReplaceAllString(s, "$1")
	if s == "" {
		return s
	}
	s = shortEquation(leadDot(s))
	s = bareSqrt.ReplaceAllString(s, `\sqrt{$1}`)
	s = strings.ReplaceAll(s, " ", "")
	s, _ = BraceFractions(s)
	s, _ = quotient(s, true)
	s = dropBackslashes(s)
	s = strings.TrimSuffix(s, "thgrade")
	if esThousands.MatchString(s) {
		s = strings.ReplaceAll(s, ",", "")
	}
	if esIntegers.MatchString(s) {
		s = sortIntegers(s)
	}
	return s
}

// dropBackslashes deletes a backslash in front of an integer that ends there.
func dropBackslashes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && esBackslash.MatchString(s[i+1:]) {
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// sortIntegers puts a list of integers in order.
func sortIntegers(s string) string {
	parts := strings.Split(s, ",")
	nums := make([]int, len(parts))
	for i, p := range parts {
		n, ok := pytext.Int(p)
		if !ok || !n.IsInt64() {
			return s
		}
		nums[i] = int(n.Int64())
	}
	sort.Ints(nums)
	for i, n := range nums {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ",")
}

// ESExtract is evalscope's extract_answer: "final answer is $…$. I hope", the
// last boxed text, the text behind the last "he answer is", "final answer is",
// 答案是 or "ANSWER:", else the last number; through ESStrip.
func ESExtract(text string) string {
	text = strings.ReplaceAll(text, "\u043a\u0438", "")
	pred := ""
	switch {
	case strings.Contains(text, "final answer is $") && strings.Contains(text, "$. I hope"):
		_, rest, _ := strings.Cut(text, "final answer is $")
		rest, _, _ = strings.Cut(rest, "$. I hope")
		pred = pytext.Strip(rest)
	case strings.Contains(text, "boxed"):
		rest := text[strings.LastIndex(text, "boxed")+len("boxed"):]
		if rest == "" {
			return ""
		}
		if rest[0] == '{' {
			pred = toClosingBrace(rest[1:])
		} else {
			rest, _, _ = strings.Cut(rest, "$")
			pred = pytext.Strip(rest)
		}
	case strings.Contains(text, "he answer is"):
		pred = pytext.Strip(text[strings.LastIndex(text, "he answer is")+len("he answer is"):])
	case strings.Contains(text, "final answer is"):
		pred = pytext.Strip(text[strings.LastIndex(text, "final answer is")+len("final answer is"):])
	case strings.Contains(text, "答案是"):
		_, rest, _ := strings.Cut(text, "答案是")
		rest, _, _ = strings.Cut(rest, "答案是")
		rest, _, _ = strings.Cut(pytext.Strip(rest), "\n\n")
		pred = pytext.Strip(rest)
	case strings.Contains(text, "ANSWER:"):
		pred = pytext.Strip(text[strings.LastIndex(text, "ANSWER:")+len("ANSWER:"):])
	default:
		if all := esLastNumber.FindAllString(strings.ReplaceAll(text, ",", ""), -1); len(all) > 0 {
			pred = all[len(all)-1]
		}
	}
	pred = esNewline.ReplaceAllString(pred, "")
	pred = strings.TrimPrefix(pred, ":")
	pred = strings.TrimSuffix(pred, ".")
	pred = strings.TrimSuffix(pred, "/")
	return ESStrip(pred)
}

// toClosingBrace is the text up to the brace that closes one opened before it,
// or all of it.
func toClosingBrace(s string) string {
	depth := 1
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[:i]
			}
		}
	}
	return s
}

// ESEqual is evalscope's math_equal: text, choice letter, numbers within 1e-4 of
// the reference, a hundredth or a hundred times it, brackets ignored, element by
// element, then symbols. The last step asks package mathequiv where the original
// asks sympy.
func ESEqual(pred, ref string) bool { return esEqual(pred, ref, 0) }

func esEqual(pred, ref string, depth int) bool {
	if depth > 8 {
		return false
	}
	//lint:ignore SA6005 Python compares lower-cased texts, which is not Unicode folding
	if strings.ToLower(pytext.Strip(pred)) == strings.ToLower(pytext.Strip(ref)) {
		return true
	}
	if len(ref) == 1 && esLetter.MatchString(ref) && esChoice(pred) == ref {
		return true
	}
	if p, ok := esNumber(pred); ok {
		if r, ok := esNumber(ref); ok {
			return esClose(p, r/100) || esClose(p, r) || esClose(p, r*100)
		}
	}
	if pred == "" {
		return false
	}
	pred, ref = pytext.Strip(pred), pytext.Strip(ref)
	p, r := pred, ref
	round := strings.HasPrefix(pred, "(") && strings.HasSuffix(pred, ")") && !strings.HasPrefix(ref, "[")
	square := strings.HasPrefix(pred, "[") && strings.HasSuffix(pred, "]") && !strings.HasPrefix(ref, "(")
	if round || square {
		p, r = strings.Trim(p, "[]()"), strings.Trim(r, "[]()")
	}
	noBrackets := strings.NewReplacer("{", "", "}", "", "(", "", ")", "")
	if strings.EqualFold(noBrackets.Replace(p), noBrackets.Replace(r)) {
		return true
	}
	if enclosed(pred) && enclosed(ref) {
		ps, rs := strings.Split(pred[1:len(pred)-1], ","), strings.Split(ref[1:len(ref)-1], ",")
		if len(ps) == len(rs) && allEqual(ps, rs, depth) {
			return true
		}
	}
	if pm, ok := matrix(pred); ok {
		if rm, ok := matrix(ref); ok && sameMatrix(pm, rm, depth) {
			return true
		}
	}
	pl, pr, pEq := equation(pred)
	rl, rr, rEq := equation(ref)
	switch {
	case pEq && rEq:
		a, b := pl+" - ("+pr+")", rl+" - ("+rr+")"
		if symbolicEqual(a, b) || symbolicEqual("-("+a+")", b) {
			return true
		}
	case pEq && utf8.RuneCountInString(pl) <= 2 && !strings.Contains(ref, "="):
		if esEqual(pr, ref, depth+1) {
			return true
		}
	case rEq && utf8.RuneCountInString(rl) <= 2 && !strings.Contains(pred, "="):
		if esEqual(pred, rr, depth+1) {
			return true
		}
	}
	return symbolicEqual(pred, ref)
}

// esChoice is choice_answer_clean: the last letter A to E that stands alone.
func esChoice(pred string) string {
	up := []rune(strings.ToUpper(pred))
	last := ""
	for i, r := range up {
		if r < 'A' || r > 'E' || i > 0 && pytext.IsWord(up[i-1]) || i+1 < len(up) && pytext.IsWord(up[i+1]) {
			continue
		}
		last = string(r)
	}
	return last
}

// esNumber is parse_digits: a float without commas, a percentage as hundredths.
func esNumber(s string) (float64, bool) {
	s = strings.ReplaceAll(s, ",", "")
	if f, ok := pytext.Float(s); ok {
		return f, true
	}
	if t, percent := strings.CutSuffix(s, "%"); percent {
		if f, ok := pytext.Float(strings.TrimSuffix(t, `\`)); ok {
			return f / 100, true
		}
	}
	return 0, false
}

// esClose is math.isclose with rel_tol 1e-4.
func esClose(a, b float64) bool {
	if a == b {
		return true
	}
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return false
	}
	return math.Abs(a-b) <= 1e-4*math.Max(math.Abs(a), math.Abs(b))
}

func enclosed(s string) bool {
	return len(s) > 2 && (s[0] == '(' || s[0] == '[') && strings.ContainsAny(s[2:], ")]")
}

func allEqual(a, b []string, depth int) bool {
	for i := range a {
		if !esEqual(a[i], b[i], depth+1) {
			return false
		}
	}
	return true
}

// matrix reads the rows and cells of a pmatrix or bmatrix.
func matrix(s string) ([][]string, bool) {
	for _, kind := range []string{"pmatrix", "bmatrix"} {
		body, ok := strings.CutPrefix(s, `\begin{`+kind+"}")
		if !ok {
			continue
		}
		if body, ok = strings.CutSuffix(body, `\end{`+kind+"}"); !ok {
			continue
		}
		var rows [][]string
		for _, line := range strings.Split(body, `\\`) {
			if line = pytext.Strip(line); line != "" {
				rows = append(rows, strings.Split(line, "&"))
			}
		}
		return rows, true
	}
	return nil, false
}

func sameMatrix(a, b [][]string, depth int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) || !allEqual(a[i], b[i], depth) {
			return false
		}
	}
	return true
}

func equation(s string) (left, right string, ok bool) {
	parts := strings.Split(s, "=")
	if len(parts) != 2 {
		return "", "", false
	}
	return pytext.Strip(parts[0]), pytext.Strip(parts[1]), true
}

var (
	commands  = regexp.MustCompile(`\\[a-zA-Z]+`)
	powerInts = regexp.MustCompile(`^(\d{1,9})\^(\d{1,9})$`)
)

// symbolicEqual stands in for sympy: expressions over the same letters that are
// equal as mathematics. Text, units and spelled words are symbols to sympy, so
// they never cancel; "10^3" without braces is read as Python, where ^ is
// exclusive or.
func symbolicEqual(a, b string) bool {
	if strings.Contains(a, `\text`) || strings.Contains(b, `\text`) || !sameLetters(a, b) {
		return false
	}
	equal, _ := mathequiv.Equal(pythonPower(b), pythonPower(a))
	return equal
}

func pythonPower(s string) string {
	m := powerInts.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	x, _ := strconv.Atoi(m[1])
	y, _ := strconv.Atoi(m[2])
	return strconv.Itoa(x ^ y)
}

func sameLetters(a, b string) bool {
	letters := func(s string) string {
		var set [26]bool
		for _, r := range commands.ReplaceAllString(strings.ToLower(s), " ") {
			if 'a' <= r && r <= 'z' {
				set[r-'a'] = true
			}
		}
		var out []byte
		for i, in := range set {
			if in {
				out = append(out, byte('a'+i))
			}
		}
		return string(out)
	}
	return letters(a) == letters(b)
}
