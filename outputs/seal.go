package outputs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// ReadRecords yields the records of a .parquet file or a .journal in constant
// memory. A *DamageError (journals only) does not end the sequence; every
// other error does.
func ReadRecords(path string) iter.Seq2[*Record, error] {
	switch filepath.Ext(path) {
	case ".parquet":
		return readParquet(path)
	case ".journal":
		return ReadJournal(path)
	}
	return func(yield func(*Record, error) bool) {
		yield(nil, fmt.Errorf("read records %s: neither .parquet nor .journal", path))
	}
}

// Records yields all records of a pair: those sealed in Parquet and then those
// of a journal that was not sealed yet (an interrupted resume). It yields an
// error when there are none.
func (r *Run) Records(model, dataset string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		pq, jr := r.PerformancePath(model, dataset, "parquet"), r.PerformancePath(model, dataset, "journal")
		parts, _, err := recordParts(pq, jr)
		if err != nil {
			yield(nil, err)
			return
		}
		if len(parts) == 0 {
			yield(nil, fmt.Errorf("no records of %s on %s in %s", model, dataset, r.dir))
			return
		}
		for _, p := range parts {
			for rec, err := range ReadRecords(p) {
				if !yield(rec, err) {
					return
				}
			}
		}
	}
}

// recordParts says which files hold the records: never the same record twice,
// though Seal may have been killed between writing the Parquet file and
// removing the journal. ids are the journals they stand for.
func recordParts(pq, jr string) (parts, ids []string, err error) {
	if exists(pq) {
		if ids, err = sealedJournals(pq); err != nil {
			return nil, nil, err
		}
		parts = append(parts, pq)
	}
	if exists(jr) {
		id, err := journalID(jr)
		if err != nil {
			return nil, nil, fmt.Errorf("read journal %s: %w", jr, rootCause(err))
		}
		if !slices.Contains(ids, id) {
			parts = append(parts, jr)
			ids = append(ids, id)
		}
	}
	return parts, ids, nil
}

// SealReport says what Seal did.
type SealReport struct {
	Rows  int64
	Notes []string // damage that was skipped
}

// Seal turns the pair's journal into performances/<model>/<dataset>.parquet
// (every field of every record) and .csv (numbers only), and removes the
// journal when both are safe on disk. After a resume it merges: the rows that
// were sealed before come first. It may be repeated, also after a kill at any
// point. The journal must be closed.
func (r *Run) Seal(model, dataset string) (SealReport, error) {
	var report SealReport
	pq, jr := r.PerformancePath(model, dataset, "parquet"), r.PerformancePath(model, dataset, "journal")
	parts, ids, err := recordParts(pq, jr)
	if err != nil {
		return report, err
	}
	if len(parts) == 0 {
		return report, fmt.Errorf("seal %s on %s: no journal in %s", model, dataset, filepath.Dir(jr))
	}
	w, err := NewRecordWriter(pq, r.Redactor())
	if err != nil {
		return report, err
	}
	defer w.Abort()
	// The CSV's texts are scrubbed one by one; numbers need not be searched.
	csvFile, err := createAtomic(r.PerformancePath(model, dataset, "csv"), nil, false)
	if err != nil {
		return report, err
	}
	defer csvFile.Abort()
	rows := newRecordCSV(csvFile, r.Redactor())
	for _, p := range parts {
		for rec, err := range ReadRecords(p) {
			var damage *DamageError
			if errors.As(err, &damage) {
				report.Notes = append(report.Notes, damage.Error())
				continue
			}
			if err != nil {
				return report, fmt.Errorf("seal %s on %s: %w", model, dataset, err)
			}
			if err := w.Add(rec); err != nil {
				return report, err
			}
			if err := rows.add(rec); err != nil {
				return report, explainWrite(csvFile.path, err)
			}
			report.Rows++
		}
	}
	if err := rows.flush(); err != nil {
		return report, explainWrite(csvFile.path, err)
	}
	if err := csvFile.Commit(); err != nil {
		return report, err
	}
	if err := w.close(ids); err != nil {
		return report, err
	}
	if err := os.Remove(jr); err != nil && !errors.Is(err, os.ErrNotExist) {
		return report, fmt.Errorf("remove the sealed journal %s: %w", jr, rootCause(err))
	}
	return report, nil
}

// WriteRecordsCSV writes the same rows as Seal's CSV to w.
func WriteRecordsCSV(w io.Writer, records iter.Seq2[*Record, error], red *Redactor) error {
	rows := newRecordCSV(w, red)
	for rec, err := range records {
		var damage *DamageError
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return err
		}
		if err := rows.add(rec); err != nil {
			return err
		}
	}
	return rows.flush()
}

// requestColumn is one column of the per-request CSV and of Excel's Requests
// sheet. Exactly one of text and number is set; number returns false for
// undefined.
type requestColumn struct {
	name   string
	text   func(*Record) string
	number func(*Record) (float64, bool)
	// whole says that the number is a count; else a time in milliseconds.
	whole bool
}

