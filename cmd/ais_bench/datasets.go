package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/mattn/go-runewidth"
	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"ais_bench/datasets"
	"ais_bench/datasets/hub"
	"ais_bench/registry"
	"ais_bench/tasks"
)

// datasetsCommand describes and fetches data sets.
func datasetsCommand() *cli.Command {
	configDir := &cli.StringFlag{Name: "config-dir", Value: "configs", Usage: "directory with your own configurations (datasets/*.yaml) that add to and override the built-in ones"}
	cache := &cli.StringFlag{Name: "cache-dir", Usage: "root directory of the data", EnvVars: []string{datasets.CacheEnv}, Value: datasets.LocalCache}
	return &cli.Command{
		Name:  "datasets",
		Usage: "list, describe and fetch data sets; measure and convert logs", ArgsUsage: "COMMAND",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list data sets by name; patterns narrow the list", ArgsUsage: "[PATTERN …]",
				Flags: []cli.Flag{configDir,
					&cli.BoolFlag{Name: "json", Usage: "print a JSON list with everything in full; the table is cut to the terminal's width (100 columns elsewhere)"}},
				Action: listDatasets,
			},
			{
				Name: "info", Usage: "show source, licence, layout, prompt and scorer of a data set", ArgsUsage: "NAME …",
				Flags:  []cli.Flag{configDir, cache, &cli.StringFlag{Name: "dataset-path", Usage: "file or directory of the data"}},
				Action: datasetInfo,
			},
			{
				Name: "pull", Usage: "download the data of a data set from a hub", ArgsUsage: "NAME …",
				Flags: []cli.Flag{configDir, cache,
					&cli.StringFlag{Name: "hub", Usage: "hf or modelscope; default: the first the data set names"},
					&cli.StringFlag{Name: "revision", Usage: "branch, tag or commit; default: the data set's or the hub's main line"}},
				Action: pullDatasets,
			},
			statsCommand(),
			convertCommand(),
		},
	}
}

// openDatasets is the registry with the user's directory laid over it.
func openDatasets(c *cli.Context) (*registry.Registry[datasets.Config], error) {
	dir, err := configDir(c, "datasets")
	if err != nil {
		return nil, err
	}
	r, err := datasets.OpenRegistry(dir)
	if err != nil {
		return nil, cli.Exit(err, 2)
	}
	return r, nil
}

func listDatasets(c *cli.Context) error {
	r, err := openDatasets(c)
	if err != nil {
		return err
	}
	patterns := c.Args().Slice()
	if len(patterns) == 0 {
		patterns = []string{"*"}
	}
	var entries []*registry.Entry[datasets.Config]
	for _, p := range patterns {
		if !strings.ContainsAny(p, "*?[") {
			p += "*" // `datasets list mmlu` means the family
		}
		es, err := r.Select(p)
		if err != nil {
			return cli.Exit(err, 2)
		}
		entries = append(entries, es...)
	}
	list := make([]listedDataset, len(entries))
	for i, e := range entries {
		d := listedDataset{Name: e.Name, Mode: e.Value.Asking(), Scorers: []string{}, Description: e.Value.Description, Origin: e.Origin}
		if src, err := e.Value.SourceOf(); err == nil {
			if n := e.Value.RowsStated(src); n > 0 {
				d.Rows = &n
			}
		}
		if names := e.Value.ScorerNames(); names != "" {
			d.Scorers = strings.Split(names, ", ")
		}
		list[i] = d
	}
	if c.Bool("json") {
		enc := json.NewEncoder(c.App.Writer)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
	}
	return writeDatasetList(c.App.Writer, list, terminalWidth(c.App.Writer))
}

// listedDataset is one line of `datasets list`.
type listedDataset struct {
	Name        string   `json:"name"`
	Rows        *int     `json:"rows"` // null = not stated
	Mode        string   `json:"mode"`
	Scorers     []string `json:"scorers"`
	Description string   `json:"description"`
	Origin      string   `json:"configuration"`
}

// writeDatasetList keeps every line within width; names are never cut.
func writeDatasetList(w io.Writer, list []listedDataset, width int) error {
	const scorerWidth, rowsWidth, least = 16, 6, 16
	lines := make([][4]string, 0, len(list)+1)
	lines = append(lines, [4]string{"NAME", "ROWS", "SCORER", "DESCRIPTION"})
	for _, d := range list {
		rows, scorer := "-", "-"
		if d.Rows != nil {
			rows = strconv.Itoa(*d.Rows)
		}
		if n := len(d.Scorers); n > 0 {
			scorer = d.Scorers[0]
			if n > 1 {
				more := fmt.Sprintf(" +%d", n-1)
				scorer = runewidth.Truncate(scorer, scorerWidth-len(more), "…") + more
			}
		}
		lines = append(lines, [4]string{d.Name, rows, runewidth.Truncate(scorer, scorerWidth, "…"), d.Description})
	}
	name, scorer := 0, 0
	for _, l := range lines {
		name, scorer = max(name, runewidth.StringWidth(l[0])), max(scorer, runewidth.StringWidth(l[2]))
	}
	room := max(width-name-rowsWidth-scorer-3*2, least)
	b := bufio.NewWriter(w)
	for _, l := range lines {
		fmt.Fprintf(b, "%s  %s  %s  %s\n", runewidth.FillRight(l[0], name), runewidth.FillRight(l[1], rowsWidth), runewidth.FillRight(l[2], scorer),
			strings.TrimRight(runewidth.Truncate(l[3], room, "…"), " "))
	}
	return b.Flush()
}

