package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/summarizers/contract"
	"ais_bench/summarizers/facts"
	"ais_bench/summarizers/metrics"
	"ais_bench/tasks"
	"ais_bench/tasks/grid"
	"ais_bench/tasks/sweep"
)

const groupGate = "Acceptance"

// contractFlags hold a run to a contract.
func contractFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "contract", Category: groupGate, Usage: "acceptance contract, YAML `FILE`: refused before anything is sent if the run could not decide it, judged at the end; the exit code is the verdict (0 PASS, 1 FAIL, 4 INCONCLUSIVE)"},
		&cli.StringFlag{Name: "baseline", Category: groupGate, Usage: "earlier `RUN` that the contract's compare.baseline refers to: a folder, its name below --work-dir, or latest"},
	}
}

// gate is the contract that a command is held to.
type gate struct {
	contract    *contract.Contract
	metrics     metrics.Options
	baseline    *facts.Set
	baselineDir string
	baselineRun *outputs.Run // nil = none
}

// openGate reads --contract and --baseline; nil without a contract. o is how the
// command computes metrics; the contract's own service levels win.
func openGate(c *cli.Context, o metrics.Options) (*gate, error) {
	path, name := c.String("contract"), c.String("baseline")
	if path == "" {
		if name != "" {
			return nil, usagef("--baseline goes with --contract")
		}
		return nil, nil
	}
	k, err := contract.Load(path)
	if err != nil {
		return nil, usagef("--%w", err)
	}
	return newGate(k, c.String("work-dir"), name, o)
}

func newGate(k *contract.Contract, workDir, baseline string, o metrics.Options) (*gate, error) {
	o = k.Options(o)
	g := &gate{contract: k, metrics: o}
	if baseline == "" {
		return g, nil
	}
	run, err := singleRun("--baseline", workDir, baseline)
	if err != nil {
		return nil, err
	}
	g.baselineDir, g.baselineRun = run.Dir(), run
	b, err := k.OpenBaseline(run, o)
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: fmt.Errorf("--baseline: %w", err)}
	}
	g.baseline = b.Set
	return g, nil
}

// check refuses a contract that the planned run could not decide.
func (g *gate) check(pairs []facts.PlannedPair) error {
	if g == nil {
		return nil
	}
	for i := range pairs {
		pairs[i].Goodput = len(g.metrics.SLOs) > 0
	}
	return usage(g.contract.Check(facts.Plan(pairs, g.baseline)))
}

// attachments are what the run stores of the contract.
func (g *gate) attachments() []tasks.Attachment {
	if g == nil {
		return nil
	}
	a := tasks.Attachment{Kind: "contract", Name: "acceptance", Origin: g.contract.Path, Text: g.contract.Text}
	if g.baselineDir != "" {
		a.Facts = map[string]any{"baseline": g.baselineDir}
	}
	return []tasks.Attachment{a}
}

// against is the baseline; nil without one.
func (g *gate) against() *contract.Baseline {
	if g.baselineRun == nil {
		return nil
	}
	return &contract.Baseline{Run: g.baselineRun, Set: g.baseline}
}

// judge judges runs as repeats of one, or a sweep.
func (g *gate) judge(runs ...*outputs.Run) (*contract.Verdict, error) {
	if len(runs) == 1 && sweep.Is(runs[0].Dir(), sweepKind) {
		return g.judgeSweep(runs[0])
	}
	if g.baselineRun != nil {
		if err := notItself(g.baselineRun, runs); err != nil {
			return nil, err
		}
	}
	v, err := g.contract.JudgeRuns(g.against(), g.metrics, runs...)
	var read *contract.ReadError
	if errors.As(err, &read) {
		return nil, &tasks.EnvironmentError{Err: read.Err}
	}
	return v, usage(err)
}

// keep judges a run that has just ended and writes verdict.json and verdict.xml
// into its folder, and the contract where the run does not hold it. It returns nil
// without a contract. Beside a verdict the error is of writing it.
func (g *gate) keep(run *outputs.Run) (*contract.Verdict, error) {
	if g == nil {
		return nil, nil
	}
	v, err := g.judge(run)
	if err != nil {
		return nil, err
	}
	return v, firstOf(unwrittenOf(tasks.AttachTo(run, g.attachments()...)), g.write(run, v))
}

