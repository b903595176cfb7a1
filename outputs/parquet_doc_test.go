package outputs

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// docs/parquet.md lists exactly the columns of the file, in order, with their
// types and nullability.
func TestParquetDocumentation(t *testing.T) {
	doc, err := os.ReadFile("../docs/parquet.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(line, "|")
		if len(cells) == 5 && strings.HasPrefix(cells[1], " `") {
			documented = append(documented, strings.Trim(cells[1], " `")+" "+strings.TrimSpace(cells[2]))
		}
	}
	var actual []string
	row := reflect.TypeFor[parquetRow]()
	for i := range row.NumField() {
		name, options, _ := strings.Cut(row.Field(i).Tag.Get("parquet"), ",")
		typ := row.Field(i).Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		text := typ.String()
		if typ.Kind() == reflect.Slice {
			text = "list<" + typ.Elem().String() + ">"
		}
		if strings.Contains(options, "optional") {
			text += "?"
		}
		actual = append(actual, name+" "+text)
	}
	if got, want := strings.Join(documented, "\n"), strings.Join(actual, "\n"); got != want {
		t.Errorf("docs/parquet.md says\n%s\nthe file has\n%s", got, want)
	}
}
