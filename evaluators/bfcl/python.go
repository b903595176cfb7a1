package bfcl

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// pythonCalls reads "[f(x=1, y=[2.0, 'a']), g()]" or a bare call.
func pythonCalls(text string) ([]Call, error) {
	p := &reader{s: text}
	listed := p.take("[")
	var calls []Call
	for {
		c, err := p.call()
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
		if !p.take(",") {
			break
		}
		if listed && p.peek() == ']' {
			break
		}
	}
	if listed && !p.take("]") {
		return nil, p.fail("']'")
	}
	if p.blanks(); p.at < len(p.s) {
		return nil, p.fail("the end")
	}
	return calls, nil
}

// reader is a recursive-descent reader of Python literals.
type reader struct {
	s     string
	at    int
	depth int
}

func (p *reader) fail(want string) error {
	return fmt.Errorf("not a function call: expected %s at byte %d", want, p.at)
}

func (p *reader) blanks() {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.at]) >= 0 {
		p.at++
	}
}

func (p *reader) peek() byte {
	p.blanks()
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *reader) take(tok string) bool {
	p.blanks()
	if strings.HasPrefix(p.s[p.at:], tok) {
		p.at += len(tok)
		return true
	}
	return false
}

// name reads a dotted identifier.
func (p *reader) name() string {
	p.blanks()
	start := p.at
	for p.at < len(p.s) {
		c := p.s[p.at]
		if c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c < 0x80 {
			break
		}
		p.at++
	}
	return p.s[start:p.at]
}

func (p *reader) call() (Call, error) {
	name := p.name()
	if name == "" || !p.take("(") {
		return Call{}, p.fail("a function name and '('")
	}
	c := Call{name, map[string]any{}}
	for p.peek() != ')' {
		key := p.name()
		if key == "" || !p.take("=") {
			return Call{}, p.fail("a keyword argument")
		}
		v, err := p.value()
		if err != nil {
			return Call{}, err
		}
		c.Args[key] = v
		if !p.take(",") {
			break
		}
	}
	if !p.take(")") {
		return Call{}, p.fail("')'")
	}
	return c, nil
}

func (p *reader) value() (any, error) {
	if p.depth++; p.depth > 64 {
		return nil, fmt.Errorf("not a function call: nested deeper than 64")
	}
	defer func() { p.depth-- }()
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		return p.text()
	case c == '[':
		return p.sequence("[", "]")
	case c == '(':
		return p.sequence("(", ")")
	case c == '{':
		return p.object()
	case c == '-' || c == '+' || c == '.' || '0' <= c && c <= '9':
		return p.number()
	}
	start := p.at
	switch word := p.name(); word {
	case "True", "true":
		return true, nil
	case "False", "false":
		return false, nil
	case "None", "null":
		return nil, nil
	default:
		p.at = start
		return nil, p.fail("a literal")
	}
}

func (p *reader) number() (any, error) {
	start := p.at
	for p.at < len(p.s) && strings.IndexByte("+-.0123456789eE_", p.s[p.at]) >= 0 {
		p.at++
	}
	lit := strings.TrimPrefix(strings.ReplaceAll(p.s[start:p.at], "_", ""), "+")
	if _, err := strconv.ParseFloat(lit, 64); err != nil {
		return nil, p.fail("a number")
	}
	return json.Number(lit), nil
}

func (p *reader) text() (any, error) {
	quote := p.s[p.at]
	p.at++
	var b strings.Builder
	for p.at < len(p.s) {
		c := p.s[p.at]
		p.at++
		switch c {
		case quote:
			return b.String(), nil
		case '\\':
			if p.at < len(p.s) {
				e := p.s[p.at]
				p.at++
				switch e {
				case 'n':
					b.WriteByte('\n')
				case 't':
					b.WriteByte('\t')
				case '\\', '\'', '"':
					b.WriteByte(e)
				default:
					b.WriteByte('\\')
					b.WriteByte(e)
				}
			}
		default:
			b.WriteByte(c)
		}
	}
	return nil, p.fail("the closing quote")
}

func (p *reader) sequence(open, shut string) (any, error) {
	p.take(open)
	list := []any{}
	for p.peek() != shut[0] {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if !p.take(",") {
			break
		}
	}
	if !p.take(shut) {
		return nil, p.fail("'" + shut + "'")
	}
	return list, nil
}

func (p *reader) object() (any, error) {
	p.take("{")
	m := map[string]any{}
	for p.peek() != '}' {
		k, err := p.value()
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok || !p.take(":") {
			return nil, p.fail("a string key and ':'")
		}
		if m[key], err = p.value(); err != nil {
			return nil, err
		}
		if !p.take(",") {
			break
		}
	}
	if !p.take("}") {
		return nil, p.fail("'}'")
	}
	return m, nil
}
