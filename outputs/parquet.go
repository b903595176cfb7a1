package outputs

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// SchemaVersion is stored in every Parquet file under
// "ais_bench.schema_version". Columns are only ever added within a version.
const SchemaVersion = "1"

// Metadata keys of a records file.
const (
	metaSchema   = "ais_bench.schema_version"
	metaJournals = "ais_bench.journals"
	metaRows     = "ais_bench.rows"
)

// parquetRow is one row of performances/<model>/<dataset>.parquet;
// docs/parquet.md documents it. Times are nanoseconds since the run's zero;
// null means that the event did not happen or nobody knows the value.
type parquetRow struct {
	Model     string `parquet:"model,dict"`
	Dataset   string `parquet:"dataset,dict"`
	SampleID  string `parquet:"sample_id"`
	Repeat    int32  `parquet:"repeat"`
	Turn      int32  `parquet:"turn"`
	SessionID string `parquet:"session_id,optional"`
	Attempt   int32  `parquet:"attempt"`
	Phase     string `parquet:"phase,dict"`
	RequestID string `parquet:"request_id,optional"`

	Scheduled        *int64 `parquet:"scheduled_ns,optional"`
	Sent             *int64 `parquet:"sent_ns,optional"`
	Connected        *int64 `parquet:"connected_ns,optional"`
	FirstByte        *int64 `parquet:"first_byte_ns,optional"`
	FirstEvent       *int64 `parquet:"first_event_ns,optional"`
	FirstToken       *int64 `parquet:"first_token_ns,optional"`
	FirstAnswerToken *int64 `parquet:"first_answer_token_ns,optional"`
	LastToken        *int64 `parquet:"last_token_ns,optional"`
	End              *int64 `parquet:"end_ns,optional"`
	FirstOutput      *int64 `parquet:"first_output_ns,optional"`
	LastOutput       *int64 `parquet:"last_output_ns,optional"`
	LastEvent        *int64 `parquet:"last_event_ns,optional"`

	ChunkAt     []int64 `parquet:"chunk_at_ns,optional,list" parquet-element:",delta"`
	ChunkTokens []int32 `parquet:"chunk_tokens,optional,list" parquet-element:",delta"`

	InputTokens     *int32 `parquet:"input_tokens,optional"`
	OutputTokens    *int32 `parquet:"output_tokens,optional"`
	ReasoningTokens *int32 `parquet:"reasoning_tokens,optional"`
	CachedTokens    *int32 `parquet:"cached_tokens,optional"`
	TokenSource     string `parquet:"token_source,dict"`
	MaxTokens       int32  `parquet:"max_tokens"`

	Status       string `parquet:"status,dict"`
	StreamEnd    string `parquet:"stream_end,optional,dict"`
	HTTPStatus   *int32 `parquet:"http_status,optional"`
	FinishReason string `parquet:"finish_reason,optional,dict"`
	Error        string `parquet:"error,optional"`

	Stream      bool  `parquet:"stream"`
	KernelStamp bool  `parquet:"kernel_stamp"`
	Reused      bool  `parquet:"reused"`
	Resent      int32 `parquet:"resent"`
	Reads       int32 `parquet:"reads"`
	Coalesced   int32 `parquet:"coalesced"`
	BytesIn     int64 `parquet:"bytes_in"`

	Text         string `parquet:"text,optional"`
	Reasoning    string `parquet:"reasoning,optional"`
	ToolCalls    string `parquet:"tool_calls,optional"`
	Prompt       string `parquet:"prompt,optional"`
	PromptSHA256 string `parquet:"prompt_sha256,optional"`
}

// nullTime turns Never into null.
func nullTime(v *int64) *int64 {
	if *v == Never {
		return nil
	}
	return v
}

func nullTokens(v *int32) *int32 {
	if *v == UnknownTokens {
		return nil
	}
	return v
}

