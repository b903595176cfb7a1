package outputs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"ais_bench/registry"
)

// Prediction is one line of predictions/<model>/<dataset>.jsonl: an answer,
// and after evaluation its verdict. The first seven keys are AISBench's, so
// its tools and ours read each other's files.
type Prediction struct {
	DataAbbr     string          `json:"data_abbr"`
	ID           int             `json:"id"` // position of the sample in its data set, from 0
	Success      bool            `json:"success"`
	UUID         string          `json:"uuid"`
	OriginPrompt json.RawMessage `json:"origin_prompt"` // string, or list of {"role","prompt"}; null when prompts are not stored
	Prediction   string          `json:"prediction"`    // answer, reasoning excluded where the server splits it
	Gold         any             `json:"gold"`

	SampleID  string `json:"sample_id"`
	Subset    string `json:"subset,omitempty"`
	Repeat    int32  `json:"repeat"`
	Turn      int32  `json:"turn"`
	SessionID string `json:"session_id,omitempty"`
	Attempt   int32  `json:"attempt"`

	Reasoning     string          `json:"reasoning,omitempty"`
	ToolCalls     json.RawMessage `json:"tool_calls,omitempty"` // as received
	LabelLogprobs []*float64      `json:"label_logprobs,omitempty"`
	PromptSHA256  string          `json:"prompt_sha256,omitempty"`

	// The verdict: Outcome is right, wrong, unparsable, empty or failed; "" and
	// nil before evaluation.
	Outcome   string              `json:"outcome,omitempty"`
	Extracted *string             `json:"extracted,omitempty"`
	Score     *float64            `json:"score,omitempty"`
	Parts     map[string]*float64 `json:"parts,omitempty"`
	Detail    string              `json:"detail,omitempty"`

	Status       Status `json:"status"`
	HTTPStatus   int32  `json:"http_status,omitempty"`
	FinishReason string `json:"finish_reason,omitempty"`
	Error        string `json:"error,omitempty"`
	InputTokens  *int32 `json:"input_tokens"` // null = unknown
	OutputTokens *int32 `json:"output_tokens"`
}

// FromRecord fills the fields that a record knows: keys, answer, tokens and
// status. The caller adds DataAbbr's position, gold and subset.
func (p *Prediction) FromRecord(r *Record) {
	p.DataAbbr, p.UUID, p.Success = r.Dataset, r.RequestID, r.OK()
	p.SampleID, p.Repeat, p.Turn, p.SessionID, p.Attempt = r.SampleID, r.Repeat, r.Turn, r.SessionID, r.Attempt
	p.Prediction, p.Reasoning, p.PromptSHA256 = r.Text, r.Reasoning, r.PromptSHA256
	if r.ToolCalls != "" && json.Valid([]byte(r.ToolCalls)) {
		p.ToolCalls = json.RawMessage(r.ToolCalls)
	}
	if r.Prompt != "" {
		p.SetPrompt(r.Prompt)
	}
	p.Status, p.HTTPStatus, p.FinishReason, p.Error = r.Status, r.HTTPStatus, r.FinishReason, r.Error
	p.InputTokens, p.OutputTokens = nil, nil
	if n := r.InputTokens; n != UnknownTokens {
		p.InputTokens = &n
	}
	if n := r.OutputTokens; n != UnknownTokens {
		p.OutputTokens = &n
	}
}

// SetPrompt stores a prompt given as text: JSON text of a list or object is
// kept as JSON, everything else as a string.
func (p *Prediction) SetPrompt(s string) {
	if t := bytes.TrimLeft([]byte(s), " \t\r\n"); len(t) > 0 && (t[0] == '[' || t[0] == '{') && json.Valid(t) {
		p.OriginPrompt = json.RawMessage(t)
		return
	}
	p.OriginPrompt = quoteJSON(s)
}

// PromptText is the prompt as text: a stored string itself, else its JSON.
func (p *Prediction) PromptText() string {
	var s string
	if len(p.OriginPrompt) == 0 || bytes.Equal(p.OriginPrompt, []byte("null")) {
		return ""
	}
	if json.Unmarshal(p.OriginPrompt, &s) == nil {
		return s
	}
	return string(p.OriginPrompt)
}

