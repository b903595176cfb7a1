package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/summarizers"
	"ais_bench/summarizers/compare"
	"ais_bench/summarizers/metrics"
	"ais_bench/tasks"
	"ais_bench/tasks/sweep"
)

// compareCommand compares runs.
func compareCommand() *cli.Command {
	return &cli.Command{
		Name: "compare", Usage: "compare runs: may they be compared at all, what changed, and is it more than chance", ArgsUsage: "A B [C …]",
		Description: "A, B … are run folders (their names below --work-dir, or latest), sweeps (compared point by point), result files of `vllm bench serve`\n" +
			"(JSON) or SGLang's bench_serving (JSONL; FILE:LINE takes one line). The first is the base. Repeated runs of one configuration are joined\n" +
			"by commas: A1,A2,A3 B1,B2,B3. docs/compare.md says which differences make a comparison invalid.\n" +
			"Exit codes: 0 compared; 1 not comparable, or with --fail-on-regression a regression; 2 wrong usage; 3 something cannot be read.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "work-dir", Aliases: []string{"w"}, Value: "outputs/default", Usage: "root of run folders"},
			&cli.StringFlag{Name: "base", Usage: "the base (`A1,A2 …`); all others are compared with it. Default: the first argument"},
			&cli.Float64Flag{Name: "tolerance", Value: compare.DefaultTolerance, Usage: "relative change that counts as none, and how far apart runs of one configuration may be"},
			&cli.Float64Flag{Name: "share-tolerance", Aliases: []string{"accuracy-tolerance"}, Value: compare.DefaultShareTolerance, Usage: "the same for accuracy, success and shares, absolute (0.01 = one point)"},
			&cli.StringFlag{Name: "only", Usage: "compare `accuracy` or performance alone; what is left out keeps nothing from being comparable"},
			&cli.BoolFlag{Name: "force", Usage: "give the figures even where the runs are not comparable, marked so"},
			&cli.BoolFlag{Name: "fail-on-regression", Usage: "exit with 1 when a figure or an accuracy is worse, or runs of one configuration do not repeat"},
			&cli.StringSliceFlag{Name: "goodput", Usage: "service levels in ms (`ttft:500 tpot:50`); default: those the base was reported with"},
			&cli.StringFlag{Name: "json", Usage: "write everything to this `FILE` (- = stdout, without the tables)"},
			&cli.StringFlag{Name: "html", Usage: "write the report to this `FILE`"},
			&cli.StringFlag{Name: "excel", Usage: "write the spreadsheet to this `FILE`"},
			&cli.StringFlag{Name: "lang", Value: "en", Usage: "en or zh: language of the spreadsheet and the page; all other text stays English"},
			&cli.StringFlag{Name: "title", Usage: "title of the reports"},
		},
		Action: compareAction,
	}
}

func compareAction(c *cli.Context) error {
	args := c.Args().Slice()
	if b := c.String("base"); b != "" {
		args = append([]string{b}, args...)
	}
	if len(args) < 2 {
		return usagef("compare: name at least two runs; the first is the base")
	}
	o := compare.Options{Tolerance: c.Float64("tolerance"), ShareTolerance: c.Float64("share-tolerance"), Force: c.Bool("force")}
	for flag, v := range map[string]float64{"tolerance": o.Tolerance, "share-tolerance": o.ShareTolerance} {
		if !(v > 0 && v < 1) {
			return usagef("--%s %g: give a number between 0 and 1, such as 0.05 for 5 %%", flag, v)
		}
	}
	if o.Only = c.String("only"); o.Only != "" && o.Only != compare.OnlyAccuracy && o.Only != compare.OnlyPerformance {
		return usagef("--only %s: give accuracy or performance", o.Only)
	}
	var err error
	if o.SLOs, err = metrics.ParseSLOs(c.StringSlice("goodput")); err != nil {
		return usage(err)
	}
	if l := c.String("lang"); l != "en" && l != "zh" {
		return usagef("--lang %s: give en or zh", l)
	}
	r, err := compareAll(c.String("work-dir"), args, o, c.App.ErrWriter)
	if err != nil {
		return err
	}
	if err := writeComparison(c, r); err != nil {
		return err
	}
	switch {
	case !r.Comparable() && !o.Force:
		return fmt.Errorf("not comparable: %s; --force gives the figures all the same", r.WhyNot())
	case c.Bool("fail-on-regression") && r.Regression():
		return errors.New("regression; see above")
	case c.Bool("fail-on-regression") && !r.Repeats():
		return errors.New("no regression, but runs of one configuration do not repeat within the tolerance; see above")
	}
	return nil
}

