package outputs

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func TestParquetRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	want := extremeRecords()
	for i := range 500 {
		want = append(want, sampleRecord(i))
	}
	w, err := NewRecordWriter(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range want {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if exists(path) {
		t.Error("the file is visible before it is complete")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, _ := collect(t, ReadRecords(path))
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("row %d changed:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

func TestSealMergesAndIsRepeatable(t *testing.T) {
	r := newRun(t)
	jpath := r.PerformancePath("m", "d", "journal")
	seal := func(want int64) {
		t.Helper()
		rep, err := r.Seal("m", "d")
		if err != nil || rep.Rows != want {
			t.Fatalf("sealed %d rows, %v; want %d", rep.Rows, err, want)
		}
		if exists(jpath) {
			t.Error("the journal is still there")
		}
		if recs, _ := collect(t, r.Records("m", "d")); int64(len(recs)) != want {
			t.Fatalf("%d records to read, want %d", len(recs), want)
		}
	}
	add := func(from, to int) {
		t.Helper()
		j, err := r.Journal("m", "d")
		if err != nil {
			t.Fatal(err)
		}
		for i := from; i < to; i++ {
			j.Append(sampleRecord(i))
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Seal("m", "d"); err == nil {
		t.Error("sealing nothing succeeded")
	}
	add(0, 10)
	kept, _ := os.ReadFile(jpath)
	seal(10)
	// As if killed between writing the Parquet file and removing the journal.
	os.WriteFile(jpath, kept, 0o644)
	if recs, _ := collect(t, r.Records("m", "d")); len(recs) != 10 {
		t.Fatalf("%d records while the sealed journal is still there, want 10", len(recs))
	}
	seal(10)
	seal(10)
	add(10, 15) // a resumed run
	if recs, _ := collect(t, r.Records("m", "d")); len(recs) != 15 {
		t.Fatalf("%d records before sealing the resumed part, want 15", len(recs))
	}
	seal(15)
}

func TestSealReportsDamage(t *testing.T) {
	r := newRun(t)
	path := r.PerformancePath("m", "d", "journal")
	os.MkdirAll(filepath.Dir(path), 0o755)
	writeJournal(t, path, sampleRecord(0), sampleRecord(1))
	b, _ := os.ReadFile(path)
	os.WriteFile(path, b[:len(b)-3], 0o644)
	rep, err := r.Seal("m", "d")
	if err != nil || rep.Rows != 1 || len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], "unfinished") {
		t.Fatalf("%+v, %v", rep, err)
	}
}

func TestRequestCSV(t *testing.T) {
	r := newRun(t)
	a, b := sampleRecord(0), sampleRecord(1)
	b.SampleID, b.Status, b.FirstToken, b.LastToken, b.OutputTokens, b.HTTPStatus = `=cmd|' /C calc'!A0,"x"`, StatusDial, Never, Never, UnknownTokens, 0
	path := r.PerformancePath("m", "d", "journal")
	os.MkdirAll(filepath.Dir(path), 0o755)
	writeJournal(t, path, a, b)
	if _, err := r.Seal("m", "d"); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(r.PerformancePath("m", "d", "csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	col := map[string]int{}
	for i, name := range rows[0] {
		col[name] = i
	}
	get := func(row int, name string) string {
		i, ok := col[name]
		if !ok {
			t.Fatalf("no column %s in %v", name, rows[0])
		}
		return rows[row][i]
	}
	num := func(name string) float64 {
		v, err := strconv.ParseFloat(get(1, name), 64)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return v
	}
	if got, want := num("ttft_ms"), float64(2e7-500)/1e6; got != want {
		t.Errorf("ttft_ms %v, want %v", got, want)
	}
	if got, want := num("tpot_ms"), float64(9e8-2e7)/39/1e6; got != want {
		t.Errorf("tpot_ms %v, want %v", got, want)
	}
	if got, want := num("e2el_from_schedule_ms"), 900.0; got != want {
		t.Errorf("e2el_from_schedule_ms %v, want %v", got, want)
	}
	for _, name := range []string{"ttft_ms", "tpot_ms", "e2el_ms", "output_tokens", "http_status", "first_token_at_ms"} {
		if v := get(2, name); v != "" {
			t.Errorf("%s of a failed request is %q, want an empty cell", name, v)
		}
	}
	if got, want := get(2, "sample_id"), "'"+b.SampleID; got != want {
		t.Errorf("sample id %q, want %q: a formula must stay text", got, want)
	}
	if strings.Contains(string(raw), "答案") {
		t.Error("the CSV holds texts")
	}
}

func TestReadRecordsExplains(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.parquet")
	os.WriteFile(bad, []byte("PAR1 not really"), 0o644)
	for _, path := range []string{bad, filepath.Join(dir, "absent.parquet"), filepath.Join(dir, "absent.journal"), filepath.Join(dir, "x.csv")} {
		n := 0
		for rec, err := range ReadRecords(path) {
			n++
			if err == nil || rec != nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", path, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d results, want one error", path, n)
		}
	}
}

// Other programs must read the file as we do.
func TestParquetReadByPandas(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import pyarrow").Run() != nil {
		t.Skip("python3 with pyarrow is not installed")
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	w, err := NewRecordWriter(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		w.Add(sampleRecord(i))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	script := `
import sys, pyarrow.parquet as pq
t = pq.read_table(sys.argv[1]).to_pylist()
r = t[7]
print(len(t), r["sample_id"], r["first_byte_ns"], r["first_token_ns"], len(r["chunk_at_ns"]), sum(len(x["chunk_at_ns"]) for x in t), r["reasoning_tokens"], r["text"][:3])`
	out, err := exec.Command(python, "-c", script, path).CombinedOutput()
	want := "300 s7 None 27000000 40 12000 None 答案是"
	if err != nil || strings.TrimSpace(string(out)) != want {
		t.Fatalf("pyarrow says %s (%v), want %s", out, err, want)
	}
}
