package datasets

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go"
)

type answersColumn struct {
	Text  []string `parquet:"text,list"`
	Start []int32  `parquet:"answer_start,list"`
}

type parquetRow struct {
	ID       string        `parquet:"id"`
	Question string        `parquet:"question,optional"`
	Choices  []string      `parquet:"choices,list"`
	Answer   int64         `parquet:"answer"`
	Score    float32       `parquet:"score"`
	Answers  answersColumn `parquet:"answers"`
}

func TestParquetByColumnName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test-00000.parquet")
	rows := []parquetRow{
		{"a", "Which?", []string{"x", "y", "z", "w"}, 2, 0.5, answersColumn{[]string{"p", "q"}, []int32{3, 9}}},
		{"b", "Second?", []string{"1"}, 0, 1, answersColumn{}},
	}
	if err := parquet.WriteFile(path, rows, parquet.Compression(&parquet.Zstd)); err != nil {
		t.Fatal(err)
	}
	got := readAll(t, path)
	want := map[string]any{"id": "a", "question": "Which?", "choices": []any{"x", "y", "z", "w"}, "answer": int64(2), "score": 0.5,
		"answers": map[string]any{"text": []any{"p", "q"}, "answer_start": []any{int64(3), int64(9)}}}
	if len(got) != 2 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("got  %#v\nwant %#v", got[0], want)
	}
	if o, ok := texts(got[1]["choices"]); !ok || !reflect.DeepEqual(o, []string{"1"}) {
		t.Errorf("second row: %#v", got[1])
	}
}

// itemList is a list whose element is called "item", as older Arrow writers and
// many files on hubs have it.
type itemList struct{ parquet.Group }

func (itemList) Type() parquet.Type { return parquet.List(parquet.String()).Type() }

func TestParquetListsOfItems(t *testing.T) {
	path := filepath.Join(t.TempDir(), "item.parquet")
	schema := parquet.NewSchema("schema", parquet.Group{
		"answer":  parquet.Int(64),
		"choices": itemList{parquet.Group{"list": parquet.Repeated(parquet.Group{"item": parquet.Optional(parquet.String())})}},
	})
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewWriter(f, schema)
	_, err = w.WriteRows([]parquet.Row{{
		parquet.ValueOf(int64(1)).Level(0, 0, 0),
		parquet.ValueOf("no").Level(0, 2, 1),
		parquet.ValueOf("yes").Level(1, 2, 1),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got := readAll(t, path)
	if want := []map[string]any{{"answer": int64(1), "choices": []any{"no", "yes"}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

func readAll(t *testing.T, path string) []map[string]any {
	t.Helper()
	var got []map[string]any
	err := readRows(context.Background(), opener{}, path, Layout{}, func(row map[string]any, _ string) error {
		got = append(got, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