// write writes the files of a verdict into the run's folder. After the reports it
// is done again: its checklist knows their files.
func (g *gate) write(run *outputs.Run, v *contract.Verdict) error {
	if v == nil {
		return nil
	}
	d := g.document(v, run)
	if err := run.WriteJSON(run.Path("verdict.json"), d); err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	return writeVerdict(run.Path("verdict.xml"), func(w io.Writer) error {
		var b bytes.Buffer
		if err := d.WriteJUnit(&b); err != nil {
			return err
		}
		_, err := io.WriteString(w, run.Redactor().String(b.String()))
		return err
	})
}

func (g *gate) document(v *contract.Verdict, runs ...*outputs.Run) *contract.Document {
	var dirs []string
	for _, r := range runs {
		dirs = append(dirs, r.Dir())
	}
	d := contract.NewDocument(g.contract, v, "ais_bench "+versionLine(), dirs, g.against())
	if list, err := checklistOf(runs); err == nil { // runs that were just judged can be read
		d.Checklist = list
	}
	return d
}

// writeVerdict writes one file of a verdict.
func writeVerdict(path string, write func(io.Writer) error) error {
	f, err := createFile(path)
	if err == nil {
		err = write(f)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return &tasks.EnvironmentError{Err: fmt.Errorf("write the verdict: %w", err)}
	}
	return nil
}

// reportOf is the verdict for the reports, nil without one.
func reportOf(v *contract.Verdict) *outputs.Verdict {
	if v == nil {
		return nil
	}
	return v.Report()
}

// reportVerdict judges a run for its rebuilt reports: by the contract given, else
// by the one that the run was started with. The latter is shown if it can be
// judged again; where it cannot (its baseline is gone) a warning says so.
func reportVerdict(c *cli.Context, run *outputs.Run, o metrics.Options) (*gate, *contract.Verdict, error) {
	g, err := openGate(c, o)
	if err != nil {
		return nil, nil, err
	}
	if g != nil {
		v, err := g.judge(run)
		return g, v, err
	}
	m, err := run.ReadManifest()
	if err != nil {
		return nil, nil, nil // a folder without a manifest has no contract
	}
	k, err := storedContract(run, m)
	if err == nil && k == nil {
		return nil, nil, nil
	}
	if err == nil {
		baseline, _ := m.Extra["baseline"].(string)
		g, err = newGate(k, c.String("work-dir"), baseline, o)
	}
	var v *contract.Verdict
	if err == nil {
		v, err = g.judge(run)
	}
	if err != nil {
		fmt.Fprintf(c.App.ErrWriter, "warning: the contract that the run was started with cannot be judged again: %v\n", err)
		return nil, nil, nil
	}
	return g, v, nil
}

// storedContract is the contract that a run holds; where it holds several, that of
// its verdict, else the latest; nil where it holds none.
func storedContract(run *outputs.Run, m *outputs.Manifest) (*contract.Contract, error) {
	var last contract.Document
	_ = outputs.ReadJSON(run.Path("verdict.json"), &last) // without one the latest counts
	holds := slices.ContainsFunc(m.Configs, func(c outputs.ConfigFile) bool { return c.Kind == "contract" && c.SHA256 == last.Contract.SHA256 })
	for _, c := range slices.Backward(m.Configs) {
		if c.Kind != "contract" || holds && c.SHA256 != last.Contract.SHA256 {
			continue
		}
		text, err := outputs.ReadFile(run.Path(c.Path))
		if err != nil {
			return nil, fmt.Errorf("contract: %w", err)
		}
		return contract.Parse(c.Source, text)
	}
	return nil, nil
}

// printVerdict prints the clauses and the verdict.
func printVerdict(c *cli.Context, g *gate, v *contract.Verdict) error {
	t := v.Table()
	t.Title = "Acceptance contract: " + g.contract.Name
	last := len(t.Columns) - 1 // why: a terminal has no room for it in a column
	t.Columns = t.Columns[:last]
	for i, r := range t.Rows {
		t.Rows[i] = r[:last]
	}
	if err := printTables(c, []outputs.Table{t}); err != nil {
		return err
	}
	for _, r := range v.Clauses {
		if r.State != contract.Pass && r.Why != "" {
			fmt.Fprintf(c.App.Writer, "%s is %s: %s\n", r.Name, r.State, r.Why)
		}
	}
	fmt.Fprintf(c.App.Writer, "\nVerdict: %s (%s)\n", v.State, v.Reason)
	return nil
}

// verdictError makes the exit code of a verdict that is not PASS.
type verdictError struct{ v *contract.Verdict }

