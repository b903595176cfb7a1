package outputs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"ais_bench/registry"
)

// OpenFile opens a file that a run left. What is there under its name and is no
// ordinary file (a named pipe, a socket, a device) is refused instead of opened:
// reading it may never end. The error is an *fs.PathError.
func OpenFile(path string) (*os.File, error) {
	if err := Regular(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// ReadFile reads a whole file that a run left, under the terms of OpenFile.
func ReadFile(path string) ([]byte, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Regular is nil for an ordinary file, or a link to one. The error says what else
// is there (see ErrNotRegular), or that nothing is.
func Regular(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is %s, %w: put the file itself there, or remove it", registry.FileKind(st.Mode()), ErrNotRegular)}
}

// ErrNotRegular is wrapped by the errors of what is no ordinary file.
var ErrNotRegular = errors.New("no ordinary file")

// regularOrNone is nil where nothing is there yet either: a file that is to be
// written on.
func regularOrNone(path string) error {
	if err := Regular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
