package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// iceToken marks where few-shot examples go; the name and the spelling are
// OpenCompass's.
const iceToken = "</E>"

// Template is how a row becomes a prompt: a string, or a list of rounds with
// roles. {column} stands for a column of the row, {{ and }} for braces; an empty
// pair {} is text. The gold column is masked: it renders as nothing in the
// question and in full in a few-shot example. "</E>" (in the string, or as an
// entry of the list) marks where few-shot examples go; without it they come
// first, after system rounds. What follows the mark is also the default template
// of one example.
type Template struct {
	Text   string
	Rounds []Round
}

// Round is one message of a chat template.
type Round struct {
	Role   string `yaml:"role"` // SYSTEM, HUMAN or BOT (system, user and assistant are understood)
	Prompt string `yaml:"prompt"`
}

// roles maps a template's role to the chat protocol's.
var roles = map[string]string{
	"SYSTEM": "system", "HUMAN": "user", "BOT": "assistant",
	"system": "system", "user": "user", "assistant": "assistant",
}

// Empty reports whether nothing is set.
func (t Template) Empty() bool { return t.Text == "" && len(t.Rounds) == 0 }

// IsZero lets omitempty leave an empty template out.
func (t Template) IsZero() bool { return t.Empty() }

// UnmarshalYAML accepts a string or a list of rounds.
func (t *Template) UnmarshalYAML(decode func(any) error) error {
	var text string
	if err := decode(&text); err == nil {
		*t = Template{Text: text}
		return nil
	}
	var rounds []Round
	if err := decode(&rounds); err != nil {
		return fmt.Errorf("a template is a string or a list of {role, prompt}: %w", err)
	}
	*t = Template{Rounds: rounds}
	return nil
}

// MarshalYAML is the inverse of UnmarshalYAML.
func (t Template) MarshalYAML() (any, error) {
	if t.Text != "" {
		return t.Text, nil
	}
	return t.Rounds, nil
}

// UnmarshalYAML accepts {role, prompt} and the bare ice token.
func (r *Round) UnmarshalYAML(decode func(any) error) error {
	var token string
	if err := decode(&token); err == nil {
		if strings.TrimSpace(token) != iceToken {
			return fmt.Errorf("a round is {role, prompt} or %q, not %q", iceToken, token)
		}
		*r = Round{Prompt: iceToken}
		return nil
	}
	type plain Round
	return decode((*plain)(r))
}

// MarshalYAML is the inverse of UnmarshalYAML.
func (r Round) MarshalYAML() (any, error) {
	if r.isIce() {
		return iceToken, nil
	}
	type plain Round
	return plain(r), nil
}

func (r Round) isIce() bool { return r.Role == "" && r.Prompt == iceToken }

// validate checks roles and braces.
func (t Template) validate() error {
	if t.Text != "" && len(t.Rounds) > 0 {
		return errors.New("template is both a string and a list of rounds")
	}
	for _, r := range t.Rounds {
		if r.isIce() {
			continue
		}
		if roles[r.Role] == "" {
			return fmt.Errorf("template has the unknown role %q; use SYSTEM, HUMAN or BOT", r.Role)
		}
		if _, err := compileText(r.Prompt); err != nil {
			return err
		}
	}
	_, err := compileText(t.Text)
	return err
}

// piece is a literal or a column of a compiled template text.
type piece struct{ literal, column string }

// compileText splits a template text into pieces.
func compileText(text string) ([]piece, error) {
	var out []piece
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			out = append(out, piece{literal: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "{{"), strings.HasPrefix(text[i:], "}}"):
			lit.WriteByte(text[i])
			i += 2
		case strings.HasPrefix(text[i:], "{}"):
			lit.WriteString("{}")
			i += 2
		case text[i] == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 0 || !isColumnName(text[i+1:i+end]) {
				return nil, fmt.Errorf("template has a brace that opens no column near %q; write {{ for a brace", clip(text[i:], 30))
			}
			flush()
			out = append(out, piece{column: text[i+1 : i+end]})
			i += end + 1
		case text[i] == '}':
			return nil, fmt.Errorf("template has a stray closing brace near %q; write }} for a brace", clip(text[max(0, i-20):], 30))
		default:
			lit.WriteByte(text[i])
			i++
		}
	}
	flush()
	return out, nil
}

func isColumnName(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c > 127
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '.' || c == '-' || c == ' ')) {
			return false
		}
	}
	return s != ""
}

// view is what a template may refer to: a row, further names that win over its
// columns, and the column to mask.
type view struct {
	row   map[string]any
	extra map[string]string
	mask  string
}

func (v view) render(pieces []piece) (string, error) {
	var b strings.Builder
	for i, p := range pieces {
		if p.column == "" {
			b.WriteString(p.literal)
			continue
		}
		if p.column == v.mask {
			if blank(pieces[i+1:]) {
				// The cue before a masked answer ends the prompt: a dangling
				// blank would be a token of its own and change what follows.
				return strings.TrimRight(b.String(), " \t"), nil
			}
			continue
		}
		if s, ok := v.extra[p.column]; ok {
			b.WriteString(s)
			continue
		}
		val, ok := v.row[p.column]
		if !ok {
			return "", fmt.Errorf("template uses {%s}, a column the row lacks%s (it has: %s)", p.column,
				didYouMean(p.column, columnNames(v.row)), strings.Join(columnNames(v.row), ", "))
		}
		b.WriteString(textOf(val))
	}
	return b.String(), nil
}

