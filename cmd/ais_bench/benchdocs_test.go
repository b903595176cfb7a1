package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

var update = flag.Bool("update", false, "write the flag tables of `ais_bench bench` in docs/cli.md anew")

// TestBenchFlagTables holds the flag tables of the benchmarks in docs/cli.md against
// the flags themselves: the same names, meanings and defaults in the same order. After
// a change: go test ./cmd/ais_bench -run BenchFlagTables -update.
func TestBenchFlagTables(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "cli.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	app := newApp(io.Discard, io.Discard)
	for _, name := range []string{"serve", "sweep", "grid", "throughput", "latency", "prefix-cache"} {
		c := app.Command("bench").Command(name)
		if c == nil {
			t.Fatalf("no command bench %s", name)
		}
		text := section(page, []string{"bench", name})
		at := strings.Index(text, "\n#### ")
		if at < 0 {
			t.Fatalf("bench %s has no flag table in docs/cli.md", name)
		}
		// The section ends where the next command's heading begins.
		want := text[:at+1] + flagTables(c.Flags)
		if strings.TrimRight(text, "\n") == strings.TrimRight(want, "\n") {
			continue
		}
		if !*update {
			t.Errorf("bench %s: the tables in docs/cli.md are not of its flags; write them with go test ./cmd/ais_bench -run BenchFlagTables -update\n%s", name, firstDifference(text, want))
			continue
		}
		page = strings.Replace(page, text, strings.TrimRight(want, "\n")+"\n\n", 1)
	}
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return "docs: " + x[i] + "\nflag: " + y[i]
		}
	}
	return "one ends before the other"
}

// flagTables are the visible flags by category, each table in order of the names.
func flagTables(flags []cli.Flag) string {
	flags = slices.SortedFunc(slices.Values(flags), func(a, b cli.Flag) int { return cmp.Compare(a.Names()[0], b.Names()[0]) })
	groups := map[string][]string{}
	for _, f := range flags {
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		d, ok := f.(cli.DocGenerationFlag)
		if !ok {
			continue
		}
		group := f.(cli.CategorizableFlag).GetCategory()
		groups[group] = append(groups[group], flagRow(d))
	}
	var out strings.Builder
	for _, group := range sortedKeys(groups) {
		rows := groups[group]
		fmt.Fprintf(&out, "#### %s\n\n| flag | meaning | default |\n|---|---|---|\n%s\n\n", group, strings.Join(rows, "\n"))
	}
	return out.String()
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func flagRow(f cli.DocGenerationFlag) string {
	usage, value := f.GetUsage(), "VALUE"
	if a, rest, ok := strings.Cut(usage, "`"); ok { // the value's name stands between backquotes
		word, end, _ := strings.Cut(rest, "`")
		value, usage = word, a+word+end
	}
	if !f.TakesValue() {
		value = ""
	}
	var names []string
	for _, n := range f.Names() {
		dashes := "--"
		if len(n) == 1 {
			dashes = "-"
		}
		names = append(names, "`"+strings.TrimSpace(dashes+n+" "+value)+"`")
	}
	def := f.GetDefaultText()
	switch {
	case !f.TakesValue():
		def = "off"
	case def == "" || def == `""` || def == "[]":
		def = ""
	default:
		def = "`" + strings.Trim(def, `"`) + "`"
	}
	return fmt.Sprintf("| %s | %s | %s |", strings.Join(names, ", "), strings.ReplaceAll(usage, "|", `\|`), def)
}
