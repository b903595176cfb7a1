package outputs

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// nasty holds every character that some encoder escapes.
const nasty = `sk-"q\b<&>/ü😀+k'y`

func TestRedactorFindsEncodedForms(t *testing.T) {
	for _, secret := range []string{"sk-abc123DEF", nasty, "pässwort-长"} {
		red := NewRedactor(secret)
		j, _ := json.Marshal(secret)
		jj, _ := json.Marshal(string(j))
		jjj, _ := json.Marshal(string(jj))
		ascii := ""
		for _, r := range secret {
			if r < 0x10000 {
				ascii += fmt.Sprintf(`\u%04X`, r)
			} else {
				ascii += string(r)
			}
		}
		for name, form := range map[string]string{
			"plain": secret, "json": string(j), "json in json": string(jj), "three deep": string(jjj), "unquoted": strings.Trim(string(j), `"`),
			"\\u": ascii, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "html": html.EscapeString(secret),
		} {
			text := "before " + form + " after"
			got := red.String(text)
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") || !strings.Contains(got, redacted) || len(got) > len("before after")+len(redacted)+20 {
				t.Errorf("%s of %q: %q", name, secret, got)
			}
		}
	}
}

func TestRedactorLeavesOrdinaryTextAlone(t *testing.T) {
	red := NewRedactor("EMPTY", "abc", "", "  ", "none")
	if !red.Empty() {
		t.Error("placeholders and short values were taken for secrets")
	}
	red = NewRedactor("sk-abc123")
	for _, s := range []string{"", "50% of \\u4e2d and \\n & so on", `{"a":"sk-abc"}`, "sk-abc12"} {
		if got := red.String(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	rec := sampleRecord(1)
	if red.Record(rec) != rec {
		t.Error("a clean record was copied")
	}
	rec.Error = "401: key sk-abc123 is wrong"
	clean := red.Record(rec)
	if clean == rec || strings.Contains(clean.Error, "abc123") || !strings.Contains(rec.Error, "abc123") {
		t.Error("the record must be copied, then scrubbed")
	}
	var none *Redactor
	if none.String("x") != "x" || !none.Empty() || none.Record(rec) != rec {
		t.Error("a nil redactor must do nothing")
	}
}

func TestRedactWriterAcrossWrites(t *testing.T) {
	secret := "sk-abcdefghij"
	red := NewRedactor(secret)
	text := strings.Repeat("x", 5000) + secret + strings.Repeat("y", 9000) + secret + secret + "tail"
	want := strings.ReplaceAll(text, secret, redacted)
	for _, step := range []int{1, 3, 7, 4096, len(text)} {
		var out bytes.Buffer
		w := red.Writer(&out)
		for i := 0; i < len(text); i += step {
			if _, err := io.WriteString(w, text[i:min(i+step, len(text))]); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		if out.String() != want {
			t.Errorf("step %d: wrong output of %d bytes, want %d", step, out.Len(), len(want))
		}
	}
}

// Everything this package can write is written with secrets in every text;
// then the whole folder is searched, inside zip and Parquet too.
func TestNoSecretInARunFolder(t *testing.T) {
	secrets := []string{"sk-live-0123456789abcdef", nasty}
	both := secrets[0] + " and " + secrets[1]
	r := newRun(t)
	r.SetRedactor(NewRedactor(secrets...))
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rec := sampleRecord(1)
	for _, f := range recordStrings {
		*f(rec) += both
	}
	rec.Model, rec.Dataset, rec.Status = "m", "d", StatusHTTP4xx
	quoted, _ := json.Marshal(both)
	rec.Error = `{"error":` + string(quoted) + `}`
	rec.ToolCalls = `[{"arguments":` + string(quoted) + `}]`
	j, err := r.Journal("m", "d")
	check(err)
	check(j.Append(rec))
	check(j.Close())
	_, err = r.Seal("m", "d")
	check(err)
	j, err = r.Journal("m", "d2")
	check(err)
	check(j.Append(rec))
	check(j.Close())

	var p Prediction
	p.FromRecord(rec)
	p.Gold, p.Detail = map[string]string{both: both}, both
	pw, err := r.Predictions("m", "d")
	check(err)
	check(pw.Append(&p))
	check(pw.Close())
	check(r.WriteResults("m", "d", map[string]any{"details": []string{both}, both: 1}))
	check(r.WritePerformance("m", "d", map[string]any{"x": both, "n": 1}))
	check(r.WriteConfig("model.yaml", []byte("api_key: '"+both+"'\n")))
	m := NewManifest(r, ToolInfo{Name: "ais_bench"}, []string{"--api-key=" + both})
	m.Warnings = []string{both}
	check(r.WriteManifest(m))
	log, err := r.Logger("infer", "m", "d")
	check(err)
	log.Info("asked", "header", both)
	log.Write([]byte("partial " + both[:9]))
	log.Write([]byte(both[9:] + "\n"))
	check(log.Close())
	table := Table{Title: both, Columns: []Column{{Name: both}, {Name: "n", Kind: KindInt}}, Notes: []string{both}}
	table.AddRow(Cell{Value: both, Note: both}, 3)
	files, err := WriteSummary(r, table)
	check(err)
	if len(files) != 3 {
		t.Errorf("summary files %q", files)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || !bytes.Contains(b, []byte("redacted")) {
			t.Errorf("%s: %v\n%s", f, err, b)
		}
	}
	d := &ReportData{Title: both, RunName: both, Generated: time.Unix(0, 0), Tool: both, Verdict: &Verdict{State: "FAIL", Reason: both, Clauses: &table},
		Headlines: []Headline{{Name: both, Value: both, Note: both}}, Checklist: []CheckItem{{both, "no", both}}, Notes: []string{both},
		Sections:    []Section{{ID: "perf", Title: both, Notes: []string{both}, Tables: []Table{table}, Charts: []Chart{{ID: "c", Title: both, XLabel: both, YLabel: both, Excel: true, Series: []Series{{Name: both, X: []float64{1, 2}, Y: []float64{1, 2}}}}}}},
		Help:        []Definition{{both, both, both}},
		Records:     func() iter.Seq2[*Record, error] { return func(y func(*Record, error) bool) { y(rec, nil) } },
		RecordsPath: both, Config: []ConfigEntry{{both, both, both}},
		Samples: func(y func(*Sample, error) bool) {
			y(&Sample{Model: both, Dataset: both, ID: both, Prompt: both, Answer: both, Reasoning: both, Extracted: both, Gold: both, Outcome: "wrong", Detail: both}, nil)
		},
	}
	check(writeReports(r, d))

	search := func(name string, b []byte) {
		t.Helper()
		text := string(b)
		for _, part := range []string{"0123456789abcdef", `"q\b`, `q\\b`, "q\\\\\\\\b", "&gt;/ü", ">/ü", "u003e/", "%22q", "😀+k", "&#34;q"} {
			if strings.Contains(text, part) {
				i := strings.Index(text, part)
				t.Errorf("%s holds %q: …%q…", name, part, text[max(0, i-40):min(len(text), i+60)])
			}
		}
	}
	n := 0
	check(filepath.WalkDir(r.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		n++
		b, err := os.ReadFile(path)
		check(err)
		search(path, b)
		switch filepath.Ext(path) {
		case ".xlsx":
			z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
			check(err)
			for _, f := range z.File {
				rc, err := f.Open()
				check(err)
				body, err := io.ReadAll(rc)
				check(err)
				search(path+"/"+f.Name, body)
			}
		case ".parquet", ".journal":
			for rec, err := range ReadRecords(path) {
				check(err)
				for _, f := range recordStrings {
					search(path, []byte(*f(rec)))
				}
			}
		}
		return nil
	}))
	if n < 13 {
		t.Errorf("only %d files were written and searched", n)
	}
}

func TestWithoutURLPasswords(t *testing.T) {
	for in, want := range map[string]string{
		"http://user:pw@127.0.0.1:80/v1":            "http://user:[redacted]@127.0.0.1:80/v1",
		"--url=https://:x@h --proxy socks5://a:b@c": "--url=https://:[redacted]@h --proxy socks5://a:[redacted]@c",
		"http://host:8000/a@b":                      "http://host:8000/a@b",
		"http://user@host":                          "http://user@host",
	} {
		if got := WithoutURLPasswords(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