// blank reports whether nothing but blanks is left.
func blank(pieces []piece) bool {
	for _, p := range pieces {
		if p.column != "" || strings.TrimSpace(p.literal) != "" {
			return false
		}
	}
	return true
}

func columnNames(row map[string]any) []string {
	names := make([]string, 0, len(row))
	for n := range row {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// textOf is a column's value as a prompt shows it: numbers without needless
// zeros, lists of texts line by line, anything else as JSON.
func textOf(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case bool:
		return strconv.FormatBool(x)
	case int:
		return strconv.Itoa(x)
	case int32:
		return strconv.FormatInt(int64(x), 10)
	case int64:
		return strconv.FormatInt(x, 10)
	case float32:
		return strconv.FormatFloat(float64(x), 'f', -1, 32)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case []string:
		return strings.Join(x, "\n")
	case []any:
		lines := make([]string, len(x))
		for i, e := range x {
			lines[i] = textOf(e)
		}
		return strings.Join(lines, "\n")
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// compiled is a Template ready to render: what comes before and after the place
// of the few-shot examples.
type compiled struct {
	chat         bool
	before       []compiledRound // a string template is one round without a role
	after        []compiledRound
	beforePieces []piece
	afterPieces  []piece
}

type compiledRound struct {
	role   string
	pieces []piece
}

// compile prepares a template. Without an ice token the examples' place is after
// the leading system rounds, or at the very start of a string.
func (t Template) compile() (*compiled, error) {
	c := &compiled{chat: len(t.Rounds) > 0}
	var err error
	if !c.chat {
		before, after, found := strings.Cut(t.Text, iceToken)
		if !found {
			before, after = "", t.Text
		}
		if c.beforePieces, err = compileText(before); err != nil {
			return nil, err
		}
		c.afterPieces, err = compileText(after)
		return c, err
	}
	split := -1
	for i, r := range t.Rounds {
		if r.isIce() {
			split = i
		}
	}
	marked := split >= 0
	if !marked {
		split = 0
		for split < len(t.Rounds) && roles[t.Rounds[split].Role] == "system" {
			split++
		}
	}
	for i, r := range t.Rounds {
		if r.isIce() {
			continue
		}
		pieces, err := compileText(r.Prompt)
		if err != nil {
			return nil, err
		}
		cr := compiledRound{role: roles[r.Role], pieces: pieces}
		if i < split {
			c.before = append(c.before, cr)
		} else {
			c.after = append(c.after, cr)
		}
	}
	return c, nil
}

// shotPart is the template of one example when none is given: what follows the
// place of the examples.
func (c *compiled) shotPart() *compiled {
	return &compiled{chat: c.chat, after: c.after, afterPieces: c.afterPieces}
}

// shots are rendered examples: turns for a chat template, text for a string.
type shots struct {
	turns []Turn
	text  string // with the separator after the last example
}

// question renders the whole prompt.
func (c *compiled) question(v view, s shots) (Prompt, error) {
	if !c.chat {
		before, err := v.render(c.beforePieces)
		if err != nil {
			return Prompt{}, err
		}
		after, err := v.render(c.afterPieces)
		if err != nil {
			return Prompt{}, err
		}
		return Prompt{Text: before + s.text + after}, nil
	}
	turns, err := renderRounds(nil, c.before, v)
	if err != nil {
		return Prompt{}, err
	}
	if s.text != "" { // examples that are one text come as a user message
		turns = appendTurn(turns, Turn{Role: "user", Text: strings.TrimRight(s.text, "\n") + "\n"})
	}
	for _, t := range s.turns {
		turns = appendTurn(turns, t)
	}
	// A closing assistant round is where the answer goes. Chat services open it
	// themselves; sending it, empty or begun, would make some of them answer twice.
	after := c.after
	if n := len(after); v.mask != "" && n > 0 && after[n-1].role == "assistant" {
		after = after[:n-1]
	}
	if turns, err = renderRounds(turns, after, v); err != nil {
		return Prompt{}, err
	}
	return Prompt{Turns: turns}, nil
}

// example renders one few-shot example.
func (c *compiled) example(v view) (shots, error) {
	if !c.chat {
		text, err := v.render(c.afterPieces)
		return shots{text: text}, err
	}
	turns, err := renderRounds(nil, c.after, v)
	return shots{turns: turns}, err
}

func renderRounds(turns []Turn, rounds []compiledRound, v view) ([]Turn, error) {
	for _, r := range rounds {
		text, err := v.render(r.pieces)
		if err != nil {
			return nil, err
		}
		turns = appendTurn(turns, Turn{Role: r.role, Text: text})
	}
	return turns, nil
}

// appendTurn merges a turn into the one before it when both have the same role:
// chat templates demand alternation.
func appendTurn(turns []Turn, t Turn) []Turn {
	if n := len(turns); n > 0 && turns[n-1].Role == t.Role {
		turns[n-1].Text += "\n" + t.Text
		return turns
	}
	return append(turns, t)
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
