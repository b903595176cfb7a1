package workloads

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"ais_bench/datasets"
	"ais_bench/registry"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// missingFile is the error of a data file that is not there.
type missingFile string

func (path missingFile) Error() string {
	return fmt.Sprintf("there is no file %s; give the data set's file with --dataset-path", string(path))
}

func (missingFile) Is(target error) bool { return target == os.ErrNotExist }

// openFile opens a data file for reading in order, behind a byte order mark.
func openFile(path string) (*os.File, *bufio.Reader, int64, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil, nil, 0, fmt.Errorf("%s is a folder; give the file in it with --dataset-path", path)
	}
	f, err := datasets.OpenFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, 0, missingFile(path)
	}
	if err != nil {
		return nil, nil, 0, err
	}
	r := bufio.NewReaderSize(f, 1<<20)
	if b, _ := r.Peek(2); bytes.Equal(b, []byte{0x1f, 0x8b}) {
		f.Close()
		return nil, nil, 0, fmt.Errorf("%s is compressed; unpack it first (gunzip)", path)
	}
	if b, _ := r.Peek(3); bytes.Equal(b, byteOrderMark) {
		r.Discard(3)
		return f, r, 3, nil
	}
	return f, r, 0, nil
}

// eachLine hands every line of a text file that is not blank to yield, without
// blanks and line end (LF or CRLF) around it. Lines are bounded (datasets.MaxRow). Errors
// get "file:line: " before them. line is reused.
func eachLine(path string, yield func(line []byte, number int) error) error {
	f, r, _, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var line []byte
	for number := 1; ; number++ {
		if line, err = datasets.ReadLine(r, line); err != nil && err != io.EOF {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if err := yield(text, number); err != nil {
				return fmt.Errorf("%s:%d: %w", path, number, err)
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// unmarshal decodes one JSON row with a message for people.
func unmarshal(raw []byte, into any) error {
	if !utf8.Valid(raw) { // the decoder would replace what it cannot read
		return errors.New("the row is not UTF-8; convert the file, for example with iconv")
	}
	err := json.Unmarshal(raw, into)
	if err == nil {
		return nil
	}
	var typ *json.UnmarshalTypeError
	var syn *json.SyntaxError
	switch {
	case errors.As(err, &typ) && typ.Field != "":
		return fmt.Errorf("%q must be %s, but is a JSON %s", typ.Field, plainType(typ.Type.String()), typ.Value)
	case errors.As(err, &typ):
		return fmt.Errorf("the row must be a JSON object, but is a JSON %s", typ.Value)
	case errors.As(err, &syn):
		return fmt.Errorf("not valid JSON at byte %d: %w", syn.Offset, err)
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

func plainType(t string) string {
	switch {
	case t == "string":
		return "a string"
	case strings.HasPrefix(t, "[]"):
		return "a list"
	case strings.HasPrefix(t, "int"):
		return "a whole number"
	case strings.HasPrefix(t, "float"):
		return "a number"
	}
	return "an object"
}

// jsonRows is an index of rows of a JSON list (or of a file of JSON objects one
// after the other): where each begins and how long it is. It lets a workload
// choose rows of a file of any size and keep only those.
type jsonRows struct {
	path string
	f    *os.File
	rows []jsonRow
}

type jsonRow struct {
	number int // from 1
	at     int64
	size   int
}

// indexJSON reads path once, a row at a time. keep decides from the raw row
// whether it goes into the index.
func indexJSON(path string, keep func(raw []byte, number int) (bool, error)) (*jsonRows, error) {
	f, r, skipped, err := openFile(path)
	if err != nil {
		return nil, err
	}
	j := &jsonRows{path: path, f: f}
	if err := j.scan(r, skipped, keep); err != nil {
		f.Close()
		return nil, err
	}
	return j, nil
}

func (j *jsonRows) Close() { j.f.Close() }

func (j *jsonRows) scan(r *bufio.Reader, base int64, keep func(raw []byte, number int) (bool, error)) error {
	var first byte
	for {
		b, err := r.ReadByte()
		if err == io.EOF {
			return fmt.Errorf("%s: the file is empty", j.path)
		} else if err != nil {
			return fmt.Errorf("%s: %w", j.path, err)
		}
		if first = b; !bytes.ContainsRune([]byte(" \t\r\n"), rune(b)) {
			break
		}
		base++
	}
	r.UnreadByte()
	array := first == '['
	if !array && first != '{' {
		return fmt.Errorf("%s: must be a JSON list or JSON objects one a line, but begins with %q", j.path, string(rune(first)))
	}
	rows := datasets.NewRowReader(r)
	dec := json.NewDecoder(rows)
	if array {
		if _, err := dec.Token(); err != nil {
			return fmt.Errorf("%s: %w", j.path, err)
		}
	}
	for number := 1; ; number++ {
		if array && !dec.More() {
			if _, err := dec.Token(); err != nil {
				return fmt.Errorf("%s: row %d: the list does not end: %w", j.path, number, err)
			}
			if next, err := dec.Token(); err != io.EOF {
				return fmt.Errorf("%s: after row %d the list ends, but something follows it (%s): make it one list, or one object a line", j.path, number-1, follows(next, err))
			}
			return nil
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err == io.EOF && !array {
			return nil
		} else if err != nil {
			if errors.Is(err, datasets.ErrRowTooLong) {
				return fmt.Errorf("%s: row %d: %w", j.path, number, err)
			}
			return fmt.Errorf("%s: row %d: not valid JSON: %w", j.path, number, err)
		}
		rows.Next()
		ok, err := keep(raw, number)
		if err != nil {
			return fmt.Errorf("%s: row %d: %w", j.path, number, err)
		}
		if ok {
			j.rows = append(j.rows, jsonRow{number, base + dec.InputOffset() - int64(len(raw)), len(raw)})
		}
	}
}

// follows says what stands where a file should be over.
func follows(next json.Token, err error) string {
	if err != nil {
		return err.Error()
	}
	if text, ok := next.(string); ok {
		return fmt.Sprintf("%.20q", text)
	}
	return fmt.Sprint(next)
}

// read gives the raw bytes of row i of the index.
func (j *jsonRows) read(i int) ([]byte, error) {
	raw := make([]byte, j.rows[i].size)
	if _, err := j.f.ReadAt(raw, j.rows[i].at); err != nil {
		return nil, fmt.Errorf("%s: row %d: %w", j.path, j.rows[i].number, err)
	}
	return raw, nil
}

// eachCSV hands every record of a CSV file with a header to yield; col finds a
// field by its column's name, compared without case and outer blanks. All of need
// must be in the header.
func eachCSV(path string, need []string, yield func(col func(name string) string, line int) error) error {
	f, br, _, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rows := datasets.NewRowReader(br)
	r := csv.NewReader(rows)
	r.ReuseRecord, r.TrimLeadingSpace = true, true
	header, err := r.Read()
	if err == io.EOF {
		return fmt.Errorf("%s: the file is empty", path)
	} else if err != nil {
		return fmt.Errorf("%s:1: %w", path, err)
	}
	at, names := map[string]int{}, make([]string, len(header))
	for i, h := range header {
		names[i] = strings.TrimSpace(h)
		at[strings.ToLower(names[i])] = i
	}
	for _, n := range need {
		if _, ok := at[strings.ToLower(n)]; !ok {
			return fmt.Errorf("%s:1: no column %q; the header has %s%s", path, n, strings.Join(names, ", "), registry.DidYouMean(n, names))
		}
	}
	line := 1
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			var pe *csv.ParseError
			if errors.As(err, &pe) {
				return fmt.Errorf("%s:%d: %w", path, pe.Line, pe.Err)
			}
			return fmt.Errorf("%s:%d: %w", path, line+1, err)
		}
		rows.Next()
		line, _ = r.FieldPos(0)
		if err := yield(func(n string) string { return strings.TrimSpace(rec[at[strings.ToLower(n)]]) }, line); err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
}

// tokenCount parses a length in tokens out of the column name. Whole numbers
// written with a decimal point, as data frames do, are accepted.
func tokenCount(name, text string) (int, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0 && f <= MaxTokens) || f != float64(int(f)) {
		return 0, fmt.Errorf("column %s: %q is not a number of tokens", name, text)
	}
	return int(f), nil
}