// requestColumns are the numbers and keys of a request, without its texts.
// Times are milliseconds: *_at_ms since the run's zero, the others durations.
var requestColumns = []requestColumn{
	{name: "sample_id", text: func(r *Record) string { return r.SampleID }},
	count("repeat", func(r *Record) int64 { return int64(r.Repeat) }),
	count("turn", func(r *Record) int64 { return int64(r.Turn) }),
	{name: "session_id", text: func(r *Record) string { return r.SessionID }},
	count("attempt", func(r *Record) int64 { return int64(r.Attempt) }),
	{name: "phase", text: func(r *Record) string { return string(r.Phase) }},
	{name: "request_id", text: func(r *Record) string { return r.RequestID }},
	{name: "status", text: func(r *Record) string { return string(r.Status) }},
	{name: "http_status", whole: true, number: func(r *Record) (float64, bool) { return float64(r.HTTPStatus), r.HTTPStatus != 0 }},
	{name: "finish_reason", text: func(r *Record) string { return r.FinishReason }},
	tokens("input_tokens", func(r *Record) int32 { return r.InputTokens }),
	tokens("output_tokens", func(r *Record) int32 { return r.OutputTokens }),
	tokens("reasoning_tokens", func(r *Record) int32 { return r.ReasoningTokens }),
	tokens("cached_tokens", func(r *Record) int32 { return r.CachedTokens }),
	{name: "token_source", text: func(r *Record) string { return string(r.TokenSource) }},
	count("max_tokens", func(r *Record) int64 { return int64(r.MaxTokens) }),
	millis("ttft_ms", (*Record).TTFT),
	millis("ttfat_ms", (*Record).TTFAT),
	{name: "tpot_ms", number: func(r *Record) (float64, bool) { v, ok := r.TPOT(); return v / 1e6, ok }},
	millis("e2el_ms", (*Record).E2EL),
	millis("e2el_from_schedule_ms", (*Record).ScheduledE2EL),
	millis("client_queue_time_ms", (*Record).ClientQueueTime),
	millis("max_stall_ms", (*Record).MaxStall),
	instant("scheduled_at_ms", func(r *Record) int64 { return r.Scheduled }),
	instant("sent_at_ms", func(r *Record) int64 { return r.Sent }),
	instant("connected_at_ms", func(r *Record) int64 { return r.Connected }),
	instant("first_byte_at_ms", func(r *Record) int64 { return r.FirstByte }),
	instant("first_event_at_ms", func(r *Record) int64 { return r.FirstEvent }),
	instant("first_token_at_ms", func(r *Record) int64 { return r.FirstToken }),
	instant("first_answer_token_at_ms", func(r *Record) int64 { return r.FirstAnswerToken }),
	instant("last_token_at_ms", func(r *Record) int64 { return r.LastToken }),
	instant("end_at_ms", func(r *Record) int64 { return r.End }),
	count("chunks", func(r *Record) int64 { return int64(len(r.ChunkAt)) }),
	count("stream", func(r *Record) int64 { return bit(r.Stream) }),
	count("kernel_stamp", func(r *Record) int64 { return bit(r.KernelStamp) }),
	count("reused", func(r *Record) int64 { return bit(r.Reused) }),
	count("resent", func(r *Record) int64 { return int64(r.Resent) }),
	count("reads", func(r *Record) int64 { return int64(r.Reads) }),
	count("coalesced", func(r *Record) int64 { return int64(r.Coalesced) }),
	count("bytes_in", func(r *Record) int64 { return r.BytesIn }),
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func count(name string, f func(*Record) int64) requestColumn {
	return requestColumn{name: name, whole: true, number: func(r *Record) (float64, bool) { return float64(f(r)), true }}
}

func tokens(name string, f func(*Record) int32) requestColumn {
	return requestColumn{name: name, whole: true, number: func(r *Record) (float64, bool) {
		n := f(r)
		return float64(n), n != UnknownTokens
	}}
}

func millis(name string, f func(*Record) (int64, bool)) requestColumn {
	return requestColumn{name: name, number: func(r *Record) (float64, bool) { v, ok := f(r); return float64(v) / 1e6, ok }}
}

func instant(name string, f func(*Record) int64) requestColumn {
	return millis(name, func(r *Record) (int64, bool) { v := f(r); return v, v != Never })
}

// recordCSV writes requestColumns without allocating for each row.
type recordCSV struct {
	w   *bufio.Writer
	buf []byte
	red *Redactor
}

func newRecordCSV(w io.Writer, red *Redactor) *recordCSV {
	c := &recordCSV{w: bufio.NewWriterSize(w, 64<<10), red: red}
	for i, col := range requestColumns {
		if i > 0 {
			c.w.WriteByte(',')
		}
		c.w.WriteString(col.name)
	}
	c.w.WriteString("\n")
	return c
}

func (c *recordCSV) add(rec *Record) error {
	b := c.buf[:0]
	for i, col := range requestColumns {
		if i > 0 {
			b = append(b, ',')
		}
		if col.text != nil {
			b = appendCSVText(b, GuardCSV(c.red.String(col.text(rec))))
		} else if v, ok := col.number(rec); ok {
			if col.whole {
				b = strconv.AppendInt(b, int64(v), 10)
			} else {
				b = strconv.AppendFloat(b, v, 'f', -1, 64)
			}
		}
	}
	c.buf = append(b, '\n')
	_, err := c.w.Write(c.buf)
	return err
}

func (c *recordCSV) flush() error { return c.w.Flush() }

// appendCSVText quotes where RFC 4180 asks for it.
func appendCSVText(b []byte, s string) []byte {
	quote := false
	for i := 0; i < len(s) && !quote; i++ {
		quote = s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r'
	}
	if !quote && !(len(s) > 0 && s[0] == ' ') {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}
