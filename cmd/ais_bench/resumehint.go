package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
)

// continueLine is the command that goes on with a sweep or a grid: what it was given
// is stored in its folder, but not where that folder lies.
func continueLine(c *cli.Context, command string, run *outputs.Run) string {
	words := []string{"ais_bench", "bench", command, "--reuse", filepath.Base(run.Dir())}
	if c.IsSet("work-dir") {
		words = append(words, "--work-dir", c.String("work-dir"))
	}
	line := "`" + shellLine(words) + "`"
	if c.IsSet("header") {
		line += " (with --header again, which is not stored)"
	}
	return line
}

// sameAgain is the command line of a run with --reuse for its folder, to be pasted.
// Secrets in it are as the run's files have them.
func sameAgain(c *cli.Context, args []string, run *outputs.Run) string {
	words, err := normalizeArgs(c.App, args)
	if err != nil { // it was read once
		words = slices.Clone(args)
	}
	end := len(words)
	if i := slices.Index(words, "--"); i >= 0 {
		end = i
	}
	rest := words[end:]
	words = slices.DeleteFunc(slices.Clone(words[:end]), func(w string) bool { return strings.HasPrefix(w, "--reuse=") })
	words = append(append(append([]string{"ais_bench"}, words...), "--reuse="+filepath.Base(run.Dir())), rest...)
	for i, w := range words {
		words[i] = run.Redactor().String(w)
	}
	return "`" + shellLine(words) + "`"
}

// shellLine quotes words for a POSIX shell.
func shellLine(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shellWord(w)
	}
	return strings.Join(out, " ")
}

func shellWord(w string) string {
	plain := func(r rune) bool {
		return r > 127 || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+^", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	if strings.Join(strings.Fields(w), " ") == w {
		return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	// Error lines fold white space: what must stay is written as escapes.
	var b strings.Builder
	for _, c := range []byte(w) {
		switch {
		case c <= ' ' || c == '\'' || c == '\\' || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}
