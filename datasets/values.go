package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Columns come from JSON, CSV, Parquet or YAML, so one value has several Go
// types. These readers accept them all.

// need reports the first of the columns a row lacks.
func need(row map[string]any, columns ...string) error {
	for _, c := range columns {
		if v, ok := row[c]; !ok || v == nil {
			return fmt.Errorf("no column %s%s (it has: %s)", c, didYouMean(c, columnNames(row)), strings.Join(columnNames(row), ", "))
		}
	}
	return nil
}

// texts is a value as a list of texts: a list, or a JSON or Python list in a
// string.
func texts(v any) ([]string, bool) {
	switch x := v.(type) {
	case []string:
		return append([]string(nil), x...), true
	case []any:
		out := make([]string, len(x))
		for i, e := range x {
			out[i] = textOf(e)
		}
		return out, true
	case string:
		x = strings.TrimSpace(x)
		if !strings.HasPrefix(x, "[") {
			return nil, false
		}
		var out []any
		if json.Unmarshal([]byte(x), &out) == nil {
			return texts(out)
		}
		return pythonList(x)
	}
	return nil, false
}

// anyList is a list of texts as the readers make it.
func anyList(l []string) []any {
	out := make([]any, len(l))
	for i, s := range l {
		out[i] = s
	}
	return out
}

// wholeNumber is a value as an int.
func wholeNumber(v any) (int, bool) {
	switch x := v.(type) {
	case int:
		return x, true
	case int64:
		return int(x), true
	case uint64:
		return int(x), true
	case float64:
		return int(x), x == math.Trunc(x) && math.Abs(x) < 1<<52
	case string:
		n, err := strconv.Atoi(strings.TrimSpace(x))
		return n, err == nil
	}
	return 0, false
}

// letterIndex is the place of an option letter, -1 when s is not one.
func letterIndex(s string) int {
	s = strings.Trim(strings.TrimSpace(s), "().")
	if len(s) != 1 {
		return -1
	}
	switch c := s[0]; {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c - 'a')
	}
	return -1
}

// contentSeed is the first eight bytes of a text's sha256.
func contentSeed(s string) uint64 {
	sum := sha256.Sum256([]byte(strings.TrimSpace(s)))
	return binary.BigEndian.Uint64(sum[:8])
}

// pythonList reads a list of string literals as Python prints it: ['a', "b'c"].
func pythonList(s string) ([]string, bool) {
	var out []string
	i := 1
	skip := func() {
		for i < len(s) && strings.ContainsRune(" ,\t\n", rune(s[i])) {
			i++
		}
	}
	for skip(); i < len(s) && s[i] != ']'; skip() {
		quote := s[i]
		if quote != '\'' && quote != '"' {
			return nil, false
		}
		var b strings.Builder
		i++
		for ; i < len(s) && s[i] != quote; i++ {
			if s[i] != '\\' || i+1 >= len(s) {
				b.WriteByte(s[i])
				continue
			}
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'x', 'u':
				width := 2
				if s[i] == 'u' {
					width = 4
				}
				if i+width >= len(s) {
					return nil, false
				}
				r, err := strconv.ParseUint(s[i+1:i+1+width], 16, 32)
				if err != nil {
					return nil, false
				}
				b.WriteRune(rune(r))
				i += width
			default:
				b.WriteByte(s[i])
			}
		}
		if i >= len(s) {
			return nil, false
		}
		i++
		out = append(out, b.String())
	}
	return out, i < len(s)
}
