package outputs

import (
	"os"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// documentedColumns are the columns that a table of docs/parquet.md lists, by
// the heading of its first column, with their types and nullability.
func documentedColumns(t *testing.T, heading string) string {
	t.Helper()
	doc, err := os.ReadFile("../docs/parquet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(doc), "| "+heading+" | type | meaning |\n")
	if !ok {
		t.Fatalf("docs/parquet.md has no table headed %q", heading)
	}
	var list []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			break
		}
		if strings.HasPrefix(cells[1], " `") {
			list = append(list, strings.Trim(cells[1], " `")+" "+strings.TrimSpace(cells[2]))
		}
	}
	return strings.Join(list, "\n")
}

// fileColumns are the columns of a Parquet file as any reader finds them.
func fileColumns(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	pf, err := parquet.OpenFile(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	kind := func(n parquet.Node) string {
		if n.Type().String() == "STRING" {
			return "string"
		}
		switch n.Type().Kind() {
		case parquet.Boolean:
			return "bool"
		case parquet.Int32:
			return "int32"
		case parquet.Int64:
			return "int64"
		case parquet.Double:
			return "float64"
		}
		return n.Type().String()
	}
	var list []string
	for _, field := range pf.Schema().Fields() {
		text := ""
		if lt := field.Fields(); len(lt) > 0 { // list: group "list", group "element"
			element := lt[0].Fields()[0]
			text = "list<" + kind(element) + ">"
		} else {
			text = kind(field)
		}
		if field.Optional() {
			text += "?"
		}
		list = append(list, field.Name()+" "+text)
	}
	return strings.Join(list, "\n")
}

// docs/parquet.md lists exactly the columns of the files, in order, with their
// types and nullability.
func TestParquetDocumentation(t *testing.T) {
	run, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	j, err := run.Journal("m", "d")
	if err != nil {
		t.Fatal(err)
	}
	rec := sampleRecord(0)
	if err := j.Append(rec); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Seal("m", "d"); err != nil {
		t.Fatal(err)
	}
	var p Prediction
	p.FromRecord(rec)
	p.Outcome = "right"
	if err := run.WriteAnswers("m", "d", "s", "1", func(y func(*Prediction, error) bool) { y(&p, nil) }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ heading, path string }{{"column", run.RecordsPath("m", "d")}, {"column of the answers", run.AnswersPath("m", "d")}} {
		if got, want := documentedColumns(t, c.heading), fileColumns(t, c.path); got != want {
			t.Errorf("docs/parquet.md says of %s\n%s\nthe file has\n%s", c.path, got, want)
		}
	}
}
