package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/datasets/logs"
	"ais_bench/datasets/tokenizer"
)

// convertCommand turns logs into workloads.
func convertCommand() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "turn gateway or access logs into a ShareGPT or custom JSONL workload",
		ArgsUsage: "FILE …",
		Description: "Reads what `datasets stats` reads. Personal data is taken out: e-mail addresses, phone and card numbers, keys.\n" +
			"--target keeps a chosen share of short, medium and long prompts; --top-up makes the missing ones of the log's own texts.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to this `FILE`; - is standard output", Value: "-"},
			&cli.StringFlag{Name: "to", Usage: "sharegpt or custom; default: by the output's name (.json is sharegpt)"},
			&cli.StringFlag{Name: "tokenizer", Usage: "`DIR` of the model; needed by --split, --target and --top-up, and to count answers' tokens"},
			&cli.BoolFlag{Name: "no-redact", Usage: "leave personal data in"},
			&cli.BoolFlag{Name: "dedup", Usage: "keep the first of equal prompts"},
			&cli.BoolFlag{Name: "split", Usage: "one file a bucket: OUT-short, OUT-medium, OUT-long"},
			&cli.IntFlag{Name: "count", DefaultText: "all", Usage: "keep so many, drawn at random"},
			&cli.StringFlag{Name: "target", Usage: "shares of the buckets, e.g. short=0.5,medium=0.3,long=0.2"},
			&cli.BoolFlag{Name: "top-up", Usage: "make synthetic prompts where a bucket has too few for --target"},
			&cli.IntFlag{Name: "max-len", DefaultText: "twice the long bucket's bound", Usage: "longest synthetic prompt in tokens"},
			&cli.Uint64Flag{Name: "seed", Usage: "of all random choices"},
		}, logFieldFlags()...),
		Action: convertAction,
	}
}

func convertAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef("`ais_bench datasets convert` needs a file")
	}
	bounds, err := logs.ParseBounds(c.String("buckets"))
	if err != nil {
		return usageError{err}
	}
	sel := logs.Selection{Dedup: c.Bool("dedup"), Count: c.Int("count"), Seed: c.Uint64("seed"), Bounds: bounds,
		TopUp: c.Bool("top-up"), MaxLen: c.Int("max-len")}
	if c.String("target") != "" {
		if sel.Target, err = logs.ParseTarget(c.String("target")); err != nil {
			return usageError{err}
		}
	} else if sel.TopUp {
		return usagef("--top-up fills buckets up to --target; give one, e.g. --target short=0.5,medium=0.3,long=0.2")
	}
	out := c.String("output")
	format := c.String("to")
	switch format {
	case "":
		format = "custom"
		if filepath.Ext(strings.TrimSuffix(out, ".gz")) == ".json" {
			format = "sharegpt"
		}
	case "sharegpt", "custom":
	default:
		return usagef("--to %q is not known; give sharegpt or custom", format)
	}
	if c.Bool("split") && out == "-" {
		return usagef("--split writes three files; name them with --output FILE")
	}
	var tok *tokenizer.Tokenizer
	if c.String("tokenizer") != "" || c.Bool("split") || sel.Target != nil {
		if tok, err = localTokenizer(c, "to measure prompts for --split and --target"); err != nil {
			return err
		}
	}
	var entries []logs.Entry
	for _, file := range c.Args().Slice() {
		more, err := readLog(c, file)
		if err != nil {
			return err
		}
		entries = append(entries, more...)
	}
	if !c.Bool("no-redact") {
		found := map[string]int{}
		for i := range entries {
			entries[i].Redact(found)
		}
		for _, kind := range []string{logs.RedactedEmail, logs.RedactedPhone, logs.RedactedCard, logs.RedactedKey} {
			if found[kind] > 0 {
				warnf(c, "replaced by %s: %d\n", kind, found[kind])
			}
		}
	}
	var codec logs.Codec
	var counter logs.Counter
	if tok != nil {
		codec, counter = tok, tok
		logs.Measure(entries, tok)
	}
	entries, notes, err := logs.Select(entries, sel, codec)
	if err != nil {
		return usageError{err}
	}
	for _, n := range notes {
		warnf(c, "%s\n", n)
	}
	write := func(w io.Writer, entries []logs.Entry) error {
		if format == "sharegpt" {
			return logs.WriteShareGPT(w, entries)
		}
		return logs.WriteCustom(w, entries, counter)
	}
	if !c.Bool("split") {
		return writeTo(c, out, len(entries), func(w io.Writer) error { return write(w, entries) })
	}
	ext := filepath.Ext(out)
	for b, name := range logs.Buckets {
		var part []logs.Entry
		for i := range entries {
			if bounds.Bucket(entries[i].InputTokens) == b {
				part = append(part, entries[i])
			}
		}
		if err := writeTo(c, strings.TrimSuffix(out, ext)+"-"+name+ext, len(part), func(w io.Writer) error { return write(w, part) }); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes a file as a whole or not at all.
func writeTo(c *cli.Context, path string, rows int, write func(io.Writer) error) error {
	if path == "-" {
		return write(c.App.Writer)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // gone already when all went well
	err = write(f)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	warnf(c, "%d requests in %s\n", rows, path)
	return nil
}

func printf(c *cli.Context, format string, args ...any) { fmt.Fprintf(c.App.Writer, format, args...) }
func warnf(c *cli.Context, format string, args ...any)  { fmt.Fprintf(c.App.ErrWriter, format, args...) }
