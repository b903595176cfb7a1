// Package logs makes workloads of what a service was really asked: it reads
// gateway and access logs, says how long and how varied their prompts are, takes
// personal data out, and writes ShareGPT or custom JSONL files that the workloads
// of the same names replay.
//
//	entries, notes, err := logs.Read("gateway.jsonl", logs.Fields{})
//	stats, err := logs.Describe(entries, tok, logs.DefaultBounds)
//	out, report, err := logs.Select(entries, logs.Selection{…})
//	err = logs.WriteShareGPT(w, out)
package logs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"ais_bench/datasets"
)

// Entry is one request of a log.
type Entry struct {
	Line         int // line of the file, or row of a JSON list; from 1. 0 = made here
	Turns        []datasets.Turn
	Answer       string // "" = not in the log
	OutputTokens int    // as the log says; 0 = it does not
	InputTokens  int    // set by Measure
	Synthetic    bool   // made by Select to fill up a bucket
}

// Prompt is all text that was sent, turns joined by line breaks.
func (e *Entry) Prompt() string {
	if len(e.Turns) == 1 {
		return e.Turns[0].Text
	}
	var parts []string
	for _, t := range e.Turns {
		parts = append(parts, t.Text)
	}
	return strings.Join(parts, "\n")
}

// Fields says where in a row things are: dotted paths with list positions, such
// as request.body.messages or response.choices.0.message.content. A text on the
// way that is itself JSON (a body logged as a string) is looked into. Empty =
// the usual names, in the order of the variables below.
type Fields struct {
	Prompt       string // text, or a list of messages
	Answer       string
	OutputTokens string
	Lines        bool // every line is a prompt, whatever it looks like
}

var (
	promptNames = []string{"messages", "conversations", "prompt", "question", "input", "instruction", "query", "text",
		"request.messages", "request.prompt", "request.body.messages", "request.body.prompt", "request_body.messages",
		"request_body.prompt", "body.messages", "body.prompt"}
	answerNames = []string{"answer", "response.choices.0.message.content", "response.choices.0.text", "response.text",
		"response_body.choices.0.message.content", "response_body.choices.0.text", "choices.0.message.content", "completion",
		"output", "response", "generated_text"}
	outputTokenNames = []string{"output_tokens", "usage.completion_tokens", "response.usage.completion_tokens",
		"response_body.usage.completion_tokens", "completion_tokens"}
)

// Read reads a log: a JSON list, JSONL (text before a line's first brace, such as
// a time stamp, is passed over), or plain prompts one a line; .gz is unpacked.
// Rows without a prompt are left out and named in notes; a file in which no row
// has one is an error that lists the names its first row has.
func Read(path string, f Fields) (entries []Entry, notes []string, err error) {
	file, err := datasets.OpenStream(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("log %q does not exist: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 1<<16)
	if magic, _ := r.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		r = bufio.NewReaderSize(z, 1<<16)
	}
	if mark, _ := r.Peek(3); string(mark) == "\uFEFF" {
		_, _ = r.Discard(3)
	}
	rd := reader{path: path, fields: f}
	switch first := firstByte(r); {
	case f.Lines:
		err = rd.plain(r)
	case first == '[':
		err = rd.list(r)
	case first == '{' || looksLikeLoggedJSON(r):
		err = rd.jsonl(r)
	default:
		err = rd.plain(r)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(rd.entries) == 0 {
		if rd.names != nil {
			return nil, nil, fmt.Errorf("%s: no row has a prompt under the usual names; its first row has %s: give --prompt-field", path, strings.Join(rd.names, ", "))
		}
		return nil, nil, fmt.Errorf("%s: no prompts in the file%s", path, because(rd.skipped.notes()))
	}
	return rd.entries, rd.skipped.notes(), nil
}

func because(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return ": " + strings.Join(notes, "; ")
}

// firstByte looks past leading blanks.
func firstByte(r *bufio.Reader) byte {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0
		}
		if b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			_ = r.UnreadByte()
			return b
		}
	}
}

// looksLikeLoggedJSON tells that the first line ends in a JSON object.
func looksLikeLoggedJSON(r *bufio.Reader) bool {
	head, _ := r.Peek(1 << 15)
	line, _, _ := bytes.Cut(head, []byte("\n"))
	_, ok := objectIn(bytes.TrimSpace(line))
	return ok
}

func objectIn(line []byte) ([]byte, bool) {
	at := bytes.IndexByte(line, '{')
	if at < 0 || !json.Valid(line[at:]) {
		return nil, false
	}
	return line[at:], true
}

type reader struct {
	path    string
	fields  Fields
	entries []Entry
	skipped skipped
	names   []string // of the first row without a prompt
}

func (rd *reader) plain(r *bufio.Reader) error {
	return rd.eachLine(r, func(n int, line []byte) error {
		if !utf8.Valid(line) {
			rd.skipped.add("not UTF-8", n)
			return nil
		}
		rd.entries = append(rd.entries, Entry{Line: n, Turns: []datasets.Turn{{Role: "user", Text: string(line)}}})
		return nil
	})
}

func (rd *reader) jsonl(r *bufio.Reader) error {
	return rd.eachLine(r, func(n int, line []byte) error {
		raw, ok := objectIn(line)
		if !ok {
			rd.skipped.add("no JSON object in the line", n)
			return nil
		}
		rd.row(n, raw)
		return nil
	})
}

