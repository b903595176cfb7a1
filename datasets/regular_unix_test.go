//go:build unix

package datasets

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyOrdinaryFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	for path, want := range map[string]string{pipe: "it is a named pipe, no ordinary file", "/dev/zero": "it is a device, no ordinary file", dir: "it is a folder, no ordinary file"} {
		for _, open := range []func(string) error{
			func(p string) error { _, err := OpenFile(p); return err },
			func(p string) error { _, err := OpenStream(p); return err },
			func(p string) error { _, err := readWhole(p); return err },
			func(p string) error { _, err := ReadSynthetic(p); return err },
		} {
			if err := open(path); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", path, err, want)
			}
		}
	}
}

func TestRowsAreBounded(t *testing.T) {
	const most = 100
	long := strings.Repeat("x", most+1)
	r := bufio.NewReaderSize(strings.NewReader("short\n"+strings.Repeat("y", most-1)+"\n"+long+"\n"), 16)
	for _, want := range []string{"short\n", strings.Repeat("y", most-1) + "\n"} {
		if line, err := readLine(r, nil, most); string(line) != want || err != nil {
			t.Errorf("got %q, %v, want %q", line, err, want)
		}
	}
	if _, err := readLine(r, nil, most); !errors.Is(err, ErrRowTooLong) {
		t.Errorf("a line of %d bytes gave %v", len(long), err)
	}

	// A list longer than the bound is fine as long as its rows are not.
	row := `{"a":"` + strings.Repeat("z", 40) + `"}`
	rows := &RowReader{strings.NewReader("[" + strings.Repeat(row+",", 50) + `"` + long + long + `"]`), most, most}
	dec := json.NewDecoder(rows)
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	n := 0
	var err error
	for {
		var raw json.RawMessage
		if err = dec.Decode(&raw); err != nil {
			break
		}
		n++
		rows.Next()
	}
	if n != 50 || !errors.Is(err, ErrRowTooLong) {
		t.Errorf("%d rows, then %v", n, err)
	}

	rows = &RowReader{strings.NewReader("a,b\n1,\"" + long + long), most, most}
	c := csv.NewReader(rows)
	for err = error(nil); err == nil; _, err = c.Read() {
		rows.Next()
	}
	if !errors.Is(err, ErrRowTooLong) || errors.Is(err, io.EOF) {
		t.Errorf("an endless quoted field gave %v", err)
	}
}
