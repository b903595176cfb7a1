package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// readParquet reads rows generically, by column name. Typed reading would map
// Go structs on the file's schema, and lists whose element is called "item"
// (arrow's old name, common on hubs) instead of "element" come out empty that
// way without an error; read into maps both are right.
func readParquet(fsys opener, path string, yield rowFunc) error {
	f, err := fsys.open(path)
	if err != nil {
		return fmt.Errorf("open data file: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open data file %s: %w", path, err)
	}
	at, ok := f.(interface {
		fs.File
		io.ReaderAt
	})
	if !ok {
		return fmt.Errorf("%s: Parquet needs a file that can be read at any place", path)
	}
	pf, err := parquet.OpenFile(at, st.Size())
	if err != nil {
		return fmt.Errorf("%s: not a Parquet file: %w", path, err)
	}
	r := parquet.NewReader(pf)
	defer r.Close()
	for n := 1; ; n++ {
		row := map[string]any{}
		err := readOne(r, &row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		where := path + ": row " + strconv.Itoa(n)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		for k, v := range row {
			row[k] = plain(v)
		}
		if err := yield(row, where); err != nil {
			return err
		}
	}
}

// readOne reads a row; a damaged file may make the decoder panic, which is an
// error of the file and not of the program.
//
//lint:ignore SA1019 the generic reader needs a Go type; these rows are read by the file's own schema
func readOne(r *parquet.Reader, row *map[string]any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged Parquet data: %v", p)
		}
	}()
	return r.Read(row)
}

// plain gives Parquet values the same Go types JSON rows have.
func plain(v any) any {
	switch x := v.(type) {
	case []byte:
		return string(x)
	case int32:
		return int64(x)
	case int:
		return int64(x)
	case uint32:
		return int64(x)
	case float32:
		return float64(x)
	case []any:
		for i, e := range x {
			x[i] = plain(e)
		}
		return x
	case map[string]any:
		if l, ok := unwrapList(x); ok {
			return plain(l)
		}
		for k, e := range x {
			x[k] = plain(e)
		}
		return x
	case []map[string]any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = plain(e)
		}
		return out
	case []string:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = e
		}
		return out
	}
	return v
}

// unwrapList undoes the three-level encoding of a list, {list: [{element: v}]},
// where the reader leaves it in place.
func unwrapList(m map[string]any) ([]any, bool) {
	l, ok := m["list"].([]any)
	if !ok || len(m) != 1 {
		return nil, false
	}
	out := make([]any, len(l))
	for i, e := range l {
		em, ok := e.(map[string]any)
		if !ok || len(em) != 1 {
			return nil, false
		}
		for name, v := range em {
			if name != "element" && name != "item" && name != "array" {
				return nil, false
			}
			out[i] = v
		}
	}
	return out, true
}
