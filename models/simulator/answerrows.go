package simulator

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ais_bench/registry"
)

// Reading the rows of an answer sheet: JSON lines, a JSON list, an object that
// holds one, or CSV, with the column names that public data sets use.

func (a *answerSheet) load(name string, data []byte) error {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		zr, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(zr)
		}
		if err != nil {
			return fmt.Errorf("--answers %s: %w", name, err)
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimSpace(data)
	switch {
	case strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".csv"):
		return a.loadCSV(name, data)
	case bytes.HasPrefix(trimmed, []byte("[")):
		var rows []map[string]any
		if err := json.Unmarshal(trimmed, &rows); err != nil {
			return fmt.Errorf("--answers %s: %w", name, registry.ExplainJSON(trimmed, err))
		}
		return a.addAll(name, "row", rows)
	case bytes.HasPrefix(trimmed, []byte("{")):
		// One object that holds the rows (BIG-Bench Hard), else JSON lines.
		var one map[string]any
		if json.Unmarshal(trimmed, &one) == nil {
			for _, k := range []string{"examples", "data", "rows"} {
				if list, ok := one[k].([]any); ok {
					var rows []map[string]any
					for _, v := range list {
						m, _ := v.(map[string]any)
						rows = append(rows, m)
					}
					return a.addAll(name, "row", rows)
				}
			}
		}
	}
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 64<<20)
	for line := 1; sc.Scan(); line++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		var row map[string]any
		dec := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		dec.UseNumber()
		if err := dec.Decode(&row); err != nil {
			return fmt.Errorf("--answers %s:%d: not a JSON object: %w", name, line, registry.ExplainJSON(sc.Bytes(), err))
		}
		if err := a.add(row); err != nil {
			return fmt.Errorf("--answers %s:%d: %w", name, line, err)
		}
	}
	return sc.Err()
}

func (a *answerSheet) addAll(name, what string, rows []map[string]any) error {
	for i, r := range rows {
		if err := a.add(r); err != nil {
			return fmt.Errorf("--answers %s, %s %d: %w", name, what, i+1, err)
		}
	}
	return nil
}

func (a *answerSheet) loadCSV(name string, data []byte) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		return fmt.Errorf("--answers %s: %w", name, err)
	}
	if len(records) == 0 {
		return nil
	}
	var rows []map[string]any
	for _, rec := range records[1:] {
		m := map[string]any{}
		for i, v := range rec {
			if i < len(records[0]) {
				m[records[0][i]] = v
			}
		}
		rows = append(rows, m)
	}
	return a.addAll(name, "record", rows)
}

// The names under which data sets keep their questions and answers, most telling first.
var (
	questionFields = []string{"question", "Question", "problem", "prompt", "input", "instruction", "query", "text", "Problem", "goal", "sentence"}
	partFields     = []string{"Body", "body", "context", "passage", "premise", "hypothesis"}
	answerFields   = []string{"answer", "gold", "Answer", "target", "final_answer", "gt", "answerKey", "answers", "label", "reference", "output", "response", "expected"}
	idFields       = []string{"id", "task_id", "question_id", "idx", "ID", "key"}
)

func (a *answerSheet) add(row map[string]any) error {
	q := &question{row: len(a.rows), goldIdx: -1}
	q.id = itoa(q.row)
	for _, f := range idFields {
		if v, ok := scalar(row[f]); ok && v != "" {
			q.id = v
			break
		}
	}
	var parts []string
	for _, f := range questionFields {
		if v, ok := row[f].(string); ok && strings.TrimSpace(v) != "" {
			parts = append(parts, squeeze(v))
			break
		}
	}
	if len(parts) == 0 {
		return fmt.Errorf("no question: none of the fields %s holds text", strings.Join(questionFields, ", "))
	}
	for _, f := range partFields {
		if v, ok := row[f].(string); ok && strings.TrimSpace(v) != "" {
			parts = append(parts, squeeze(v))
		}
	}
	best := 0
	for i, p := range parts {
		if len(p) > len(parts[best]) {
			best = i
		}
	}
	q.anchor = parts[best]
	q.parts = append(parts[:best:best], parts[best+1:]...)
	if err := q.readGold(row); err != nil {
		return err
	}
	a.rows = append(a.rows, q)
	if q.gold == "" && q.solution == "" { // nothing to say: filler, as for an unknown question
		return nil
	}
	switch {
	case len(q.anchor) >= anchorLong:
		h := headHash(q.anchor, anchorLong)
		a.long[h] = append(a.long[h], q)
	case len(q.anchor) >= anchorShort:
		h := headHash(q.anchor, anchorShort)
		a.short[h] = append(a.short[h], q)
	default:
		a.lines[q.anchor] = append(a.lines[q.anchor], q)
	}
	return nil
}

