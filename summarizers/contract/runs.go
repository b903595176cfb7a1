package contract

import (
	"fmt"

	"ais_bench/outputs"
	"ais_bench/summarizers/compare"
	"ais_bench/summarizers/facts"
	"ais_bench/summarizers/metrics"
)

// Baseline is the run that compare.baseline refers to, with its figures.
type Baseline struct {
	Run *outputs.Run
	Set *facts.Set
}

// OpenBaseline reads what the contract needs of a baseline.
func (c *Contract) OpenBaseline(run *outputs.Run, o metrics.Options) (*Baseline, error) {
	set, err := facts.Open([]*outputs.Run{run}, facts.Options{Metrics: c.Options(o), Paths: c.Paths()})
	if err != nil {
		return nil, err
	}
	return &Baseline{run, set}, nil
}

// SHA256 is that of the baseline's manifest, which has the hashes of the rest; ""
// where it has none.
func (b *Baseline) SHA256() string {
	sum, _, err := outputs.HashFile(b.Run.ManifestPath())
	if err != nil {
		return ""
	}
	return sum
}

// Options are o with the contract's own service levels, where it has any.
func (c *Contract) Options(o metrics.Options) metrics.Options {
	if len(c.slos) > 0 {
		o.SLOs = c.slos
	}
	return o
}

// A ReadError says that a run, or its baseline, could not be read.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// JudgeRuns judges runs as repeats of one. o is how their figures are computed; b
// may be nil. An error is a *ReadError, or the caller's: a *facts.MismatchError, a
// contract that names what is not there.
func (c *Contract) JudgeRuns(b *Baseline, o metrics.Options, runs ...*outputs.Run) (*Verdict, error) {
	opts := facts.Options{Metrics: c.Options(o), Paths: c.Paths()}
	if b != nil {
		opts.Baseline = b.Set
	}
	set, err := facts.Open(runs, opts)
	if _, mismatch := err.(*facts.MismatchError); mismatch {
		return nil, err
	}
	if err != nil {
		return nil, &ReadError{err}
	}
	if performance, accuracy := c.Compares(); b != nil && (performance || accuracy) {
		p, a, err := compare.Unfit(b.Run, runs...)
		if err != nil {
			return nil, &ReadError{fmt.Errorf("--baseline: %w", err)}
		}
		set.Unlike(p, a)
	}
	return c.Judge(set)
}

// WithoutBaseline is the contract without the clauses that compare with a
// baseline; nil where none is left.
func (c *Contract) WithoutBaseline() *Contract {
	out := *c
	out.Clauses = nil
	for _, cl := range c.Clauses {
		compares := false
		for _, p := range cl.source.paths() {
			compares = compares || p[0] == "compare"
		}
		if !compares {
			out.Clauses = append(out.Clauses, cl)
		}
	}
	if len(out.Clauses) == 0 {
		return nil
	}
	return &out
}
