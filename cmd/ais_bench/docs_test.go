package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestEveryFlagIsDocumented fails when a visible flag or command stands neither
// in docs/cli.md nor in the page of its own command: docs/bench-serve.md, else
// docs/bench.md, for `bench serve`.
func TestEveryFlagIsDocumented(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	page := func(name string) string {
		b, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return string(b)
	}
	all := page("cli.md")
	if all == "" {
		t.Fatal("docs/cli.md is missing or empty")
	}
	app := newApp(io.Discard, io.Discard)

	check := func(where, text string, flags []cli.Flag) {
		for _, f := range flags {
			if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
				continue
			}
			name := f.Names()[0]
			if name == "help" || name == "version" {
				continue
			}
			if !mentions(text, name) {
				t.Errorf("%s: flag --%s is not documented", where, name)
			}
		}
	}
	// The run's own flags stand before the first command's section.
	before, _, _ := strings.Cut(all, "\n## ais_bench ")
	check("ais_bench", before, app.Flags)

	var walk func(path []string, commands []*cli.Command)
	walk = func(path []string, commands []*cli.Command) {
		for _, c := range commands {
			if c.Hidden || c.Name == "help" {
				continue
			}
			here := append(path[:len(path):len(path)], c.Name)
			text := section(all, here)
			for i := range here {
				text += page(strings.Join(here[:i+1], "-") + ".md")
			}
			if text == "" {
				t.Errorf("`ais_bench %s` is documented neither in docs/cli.md nor in docs/%s.md", strings.Join(here, " "), strings.Join(here, "-"))
				continue
			}
			check(strings.Join(here, " "), text, c.Flags)
			walk(here, c.Subcommands)
		}
	}
	walk(nil, app.Commands)
}

// mentions reports whether text names the flag in full: --model is not mentioned
// by --models. A flag of one letter has one dash.
func mentions(text, flag string) bool {
	return regexp.MustCompile(`(^|[^\w-])--?` + regexp.QuoteMeta(flag) + `($|[^\w-])`).MatchString(text)
}

// section is the part of a page below the heading of a command, up to the next
// heading of a command.
func section(page string, path []string) string {
	heading := regexp.MustCompile(`(?m)^#+ ais_bench ` + regexp.QuoteMeta(strings.Join(path, " ")) + `$`)
	at := heading.FindStringIndex(page)
	if at == nil {
		return ""
	}
	rest := page[at[1]:]
	if next := regexp.MustCompile(`(?m)^#+ ais_bench `).FindStringIndex(rest); next != nil {
		rest = rest[:next[0]]
	}
	return page[at[0]:at[1]] + rest
}

// TestDocumentLinks fails when a document links to a file that is not there.
func TestDocumentLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)\s#]+)(?:#[^)\s]*)?\)`)
	seen := 0
	for _, p := range append(pages, top...) {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			seen++
			if _, err := os.Stat(filepath.Join(filepath.Dir(p), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s, which does not exist", filepath.Base(p), m[1])
			}
		}
	}
	if seen == 0 {
		t.Error("no links found: the pages have moved")
	}
}

// TestReadmesInStep fails when the Chinese README has other sections than the
// English one, in number or level, or other commands.
func TestReadmesInStep(t *testing.T) {
	read := func(name string) (headings, commands []string) {
		b, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(b), "\n") {
			if strings.HasPrefix(line, "#") {
				headings = append(headings, line[:strings.IndexByte(line, ' ')])
			}
			if cmd, is := strings.CutPrefix(line, "$ "); is {
				cmd, _, _ = strings.Cut(cmd, " #")
				commands = append(commands, strings.TrimSpace(cmd))
			}
		}
		return headings, commands
	}
	eh, ec := read("README.md")
	zh, zc := read("README.zh-CN.md")
	if strings.Join(eh, " ") != strings.Join(zh, " ") {
		t.Errorf("the headings differ: %v in English, %v in Chinese", eh, zh)
	}
	for i := range max(len(ec), len(zc)) {
		var e, z string
		if i < len(ec) {
			e = ec[i]
		}
		if i < len(zc) {
			z = zc[i]
		}
		if e != z {
			t.Errorf("command %d differs: %q in English, %q in Chinese", i+1, e, z)
			break
		}
	}
}

// TestDocumentedFlagsExist fails when the first column of a table in a command
// page names a flag that no command has: one renamed or removed since.
func TestDocumentedFlagsExist(t *testing.T) {
	app := newApp(io.Discard, io.Discard)
	known := map[string]bool{}
	collect := func(flags []cli.Flag) {
		for _, f := range flags {
			for _, n := range f.Names() {
				known[n] = true
			}
		}
	}
	collect(app.Flags)
	var walk func(commands []*cli.Command)
	walk = func(commands []*cli.Command) {
		for _, c := range commands {
			collect(c.Flags)
			walk(c.Subcommands)
		}
	}
	walk(app.Commands)
	row := regexp.MustCompile("(?m)^\\| (`--?[^|]*`) \\|")
	name := regexp.MustCompile("`--?([A-Za-z0-9][A-Za-z0-9-]*)")
	for _, page := range []string{"cli.md", "bench-serve.md"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, m := range row.FindAllStringSubmatch(string(b), -1) {
			for _, n := range name.FindAllStringSubmatch(m[1], -1) {
				seen++
				if !known[n[1]] {
					t.Errorf("docs/%s: there is no flag %q", page, n[1])
				}
			}
		}
		if seen == 0 {
			t.Errorf("docs/%s: no table of flags found", page)
		}
	}
}

// TestEveryPageIsReachable fails when no chain of links leads from
// docs/README.md to a page of the folder.
func TestEveryPageIsReachable(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	link := regexp.MustCompile(`\]\(([\w-]+\.md)(?:#[^)\s]*)?\)`)
	reached := map[string]bool{"README.md": true}
	for todo := []string{"README.md"}; len(todo) > 0; todo = todo[1:] {
		b, err := os.ReadFile(filepath.Join(docs, todo[0]))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if !reached[m[1]] {
				reached[m[1]] = true
				todo = append(todo, m[1])
			}
		}
	}
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	for _, p := range pages {
		if !reached[filepath.Base(p)] {
			t.Errorf("docs/%s: no link leads there from docs/README.md", filepath.Base(p))
		}
	}
}
