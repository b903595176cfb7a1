package evaluators

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"ais_bench/evaluators/pytext"
)

// number is a number found in text: where, and its exact value.
type number struct {
	start, end int // bytes of the text, sign and currency included
	value      *big.Rat
}

// String is the value in plain decimals, "1055" or "0.75"; a value without a
// finite decimal form is a fraction, "1/3".
func (n number) String() string {
	if n.value.IsInt() {
		return n.value.Num().String()
	}
	if digits, exact := n.value.FloatPrec(); exact {
		return n.value.FloatString(digits)
	}
	return n.value.String()
}

// maxExponent bounds scientific notation, so that hostile text ("1e999999999")
// costs nothing; maxDigits likewise bounds digit runs.
const (
	maxExponent = "300"
	maxDigits   = 400
)

// numbersIn finds the numbers of a text as people and models write them:
// thousands groups (1,234,567; also {,} and \, of LaTeX, full-width commas,
// no-break spaces, apostrophes and Indian grouping), but not lists ("1, 2");
// decimals, also with a leading dot; scientific notation (5.5e1, 5.5 \times
// 10^{1}); fractions (3/4, \frac{3}{4}); signs, also the Unicode minus, unless
// the sign is a subtraction; digits of any script. A digit run inside a word,
// version or date (v2, 2.5.5, 04/23/2005) is no number of its own.
func numbersIn(text string) []number {
	var found []number
	for at := 0; at < len(text); {
		n, next, ok := nextNumber(text, at)
		if next <= at { // no digit left
			break
		}
		if ok {
			found = append(found, n)
		}
		at = next
	}
	return found
}

