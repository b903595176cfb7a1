package outputs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// atomicFile is a file that appears under its name only when it is complete:
// it is written beside it and renamed. Readers see the old or the new file,
// never half of one.
type atomicFile struct {
	path string
	f    *os.File
	buf  *bufio.Writer
	scrb io.WriteCloser
	done bool
}

// createAtomic starts a file; text is true where the scrubbing writer must
// stand in between (everything but binary formats whose fields are scrubbed
// before they are encoded).
func createAtomic(path string, red *Redactor, text bool) (*atomicFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, explainWrite(path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp*")
	if err != nil {
		return nil, explainWrite(path, err)
	}
	a := &atomicFile{path: path, f: f, buf: bufio.NewWriterSize(f, 256<<10)}
	if text {
		a.scrb = red.Writer(a.buf)
	} else {
		a.scrb = passWriter{a.buf}
	}
	return a, nil
}

// Write adds to the file.
func (a *atomicFile) Write(p []byte) (int, error) { return a.scrb.Write(p) }

// Commit makes the file durable and visible.
func (a *atomicFile) Commit() error {
	if a.done {
		return nil
	}
	a.done = true
	err := errors.Join(a.scrb.Close(), a.buf.Flush())
	if err == nil {
		err = a.f.Chmod(0o644)
	}
	if err == nil {
		err = a.f.Sync()
	}
	err = errors.Join(err, a.f.Close())
	if err == nil {
		err = os.Rename(a.f.Name(), a.path)
	}
	if err != nil {
		os.Remove(a.f.Name())
		return explainWrite(a.path, err)
	}
	return nil
}

// Abort removes the unfinished file; after Commit it does nothing, so it can
// be deferred.
func (a *atomicFile) Abort() {
	if a.done {
		return
	}
	a.done = true
	a.f.Close()
	os.Remove(a.f.Name())
}

// writeAtomic writes a whole text file through fill.
func writeAtomic(path string, red *Redactor, fill func(io.Writer) error) error {
	a, err := createAtomic(path, red, true)
	if err != nil {
		return err
	}
	defer a.Abort()
	if err := fill(a); err != nil {
		return explainWrite(path, err)
	}
	return a.Commit()
}

// sourceError is an error of what a file is made from: not the file that is being
// written is broken, but the one it names.
type sourceError struct{ error }

func (e sourceError) Unwrap() error { return e.error }

// explainWrite says in one line what could not be written and what to do.
func explainWrite(path string, err error) error {
	var from sourceError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &from):
		return fmt.Errorf("%w; so %s is not written", from.error, path)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("cannot write %s: %w; choose a writable folder with --work-dir", path, rootCause(err))
	case diskFull(err):
		return fmt.Errorf("cannot write %s: %w; free some space or choose another disk with --work-dir", path, rootCause(err))
	}
	return fmt.Errorf("write %s: %w", path, rootCause(err))
}

// Unwritable reports whether an error is of a disk that takes nothing more: full, over
// quota, or read-only. Whatever else is written there meets it again.
func Unwritable(err error) bool { return diskFull(err) || readOnly(err) }

// rootCause drops the path that *PathError repeats.
func rootCause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