func writeComparison(c *cli.Context, r *compare.Result) error {
	if c.String("json") != "-" {
		if err := printTables(c, r.Tables()); err != nil {
			return err
		}
		fmt.Fprintln(c.App.Writer)
		for _, n := range r.Notes {
			fmt.Fprintln(c.App.Writer, "note: "+n)
		}
		for _, l := range r.Verdicts() {
			fmt.Fprintln(c.App.Writer, l)
		}
	}
	if path := c.String("json"); path != "" {
		if err := writeDocument(c, path, r); err != nil {
			return err
		}
	}
	d := r.ReportData(c.String("title"), "ais_bench "+versionLine(), c.String("lang"))
	for flag, write := range map[string]func(string, *outputs.ReportData, *outputs.Redactor) error{"html": outputs.WriteHTML, "excel": outputs.WriteExcel} {
		path := c.String(flag)
		if path == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return &tasks.EnvironmentError{Err: fmt.Errorf("--%s: %w", flag, err)}
		}
		if err := write(path, d, &outputs.Redactor{}); err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
		fmt.Fprintln(c.App.ErrWriter, "wrote "+path)
	}
	return nil
}

// point is what one thing to compare holds at one setting: the runs of one point of
// a sweep; a plain run has one without a label.
type point struct {
	label  string
	inputs []*compare.Input
}

// compareAll compares every argument with the first, point by point.
func compareAll(workDir string, args []string, o compare.Options, warnings io.Writer) (*compare.Result, error) {
	var names []string
	var sides [][]point
	for _, arg := range args {
		points, err := openSide(workDir, arg)
		if err != nil {
			return nil, err
		}
		names, sides = append(names, sideName(arg)), append(sides, points)
	}
	distinguish(names, args)
	if err := namedOnce(sides); err != nil {
		return nil, err
	}
	warnOfEvidence(sides, warnings)
	labels, err := commonPoints(names, sides)
	if err != nil {
		return nil, err
	}
	var results []*compare.Result
	for _, label := range labels {
		var list []compare.Side
		for i, points := range sides {
			at := slices.IndexFunc(points, func(p point) bool { return p.label == label })
			if at < 0 || len(points) == 1 {
				at = 0
			}
			list = append(list, compare.Side{Name: names[i], Inputs: points[at].inputs})
		}
		r, err := compare.Compare(list, o)
		if err != nil {
			return nil, &tasks.EnvironmentError{Err: err}
		}
		results = append(results, r)
	}
	if len(labels) == 1 && labels[0] == "" {
		return results[0], nil
	}
	return compare.Merge(results, labels), nil
}

// warnOfEvidence says which runs are not as their manifests say.
func warnOfEvidence(sides [][]point, w io.Writer) {
	for _, points := range sides {
		for _, p := range points {
			for _, in := range p.inputs {
				if in.Run == nil || in.Manifest == nil {
					continue
				}
				for _, text := range summarizers.Distrusted(in.Run, in.Manifest) {
					fmt.Fprintf(w, "warning: %s: %s\n", in.Name, text)
				}
			}
		}
	}
}

// namedOnce refuses a run that stands on two sides, or twice on one: it is no repeat
// of itself.
func namedOnce(sides [][]point) error {
	seen := map[string]string{} // by what only one run can have
	for _, s := range sides {
		for _, p := range s {
			for _, in := range p.inputs {
				place := in.Path
				if real, err := filepath.EvalSymlinks(in.Path); err == nil {
					place = real
				}
				if abs, err := filepath.Abs(place); err == nil {
					place = abs
				}
				shown := in.Path
				if in.Saved != nil {
					place = fmt.Sprintf("%s:%d", place, in.Saved.Line)
					shown = fmt.Sprintf("%s:%d", in.Path, in.Saved.Line)
				}
				for _, key := range append([]string{place}, in.Identity()...) {
					other, twice := seen[key]
					switch {
					case twice && (other == shown || key == place):
						return usagef("compare: %s is named twice: a run is no repeat of itself", in.Path)
					case twice:
						return usagef("compare: %s and %s are one and the same run, copied: a run is no repeat of itself; name another run", other, shown)
					}
				}
				for _, key := range append([]string{place}, in.Identity()...) {
					seen[key] = shown
				}
			}
		}
	}
	return nil
}

