package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"ais_bench/datasets/logs"
	"ais_bench/datasets/tokenizer"
	"ais_bench/tasks"
)

// logFieldFlags say where in a log's rows things are.
func logFieldFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "prompt-field", Usage: "dotted `PATH` of the prompt or the messages, e.g. request.body.messages; default: the usual names"},
		&cli.StringFlag{Name: "answer-field", Usage: "dotted `PATH` of the answer"},
		&cli.StringFlag{Name: "output-tokens-field", Usage: "dotted `PATH` of the number of output tokens"},
		&cli.BoolFlag{Name: "lines", Usage: "every line is one prompt, whatever it looks like"},
		&cli.StringFlag{Name: "buckets", Value: "128,1024", Usage: "token lengths `SHORT,LONG`: short is below the first, long above the second"},
	}
}

// statsCommand describes the prompts of a file.
func statsCommand() *cli.Command {
	return &cli.Command{
		Name:      "stats",
		Usage:     "token lengths, buckets, languages and duplicates of the prompts in a file",
		ArgsUsage: "FILE …",
		Description: "Reads ShareGPT, custom JSONL, gateway and access logs (JSONL, a JSON list) and plain prompts one a line, gzipped or not.\n" +
			"Lengths are plain tokens of the prompt, without what a chat template adds.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "tokenizer", Usage: "`DIR` of the model (the one with tokenizer.json), or a name in the hub cache"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object a file"},
		}, logFieldFlags()...),
		Action: statsAction,
	}
}

func statsAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef("`ais_bench datasets stats` needs a file")
	}
	bounds, err := logs.ParseBounds(c.String("buckets"))
	if err != nil {
		return usageError{err}
	}
	tok, err := localTokenizer(c, "to count tokens")
	if err != nil {
		return err
	}
	width := 80
	if f, ok := c.App.Writer.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			width = min(w, 140)
		}
	}
	for i, file := range c.Args().Slice() {
		entries, err := readLog(c, file)
		if err != nil {
			return err
		}
		stats := logs.Describe(entries, tok, bounds)
		if c.Bool("json") {
			if err := json.NewEncoder(c.App.Writer).Encode(struct {
				File string `json:"file"`
				logs.Stats
			}{file, stats}); err != nil {
				return err
			}
			continue
		}
		if c.NArg() > 1 {
			if i > 0 {
				printf(c, "\n")
			}
			printf(c, "%s\n", file)
		}
		if err := stats.Write(c.App.Writer, width); err != nil {
			return err
		}
	}
	return nil
}

// localTokenizer is the tokenizer of --tokenizer; without the flag it is an error
// that says what for.
func localTokenizer(c *cli.Context, why string) (*tokenizer.Tokenizer, error) {
	if c.String("tokenizer") == "" {
		return nil, usagef("give --tokenizer DIR (the folder of the model, with tokenizer.json) %s", why)
	}
	r, err := tokenizer.Resolve(c.Context, c.String("tokenizer"), tokenizer.ModeLocal, tokenizer.Options{})
	if err != nil {
		return nil, usageError{err}
	}
	return r.Local, nil
}

// readLog reads a file and reports rows that were left out on stderr.
func readLog(c *cli.Context, file string) ([]logs.Entry, error) {
	entries, notes, err := logs.Read(file, logs.Fields{Prompt: c.String("prompt-field"), Answer: c.String("answer-field"),
		OutputTokens: c.String("output-tokens-field"), Lines: c.Bool("lines")})
	var path *fs.PathError
	if errors.As(err, &path) {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	if err != nil {
		return nil, usageError{err}
	}
	for _, n := range notes {
		warnf(c, "%s: %s\n", file, n)
	}
	return entries, nil
}
