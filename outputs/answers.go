package outputs

import (
	"fmt"
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

// WriteAnswers writes results/<model>/<dataset>.parquet: every scored answer
// with its prompt, raw text, reasoning, extraction and verdict, and the scorer
// that gave it. The file appears under its name when it is whole.
func (r *Run) WriteAnswers(model, dataset, scorer, version string, answers iter.Seq2[*Prediction, error]) error {
	path := r.Path("results", FileName(model), FileName(dataset)+".parquet")
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
			Reasoning: text(p.Reasoning), Gold: red.String(goldJSON(p.Gold)), Outcome: p.Outcome, Score: p.Score, Detail: text(p.Detail),
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

func goldJSON(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := MarshalJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