// sideName is how tables call an argument.
func sideName(arg string) string {
	list := strings.Split(arg, ",")
	name := filepath.Base(strings.TrimRight(list[0], `/\`))
	if n := len(list) - 1; n > 0 {
		name += fmt.Sprintf(" +%d", n)
	}
	return name
}

// distinguish gives names that occur twice their whole argument.
func distinguish(names, args []string) {
	for i, n := range names {
		for k := range names {
			if k != i && names[k] == n && args[k] != args[i] {
				names[i], names[k] = args[i], args[k]
			}
		}
	}
}

// commonPoints are the labels at which everything can be compared. Where each side
// has one point, it is compared whatever it is called.
func commonPoints(names []string, sides [][]point) ([]string, error) {
	single := true
	for _, s := range sides {
		single = single && len(s) == 1
	}
	if single {
		return []string{""}, nil
	}
	var labels []string
	for _, p := range sides[0] {
		everywhere := true
		for _, s := range sides[1:] {
			everywhere = everywhere && slices.ContainsFunc(s, func(q point) bool { return q.label == p.label })
		}
		if everywhere {
			labels = append(labels, p.label)
		}
	}
	if len(labels) == 0 {
		return nil, usagef("compare: %s have no point in common: %s has %s, %s has %s", strings.Join(names, " and "), names[0], pointList(sides[0]), names[1], pointList(sides[1]))
	}
	return labels, nil
}

func pointList(points []point) string {
	var out []string
	for _, p := range points {
		if p.label == "" {
			out = append(out, "a single run")
			continue
		}
		out = append(out, p.label)
	}
	return strings.Join(out, ", ")
}

// openSide opens one argument: repeated runs are joined by commas.
func openSide(workDir, arg string) ([]point, error) {
	list := []string{arg}
	if _, err := os.Stat(arg); err != nil { // a comma may be part of a name
		list = strings.Split(arg, ",")
	}
	var all []point
	for _, a := range list {
		if a = strings.TrimSpace(a); a == "" {
			continue
		}
		points, err := openThing(workDir, a)
		if err != nil {
			return nil, err
		}
		for _, p := range points {
			if i := slices.IndexFunc(all, func(q point) bool { return q.label == p.label }); i >= 0 {
				all[i].inputs = append(all[i].inputs, p.inputs...)
				continue
			}
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, usagef("compare: %q names no run", arg)
	}
	return all, nil
}

// openThing opens a saved result, a sweep or a run folder.
func openThing(workDir, arg string) ([]point, error) {
	if path, line, ok := savedResult(arg); ok {
		return openSavedResult(path, line)
	}
	if dir := outputs.Locate(workDir, arg); sweep.Is(dir, sweepKind) {
		return openSweep(dir)
	}
	runs, err := runsOf(workDir, arg)
	if err != nil {
		return nil, err
	}
	in, err := compare.OpenRun(runs[0])
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	return []point{{inputs: []*compare.Input{in}}}, nil
}

// savedResult tells a result file, FILE or FILE:LINE, from a folder.
func savedResult(arg string) (path string, line int, ok bool) {
	if st, err := os.Stat(arg); err == nil {
		return arg, 0, !st.IsDir()
	}
	path, number, found := strings.Cut(arg, ":")
	n, err := strconv.Atoi(number)
	if !found || err != nil || n < 1 {
		return "", 0, false
	}
	st, err := os.Stat(path)
	return path, n, err == nil && !st.IsDir()
}

func openSavedResult(path string, line int) ([]point, error) {
	list, err := compare.OpenSaved(path)
	if err != nil {
		return nil, usage(err)
	}
	if line > 0 {
		var lines []string
		for _, in := range list {
			if in.Saved.Line == line {
				return []point{{inputs: []*compare.Input{in}}}, nil
			}
			lines = append(lines, strconv.Itoa(in.Saved.Line))
		}
		return nil, usagef("%s:%d: no result begins at this line; there are some at %s", path, line, strings.Join(lines, ", "))
	}
	var points []point
	for _, in := range list {
		label := ""
		if len(list) > 1 {
			label = savedPoint(in)
		}
		if i := slices.IndexFunc(points, func(p point) bool { return p.label == label }); i >= 0 {
			points[i].inputs = append(points[i].inputs, in)
			continue
		}
		points = append(points, point{label, []*compare.Input{in}})
	}
	return points, nil
}

// savedPoint names the load of a saved result.
func savedPoint(in *compare.Input) string {
	var parts []string
	if n := in.Saved.MaxConcurrency; n > 0 {
		parts = append(parts, fmt.Sprintf("concurrency %d", n))
	}
	if r := in.Saved.RequestRate; r > 0 && !math.IsInf(r, 1) {
		parts = append(parts, "request_rate "+strconv.FormatFloat(r, 'g', -1, 64))
	}
	if len(parts) == 0 {
		return "all at once"
	}
	return strings.Join(parts, ", ")
}

// openSweep opens the points of a sweep, runs of one setting together.
func openSweep(dir string) ([]point, error) {
	s, err := sweep.Read("", dir, "sweep")
	if err != nil {
		return nil, err
	}
	done, err := s.Points()
	if err != nil {
		return nil, err
	}
	var points []point
	for _, d := range done {
		in, err := compare.Open(d.Dir)
		if err != nil {
			return nil, &tasks.EnvironmentError{Err: err}
		}
		in[0].Name = filepath.Base(dir) + "/" + d.Point.Key()
		var parts []string
		for _, set := range d.Point.Settings {
			parts = append(parts, set.Name+" "+set.Value)
		}
		label := strings.Join(parts, ", ")
		if i := slices.IndexFunc(points, func(p point) bool { return p.label == label }); i >= 0 {
			points[i].inputs = append(points[i].inputs, in...)
			continue
		}
		points = append(points, point{label, in})
	}
	if len(points) == 0 {
		return nil, &tasks.EnvironmentError{Err: fmt.Errorf("%s has no point that is done", dir)}
	}
	return points, nil
}
