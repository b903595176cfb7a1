package datasets

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"ais_bench/registry"
)

// errEnough is returned by a row's consumer that needs no more rows.
var errEnough = errors.New("enough rows")

// rowFunc receives the rows of a file in order; where is "path:line", or
// "path: row n" where a format has no lines.
type rowFunc func(row map[string]any, where string) error

// formats are the file formats by name and the extensions that mean them.
var formats = []string{"jsonl", "json", "csv", "tsv", "tsv_quoted", "txt", "text", "parquet"}

var formatOfExt = map[string]string{
	".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv",
	".txt": "txt", ".lst": "txt", ".parquet": "parquet", ".src": "txt", ".tgt": "txt",
	".dev": "txt", ".devtest": "txt",
}

// format is the format a file of this layout has.
func (l Layout) format(path string) (string, error) {
	if l.Format != "" {
		for _, f := range formats {
			if f == l.Format {
				return f, nil
			}
		}
		return "", fmt.Errorf("unknown file format %q%s", l.Format, registry.DidYouMean(l.Format, formats))
	}
	base := strings.TrimSuffix(strings.ToLower(path), ".gz")
	if f, ok := formatOfExt[filepath.Ext(base)]; ok {
		return f, nil
	}
	return "", fmt.Errorf("cannot tell the format of %s from its name; use .jsonl, .json, .csv, .tsv, .txt or .parquet, or set format", path)
}

// formatOf is format for a file that is to be read: one that is not there is missing,
// whatever its name says of its format.
func (l Layout) formatOf(fsys opener, path string) (string, error) {
	format, err := l.format(path)
	if err == nil {
		return format, nil
	}
	f, missing := fsys.open(path)
	if missing != nil {
		return "", fmt.Errorf("open data file: %w", missing)
	}
	f.Close()
	return "", err
}

// readRows calls yield for every row of the file. It stops early, without an
// error, when yield returns errEnough.
func readRows(ctx context.Context, fsys opener, path string, l Layout, yield rowFunc) error {
	format, err := l.formatOf(fsys, path)
	if err != nil {
		return err
	}
	n := 0
	checked := func(row map[string]any, where string) error {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for from, to := range l.Rename {
			if v, ok := row[from]; ok {
				delete(row, from)
				row[to] = v
			}
		}
		return yield(row, where)
	}
	if format == "parquet" {
		err = readParquet(fsys, path, checked)
	} else {
		err = readText(fsys, path, format, l, checked)
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func readText(fsys opener, path, format string, l Layout, yield rowFunc) error {
	f, err := fsys.open(path)
	if err != nil {
		return fmt.Errorf("open data file: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(strings.ToLower(path), ".gz") {
		z, err := gzip.NewReader(bufio.NewReader(f))
		if err != nil {
			return fmt.Errorf("%s: not a gzip file: %w", path, err)
		}
		defer z.Close()
		r = z
	}
	br := bufio.NewReaderSize(&utf8Reader{r: r}, 1<<16)
	if b, _ := br.Peek(3); bytes.Equal(b, []byte("\xef\xbb\xbf")) {
		br.Discard(3)
	}
	switch format {
	case "jsonl":
		return readJSONL(br, path, yield)
	case "json":
		return readJSON(br, path, l.Records, yield)
	case "csv":
		return readCSV(br, path, ',', l.Header, yield)
	case "tsv_quoted":
		return readCSV(br, path, '\t', l.Header, yield)
	case "tsv":
		return readTSV(br, path, l.Header, yield)
	case "text":
		raw, err := readDocument(br)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return yield(map[string]any{"text": string(raw)}, path)
	}
	return eachLine(br, path, func(line string, n int) error {
		return yield(map[string]any{"text": line}, place(path, n))
	})
}

func place(path string, line int) string { return path + ":" + strconv.Itoa(line) }

// eachLine calls yield with every line (see ReadLine) without its line end.
func eachLine(r *bufio.Reader, path string, yield func(line string, n int) error) error {
	var buf []byte
	for n := 1; ; n++ {
		var err error
		if buf, err = ReadLine(r, buf); err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", place(path, n), err)
		}
		if len(buf) > 0 {
			if err := yield(strings.TrimRight(string(buf), "\r\n"), n); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

func readJSONL(r *bufio.Reader, path string, yield rowFunc) error {
	return eachLine(r, path, func(line string, n int) error {
		if strings.TrimSpace(line) == "" {
			return nil
		}
		v, err := decodeJSON([]byte(line))
		if err != nil {
			return fmt.Errorf("%s: not a JSON object: %s", place(path, n), jsonProblem(err))
		}
		row, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: expected a JSON object, got %s", place(path, n), jsonKind(v))
		}
		return yield(row, place(path, n))
	})
}

// readJSON reads one JSON document: a list of objects, an object of lists found
// by records, or an object of objects by id (the id becomes column "_key"). A
// file that holds one object a line under the name .json is read as JSONL.
func readJSON(r *bufio.Reader, path, records string, yield rowFunc) error {
	raw, err := readDocument(r)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	v, err := decodeJSON(raw)
	if err != nil {
		if bytes.Contains(bytes.TrimSpace(raw), []byte("\n")) && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) && errors.Is(err, errTrailing) {
			return readJSONL(bufio.NewReader(bytes.NewReader(raw)), path, yield)
		}
		return fmt.Errorf("%s: not JSON: %s", jsonPlace(path, raw, err), jsonProblem(err))
	}
	for _, key := range splitPath(records) {
		m, ok := v.(map[string]any)
		if !ok || m[key] == nil {
			return fmt.Errorf("%s: no %q in the document, where its rows should be", path, records)
		}
		v = m[key]
	}
	if m, ok := v.(map[string]any); ok {
		return yieldKeyed(raw, m, path, yield)
	}
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("%s: expected a list of objects, got %s", path, jsonKind(v))
	}
	for i, e := range list {
		where := path + ": row " + strconv.Itoa(i+1)
		row, ok := e.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: expected an object, got %s", where, jsonKind(e))
		}
		if err := yield(row, where); err != nil {
			return err
		}
	}
	return nil
}

// yieldKeyed gives the objects of an id → object document in the order of the
// file, which a decoded map has lost.
func yieldKeyed(raw []byte, m map[string]any, path string, yield rowFunc) error {
	for _, e := range m {
		if _, ok := e.(map[string]any); !ok {
			return yield(m, path) // a plain document is one row
		}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		key, _ := t.(string)
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		row, ok := m[key].(map[string]any)
		if !ok {
			continue
		}
		row["_key"] = key
		if err := yield(row, path+": "+strconv.Quote(key)); err != nil {
			return err
		}
	}
	return nil
}

func splitPath(p string) []string {
	if p == "" {
		return nil
	}
	return strings.Split(p, ".")
}

var errTrailing = errors.New("something follows the first value")

// decodeJSON decodes one value with integers kept exact: int64 where they fit,
// float64 for the rest.
func decodeJSON(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errTrailing
	}
	return exact(v), nil
}