// nextNumber finds the first number at or after byte at; next is where to go on
// (0 when the text holds no more digits). ok is false when what was found is
// not a number in its own right.
func nextNumber(text string, at int) (n number, next int, ok bool) {
	i := at
	for i < len(text) {
		if c := text[i]; c < utf8.RuneSelf {
			if '0' <= c && c <= '9' || c == '.' && i+1 < len(text) && '0' <= text[i+1] && text[i+1] <= '9' {
				break
			}
			if c == '\\' && isFrac(text[i:]) {
				if v, end, good := fracNumber(text, i); good {
					start, negative := signBefore(text, i)
					if negative {
						v.Neg(v)
					}
					return number{start, end, v}, end, true
				}
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if pytext.IsDigit(r) {
			break
		}
		i += size
	}
	if i >= len(text) {
		return number{}, 0, false
	}
	s := scanner{text: text, pos: i}
	value, whole, good := s.decimal()
	end := s.pos
	if !good {
		return number{}, end, false
	}
	if whole {
		if den, e, isFraction := denominatorAfter(text, end); isFraction {
			value = new(big.Rat).Quo(value, den)
			end = e
		} else if part, e, isMixed := mixedPart(text, end); isMixed {
			value = new(big.Rat).Add(value, part)
			end = e
		}
	}
	start, negative := signBefore(text, i)
	if prev, _ := utf8.DecodeLastRuneInString(text[:start]); start == i && start > 0 && isLatin(prev) {
		return number{}, end, false // "v2", "x1"
	}
	if negative {
		value.Neg(value)
	}
	return number{start, end, value}, end, true
}

// scanner reads one unsigned number.
type scanner struct {
	text string
	pos  int
}

// digits reads a run of digits of any script as ASCII.
func (s *scanner) digits() string {
	start := s.pos
	ascii := true
	for s.pos < len(s.text) {
		if c := s.text[s.pos]; c < utf8.RuneSelf {
			if c < '0' || c > '9' {
				break
			}
			s.pos++
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text[s.pos:])
		if !pytext.IsDigit(r) {
			break
		}
		ascii = false
		s.pos += size
	}
	if ascii {
		return s.text[start:s.pos]
	}
	var b strings.Builder
	for _, r := range s.text[start:s.pos] {
		b.WriteByte(byte('0' + pytext.DigitValue(r)))
	}
	return b.String()
}

// groupMarks separate groups of three digits, longest first.
var groupMarks = []string{`{,}`, `,\!`, `\,`, `,`, `，`, "\u00a0", "\u202f", "\u2009", `'`, `’`, `_`}

// groups reads digits with thousands groups. A mark counts only between a
// first group of one to three digits and full groups, all with the same mark.
func (s *scanner) groups() string {
	first := s.digits()
	if len(first) > 3 || len(first) == 0 {
		return first
	}
	for _, mark := range groupMarks {
		if !strings.HasPrefix(s.text[s.pos:], mark) {
			continue
		}
		var parts []string
		t := scanner{s.text, s.pos}
		for strings.HasPrefix(t.text[t.pos:], mark) {
			u := scanner{t.text, t.pos + len(mark)}
			d := u.digits()
			if d == "" {
				break
			}
			parts, t = append(parts, d), u
		}
		if thousandsGroups(first, parts) {
			s.pos = t.pos
			return first + strings.Join(parts, "")
		}
		return first
	}
	return first
}

// thousandsGroups accepts 1,234,567 and the Indian 12,34,567.
func thousandsGroups(first string, parts []string) bool {
	if len(parts) == 0 {
		return false
	}
	western, indian := true, len(parts) > 1 && len(first) <= 2
	for i, p := range parts {
		western = western && len(p) == 3
		if i == len(parts)-1 {
			indian = indian && len(p) == 3
		} else {
			indian = indian && len(p) == 2
		}
	}
	return western || indian
}

// decimal reads integer part, fraction and exponent. whole says that it was
// plain digits, which may be the numerator of a fraction. good is false for
// versions and over-long runs; pos is then behind them.
func (s *scanner) decimal() (value *big.Rat, whole, good bool) {
	whole = true
	intPart := s.groups()
	frac := ""
	dots := 0
	for s.pos < len(s.text) {
		t := scanner{s.text, s.pos}
		if t.text[t.pos] == '.' {
			t.pos++
		} else if strings.HasPrefix(t.text[t.pos:], "．") {
			t.pos += len("．")
		} else {
			break
		}
		d := t.digits()
		if d == "" {
			break
		}
		dots++
		frac, s.pos, whole = d, t.pos, false
	}
	if dots > 1 || len(intPart)+len(frac) > maxDigits {
		return nil, false, false
	}
	if intPart == "" {
		intPart = "0"
	}
	literal := intPart
	if frac != "" {
		literal += "." + frac
	}
	if exp := s.exponent(); exp != "" {
		literal += "e" + exp
		whole = false
	}
	value, ok := new(big.Rat).SetString(literal)
	return value, whole, ok
}

// timesTen are the ways to write "times ten to the" after a mantissa.
var timesTen = []string{`\times 10^`, `\times10^`, `\cdot 10^`, `\cdot10^`, `×10^`, `× 10^`, `*10^`, `* 10^`, `x10^`, `x 10^`, `·10^`, `⋅10^`}

// exponent reads e5, E-5, \times 10^{5}; "" when there is none or it is absurd.
func (s *scanner) exponent() string {
	rest := s.text[s.pos:]
	if rest == "" {
		return ""
	}
	if rest[0] == 'e' || rest[0] == 'E' {
		if exp, n, ok := signedExponent(rest[1:]); ok {
			if after, _ := utf8.DecodeRuneInString(rest[1+n:]); !isLatin(after) {
				s.pos += 1 + n
				return exp
			}
		}
		return ""
	}
	spaces := len(rest) - len(strings.TrimLeft(rest, " "))
	if spaces > 1 {
		return ""
	}
	for _, times := range timesTen {
		if !strings.HasPrefix(rest[spaces:], times) {
			continue
		}
		skip := spaces + len(times)
		braced := strings.HasPrefix(rest[skip:], "{")
		if braced {
			skip++
		}
		exp, n, ok := signedExponent(rest[skip:])
		if !ok {
			return ""
		}
		skip += n
		if braced {
			if !strings.HasPrefix(rest[skip:], "}") {
				return ""
			}
			skip++
		}
		s.pos += skip
		return exp
	}
	return ""
}

func signedExponent(s string) (exp string, length int, ok bool) {
	i := 0
	sign := ""
	switch {
	case strings.HasPrefix(s, "-"):
		sign, i = "-", 1
	case strings.HasPrefix(s, "−"):
		sign, i = "-", len("−")
	case strings.HasPrefix(s, "+"):
		i = 1
	}
	start := i
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	digits := s[start:i]
	if digits == "" || len(digits) > 3 || len(digits) == 3 && digits > maxExponent {
		return "", 0, false
	}
	return sign + digits, i, true
}

// denominatorAfter reads "/4" behind a numerator. Dates (1/2/2005) and paths are
// no fractions.
func denominatorAfter(text string, at int) (den *big.Rat, end int, ok bool) {
	if at >= len(text) || text[at] != '/' || at+1 >= len(text) || text[at+1] < '0' || text[at+1] > '9' {
		return nil, 0, false
	}
	s := scanner{text, at + 1}
	d := s.digits()
	if len(d) > maxDigits || s.pos < len(text) && (text[s.pos] == '/' || text[s.pos] == '.' && s.pos+1 < len(text) && '0' <= text[s.pos+1] && text[s.pos+1] <= '9') {
		return nil, 0, false
	}
	den, ok = new(big.Rat).SetString(d)
	return den, s.pos, ok && den.Sign() != 0
}

// mixedPart reads the proper fraction of a mixed number ("3 1/2", 3\frac{1}{2})
// behind its whole part.
func mixedPart(text string, at int) (part *big.Rat, end int, ok bool) {
	if at < len(text) && text[at] == '\\' && isFrac(text[at:]) {
		part, end, ok = fracNumber(text, at)
		return part, end, ok && part.Sign() > 0 && part.Cmp(one) < 0
	}
	if at+1 >= len(text) || text[at] != ' ' || text[at+1] < '1' || text[at+1] > '9' {
		return nil, 0, false
	}
	s := scanner{text, at + 1}
	numerator := s.digits()
	if len(numerator) > 3 {
		return nil, 0, false
	}
	den, end, ok := denominatorAfter(text, s.pos)
	if !ok {
		return nil, 0, false
	}
	part, ok = new(big.Rat).SetString(numerator)
	if !ok {
		return nil, 0, false
	}
	part.Quo(part, den)
	return part, end, part.Cmp(one) < 0
}

var one = big.NewRat(1, 1)

func isFrac(s string) bool {
	return strings.HasPrefix(s, `\frac{`) || strings.HasPrefix(s, `\dfrac{`) || strings.HasPrefix(s, `\tfrac{`)
}

// fracNumber reads \frac{a}{b} of two plain numbers at byte i.
func fracNumber(text string, i int) (v *big.Rat, end int, ok bool) {
	pos := i + strings.IndexByte(text[i:], '{')
	var parts [2]*big.Rat
	for k := range parts {
		if pos >= len(text) || text[pos] != '{' {
			return nil, 0, false
		}
		s := scanner{text, pos + 1}
		negative := strings.HasPrefix(text[s.pos:], "-")
		if negative {
			s.pos++
		}
		if s.pos >= len(text) || text[s.pos] < '0' || text[s.pos] > '9' {
			return nil, 0, false
		}
		n, _, good := s.decimal()
		if !good || s.pos >= len(text) || text[s.pos] != '}' {
			return nil, 0, false
		}
		if negative {
			n.Neg(n)
		}
		parts[k], pos = n, s.pos+1
	}
	if parts[1].Sign() == 0 {
		return nil, 0, false
	}
	return new(big.Rat).Quo(parts[0], parts[1]), pos, true
}

// currencies may stand between a sign and its number.
var currencies = []string{`\$`, "$", "€", "£", "¥", "￥", "₹", "₽", "₩"}

// signBefore finds a sign in front of the number at byte i, with a currency mark
// between them or not. A sign behind an operand ("72-17", "x -17", ")-17") is a
// subtraction, not a sign.
func signBefore(text string, i int) (start int, negative bool) {
	head := text[:i]
	for _, c := range currencies {
		if strings.HasSuffix(head, c) {
			head = head[:len(head)-len(c)]
			break
		}
	}
	r, size := utf8.DecodeLastRuneInString(head)
	switch r {
	case '-', '−', '－', '﹣', '–':
	default:
		return i, false
	}
	before := head[:len(head)-size]
	prev, _ := utf8.DecodeLastRuneInString(before)
	if before == "" {
		return len(before), true
	}
	if pytext.IsWord(prev) || strings.ContainsRune(")]}%$", prev) {
		return i, false
	}
	if prev == ' ' {
		// "30 -17" subtracts and "is -17" is signed: what is before the space tells.
		operand, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, " "))
		if pytext.IsDigit(operand) || strings.ContainsRune(")]}%", operand) {
			return i, false
		}
	}
	return len(before), true
}

func isLatin(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_'
}

// sameNumber compares two numbers; answers computed in floating point
// ("17.9999999") count as the number they are within 1e-6 of.
func sameNumber(a, b *big.Rat) bool {
	if a.Cmp(b) == 0 {
		return true
	}
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d).Cmp(numberTolerance) < 0
}

var numberTolerance = big.NewRat(1, 1_000_000)