// toRow fills row from rec without copying: row points into rec.
func toRow(row *parquetRow, rec *Record) {
	*row = parquetRow{
		Model: rec.Model, Dataset: rec.Dataset, SampleID: rec.SampleID, Repeat: rec.Repeat, Turn: rec.Turn,
		SessionID: rec.SessionID, Attempt: rec.Attempt, Phase: string(rec.Phase), RequestID: rec.RequestID,
		Scheduled: nullTime(&rec.Scheduled), Sent: nullTime(&rec.Sent), Connected: nullTime(&rec.Connected),
		FirstByte: nullTime(&rec.FirstByte), FirstEvent: nullTime(&rec.FirstEvent), FirstToken: nullTime(&rec.FirstToken),
		FirstAnswerToken: nullTime(&rec.FirstAnswerToken), LastToken: nullTime(&rec.LastToken), End: nullTime(&rec.End),
		FirstOutput: nullTime(&rec.FirstOutput), LastOutput: nullTime(&rec.LastOutput), LastEvent: nullTime(&rec.LastEvent),
		ChunkAt: rec.ChunkAt, ChunkTokens: rec.ChunkTokens,
		InputTokens: nullTokens(&rec.InputTokens), OutputTokens: nullTokens(&rec.OutputTokens),
		ReasoningTokens: nullTokens(&rec.ReasoningTokens), CachedTokens: nullTokens(&rec.CachedTokens),
		TokenSource: string(rec.TokenSource), MaxTokens: rec.MaxTokens,
		Status: string(rec.Status), StreamEnd: string(rec.StreamEnd), FinishReason: rec.FinishReason, Error: rec.Error,
		Stream: rec.Stream, KernelStamp: rec.KernelStamp, Reused: rec.Reused, Resent: rec.Resent,
		Reads: rec.Reads, Coalesced: rec.Coalesced, BytesIn: rec.BytesIn,
		Text: rec.Text, Reasoning: rec.Reasoning, ToolCalls: rec.ToolCalls, Prompt: rec.Prompt, PromptSHA256: rec.PromptSHA256,
	}
	if rec.HTTPStatus != 0 {
		row.HTTPStatus = &rec.HTTPStatus
	}
}

func timeOf(v *int64) int64 {
	if v == nil {
		return Never
	}
	return *v
}

func tokensOf(v *int32) int32 {
	if v == nil {
		return UnknownTokens
	}
	return *v
}

func fromRow(row *parquetRow) *Record {
	rec := &Record{
		Model: row.Model, Dataset: row.Dataset, SampleID: row.SampleID, Repeat: row.Repeat, Turn: row.Turn,
		SessionID: row.SessionID, Attempt: row.Attempt, Phase: Phase(row.Phase), RequestID: row.RequestID,
		Scheduled: timeOf(row.Scheduled), Sent: timeOf(row.Sent), Connected: timeOf(row.Connected),
		FirstByte: timeOf(row.FirstByte), FirstEvent: timeOf(row.FirstEvent), FirstToken: timeOf(row.FirstToken),
		FirstAnswerToken: timeOf(row.FirstAnswerToken), LastToken: timeOf(row.LastToken), End: timeOf(row.End),
		FirstOutput: timeOf(row.FirstOutput), LastOutput: timeOf(row.LastOutput), LastEvent: timeOf(row.LastEvent),
		InputTokens: tokensOf(row.InputTokens), OutputTokens: tokensOf(row.OutputTokens),
		ReasoningTokens: tokensOf(row.ReasoningTokens), CachedTokens: tokensOf(row.CachedTokens),
		TokenSource: TokenSource(row.TokenSource), MaxTokens: row.MaxTokens,
		Status: Status(row.Status), StreamEnd: StreamEnd(row.StreamEnd), FinishReason: row.FinishReason, Error: row.Error,
		Stream: row.Stream, KernelStamp: row.KernelStamp, Reused: row.Reused, Resent: row.Resent,
		Reads: row.Reads, Coalesced: row.Coalesced, BytesIn: row.BytesIn,
		Text: row.Text, Reasoning: row.Reasoning, ToolCalls: row.ToolCalls, Prompt: row.Prompt, PromptSHA256: row.PromptSHA256,
	}
	if len(row.ChunkAt) > 0 {
		rec.ChunkAt = row.ChunkAt
	}
	if len(row.ChunkTokens) > 0 {
		rec.ChunkTokens = row.ChunkTokens
	}
	if row.HTTPStatus != nil {
		rec.HTTPStatus = *row.HTTPStatus
	}
	return rec
}

const (
	// A row group ends at whichever comes first; together they bound the memory
	// of writer and readers.
	rowGroupRows  = 100_000
	rowGroupBytes = 48 << 20
	rowBatch      = 64
)

// RecordWriter writes records to a Parquet file in bounded memory. It is not
// safe for concurrent use.
type RecordWriter struct {
	file  *atomicFile
	w     *parquet.GenericWriter[parquetRow]
	red   *Redactor
	rows  []parquetRow
	group struct{ rows, bytes int }
	n     int64
}

// NewRecordWriter starts a Parquet file of records (zstd). It appears under
// its name at Close.
func NewRecordWriter(path string, red *Redactor) (*RecordWriter, error) {
	f, err := createAtomic(path, nil, false)
	if err != nil {
		return nil, err
	}
	w := parquet.NewGenericWriter[parquetRow](f,
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.MaxRowsPerRowGroup(rowGroupRows),
		parquet.PageBufferSize(256<<10),
		parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked), // times
		parquet.CreatedBy("ais_bench", SchemaVersion, ""))
	w.SetKeyValueMetadata(metaSchema, SchemaVersion)
	return &RecordWriter{file: f, w: w, red: red, rows: make([]parquetRow, 0, rowBatch)}, nil
}

