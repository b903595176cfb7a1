package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
)

// outputFlags name the files that commands write.
var outputFlags = []string{"json", "junit", "details", "output", "html", "excel", "output-json", "output-file", "result-filename", "truth"}

// runFiles are the names directly below a run folder that its manifest speaks for.
var runFiles = []string{"manifest.json", "configs", "journal", "performances", "points", "point.json", "predictions", "report.html", "report.json", "report.xlsx",
	"results", "server", "summary", "sweep.json", "grid.json", "verdict.json", "verdict.xml"}

// apart makes a command refuse to write over what it reads, or over the evidence
// of a run: nothing is lost to a slip in a file's name.
func apart(c *cli.Command) {
	before := c.Before
	c.Before = func(ctx *cli.Context) error {
		if before != nil {
			if err := before(ctx); err != nil {
				return err
			}
		}
		return outputsApart(ctx, c.Flags)
	}
}

func outputsApart(c *cli.Context, flags []cli.Flag) error {
	inputs := map[string]string{} // path → how the command line names it
	var written []*cli.StringFlag
	for _, f := range flags {
		switch f := f.(type) {
		case *cli.StringFlag:
			if slices.Contains(outputFlags, f.Name) {
				written = append(written, f)
			} else if v := c.String(f.Name); v != "" && f.Name != "result-dir" {
				inputs[v] = "--" + f.Name
			}
		case *cli.StringSliceFlag:
			for _, v := range c.StringSlice(f.Name) {
				inputs[v] = "--" + f.Name
			}
		}
	}
	for _, v := range c.Args().Slice() {
		inputs[v] = "the command"
	}
	if dir := c.String("result-dir"); dir != "" && c.String("result-filename") == "" && savesResult(c) {
		if err := canWrite("--result-dir", filepath.Join(dir, "result.json")); err != nil {
			return err
		}
	}
	for _, f := range written {
		path := c.String(f.Name)
		if path == "" || path == "-" {
			continue
		}
		if f.Name == "result-filename" {
			path = filepath.Join(c.String("result-dir"), path)
		}
		if f.Name != "result-filename" || savesResult(c) {
			if err := canWrite("--"+f.Name, path); err != nil {
				return err
			}
		}
		there, err := os.Stat(path)
		if err != nil || !there.Mode().IsRegular() {
			continue
		}
		for in, by := range inputs {
			if st, err := os.Stat(in); err == nil && os.SameFile(st, there) {
				return usagef("--%s %s would overwrite what %s reads; name another file", f.Name, path, by)
			}
		}
		if run := runOf(path); run != "" {
			return usagef("--%s %s would overwrite a file of the run %s; name another file", f.Name, path, run)
		}
	}
	return nil
}

// runOf is the folder of the run that the file is evidence of, "" for none.
func runOf(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		var m struct {
			Version int    `json:"manifest_version"`
			Run     string `json:"run"`
		}
		if outputs.ReadJSON(filepath.Join(dir, "manifest.json"), &m) == nil && m.Version > 0 && m.Run != "" { // others have files of that name
			rel, _ := filepath.Rel(dir, path)
			first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
			if slices.Contains(runFiles, first) || strings.HasSuffix(first, ".jsonl") && first == rel {
				return dir
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
