package evaluators

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// conformanceFile is the path of a public conformance file; the test is skipped,
// saying so, where the folder is absent.
func conformanceFile(tb testing.TB, parts ...string) string {
	tb.Helper()
	dir := os.Getenv("AIS_BENCH_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "conformance")
	}
	path := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("conformance data absent: %v (set AIS_BENCH_CONFORMANCE)", err)
	}
	return path
}

// readJSONL decodes every line of a JSONL file, gzipped or not.
func readJSONL[T any](tb testing.TB, path string) []T {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			tb.Fatal(err)
		}
	}
	var rows []T
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			tb.Fatalf("%s:%d: %v", path, n, err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	if len(rows) == 0 {
		tb.Fatalf("%s holds no rows", path)
	}
	return rows
}

func readJSON[T any](tb testing.TB, path string) T {
	tb.Helper()
	var v T
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// mustNew builds a scorer or fails the test.
func mustNew(tb testing.TB, id string, opts map[string]any) Scorer {
	tb.Helper()
	s, err := New(id, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// score is the verdict of one finished answer.
func score(tb testing.TB, s Scorer, text string, it Item) Verdict {
	tb.Helper()
	v, err := s.Score(tb.Context(), Answer{Text: text, FinishReason: "stop"}, it)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}