func (e verdictError) Error() string { return fmt.Sprintf("%s: %s", e.v.State, e.v.Reason) }
func (e verdictError) ExitCode() int { return e.v.State.ExitCode() }

func verdictErr(v *contract.Verdict) error {
	if v == nil || v.State == contract.Pass {
		return nil
	}
	return verdictError{v}
}

// conclude is the error of a run with a contract: failed requests are the
// contract's affair, a run that did not come to its end is not.
func conclude(c *cli.Context, v *contract.Verdict, out *tasks.Outcome, taskErr error) error {
	if v == nil || taskErr != nil && !out.OnlyRequestsFailed() {
		return taskErr
	}
	if taskErr != nil {
		fmt.Fprintln(c.App.ErrWriter, "note: "+strings.Join(strings.Fields(taskErr.Error()), " "))
	}
	return verdictErr(v)
}

// planned is what a plan will ask, for the contract.
func planned(est []tasks.Estimate, o tasks.Options) []facts.PlannedPair {
	mode := o.Mode
	scored := mode != tasks.ModeInfer && mode != tasks.ModePerf && mode != tasks.ModePerfViz
	var out []facts.PlannedPair
	for _, e := range est {
		cfg := e.Set.Config
		p := facts.PlannedPair{Model: e.Task.ModelAbbr, Dataset: e.Task.DatasetAbbr, Requests: int64(e.Requests), Stream: e.Task.Model.Config.Stream && cfg.Asking() != "ppl"}
		if o.Duration > 0 {
			p.Requests = 0 // as many as come
		}
		if scored {
			counts := map[string]int64{}
			for i := range e.Set.Samples {
				counts[e.Set.Samples[i].Subset] += int64(e.Repeats)
			}
			p.Rows = append(p.Rows, facts.PlannedRow{Name: p.Dataset, N: int64(e.Samples * e.Repeats)})
			for _, name := range e.Set.Subsets {
				if name != "" {
					p.Rows = append(p.Rows, facts.PlannedRow{Name: cfg.AbbrOf(name), N: counts[name]})
				}
			}
			for _, g := range cfg.Groups {
				p.Rows = append(p.Rows, facts.PlannedRow{Name: g.Name, Group: true})
			}
		}
		out = append(out, p)
	}
	return out
}

// gateCommand is `ais_bench gate`.
func gateCommand() *cli.Command {
	return &cli.Command{
		Name: "gate", Usage: "judge runs, or a sweep, by an acceptance contract; the exit code is the verdict", ArgsUsage: "RUN…",
		Description: "RUN is a run folder, its name below --work-dir, or latest; several are repeats of one configuration and are judged\n" +
			"together. It may be a sweep, which is judged alone, by clauses on sweep.search.highest and the like. Every clause is\n" +
			"PASS, FAIL or INCONCLUSIVE by the interval of its figures. Nothing is asked and nothing in the run folders is changed.\n" +
			"Exit codes: 0 PASS, 1 FAIL, 4 INCONCLUSIVE, 2 a bad contract, 3 a run that cannot be read. docs/gate.md explains contracts.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "contract", Usage: "acceptance contract, YAML `FILE`"},
			&cli.StringFlag{Name: "baseline", Usage: "`RUN` that compare.baseline refers to"},
			&cli.StringFlag{Name: "junit", Usage: "write the verdict as JUnit XML to this `FILE`"},
			&cli.StringFlag{Name: "json", Usage: "write the verdict as JSON to this `FILE`; - prints it instead of the table"},
			&cli.BoolFlag{Name: "list-metrics", Usage: "print every name that a clause may use, with value, unit and interval"},
			&cli.StringSliceFlag{Name: "goodput", Usage: "service levels in ms (`ttft:500 tpot:50`); the contract's own win"},
			&cli.StringFlag{Name: "work-dir", Aliases: []string{"w"}, Value: "outputs/default", Usage: "root of run folders"},
		},
		Action: gateAction,
	}
}

func gateAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef("gate: name one run folder or more, or latest")
	}
	slos, err := metrics.ParseSLOs(c.StringSlice("goodput"))
	if err != nil {
		return usage(err)
	}
	o := metrics.Options{SLOs: slos}
	if c.String("contract") == "" && !c.Bool("list-metrics") {
		return usagef("gate: name a contract with --contract FILE, or --list-metrics to see what one may say")
	}
	var runs []*outputs.Run
	for _, name := range c.Args().Slice() {
		run, err := judgedRun(c.String("work-dir"), name)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(runs, func(r *outputs.Run) bool { return sameFolder(r.Dir(), run.Dir()) }) {
			return usagef("gate: %s is named twice: a run is no repeat of itself", run.Dir())
		}
		for _, first := range runs {
			if sameRun(first, run) {
				return usagef("gate: %s and %s are one and the same run, copied: a run is no repeat of itself", first.Dir(), run.Dir())
			}
		}
		runs = append(runs, run)
	}
	if err := sweepAlone(c, runs); err != nil {
		return err
	}
	if c.Bool("list-metrics") {
		return listMetrics(c, runs, o)
	}
	g, err := openGate(c, o)
	if err != nil {
		return err
	}
	v, err := g.judge(runs...)
	if err != nil {
		return err
	}
	d := g.document(v, runs...)
	if path := c.String("junit"); path != "" {
		if err := writeVerdict(path, d.WriteJUnit); err != nil {
			return err
		}
	}
	switch path := c.String("json"); path {
	case "":
	case "-":
		if err := d.WriteJSON(c.App.Writer); err != nil {
			return fmt.Errorf("print the verdict: %w", err)
		}
		return verdictErr(v)
	default:
		if err := writeVerdict(path, d.WriteJSON); err != nil {
			return err
		}
	}
	if err := printVerdict(c, g, v); err != nil {
		return err
	}
	fmt.Fprintln(c.App.Writer, outputs.ChecklistLine(d.Checklist))
	return verdictErr(v)
}

// singleRun opens one run. A sweep or a grid holds runs and is none.
func singleRun(what, workDir, name string) (*outputs.Run, error) {
	dir := outputs.Locate(workDir, name)
	for _, kind := range []string{sweepKind, grid.Kind} {
		if !sweep.Is(dir, kind) {
			continue
		}
		example := filepath.Join(dir, "points", "…")
		if points, _ := filepath.Glob(filepath.Join(dir, "points", "*")); len(points) > 0 { // a name with brackets finds none
			example = points[0]
		}
		return nil, usagef("%s: %s is a %s, which holds runs and is none: name one of its points, such as %s", what, dir, kind, example)
	}
	return tasks.OpenRun(workDir, name)
}

// notItself refuses a baseline that is one of the runs, or a copy of it: a run does
// not differ from itself.
func notItself(baseline *outputs.Run, runs []*outputs.Run) error {
	for _, r := range runs {
		switch {
		case sameFolder(r.Dir(), baseline.Dir()):
			return usagef("--baseline %s is the run that is judged: nothing can have changed; name an earlier run", baseline.Dir())
		case sameRun(baseline, r):
			return usagef("--baseline %s and %s, which is judged, are one and the same run, copied: nothing can have changed; name an earlier run", baseline.Dir(), r.Dir())
		}
	}
	return nil
}

// sameRun reports whether two folders hold one run.
func sameRun(a, b *outputs.Run) bool {
	x, err := a.ReadManifest()
	y, err2 := b.ReadManifest()
	return err == nil && err2 == nil && outputs.SameRun(x, y) // reading the runs says what is wrong with them
}

// sameFolder reports whether two paths, however they are written, are one folder.
func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return a == b || err == nil && err2 == nil && os.SameFile(x, y)
}

// listMetrics prints all names with their values.
func listMetrics(c *cli.Context, runs []*outputs.Run, o metrics.Options) error {
	set, err := openFacts(runs, facts.Options{Metrics: o})
	if err != nil {
		return err
	}
	t := outputs.Table{Title: "Figures that a clause may use", Columns: []outputs.Column{{Name: "Name"}, {Name: "Value"}, {Name: "Unit"}, {Name: "n", Kind: outputs.KindInt},
		{Name: "95 % interval"}, {Name: "Method"}}}
	for _, p := range set.Paths() {
		f, err := set.Lookup(p)
		if err != nil {
			continue // a list in the manifest
		}
		if !f.Bounded() && f.Text == nil && strings.Contains(f.Name, "by_input_length") {
			continue // a range that the run has no request of has no figures either
		}
		m := contract.MetricOf(f, contract.DefaultConfidence)
		value, span := m.Words()
		method := m.Method
		if m.Reason != "" {
			method = m.Reason
		}
		t.AddRow(m.Name, value, m.Unit, m.N, span, method)
	}
	t.Notes = append(t.Notes, listNotes(set)...)
	return t.WriteText(c.App.Writer, outputs.TextOptions{MaxWidth: 120})
}
