package logs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"ais_bench/datasets"
	"ais_bench/registry"
)

// Codec is what Select needs to write texts of a given length.
type Codec interface {
	Counter
	Encode(text string, addSpecial bool) []int
	Decode(ids []int, skipSpecial bool) string
}

// Selection says which entries to keep.
type Selection struct {
	Dedup  bool // keep the first of equal prompts
	Count  int  // entries to keep; 0 = all
	Seed   uint64
	Bounds Bounds
	// Target is the share of each bucket wanted, in the order of Buckets; nil =
	// as they come. Shares are taken in proportion to one another.
	Target []float64
	// TopUp fills a bucket that has too few entries with synthetic ones: prompts of
	// the log, drawn at random and joined, cut to a length drawn from the bucket.
	TopUp bool
	// MaxLen bounds a synthetic prompt of the last bucket; 0 = twice Bounds.Long.
	MaxLen int
}

// ParseTarget reads "short=0.5,medium=0.3,long=0.2"; buckets not named get 0.
func ParseTarget(s string) ([]float64, error) {
	target := make([]float64, len(Buckets))
	sum := 0.0
	for _, part := range strings.Split(s, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		i := slices.Index(Buckets, name)
		if i < 0 {
			return nil, fmt.Errorf("target %q: no bucket is called %q (short, medium, long)%s", s, name, registry.DidYouMean(name, Buckets))
		}
		f, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || !(f >= 0) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("target %q: %s wants a share such as 0.5, got %q", s, name, value)
		}
		target[i] = f
		sum += f
	}
	if sum == 0 {
		return nil, fmt.Errorf("target %q: all shares are 0", s)
	}
	return target, nil
}

// Select chooses entries by sel, in the log's order, synthetic ones last, and says
// in notes what it left out or made. A target without TopUp that the log cannot
// meet keeps the shares and gives fewer entries. tok may be nil where neither
// Target nor TopUp is set; entries need Measure before.
func Select(entries []Entry, sel Selection, tok Codec) (out []Entry, notes []string, err error) {
	if sel.Count < 0 {
		return nil, nil, fmt.Errorf("count must not be negative, got %d", sel.Count)
	}
	if sel.Dedup {
		seen, kept := map[string]bool{}, entries[:0:0]
		for i := range entries {
			if key := strings.TrimSpace(entries[i].Prompt()); !seen[key] {
				seen[key] = true
				kept = append(kept, entries[i])
			}
		}
		if n := len(entries) - len(kept); n > 0 {
			notes = append(notes, fmt.Sprintf("%d duplicates left out", n))
		}
		entries = kept
	}
	r := rand.New(rand.NewPCG(sel.Seed, 0x5bd1e995c0de)) // the second word only keeps this stream apart from others
	if sel.Target == nil {
		if sel.Count > 0 && sel.Count < len(entries) {
			pick := r.Perm(len(entries))[:sel.Count]
			slices.Sort(pick)
			for _, i := range pick {
				out = append(out, entries[i])
			}
			return out, notes, nil
		}
		return entries, notes, nil
	}
	if tok == nil {
		return nil, nil, fmt.Errorf("a target length distribution needs a tokenizer")
	}
	var have [3][]int
	for i := range entries {
		b := sel.Bounds.Bucket(entries[i].InputTokens)
		have[b] = append(have[b], i)
	}
	sum := 0.0
	for _, f := range sel.Target {
		sum += f
	}
	total := sel.Count
	if total == 0 { // as many as the log has, or as the scarcest bucket allows
		total = len(entries)
	}
	if !sel.TopUp {
		for b, f := range sel.Target {
			if f > 0 {
				if most := int(float64(len(have[b])) * sum / f); most < total {
					notes = append(notes, fmt.Sprintf("only %d of %d entries: the log has just %d %s prompts (%s tokens); --top-up makes the missing ones", most, total, len(have[b]), Buckets[b], sel.Bounds.Label(b)))
					total = most
				}
			}
		}
	}
	var pick []int
	var made []Entry
	cum, done := 0.0, 0
	for b, f := range sel.Target {
		cum += f
		n := int(math.Round(cum/sum*float64(total))) - done // cumulative rounding: the parts add up
		done += n
		perm := r.Perm(len(have[b]))
		for _, k := range perm[:min(n, len(perm))] {
			pick = append(pick, have[b][k])
		}
		missing := n - len(perm)
		if missing <= 0 {
			continue
		}
		for range missing {
			made = append(made, synthetic(entries, b, sel, tok, r))
		}
		notes = append(notes, fmt.Sprintf("%d synthetic %s prompts made of the log's own texts", missing, Buckets[b]))
	}
	slices.Sort(pick)
	for _, i := range pick {
		out = append(out, entries[i])
	}
	return append(out, made...), notes, nil
}

