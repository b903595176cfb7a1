package wire

import "strconv"

// Logprob is the log-probability of one prompt token.
type Logprob struct {
	Token string
	Value float64
	Unset bool // the first token has none
}

// Float is the next value if it is a number or null (unset); the value is
// consumed in any case. Python's -Infinity and NaN are understood.
func (l *Lexer) Float() (v float64, unset, ok bool) {
	raw := l.Skip()
	if string(raw) == "null" {
		return 0, true, true
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	return v, false, err == nil
}
