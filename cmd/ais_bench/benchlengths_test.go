package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"ais_bench/tasks/bench"
)

// TestGeneralLengths: --input-len and --output-len win over the workload's own flags
// where vLLM's `bench serve` overwrites these; in `bench throughput` the own ones win,
// as in vLLM's, and everywhere for workloads that vLLM does not map.
func TestGeneralLengths(t *testing.T) {
	for _, c := range []struct {
		command, args   string
		input, output   int
		note, otherwise string
	}{
		{command: "serve", args: "--dataset-name random --input-len 16 --random-input-len 64 --output-len 8 --random-output-len 9", input: 16, output: 8,
			note: "--input-len 16 wins over --random-input-len 64"},
		{command: "serve", args: "--dataset-name random --input-len 16 --output-len 8", input: 16, output: 8, otherwise: "wins"},
		{command: "serve", args: "--dataset-name random --random-input-len 64 --random-output-len 9", input: 64, output: 9, otherwise: "wins"},
		{command: "serve", args: "--dataset-name prefix_repetition --output-len 8 --prefix-repetition-output-len 9", output: 8, note: "--prefix-repetition-output-len 9"},
		{command: "serve", args: "--dataset-name sharegpt --output-len 8 --sharegpt-output-len 9", output: 8},
		{command: "serve", args: "--dataset-name custom --output-len 8 --custom-output-len 9", output: 8},
		{command: "serve", args: "--dataset-name gsm8k_gen --output-len 8 --hf-output-len 9", output: 8},
		{command: "serve", args: "--dataset-name sonnet --input-len 300 --sonnet-input-len 400 --output-len 8 --sonnet-output-len 9", input: 400, output: 9, otherwise: "wins"},
		{command: "serve", args: "--dataset-name gsp --output-len 8 --gsp-output-len 9", output: 9},
		{command: "sweep", args: "--dataset-name random --input-len 16 --random-input-len 64", input: 16, output: 128},
		{command: "throughput", args: "--dataset-name random --input-len 16 --random-input-len 64 --output-len 8 --random-output-len 9", input: 64, output: 9, otherwise: "wins"},
	} {
		var errs bytes.Buffer
		app := newApp(io.Discard, &errs)
		var got bench.Options
		app.Command("bench").Command(c.command).Action = func(c *cli.Context) error { return chooseDataset(c, &got) }
		if err := app.Run(append([]string{"ais_bench", "bench", c.command}, strings.Fields(c.args)...)); err != nil {
			t.Fatalf("%s %s: %v", c.command, c.args, err)
		}
		w := got.Workload
		if c.input != 0 && w.InputLen != c.input || w.OutputLen != c.output {
			t.Errorf("%s %s: %d in, %d out; want %d, %d", c.command, c.args, w.InputLen, w.OutputLen, c.input, c.output)
		}
		if !strings.Contains(errs.String(), c.note) || c.otherwise != "" && strings.Contains(errs.String(), c.otherwise) {
			t.Errorf("%s %s: %q", c.command, c.args, errs.String())
		}
	}
}