// synthetic joins prompts of the log to a text of a length drawn from bucket b.
func synthetic(entries []Entry, b int, sel Selection, tok Codec, r *rand.Rand) Entry {
	lo, hi := 1, sel.Bounds.Short-1
	switch b {
	case 1:
		lo, hi = sel.Bounds.Short, sel.Bounds.Long
	case 2:
		lo, hi = sel.Bounds.Long+1, max(sel.Bounds.Long+1, sel.MaxLen)
		if sel.MaxLen == 0 {
			hi = 2 * sel.Bounds.Long
		}
	}
	want := lo + r.IntN(max(1, hi-lo+1))
	var ids []int
	for len(ids) < want {
		more := tok.Encode(entries[r.IntN(len(entries))].Prompt()+"\n\n", false)
		if len(more) == 0 {
			break // a tokenizer that has no token for any of the text
		}
		ids = append(ids, more...)
	}
	text := strings.TrimRight(strings.ToValidUTF8(tok.Decode(ids[:min(want, len(ids))], true), ""), "\uFFFD")
	e := Entry{Turns: []datasets.Turn{{Role: "user", Text: text}}, Synthetic: true, InputTokens: tok.Count(text)}
	return e
}

type shareGPTRow struct {
	ID            string         `json:"id"`
	Conversations []shareGPTTurn `json:"conversations"`
	Synthetic     bool           `json:"synthetic,omitempty"`
}

type shareGPTTurn struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

// WriteShareGPT writes a ShareGPT JSON list. An entry without an answer gets an
// empty one, which the sharegpt workload accepts when an output length is set.
// What the system said stands before the first question, in its turn: readers of
// the format take the first turn for the prompt and the second for its answer.
func WriteShareGPT(w io.Writer, entries []Entry) error {
	b := bufio.NewWriter(w)
	b.WriteString("[")
	for i := range entries {
		e := &entries[i]
		row := shareGPTRow{ID: e.id(i), Synthetic: e.Synthetic}
		for _, t := range withoutSystem(e.Turns) {
			from := map[string]string{"user": "human", "assistant": "gpt"}[t.Role]
			if from == "" {
				from = t.Role
			}
			row.Conversations = append(row.Conversations, shareGPTTurn{from, t.Text})
		}
		row.Conversations = append(row.Conversations, shareGPTTurn{"gpt", e.Answer})
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n")
		if err := writeJSON(b, row); err != nil {
			return err
		}
	}
	b.WriteString("\n]\n")
	return b.Flush()
}

// withoutSystem moves the system turns at the start into the turn that follows them.
func withoutSystem(turns []datasets.Turn) []datasets.Turn {
	n := 0
	var texts []string
	for n < len(turns) && turns[n].Role == "system" {
		texts = append(texts, turns[n].Text)
		n++
	}
	if n == 0 {
		return turns
	}
	if n == len(turns) {
		return []datasets.Turn{{Role: "user", Text: strings.Join(texts, "\n")}}
	}
	rest := slices.Clone(turns[n:])
	rest[0].Text = strings.Join(append(texts, rest[0].Text), "\n")
	return rest
}

type customRow struct {
	ID           string          `json:"id"`
	Prompt       string          `json:"prompt,omitempty"`
	Messages     []customMessage `json:"messages,omitempty"`
	OutputTokens int             `json:"output_tokens,omitempty"`
	Synthetic    bool            `json:"synthetic,omitempty"`
}

type customMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// WriteCustom writes custom JSONL: prompt for a single user turn, else messages;
// output_tokens as the log says, else the answer's length where tok is not nil.
func WriteCustom(w io.Writer, entries []Entry, tok Counter) error {
	b := bufio.NewWriter(w)
	for i := range entries {
		e := &entries[i]
		row := customRow{ID: e.id(i), OutputTokens: e.OutputTokens, Synthetic: e.Synthetic}
		if row.OutputTokens == 0 && tok != nil && e.Answer != "" {
			row.OutputTokens = tok.Count(e.Answer)
		}
		if len(e.Turns) == 1 && e.Turns[0].Role == "user" {
			row.Prompt = e.Turns[0].Text
		} else {
			for _, t := range e.Turns {
				row.Messages = append(row.Messages, customMessage{t.Role, t.Text})
			}
		}
		if err := writeJSON(b, row); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	return b.Flush()
}

func (e *Entry) id(i int) string {
	if e.Synthetic {
		return "synthetic-" + strconv.Itoa(i+1)
	}
	return strconv.Itoa(e.Line)
}

// writeJSON writes v on one line, without the escapes that are for HTML.
func writeJSON(w io.Writer, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n"))
	return err
}