func exact(v any) any {
	switch x := v.(type) {
	case json.Number:
		if i, err := x.Int64(); err == nil {
			return i
		}
		if f, err := x.Float64(); err == nil {
			return f
		}
		return x.String()
	case map[string]any:
		for k, e := range x {
			x[k] = exact(e)
		}
	case []any:
		for i, e := range x {
			x[i] = exact(e)
		}
	}
	return v
}

// jsonProblem is a decoder's complaint in one line.
func jsonProblem(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "it ends too early"
	}
	return err.Error()
}

func jsonPlace(path string, raw []byte, err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return place(path, 1+bytes.Count(raw[:min(int(syntax.Offset), len(raw))], []byte("\n")))
	}
	return path
}

func jsonKind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

func readCSV(r io.Reader, path string, comma rune, header []string, yield rowFunc) error {
	rows := NewRowReader(r)
	c := csv.NewReader(rows)
	c.Comma, c.FieldsPerRecord, c.LazyQuotes, c.ReuseRecord = comma, -1, true, true
	line := 0
	for {
		rec, err := c.Read()
		if err == io.EOF {
			return nil
		}
		rows.Next()
		if err != nil {
			var pe *csv.ParseError
			if errors.As(err, &pe) {
				return fmt.Errorf("%s: not CSV: %w", place(path, pe.Line), pe.Err)
			}
			return fmt.Errorf("%s: %w", place(path, line+1), err)
		}
		line, _ = c.FieldPos(0)
		if header == nil {
			header = make([]string, len(rec))
			for i, name := range rec {
				header[i] = strings.TrimSpace(name)
			}
			continue
		}
		if len(rec) != len(header) {
			return fmt.Errorf("%s: %d columns, expected %d (%s)", place(path, line), len(rec), len(header), strings.Join(header, ", "))
		}
		if err := yield(cells(header, rec), place(path, line)); err != nil {
			return err
		}
	}
}

// readTSV reads tab-separated lines without quoting.
func readTSV(r *bufio.Reader, path string, header []string, yield rowFunc) error {
	return eachLine(r, path, func(line string, n int) error {
		if line == "" {
			return nil
		}
		rec := strings.Split(line, "\t")
		if header == nil {
			header = rec
			return nil
		}
		if len(rec) != len(header) {
			return fmt.Errorf("%s: %d columns, expected %d (%s)", place(path, n), len(rec), len(header), strings.Join(header, ", "))
		}
		return yield(cells(header, rec), place(path, n))
	})
}

func cells(header, rec []string) map[string]any {
	row := make(map[string]any, len(header))
	for i, name := range header {
		if name == "" {
			name = "_index" // pandas writes its index under no name
		}
		row[name] = rec[i]
	}
	return row
}