func quoteJSON(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string always encodes
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Key identifies an answer: the attempt is not part of it, a later attempt
// replaces an earlier one.
func (p *Prediction) Key() PredictionKey {
	return PredictionKey{p.SampleID, p.Repeat, p.Turn, p.SessionID}
}

// PredictionKey identifies one answer within a pair.
type PredictionKey struct {
	SampleID     string
	Repeat, Turn int32
	SessionID    string
}

// PredictionWriter appends answers as they come. Safe for concurrent use.
type PredictionWriter struct {
	w    *batchWriter
	red  *Redactor
	note string
}

// Predictions opens predictions/<model>/<dataset>.jsonl for appending. The
// torn last line of a killed run is cut (see Note).
func (r *Run) Predictions(model, dataset string) (*PredictionWriter, error) {
	path := r.PredictionsPath(model, dataset)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, explainWrite(path, err)
	}
	if err := regularOrNone(path); err != nil {
		return nil, explainWrite(path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, explainWrite(path, err)
	}
	w := &PredictionWriter{red: r.Redactor()}
	if w.note, err = cutTornLine(path, f); err != nil {
		f.Close()
		return nil, err
	}
	w.w = newBatchWriter(path, f)
	return w, nil
}

// cutTornLine truncates f behind its last line break and seeks there.
func cutTornLine(path string, f *os.File) (note string, err error) {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return "", explainWrite(path, err)
	}
	size, keep := end, int64(0)
	buf := make([]byte, 64<<10)
	for end > 0 {
		n := min(int64(len(buf)), end)
		if _, err := f.ReadAt(buf[:n], end-n); err != nil {
			return "", fmt.Errorf("read %s: %w", path, rootCause(err))
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			keep = end - n + int64(i) + 1
			break
		}
		end -= n
	}
	if keep < size {
		note = fmt.Sprintf("%s: cut a torn last line of %d bytes", path, size-keep)
		if err := f.Truncate(keep); err != nil {
			return "", explainWrite(path, err)
		}
	}
	if _, err := f.Seek(keep, io.SeekStart); err != nil {
		return "", explainWrite(path, err)
	}
	return note, nil
}

// Note says what was repaired when the file was opened; "" for nothing.
func (w *PredictionWriter) Note() string { return w.note }

// Append adds one line. The error is the first write error so far.
func (w *PredictionWriter) Append(p *Prediction) error {
	line, err := predictionLine(p, w.red)
	if err != nil {
		return err
	}
	return w.w.append(line)
}

// Close writes what is pending and makes it durable.
func (w *PredictionWriter) Close() error { return w.w.close() }

func predictionLine(p *Prediction, red *Redactor) ([]byte, error) {
	line, err := MarshalJSON(p)
	if err != nil {
		return nil, fmt.Errorf("prediction of sample %s: %w", p.SampleID, err)
	}
	if !red.Empty() {
		if line, err = redactJSON(line, red); err != nil {
			return nil, fmt.Errorf("prediction of sample %s: %w", p.SampleID, err)
		}
	}
	return append(line, '\n'), nil
}

// ReadPredictions yields the lines of a predictions file, ours or AISBench's
// (whose lines lack our keys: SampleID is then the id, Status follows
// success), in constant memory. A torn last line is ignored; any other bad
// line yields an error that names file and line and ends the sequence.
func ReadPredictions(path string) iter.Seq2[*Prediction, error] {
	return func(yield func(*Prediction, error) bool) {
		f, err := OpenFile(path)
		if err != nil {
			yield(nil, fmt.Errorf("read predictions %s: %w", path, rootCause(err)))
			return
		}
		defer f.Close()
		in := bufio.NewReaderSize(f, 256<<10)
		for n := 1; ; n++ {
			line, err := in.ReadBytes('\n')
			torn := err == io.EOF
			if err != nil && !torn {
				yield(nil, fmt.Errorf("read predictions %s: %w", path, rootCause(err)))
				return
			}
			if len(bytes.TrimSpace(line)) > 0 {
				p := new(Prediction)
				if err := json.Unmarshal(line, p); err != nil {
					if torn {
						return
					}
					yield(nil, fmt.Errorf("%s:%d: not a prediction: %w", path, n, registry.ExplainJSON(line, err)))
					return
				}
				if p.SampleID == "" {
					p.SampleID = fmt.Sprint(p.ID)
				}
				if p.Status == "" && p.Success {
					p.Status = StatusOK
				}
				if !yield(p, nil) {
					return
				}
			}
			if torn {
				return
			}
		}
	}
}

// WritePredictions replaces the pair's predictions file as a whole, for
// evaluations that add verdicts to answers. predictions may read the old file:
// it is replaced only at the end.
func (r *Run) WritePredictions(model, dataset string, predictions iter.Seq2[*Prediction, error]) error {
	path := r.PredictionsPath(model, dataset)
	return writeAtomic(path, nil, func(w io.Writer) error {
		for p, err := range predictions {
			if err != nil {
				return sourceError{err}
			}
			line, err := predictionLine(p, r.Redactor())
			if err != nil {
				return err
			}
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// LatestPredictions reads a predictions file into a map, a later line
// replacing an earlier one of the same key unless it failed and the earlier
// did not. order lists the keys as first seen. For resume: what is not in the
// map, or not Success, is asked again. The error of a file that is not there
// is fs.ErrNotExist: no answers are not the same as an empty list of them.
func LatestPredictions(path string) (byKey map[PredictionKey]*Prediction, order []PredictionKey, err error) {
	byKey = map[PredictionKey]*Prediction{}
	for p, err := range ReadPredictions(path) {
		if err != nil {
			return nil, nil, err
		}
		k := p.Key()
		old, seen := byKey[k]
		if !seen {
			order = append(order, k)
		}
		if !seen || p.Success || !old.Success {
			byKey[k] = p
		}
	}
	return byKey, order, nil
}
