package outputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// ServerSample is one value of the server's own metrics at one time: a row of
// server/<model>/<dataset>.parquet (docs/parquet.md). The long format keeps any
// series of any source, whatever the engine.
type ServerSample struct {
	T       int64   `parquet:"t_ns,delta"`  // on the run's clock: the middle of the scrape
	Session int32   `parquet:"session"`     // of the run that scraped it, from 1
	Source  string  `parquet:"source,dict"` // where it was scraped
	Series  string  `parquet:"series,dict"` // our name: requests_running, ttft_bucket …
	Metric  string  `parquet:"metric,dict"` // the source's own name
	Labels  string  `parquet:"labels,dict"` // k="v",… of those kept; "" = none
	Value   float64 `parquet:"value"`
}

// ServerWatch is how one session watched the server of a pair; the file's
// metadata hold one for each session.
type ServerWatch struct {
	Session int    `json:"session"`
	Model   string `json:"model"` // of the pair
	Dataset string `json:"dataset"`
	URL     string `json:"url"`  // of the service
	Mode    string `json:"mode"` // of the session: perf, all …
	// Protocol is what the service was asked with: chat, completions, embeddings …
	Protocol string            `json:"protocol"`
	Headers  map[string]string `json:"headers,omitempty"` // of an answer, that tell what stands before the engine

	Start         int64  `json:"start_ns"`          // of the first scrape
	MeasuredStart *int64 `json:"measured_start_ns"` // just before the first measured request; null = none was sent
	End           int64  `json:"end_ns"`            // of the last scrape

	IntervalMS float64        `json:"interval_ms"` // between polls; 0 = only before and after
	Sources    []ServerSource `json:"sources"`
	Events     []ServerEvent  `json:"events,omitempty"`
	// Series describes the series that reports draw as they are.
	Series map[string]ServerSeries `json:"series,omitempty"`

	Engine        *string                    `json:"engine"`
	Version       *string                    `json:"version"`
	Parameters    map[string]ServerParameter `json:"parameters,omitempty"`
	PrefixCaching string                     `json:"prefix_caching"` // on, off or unknown
	Evidence      string                     `json:"prefix_caching_evidence"`
	Cache         *ServerCache               `json:"cache,omitempty"` // what was done with the prefix cache; null = nothing
	// AnswersPerRequest is n of the requests: engines count each answer.
	AnswersPerRequest int `json:"answers_per_request"`
}

// ServerSeries says what a series is.
type ServerSeries struct {
	Kind  string `json:"kind"` // gauge or counter; a counter is drawn as its rate
	Unit  string `json:"unit,omitempty"`
	Title string `json:"title"`
}

// ServerSource is one endpoint that was scraped.
type ServerSource struct {
	Name    string   `json:"name"` // as in the rows
	Maps    []string `json:"maps"` // of names that applied
	Engine  bool     `json:"engine"`
	Polls   int64    `json:"polls"`  // that gave values
	Failed  int64    `json:"failed"` // that gave none
	Skipped int64    `json:"skipped"`
	Error   string   `json:"error,omitempty"` // the last one
	// FailingFrom is when the scrapes began to fail that did so until the end; null
	// where the last one gave values.
	FailingFrom *int64 `json:"failing_from_ns,omitempty"`
	// Nonsense are the series that told values they cannot have, one line each: these
	// scrapes are left out of them.
	Nonsense []string `json:"nonsense,omitempty"`
	// The time a scrape took, question to answer, and what reading it cost this client.
	RoundTripP50MS *float64 `json:"round_trip_p50_ms"`
	RoundTripMaxMS *float64 `json:"round_trip_max_ms"`
	ParseMeanMS    *float64 `json:"parse_mean_ms"`
	Bytes          int64    `json:"bytes"` // of all answers
}

// SeriesUp is the series, Prometheus's name for it, of scrapes that failed after good
// ones: a row with value 0 each. Good ones leave none.
const SeriesUp = "up"

// ServerEvent is something that happened to the server during the run.
type ServerEvent struct {
	T    int64  `json:"t_ns"`
	Text string `json:"text"`
}

// ServerCache is what was done with the prefix cache before the measured requests.
type ServerCache struct {
	Mode string `json:"mode"` // cold, warm or any
	How  string `json:"how"`  // in words: which endpoint was reset, which salt, what was sent
	// SharedShare is how much of the prompts' text repeats the beginning of another
	// prompt of the same set, by characters: hits that even a cold cache gives. Null = unknown.
	SharedShare *float64 `json:"shared_share"`
}

// metaWatches is the key of the metadata that hold the watches.
const metaWatches = "ais_bench.server_watches"

