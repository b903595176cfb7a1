package outputs

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// Log is the log file of one task. It is an io.Writer for output of child
// programs; Logger gives structured lines. Every line is scrubbed and in the
// file when the call returns.
type Log struct {
	*slog.Logger
	path string
	mu   sync.Mutex
	f    *os.File
	out  io.WriteCloser
	err  error
}

// Logger opens logs/<stage>/<model>/<dataset>.out for appending.
func (r *Run) Logger(stage, model, dataset string) (*Log, error) {
	path := r.LogPath(stage, model, dataset)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, explainWrite(path, err)
	}
	if err := regularOrNone(path); err != nil {
		return nil, explainWrite(path, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, explainWrite(path, err)
	}
	l := &Log{path: path, f: f, out: r.Redactor().Writer(f)}
	l.Logger = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Value.Kind() == slog.KindString {
				a.Value = slog.StringValue(r.Redactor().String(a.Value.String()))
			}
			return a
		},
	}))
	return l, nil
}

// Path is the file's path.
func (l *Log) Path() string { return l.path }

// Write appends p. Whole lines reach the file at once; an unfinished line
// waits for its end, so that a secret split over two writes is found.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.out.Write(p)
	if f, ok := l.out.(interface{ Flush() error }); ok && err == nil && len(p) > 0 && p[len(p)-1] == '\n' {
		err = f.Flush()
	}
	if err != nil && l.err == nil {
		l.err = explainWrite(l.path, err)
	}
	return n, err
}

// Close flushes and closes the file; its error is the first write error.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return l.err
	}
	err := errors.Join(l.out.Close(), l.f.Close())
	l.f = nil
	if l.err == nil && err != nil {
		l.err = fmt.Errorf("write %s: %w", l.path, rootCause(err))
	}
	return l.err
}