// Add writes one record. The record must not be changed until the next
// Close, or until 64 more records were added.
func (w *RecordWriter) Add(rec *Record) error {
	rec = w.red.Record(rec)
	w.rows = append(w.rows, parquetRow{})
	toRow(&w.rows[len(w.rows)-1], rec)
	w.group.rows++
	w.group.bytes += 200 + 8*len(rec.ChunkAt) + 4*len(rec.ChunkTokens) +
		len(rec.Text) + len(rec.Reasoning) + len(rec.Prompt) + len(rec.ToolCalls) + len(rec.Error)
	w.n++
	full := w.group.rows >= rowGroupRows || w.group.bytes >= rowGroupBytes
	if len(w.rows) == cap(w.rows) || full {
		if err := w.flushRows(); err != nil {
			return err
		}
	}
	if full {
		w.group.rows, w.group.bytes = 0, 0
		if err := w.w.Flush(); err != nil {
			return explainWrite(w.file.path, err)
		}
	}
	return nil
}

func (w *RecordWriter) flushRows() error {
	if len(w.rows) == 0 {
		return nil
	}
	if _, err := w.w.Write(w.rows); err != nil {
		return explainWrite(w.file.path, err)
	}
	clear(w.rows)
	w.rows = w.rows[:0]
	return nil
}

// Close finishes the file and puts it in place.
func (w *RecordWriter) Close() error { return w.close(nil) }

func (w *RecordWriter) close(journals []string) error {
	defer w.file.Abort()
	if err := w.flushRows(); err != nil {
		return err
	}
	ids, err := json.Marshal(journals)
	if err != nil {
		return err
	}
	w.w.SetKeyValueMetadata(metaJournals, string(ids))
	w.w.SetKeyValueMetadata(metaRows, fmt.Sprint(w.n))
	if err := w.w.Close(); err != nil {
		return explainWrite(w.file.path, err)
	}
	return w.file.Commit()
}

// Abort drops the unfinished file; after Close it does nothing.
func (w *RecordWriter) Abort() { w.file.Abort() }

// readParquet yields the records of a Parquet file in constant memory.
func readParquet(path string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		f, pf, err := openParquet(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		r := parquet.NewGenericReader[parquetRow](pf)
		defer r.Close()
		// A fresh batch each time: the records keep the arrays of their rows.
		for {
			rows := make([]parquetRow, rowBatch)
			n, err := readRows(r, rows)
			for i := range rows[:n] {
				if !yield(fromRow(&rows[i]), nil) {
					return
				}
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, fmt.Errorf("read %s: %w", path, err))
				return
			}
		}
	}
}

// openParquet opens a records file and checks that it is one.
func openParquet(path string) (*os.File, *parquet.File, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read records %s: %w", path, rootCause(err))
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("read records %s: %w", path, rootCause(err))
	}
	pf, err := openDamaged(f, st.Size())
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("read records %s: not a Parquet file, or damaged: %w", path, err)
	}
	for _, need := range []string{"model", "dataset", "sample_id", "status", "sent_ns"} {
		if _, ok := pf.Schema().Lookup(need); !ok {
			f.Close()
			return nil, nil, fmt.Errorf("read records %s: no column %q; docs/parquet.md lists what a records file holds", path, need)
		}
	}
	return f, pf, nil
}

// sealedJournals lists the ids of the journals a Parquet file was made from.
func sealedJournals(path string) ([]string, error) {
	f, pf, err := openParquet(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var ids []string
	if v, ok := pf.Lookup(metaJournals); ok {
		if err := json.Unmarshal([]byte(v), &ids); err != nil {
			return nil, fmt.Errorf("read %s: metadata %s: %w", path, metaJournals, err)
		}
	}
	return ids, nil
}

// RecordRows is the number of records that a sealed Parquet file says it holds.
func RecordRows(path string) (int64, error) {
	f, pf, err := openParquet(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	v, ok := pf.Lookup(metaRows)
	if !ok {
		return 0, fmt.Errorf("read %s: no metadata %s", path, metaRows)
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: metadata %s: %w", path, metaRows, err)
	}
	return n, nil
}

// readRows is Read of a file that may be damaged: the library panics on some
// bytes that no writer would have written.
func readRows[T any](r *parquet.GenericReader[T], rows []T) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			n, err = 0, fmt.Errorf("the file is damaged: %v", p)
		}
	}()
	return r.Read(rows)
}

// openDamaged is OpenFile of a file that may be damaged.
func openDamaged(f *os.File, size int64) (pf *parquet.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			pf, err = nil, fmt.Errorf("%v", p)
		}
	}()
	return parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}