// terminalWidth is the columns of a terminal, 100 for everything else.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 100
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func datasetInfo(c *cli.Context) error {
	if c.NArg() == 0 {
		return cli.Exit("`ais_bench datasets info` needs a name; `ais_bench datasets list` shows all", 2)
	}
	r, err := openDatasets(c)
	if err != nil {
		return err
	}
	entries, err := r.Select(c.Args().Slice()...)
	if err != nil {
		if list := madeOf(r, c.Args().Slice()); list != "" {
			err = errors.New(list)
		}
		return cli.Exit(err, 2)
	}
	for i, e := range entries {
		if i > 0 {
			fmt.Fprintln(c.App.Writer)
		}
		if err := writeDatasetInfo(c, e); err != nil {
			return cli.Exit(err, 2)
		}
	}
	return nil
}

// madeOf says which data sets are made of the first of names that is a source and no
// data set: `pull` takes both. "" where none is.
func madeOf(r *registry.Registry[datasets.Config], names []string) string {
	for _, name := range names {
		if _, err := r.Get(name); err == nil {
			continue
		}
		if _, err := datasets.FindSource(name); err != nil {
			continue
		}
		var made []string
		for _, n := range r.Names() {
			if e, err := r.Get(n); err == nil && e.Value.Data == name {
				made = append(made, n)
			}
		}
		if len(made) > 0 {
			return fmt.Sprintf("%s is data that `ais_bench datasets pull` fetches; the data sets made of it are %s: name one of these", name, strings.Join(made, ", "))
		}
	}
	return ""
}

func writeDatasetInfo(c *cli.Context, e *registry.Entry[datasets.Config]) error {
	cfg := e.Value
	src, err := cfg.SourceOf()
	if err != nil {
		return err
	}
	w := c.App.Writer
	line := func(label, format string, args ...any) {
		fmt.Fprintf(w, "%-16s %s\n", label, fmt.Sprintf(format, args...))
	}
	fmt.Fprintln(w, e.Name)
	line("description", "%s", cfg.Description)
	line("configuration", "%s", e.Origin)
	line("data", "%s", src.Title)
	line("source", "%s", orDash(src.Origin))
	line("licence", "%s", orDash(src.Licence))
	line("language", "%s", orDash(src.Language))
	if n := cfg.RowsStated(src); n > 0 {
		line("rows", "%d", n)
	}
	if src.Notes != "" {
		line("note", "%s", src.Notes)
	}
	if names := cfg.SubsetsAsked(src); len(names) > 0 {
		line("sub-sets", "%d: %s", len(names), strings.Join(names, ", "))
	}
	for _, layout := range cfg.LayoutsExpected(src) {
		line("layout expected", "%s", layout)
	}
	for _, h := range src.Hub {
		gated := ""
		if h.Gated {
			gated = " (gated: accept its terms there, then set " + hub.TokenEnv(h.Kind) + ")"
		}
		line("hub", "%s: %s%s", h.Kind, h.ID, gated)
	}
	if w := cfg.Workload; w != nil {
		line("workload", "%s: %s", w.Name, w.Rule())
		line("scorer", "-")
		return nil
	}
	line("mode", "%s", cfg.Asking())
	line("scorer", "%s", orDash(cfg.ScorerNames()))
	if cfg.MaxOutLen > 0 {
		line("max_out_len", "%d", cfg.MaxOutLen)
	}
	if len(cfg.Stop) > 0 {
		line("stop", "%q", cfg.Stop)
	}
	if cfg.Repeats() > 1 {
		line("repeats", "n=%d k=%d", cfg.Repeats(), max(cfg.K, cfg.Repeats()))
	}
	for _, g := range cfg.Groups {
		metric := g.Metric
		if metric == "" {
			metric = "naive_average"
		}
		members := "all sub-sets"
		if len(g.Subsets) > 0 {
			members = fmt.Sprintf("%d sub-sets", len(g.Subsets))
		}
		line("group", "%s: %s of %s", g.Name, metric, members)
	}
	for _, s := range cfg.ReferenceScores {
		metric := s.Metric
		if metric == "" {
			metric = "accuracy"
		}
		line("reference score", "%s: %s %.2f (stated by %s)", s.Model, metric, s.Score, s.Source)
	}
	sample, real, err := cfg.Preview(c.Context, datasets.LoadOptions{Path: c.String("dataset-path"), CacheDirs: cacheDirs(c)})
	if err != nil {
		return usageUnlessEnvironment(tasks.DataError(err))
	}
	what := "first row"
	if !real {
		what = "template; the data are not on this machine"
	}
	fmt.Fprintf(w, "prompt (%s)\n%s\n", what, indent(sample.Prompt.String()))
	return nil
}

