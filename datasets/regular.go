package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"ais_bench/registry"
)

// OpenFile opens a data file. What is there under its name and is no ordinary file (a
// named pipe, a socket, a device, a folder) is refused instead of opened: data are
// read more than once, for their hash, kind and rows, and these may never end. The
// error is an *fs.PathError.
func OpenFile(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is %s, no ordinary file: save the data to a file and name that", registry.FileKind(st.Mode()))}
	}
	return os.Open(path)
}

// readWhole reads a whole file under the terms of OpenFile.
func readWhole(path string) ([]byte, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// OpenStream is OpenFile for what is read once from beginning to end: what a shell
// hands over as a pipe (/dev/stdin, and /dev/fd/N of a process substitution) is taken,
// too. A pipe that lies on disk is not: without a writer it would never open.
func OpenStream(path string) (*os.File, error) {
	if path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") {
		if st, err := os.Stat(path); err == nil && st.Mode()&fs.ModeNamedPipe != 0 {
			return os.Open(path)
		}
	}
	return OpenFile(path)
}

// MaxRow is the longest row of a data file in bytes; what is longer is no row but a
// file without line ends.
const MaxRow = 256 << 20

// ErrRowTooLong says that a row has more than MaxRow bytes.
var ErrRowTooLong = fmt.Errorf("the row is longer than %d MiB: is this the right file, and does it have line ends?", MaxRow>>20)

// ReadLine reads the next line with its line end into line's memory. As with
// bufio.Reader.ReadBytes the last line comes with io.EOF; a line of more than MaxRow
// bytes gives ErrRowTooLong.
func ReadLine(r *bufio.Reader, line []byte) ([]byte, error) { return readLine(r, line, MaxRow) }

func readLine(r *bufio.Reader, line []byte, most int) ([]byte, error) {
	line = line[:0]
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, ErrRowTooLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// RowReader bounds the rows that a decoder reads: between two calls of Next it gives
// MaxRow bytes, then ErrRowTooLong. What the decoder reads ahead counts to the row
// before.
type RowReader struct {
	r          io.Reader
	left, most int
}

// NewRowReader is a RowReader over r.
func NewRowReader(r io.Reader) *RowReader { return &RowReader{r, MaxRow, MaxRow} }

// Next says that a row is over.
func (b *RowReader) Next() { b.left = b.most }

func (b *RowReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, ErrRowTooLong
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// maxDocument is the longest file in bytes that is read as a whole: one JSON
// document, or one text.
const maxDocument int64 = 4 << 30

// readDocument reads a document.
func readDocument(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err == nil && int64(len(raw)) > maxDocument {
		return nil, fmt.Errorf("the file is longer than %d GiB, which is too much for one document: give its rows one a line (.jsonl)", maxDocument>>30)
	}
	return raw, err
}