// ServerPath is server/<model>/<dataset>.<ext>; ext is parquet or json.
func (r *Run) ServerPath(model, dataset, ext string) string {
	return r.Path("server", FileName(model), FileName(dataset)+"."+ext)
}

// ServerWriter writes the samples of a session behind those of earlier ones. It is not
// safe for concurrent use. A run that is killed leaves the file as it was before.
type ServerWriter struct {
	file    *atomicFile
	w       *parquet.GenericWriter[ServerSample]
	watches []ServerWatch
	red     *Redactor
	pending int
}

// ServerWriter starts the file of a pair.
func (r *Run) ServerWriter(model, dataset string) (*ServerWriter, error) {
	path := r.ServerPath(model, dataset, "parquet")
	earlier, err := r.ServerWatches(model, dataset)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := createAtomic(path, nil, false)
	if err != nil {
		return nil, err
	}
	w := &ServerWriter{file: f, red: r.Redactor(), watches: earlier, w: parquet.NewGenericWriter[ServerSample](f,
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.MaxRowsPerRowGroup(rowGroupRows),
		parquet.PageBufferSize(64<<10), parquet.CreatedBy("ais_bench", SchemaVersion, ""))}
	w.w.SetKeyValueMetadata(metaSchema, SchemaVersion)
	if len(earlier) > 0 {
		for s, err := range r.ServerSamples(model, dataset) {
			if err == nil {
				err = w.Add([]ServerSample{s})
			}
			if err != nil {
				f.Abort()
				return nil, err
			}
		}
	}
	return w, nil
}

// Add writes samples.
func (w *ServerWriter) Add(samples []ServerSample) error {
	if len(samples) == 0 {
		return nil
	}
	if _, err := w.w.Write(samples); err != nil {
		return explainWrite(w.file.path, err)
	}
	// A row group now and then bounds the memory of long runs.
	if w.pending += len(samples); w.pending >= rowGroupRows {
		w.pending = 0
		if err := w.w.Flush(); err != nil {
			return explainWrite(w.file.path, err)
		}
	}
	return nil
}

// Close finishes the file with how this session watched.
func (w *ServerWriter) Close(watch ServerWatch) error {
	defer w.file.Abort()
	b, err := json.Marshal(append(w.watches, watch))
	if err != nil {
		return fmt.Errorf("write %s: %w", w.file.path, err)
	}
	w.w.SetKeyValueMetadata(metaWatches, w.red.String(string(b)))
	if err := w.w.Close(); err != nil {
		return explainWrite(w.file.path, err)
	}
	return w.file.Commit()
}

// Abort drops the unfinished file; after Close it does nothing.
func (w *ServerWriter) Abort() { w.file.Abort() }

// ServerWatches are how the sessions of a pair watched its server. The error is
// fs.ErrNotExist where nothing was watched.
func (r *Run) ServerWatches(model, dataset string) ([]ServerWatch, error) {
	f, pf, err := r.openServer(model, dataset)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []ServerWatch
	if v, ok := pf.Lookup(metaWatches); ok {
		if err := json.Unmarshal([]byte(v), &list); err != nil {
			return nil, fmt.Errorf("read %s: metadata %s: %w", f.Name(), metaWatches, err)
		}
	}
	return list, nil
}

func (r *Run) openServer(model, dataset string) (*os.File, *parquet.File, error) {
	path := r.ServerPath(model, dataset, "parquet")
	f, err := OpenFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read the server's metrics: %w", err)
	}
	st, err := f.Stat()
	if err == nil {
		var pf *parquet.File
		if pf, err = parquet.OpenFile(f, st.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err == nil {
			return f, pf, nil
		}
	}
	f.Close()
	return nil, nil, fmt.Errorf("read the server's metrics %s: not a Parquet file, or damaged: %w", path, err)
}

// ServerSamples yields the rows in the order they were written.
func (r *Run) ServerSamples(model, dataset string) iter.Seq2[ServerSample, error] {
	return func(yield func(ServerSample, error) bool) {
		f, pf, err := r.openServer(model, dataset)
		if err != nil {
			yield(ServerSample{}, err)
			return
		}
		defer f.Close()
		rd := parquet.NewGenericReader[ServerSample](pf)
		defer rd.Close()
		rows := make([]ServerSample, 1024)
		for {
			n, err := rd.Read(rows)
			for _, s := range rows[:n] {
				if !yield(s, nil) {
					return
				}
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(ServerSample{}, fmt.Errorf("read %s: %w", f.Name(), err))
				return
			}
		}
	}
}