// cacheDirs are the roots to search: the one given, then the local one.
func cacheDirs(c *cli.Context) []string {
	if dir := c.String("cache-dir"); dir != "" && dir != datasets.LocalCache {
		return []string{dir, datasets.LocalCache}
	}
	return nil
}

func indent(s string) string {
	return "  | " + strings.ReplaceAll(s, "\n", "\n  | ")
}

func pullDatasets(c *cli.Context) error {
	if c.NArg() == 0 {
		return cli.Exit("`ais_bench datasets pull` needs a name; `ais_bench datasets list` shows all", 2)
	}
	r, err := openDatasets(c)
	if err != nil {
		return err
	}
	for _, name := range c.Args().Slice() {
		src, err := sourceToPull(r, name)
		if err != nil {
			return cli.Exit(err, 2)
		}
		if err := pull(c, name, src); err != nil {
			return err
		}
	}
	return nil
}

// sourceToPull finds the source called name, or the one a configuration asks.
func sourceToPull(r *registry.Registry[datasets.Config], name string) (datasets.Source, error) {
	if src, err := datasets.FindSource(name); err == nil {
		return src, nil
	}
	e, err := r.Get(name)
	if err != nil {
		names, _ := datasets.SourceNames()
		return datasets.Source{}, fmt.Errorf("unknown dataset %q%s; `ais_bench datasets list` shows all", name,
			registry.DidYouMean(name, append(names, r.Names()...)))
	}
	return e.Value.SourceOf()
}

func pull(c *cli.Context, name string, src datasets.Source) error {
	var chosen *datasets.Hub
	for i, h := range src.Hub {
		if want := c.String("hub"); want == "" || want == h.Kind {
			chosen = &src.Hub[i]
			break
		}
	}
	switch {
	case len(src.Hub) == 0:
		return cli.Exit(fmt.Sprintf("data set %s is on no hub we know (%s); put its files where `ais_bench datasets info %s` says", name, src.Origin, name), 2)
	case chosen == nil:
		return cli.Exit(fmt.Sprintf("data set %s is not on hub %q; it is on %s", name, c.String("hub"), hubKinds(src)), 2)
	}
	client, err := hub.New(chosen.Kind)
	if err != nil {
		return cli.Exit(err, 2)
	}
	revision := c.String("revision")
	if revision == "" {
		revision = chosen.Revision
	}
	root := c.String("cache-dir")
	if root == "" {
		root = datasets.LocalCache
	}
	dir := filepath.Join(root, src.Dirs[0])
	fmt.Fprintf(c.App.Writer, "%s: %s from %s to %s\n", name, chosen.ID, client.Endpoint, dir)
	ctx := c.Context
	if ctx == nil {
		ctx = context.Background()
	}
	done, err := client.Pull(ctx, chosen.ID, revision, chosen.Files, dir, pullProgress(c.App.ErrWriter))
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			err = fmt.Errorf("%w; choose another place with --cache-dir", err)
		}
		if hub.Unreachable(err) {
			err = fmt.Errorf("%w; %s", err, otherWays(name, src, chosen.Kind, dir))
		}
		return cli.Exit(fmt.Sprintf("data set %s: %v", name, err), 3)
	}
	for _, d := range done {
		state := "downloaded"
		if !d.Fresh {
			state = "already there"
		}
		check := "checked"
		if d.SHA256 == "" && d.Git == "" {
			check = "the hub states no digest"
		}
		fmt.Fprintf(c.App.Writer, "  %s  %s, %s, %s\n", d.Path, humanize.Bytes(uint64(max(d.Bytes, 0))), state, check)
		if strings.HasSuffix(d.Path, ".zip") {
			files, err := hub.Unpack(d.Local)
			if err != nil {
				return cli.Exit(fmt.Sprintf("data set %s: %v", name, err), 3)
			}
			fmt.Fprintf(c.App.Writer, "  %s  unpacked, %d files\n", d.Path, len(files))
		}
	}
	return nil
}

// otherWays is what can be done about a hub that does not answer from here.
func otherWays(name string, src datasets.Source, failed, dir string) string {
	hint := "try "
	for _, h := range src.Hub {
		if h.Kind != failed {
			hint += "--hub " + h.Kind + ", "
		}
	}
	return fmt.Sprintf("%sa mirror's address in %s, or put the files into %s by hand (`ais_bench datasets info %s` says which)", hint, hub.EndpointEnv(failed), dir, name)
}

func hubKinds(src datasets.Source) string {
	var kinds []string
	for _, h := range src.Hub {
		kinds = append(kinds, h.Kind)
	}
	return strings.Join(kinds, " and ")
}

// pullProgress shows a bar a file on a terminal and nothing elsewhere: the
// lines that say what was downloaded follow anyway.
func pullProgress(w io.Writer) hub.Progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	var bar *progressbar.ProgressBar
	current := ""
	return func(file hub.File, done int64) {
		if file.Path != current {
			current = file.Path
			bar = progressbar.NewOptions64(file.Bytes, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true),
				progressbar.OptionSetDescription(path.Base(file.Path)), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set64(done) // a bar that cannot be drawn is no reason to stop
	}
}
