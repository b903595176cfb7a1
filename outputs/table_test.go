package outputs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func demoTable() Table {
	v := 12.345678
	var none *float64
	t := Table{Title: "性能 Performance", Columns: []Column{{Name: "指标"}, {Name: "Mean", Unit: "ms", Kind: KindFloat, Format: "%.2f"}, {Name: "n", Kind: KindInt}, {Name: "share", Kind: KindPercent}, {Name: "ok", Kind: KindVerdict}},
		Notes: []string{"only streamed requests"}}
	t.AddRow("首字延迟 TTFT", &v, int32(12032), 0.98765, "PASS")
	t.AddRow("TPOT", none, nil, math.NaN(), Cell{Value: "FAIL", Note: "*"})
	t.AddRow("=1+1", math.Inf(1), 0, 0.0, "INCONCLUSIVE")
	return t
}

func TestTableText(t *testing.T) {
	tab := demoTable()
	var b bytes.Buffer
	if err := tab.WriteText(&b, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	want := `性能 Performance
┌───────────────┬───────────┬───────┬───────┬──────────────┐
│ 指标          │ Mean (ms) │     n │ share │ ok           │
├───────────────┼───────────┼───────┼───────┼──────────────┤
│ 首字延迟 TTFT │     12.35 │ 12032 │ 98.77 │ PASS         │
│ TPOT          │         - │     - │     - │ FAIL *       │
│ =1+1          │         - │     0 │  0.00 │ INCONCLUSIVE │
└───────────────┴───────────┴───────┴───────┴──────────────┘
  only streamed requests
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	tab.WriteText(&b, TextOptions{Color: true})
	if !strings.Contains(b.String(), ansiGreen+"PASS"+ansiReset) || !strings.Contains(b.String(), ansiRed+"FAIL *"+ansiReset) {
		t.Errorf("no colours in\n%q", b.String())
	}
}

func TestTableTextIsSafeAndAligned(t *testing.T) {
	tab := Table{Columns: []Column{{Name: "answer"}}}
	for _, s := range []string{"\x1b[31mred\x1b[0m\x07", "two\nlines", "全角文字。", "e\u0301", "👩‍👩‍👧 family", "\u202eabc", strings.Repeat("长", 100)} {
		tab.AddRow(s)
	}
	var b bytes.Buffer
	tab.WriteText(&b, TextOptions{})
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	for _, l := range lines {
		if width.StringWidth(l) != width.StringWidth(lines[0]) {
			t.Errorf("ragged: %q", l)
		}
	}
	if strings.ContainsAny(b.String(), "\x1b\x07\u202e") {
		t.Error("control characters reached the terminal")
	}
}

func TestColorAllowed(t *testing.T) {
	env := map[string]string{}
	get := func(k string) string { return env[k] }
	if !ColorAllowed(get, true) || ColorAllowed(get, false) {
		t.Error("colour belongs to terminals only")
	}
	env["NO_COLOR"] = "1"
	if ColorAllowed(get, true) {
		t.Error("NO_COLOR was ignored")
	}
}

func TestTableCSV(t *testing.T) {
	tab := demoTable()
	var b bytes.Buffer
	if err := tab.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(rows[1], "|"); got != "首字延迟 TTFT|12.345678|12032|0.98765|PASS" {
		t.Errorf("row %q: numbers must keep full precision and no unit", got)
	}
	if got := strings.Join(rows[2], "|"); got != "TPOT||||FAIL" {
		t.Errorf("row %q: undefined must be empty", got)
	}
	if rows[3][0] != "'=1+1" {
		t.Errorf("formula %q was not guarded", rows[3][0])
	}
}

func TestGuardCSV(t *testing.T) {
	for in, want := range map[string]string{"=A1": "'=A1", "+1+cmd": "'+1+cmd", "-1.5": "-1.5", "-": "-", "-x": "'-x", "@SUM": "'@SUM", "\tx": "'\tx", "plain": "plain", "": ""} {
		if got := GuardCSV(in); got != want {
			t.Errorf("GuardCSV(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTableMarkdown(t *testing.T) {
	tab := Table{Title: "T", Columns: []Column{{Name: "a|b"}, {Name: "n", Kind: KindInt}}}
	tab.AddRow("<script>|\nx", 3)
	var b bytes.Buffer
	tab.WriteMarkdown(&b)
	want := "### T\n\n| a\\|b | n |\n| --- | ---: |\n| &lt;script&gt;\\| x | 3 |\n\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestTableChecksRows(t *testing.T) {
	tab := Table{Title: "T", Columns: []Column{{Name: "a"}}, Rows: [][]any{{1}, {1, 2}}}
	if err := tab.WriteCSV(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("a surplus cell gave %v", err)
	}
}

func TestCellNormalisation(t *testing.T) {
	s := "x"
	type named string
	for _, c := range []struct {
		in   any
		want any
	}{{&s, "x"}, {named("y"), "y"}, {uint8(3), uint64(3)}, {float32(0.5), 0.5}, {(*int)(nil), nil}, {math.NaN(), nil}, {time.Time{}, nil},
		{errors.New("e"), "e"}, {1500 * time.Millisecond, "1.5s"}, {StatusOK, "ok"}, {&Cell{Value: &s}, "x"}, {(*Cell)(nil), nil}, {true, true}} {
		if got := normalCell(c.in).Value; got != c.want {
			t.Errorf("%#v became %#v, want %#v", c.in, got, c.want)
		}
	}
}

func TestTextWraps(t *testing.T) {
	for _, c := range []struct {
		s     string
		limit int
		want  []string
	}{
		{"a bb ccc", 4, []string{"a bb", "ccc"}},
		{"abcdefghij k", 4, []string{"abcd", "efgh", "ij k"}},
		{"长长长长", 4, []string{"长长", "长长"}},
		{"", 4, []string{""}},
		{"长", 1, []string{"长"}},
	} {
		if got := wrapText(c.s, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: %q, want %q", c.s, c.limit, got, c.want)
		}
	}
	table := Table{Columns: []Column{{Name: "a"}, {Name: "why", Wrap: true}}}
	table.AddRow("x", strings.Repeat("word ", 30)+"end")
	var b strings.Builder
	if err := table.WriteText(&b, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 7 || !strings.Contains(b.String(), "end") {
		t.Errorf("%d lines:\n%s", len(lines), b.String())
	}
	for _, l := range lines {
		if width.StringWidth(l) != width.StringWidth(lines[0]) {
			t.Errorf("ragged:\n%s", b.String())
		}
	}
}