// readGold fills in choices and the answer.
func (q *question) readGold(row map[string]any) error {
	q.readChoices(row)
	if code, ok := row["canonical_solution"].(string); ok {
		q.code, q.solution = true, code
		q.codeHead, _ = row["prompt"].(string)
		q.entry, _ = row["entry_point"].(string)
		return nil
	}
	if code, ok := row["code"].(string); ok && (row["test_list"] != nil || row["test"] != nil) {
		q.code, q.solution = true, code
		if _, after, ok := strings.Cut(code, "def "); ok {
			q.entry, _, _ = strings.Cut(after, "(")
		}
		return nil
	}
	var found bool
	for _, f := range answerFields {
		v, ok := row[f]
		if !ok || v == nil {
			continue
		}
		if list, isList := v.([]any); isList && len(list) > 0 {
			if _, simple := scalar(list[0]); simple {
				v = list[0]
			}
		}
		if s, isScalar := scalar(v); isScalar {
			q.gold = strings.TrimSpace(s)
		} else {
			b, err := json.Marshal(v)
			if err != nil {
				return err
			}
			q.gold = string(b)
		}
		found = true
		break
	}
	if s, ok := row["solution"].(string); ok {
		q.solution = s
		if !found {
			q.gold, found = lastBoxed(s)
		}
	}
	if i, ok := scalar(row["answer_index"]); ok && !found {
		q.gold, found = i, true
	}
	if !found {
		return fmt.Errorf("no answer: none of the fields %s is present", strings.Join(answerFields, ", "))
	}
	if before, after, ok := lastCut(q.gold, "####"); ok {
		q.solution, q.gold = strings.TrimRight(before, " \n"), strings.TrimSpace(after)
	}
	if len(q.choices) > 0 {
		if q.goldIdx = q.whichChoice(row); q.goldIdx >= 0 {
			q.gold = q.letters[q.goldIdx]
		} else { // a column that happens to be called options: the answer is text
			q.choices, q.letters = nil, nil
		}
	}
	return nil
}

func (q *question) readChoices(row map[string]any) {
	var raw any
	for _, f := range []string{"choices", "options", "endings"} {
		if v, ok := row[f]; ok && v != nil {
			raw = v
			break
		}
	}
	switch v := raw.(type) {
	case []any:
		for _, c := range v {
			if m, ok := c.(map[string]any); ok { // [{"label": "A", "text": "…"}]
				label, _ := scalar(m["label"])
				text, _ := scalar(m["text"])
				q.letters, q.choices = append(q.letters, label), append(q.choices, text)
				continue
			}
			s, _ := scalar(c)
			q.choices = append(q.choices, s)
		}
	case map[string]any:
		labels, okL := v["label"].([]any)
		texts, okT := v["text"].([]any)
		if okL && okT && len(labels) == len(texts) { // {"label": […], "text": […]}
			for i := range texts {
				l, _ := scalar(labels[i])
				t, _ := scalar(texts[i])
				q.letters, q.choices = append(q.letters, l), append(q.choices, t)
			}
			return
		}
		for c := 'A'; c <= 'Z'; c++ {
			if t, ok := scalar(v[string(c)]); ok {
				q.letters, q.choices = append(q.letters, string(c)), append(q.choices, t)
			}
		}
	case nil:
		for c := 'A'; c <= 'J'; c++ {
			t, ok := scalar(row[string(c)])
			if !ok {
				break
			}
			q.letters, q.choices = append(q.letters, string(c)), append(q.choices, t)
		}
		if len(q.choices) < 2 {
			q.letters, q.choices = nil, nil
		}
	}
	for i := len(q.letters); i < len(q.choices); i++ {
		q.letters = append(q.letters, string(rune('A'+i)))
	}
}

// whichChoice reads the gold answer as a label, a text or an index.
func (q *question) whichChoice(row map[string]any) int {
	g := strings.Trim(strings.TrimSpace(q.gold), "().")
	for i, l := range q.letters {
		if strings.EqualFold(l, g) && l != "" {
			return i
		}
	}
	for i, c := range q.choices {
		if c == q.gold {
			return i
		}
	}
	if i, ok := atoi(g); ok && i < len(q.choices) {
		return i
	}
	if s, ok := scalar(row["answer_index"]); ok {
		if i, ok := atoi(s); ok && i < len(q.choices) {
			return i
		}
	}
	return -1
}

// scalar reads a JSON string, number or boolean as text.
func scalar(v any) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case json.Number:
		return trimFraction(x.String()), true
	case float64:
		b, err := json.Marshal(x)
		return trimFraction(string(b)), err == nil
	case bool:
		if x {
			return "True", true
		}
		return "False", true
	}
	return "", false
}

// trimFraction writes 27.0 as 27.
func trimFraction(s string) string {
	if whole, frac, ok := strings.Cut(s, "."); ok && strings.Trim(frac, "0") == "" {
		return whole
	}
	return s
}

func lastCut(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// lastBoxed is the contents of the last \boxed{…} of a solution.
func lastBoxed(s string) (string, bool) {
	_, after, ok := lastCut(s, `\boxed{`)
	if !ok {
		return "", false
	}
	depth := 1
	for i := range len(after) {
		switch after[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return after[:i], true
			}
		}
	}
	return "", false
}
