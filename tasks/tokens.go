package tasks

import (
	"context"
	"errors"
	"fmt"
	"os"

	"ais_bench/datasets"
	"ais_bench/datasets/tokenizer"
	"ais_bench/models"
	"ais_bench/outputs"
)

// countMissingTokens fills output token counts that no usage reported, after
// the phase, so that counting does not load a service that is being measured:
// by the server's own tokenizer where it has one, else by the local one of the
// model's path, over reasoning, content and tool calls. What neither can count
// stays unknown. Records are rewritten in their Parquet file; input tokens are
// not guessed, because a chat template adds tokens that only the server knows.
func (in *inference) countMissingTokens(ctx context.Context) error {
	if in.set.Config.Asking() == datasets.ModePPL {
		return nil // nothing was generated that anybody wants counted
	}
	missing, impossible, total := 0, 0, 0
	for rec, err := range in.run.Records(in.task.ModelAbbr, in.task.DatasetAbbr) {
		if err != nil {
			var damage *outputs.DamageError
			if errors.As(err, &damage) {
				continue
			}
			return err
		}
		total++
		if uncounted(rec) {
			missing++
		}
		if rec.TokenSource.Impossible() {
			impossible++
		}
	}
	if missing == 0 {
		return nil
	}
	// Records do not keep what stood in the place of a count.
	reason := fmt.Sprintf("the server reported no usage that counts (none, or values that are no numbers of tokens) for %d of %d requests", missing, total)
	if impossible > 0 {
		reason += fmt.Sprintf(" (for %d of them one that cannot be: more output than was asked for, none beside a text, or more cached tokens than the prompt had)", impossible)
	}
	count, source, note := in.counter(ctx)
	if count == nil {
		in.observe.Note(reason + ", and their tokens cannot be counted: " + note)
		return nil
	}
	in.observe.Note(fmt.Sprintf("%s: output tokens are counted by %s", reason, source))
	failed, lastErr := 0, error(nil)
	err := in.rewrite(func(rec *outputs.Record) error {
		if !uncounted(rec) {
			return nil
		}
		total := 0
		// Each part on its own: the special tokens between them keep a token from
		// spanning two.
		for _, part := range []string{rec.Reasoning, rec.Text, rec.ToolCalls} {
			if part == "" {
				continue
			}
			n, err := count(ctx, part)
			if err != nil {
				failed, lastErr = failed+1, err
				return nil
			}
			total += n
		}
		rec.OutputTokens, rec.TokenSource = int32(total), rec.TokenSource.CountedBy(source)
		return nil
	})
	if failed > 0 {
		in.observe.Note(fmt.Sprintf("%d answers could not be counted and stay unknown, the last one because of: %v", failed, lastErr))
	}
	return err
}

func uncounted(rec *outputs.Record) bool {
	return rec.OK() && rec.OutputTokens == outputs.UnknownTokens
}

// counter finds what can count: the server, else the model's local tokenizer.
func (in *inference) counter(ctx context.Context) (count func(context.Context, string) (int, error), source outputs.TokenSource, note string) {
	if t, ok := in.svc.client.(models.Tokenizer); ok {
		if ids, err := t.Tokenize(ctx, "one two"); err == nil && len(ids) > 0 {
			return func(ctx context.Context, text string) (int, error) {
				ids, err := t.Tokenize(ctx, text)
				return len(ids), err
			}, outputs.TokensServerTokenize, ""
		}
	}
	if local := in.opts.CountTokens; local != nil {
		return func(_ context.Context, text string) (int, error) { return local(text), nil }, outputs.TokensLocalTokenizer, ""
	}
	path := in.svc.cfg.Path
	if path == "" {
		return nil, "", "the server has no /tokenize; name the model's tokenizer with --tokenizer DIR"
	}
	found, err := tokenizer.Resolve(ctx, path, tokenizer.ModeAuto, tokenizer.Options{})
	if err != nil {
		return nil, "", err.Error()
	}
	if found.Codec == nil {
		return nil, "", found.Note
	}
	return func(_ context.Context, text string) (int, error) { return len(found.Codec.Encode(text, false)), nil }, outputs.TokensLocalTokenizer, ""
}

// rewrite passes every sealed record of the task through edit and replaces the
// Parquet file when all are written.
func (in *inference) rewrite(edit func(*outputs.Record) error) error {
	path := in.run.PerformancePath(in.task.ModelAbbr, in.task.DatasetAbbr, "parquet")
	tmp := path + ".counting"
	w, err := outputs.NewRecordWriter(tmp, in.run.Redactor())
	if err != nil {
		return err
	}
	defer w.Abort()
	for rec, err := range outputs.ReadRecords(path) {
		if err != nil {
			return err
		}
		if err := edit(rec); err != nil {
			return err
		}
		if err := w.Add(rec); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("replace the records by the counted ones: %w", err)
	}
	return in.rewriteCSV(path)
}

// rewriteCSV makes the CSV agree with the records again.
func (in *inference) rewriteCSV(parquet string) error {
	path := in.run.PerformancePath(in.task.ModelAbbr, in.task.DatasetAbbr, "csv")
	f, err := os.Create(path + ".counting")
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", path, err)
	}
	if err := outputs.WriteRecordsCSV(f, outputs.ReadRecords(parquet), in.run.Redactor()); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("rewrite %s: %w", path, err)
	}
	return os.Rename(path+".counting", path)
}