func (rd *reader) list(r *bufio.Reader) error {
	rows := datasets.NewRowReader(r)
	d := json.NewDecoder(rows)
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%s: %w", rd.path, err)
	}
	for n := 1; d.More(); n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fmt.Errorf("%s: row %d: not JSON: %w", rd.path, n, err)
		}
		rd.row(n, raw)
		rows.Next()
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%s: the list does not end: %w", rd.path, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%s: something follows the end of the list: make it one list, or one object a line", rd.path)
	}
	return nil
}

// eachLine calls f with every line that is not blank; line is reused.
func (rd *reader) eachLine(r *bufio.Reader, f func(n int, line []byte) error) error {
	var line []byte
	for n := 1; ; n++ {
		var err error
		if line, err = datasets.ReadLine(r, line); err != nil && err != io.EOF {
			return fmt.Errorf("%s:%d: %w", rd.path, n, err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if err := f(n, text); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

func (rd *reader) row(n int, raw []byte) {
	if !utf8.Valid(raw) {
		rd.skipped.add("not UTF-8", n)
		return
	}
	var row any
	if err := json.Unmarshal(raw, &row); err != nil {
		rd.skipped.add("not JSON", n)
		return
	}
	e := Entry{Line: n}
	found := false
	for _, name := range names(rd.fields.Prompt, promptNames) {
		if v, ok := look(row, name); ok {
			if e.Turns, found = turns(v); found {
				break
			}
		}
	}
	if !found {
		if m, ok := row.(map[string]any); ok && rd.names == nil {
			for k := range m {
				rd.names = append(rd.names, k)
			}
			sort.Strings(rd.names)
		}
		rd.skipped.add("no prompt", n)
		return
	}
	for len(e.Turns) > 1 && e.Turns[len(e.Turns)-1].Role == "assistant" { // the answer closes the conversation
		e.Answer = e.Turns[len(e.Turns)-1].Text
		e.Turns = e.Turns[:len(e.Turns)-1]
	}
	for _, name := range names(rd.fields.Answer, answerNames) {
		if v, ok := look(row, name); ok {
			if text, ok := v.(string); ok {
				e.Answer = text
				break
			}
		}
	}
	for _, name := range names(rd.fields.OutputTokens, outputTokenNames) {
		if v, ok := look(row, name); ok {
			if f, ok := v.(float64); ok && f >= 1 && f < 1<<24 {
				e.OutputTokens = int(f)
				break
			}
		}
	}
	rd.entries = append(rd.entries, e)
}

func names(given string, usual []string) []string {
	if given != "" {
		return []string{given}
	}
	return usual
}

// look follows a dotted path.
func look(v any, path string) (any, bool) {
	for _, step := range strings.Split(path, ".") {
		if text, ok := v.(string); ok {
			var inner any
			if json.Unmarshal([]byte(text), &inner) != nil {
				return nil, false
			}
			v = inner
		}
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, v != nil
}

var roles = map[string]string{"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant",
	"chatgpt": "assistant", "model": "assistant", "system": "system", "developer": "system", "tool": "tool", "function": "tool"}

// turns reads a prompt: text, or messages in OpenAI's or ShareGPT's spelling.
func turns(v any) ([]datasets.Turn, bool) {
	if text, ok := v.(string); ok {
		if strings.HasPrefix(strings.TrimSpace(text), "[{") { // messages logged as a string
			var inner any
			if json.Unmarshal([]byte(text), &inner) == nil {
				if t, ok := turns(inner); ok {
					return t, true
				}
			}
		}
		return []datasets.Turn{{Role: "user", Text: text}}, strings.TrimSpace(text) != ""
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, false
	}
	var out []datasets.Turn
	asked := false
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			return nil, false
		}
		role, _ := m["role"].(string)
		if role == "" {
			role, _ = m["from"].(string)
		}
		r, ok := roles[strings.ToLower(role)]
		if !ok {
			return nil, false
		}
		text, ok := text(m["content"])
		if !ok {
			text, _ = m["value"].(string)
		}
		asked = asked || r == "user" && strings.TrimSpace(text) != ""
		out = append(out, datasets.Turn{Role: r, Text: text})
	}
	return out, asked
}

// text is a message's content: a string, or the text parts of a list.
func text(v any) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case []any:
		var b strings.Builder
		for _, p := range x {
			if m, ok := p.(map[string]any); ok {
				s, _ := m["text"].(string)
				b.WriteString(s)
			}
		}
		return b.String(), true
	}
	return "", false
}

// skipped counts rows left out by reason.
type skipped struct {
	order []string
	rows  map[string][]int
}

func (s *skipped) add(reason string, row int) {
	if s.rows == nil {
		s.rows = map[string][]int{}
	}
	if s.rows[reason] == nil {
		s.order = append(s.order, reason)
	}
	s.rows[reason] = append(s.rows[reason], row)
}

func (s *skipped) notes() []string {
	var out []string
	for _, reason := range s.order {
		rows, list := s.rows[reason], ""
		for i, r := range rows[:min(5, len(rows))] {
			if i > 0 {
				list += ", "
			}
			list += strconv.Itoa(r)
		}
		if len(rows) > 5 {
			list += ", …"
		}
		out = append(out, fmt.Sprintf("%d rows left out: %s (row %s)", len(rows), reason, list))
	}
	return out
}
