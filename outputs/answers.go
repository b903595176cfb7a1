package outputs

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// answerRow is one scored answer in results/<model>/<dataset>.parquet.
type answerRow struct {
	SampleID      string   `parquet:"sample_id"`
	Subset        string   `parquet:"subset,dict"`
	Repeat        int32    `parquet:"repeat"`
	Prompt        *string  `parquet:"prompt,optional,zstd"` // null with --no-store-prompts
	Answer        string   `parquet:"answer,zstd"`          // raw text
	Reasoning     *string  `parquet:"reasoning,optional,zstd"`
	Extracted     *string  `parquet:"extracted,optional"`
	Gold          string   `parquet:"gold,zstd"` // JSON where it is not a string
	Outcome       string   `parquet:"outcome,dict"`
	Score         *float64 `parquet:"score,optional"`
	Detail        *string  `parquet:"detail,optional,zstd"`
	Status        string   `parquet:"status,dict"`
	FinishReason  *string  `parquet:"finish_reason,optional,dict"`
	InputTokens   *int32   `parquet:"input_tokens,optional"`
	OutputTokens  *int32   `parquet:"output_tokens,optional"`
	Scorer        string   `parquet:"scorer,dict"`
	ScorerVersion string   `parquet:"scorer_version,dict"`
	PromptSHA256  string   `parquet:"prompt_sha256"`
}

// AnswersPath is results/<model>/<dataset>.parquet.
func (r *Run) AnswersPath(model, dataset string) string {
	return r.Path("results", FileName(model), FileName(dataset)+".parquet")
}

// Answer is one row of results/<model>/<dataset>.parquet, as far as it says what
// an answer was worth.
type Answer struct {
	SampleID, Subset, Answer, Outcome string
	Repeat                            int32
	Extracted                         *string
	Score                             *float64
}

// ReadAnswers yields the rows of a file that WriteAnswers wrote.
func ReadAnswers(path string) iter.Seq2[*Answer, error] {
	return func(yield func(*Answer, error) bool) {
		f, err := OpenFile(path)
		if err != nil {
			yield(nil, fmt.Errorf("read answers %s: %w", path, rootCause(err)))
			return
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			yield(nil, fmt.Errorf("read answers %s: %w", path, rootCause(err)))
			return
		}
		pf, err := openDamaged(f, st.Size())
		if err != nil {
			yield(nil, fmt.Errorf("read answers %s: not a Parquet file, or damaged: %w", path, err))
			return
		}
		r := parquet.NewGenericReader[answerRow](pf)
		defer r.Close()
		for {
			rows := make([]answerRow, rowBatch)
			n, err := readRows(r, rows)
			for i := range rows[:n] {
				a := &rows[i]
				if !yield(&Answer{SampleID: a.SampleID, Subset: a.Subset, Repeat: a.Repeat, Answer: a.Answer, Outcome: a.Outcome, Extracted: a.Extracted, Score: a.Score}, nil) {
					return
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, fmt.Errorf("read answers %s: %w", path, err))
				return
			}
		}
	}
}

// WriteAnswers writes results/<model>/<dataset>.parquet: every scored answer
// with its prompt, raw text, reasoning, extraction and verdict, and the scorer
// that gave it. The file appears under its name when it is whole.
func (r *Run) WriteAnswers(model, dataset, scorer, version string, answers iter.Seq2[*Prediction, error]) error {
	path := r.AnswersPath(model, dataset)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return explainWrite(path, err)
	}
	tmp := path + ".tmp"
	f, err := os.Create(tmp)
	if err != nil {
		return explainWrite(path, err)
	}
	defer os.Remove(tmp) // gone already when all went well
	w := parquet.NewGenericWriter[answerRow](f)
	red := r.Redactor()
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		s = red.String(s)
		return &s
	}
	for p, err := range answers {
		if err != nil {
			f.Close()
			return err
		}
		row := answerRow{SampleID: p.SampleID, Subset: p.Subset, Repeat: p.Repeat, Prompt: text(p.PromptText()), Answer: red.String(p.Prediction),
			Reasoning: text(p.Reasoning), Gold: red.String(jsonText(p.Gold)), Outcome: p.Outcome, Score: p.Score, Detail: text(p.Detail),
			Status: string(p.Status), FinishReason: text(p.FinishReason), InputTokens: p.InputTokens, OutputTokens: p.OutputTokens,
			Scorer: scorer, ScorerVersion: version, PromptSHA256: p.PromptSHA256}
		if p.Extracted != nil {
			s := red.String(*p.Extracted)
			row.Extracted = &s
		}
		if _, err := w.Write([]answerRow{row}); err != nil {
			f.Close()
			return explainWrite(path, err)
		}
	}
	if err := w.Close(); err != nil {
		f.Close()
		return explainWrite(path, err)
	}
	if err := f.Close(); err != nil {
		return explainWrite(path, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return explainWrite(path, err)
	}
	return nil
}

// jsonText is a string as it is, and anything else as JSON.
func jsonText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := MarshalJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
