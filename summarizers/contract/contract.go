package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"ais_bench/registry"
	"ais_bench/summarizers/facts"
	"ais_bench/summarizers/metrics"
)

// DefaultConfidence is the level of intervals where a contract names none.
const DefaultConfidence = 0.95

// Severity says what a clause decides.
type Severity string

// The severities. Critical and major clauses decide the gate; minor ones are
// judged and reported.
const (
	Critical Severity = "critical"
	Major    Severity = "major"
	Minor    Severity = "minor"
)

// severities are the words accepted, with other tools' synonyms.
var severities = map[string]Severity{"": Critical, "critical": Critical, "blocker": Critical, "major": Major, "minor": Minor, "warning": Minor, "info": Minor}

// Decides reports whether a clause of the severity can fail the gate.
func (s Severity) Decides() bool { return s != Minor }

// Contract is what a service has to keep.
type Contract struct {
	Name        string   `yaml:"name"`
	Description string   `yaml:"description"`
	Confidence  *float64 `yaml:"confidence"` // nil = DefaultConfidence
	// Goodput are service levels (ttft:500 tpot:50) for goodput_share,
	// request_goodput and slo_attainment.
	Goodput []string `yaml:"goodput"`
	Clauses []Clause `yaml:"clauses"`

	Path   string `yaml:"-"` // the file it came from
	Text   []byte `yaml:"-"`
	SHA256 string `yaml:"-"` // of Text
	slos   []metrics.SLO
}

// Clause is one condition.
type Clause struct {
	Name       string   `yaml:"name"`
	Expr       string   `yaml:"expr"`
	Severity   string   `yaml:"severity"` // critical (default), major, minor
	Reason     string   `yaml:"reason"`   // why it is demanded
	MinSamples int64    `yaml:"min_samples"`
	Confidence *float64 `yaml:"confidence"` // nil = the contract's

	severity Severity
	level    float64
	source   *source
}

// Load reads a contract file. An error is the file's unless it cannot be read.
func Load(path string) (*Contract, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	return Parse(path, text)
}

// Parse reads a contract; the error names the clause and what to do.
func Parse(path string, text []byte) (*Contract, error) {
	c := &Contract{Path: path, Text: text}
	sum := sha256.Sum256(text)
	c.SHA256 = hex.EncodeToString(sum[:])
	if err := registry.Decode(text, c); err != nil {
		return nil, fmt.Errorf("contract %s: %w", path, err)
	}
	if err := c.prepare(); err != nil {
		return nil, fmt.Errorf("contract %s: %w", path, err)
	}
	return c, nil
}

func (c *Contract) prepare() error {
	if len(c.Clauses) == 0 {
		return errors.New("no clauses: give at least one with name and expr")
	}
	if c.Name == "" {
		c.Name = c.Path
	}
	level := DefaultConfidence
	if c.Confidence != nil {
		level = *c.Confidence
	}
	if err := checkLevel(level); err != nil {
		return err
	}
	var err error
	if c.slos, err = metrics.ParseSLOs(c.Goodput); err != nil {
		return errors.New(strings.Replace(err.Error(), "--goodput", "goodput", 1))
	}
	names, decides := map[string]bool{}, false
	for i := range c.Clauses {
		cl := &c.Clauses[i]
		if cl.Expr == "" {
			return fmt.Errorf("clause %d (%s) has no expr", i+1, cl.Name)
		}
		if cl.Name == "" {
			cl.Name = cl.Expr
		}
		if names[cl.Name] {
			return fmt.Errorf("two clauses are called %q: rename one", registry.Excerpt(cl.Name, 0))
		}
		names[cl.Name] = true
		if err := cl.prepare(level); err != nil {
			return fmt.Errorf("clause %q: %w", registry.Excerpt(cl.Name, 0), err)
		}
		decides = decides || cl.severity.Decides()
	}
	if !decides {
		return errors.New("every clause is minor: nothing could fail, so the gate would always pass; make one critical or major")
	}
	return nil
}

func (cl *Clause) prepare(level float64) error {
	var ok bool
	if cl.severity, ok = severities[strings.ToLower(cl.Severity)]; !ok {
		words := []string{"critical", "major", "minor", "blocker", "warning"}
		return fmt.Errorf("unknown severity %q%s; one of critical, major, minor", cl.Severity, registry.DidYouMean(cl.Severity, words))
	}
	if cl.MinSamples < 0 {
		return fmt.Errorf("min_samples %d: give 0 or more", cl.MinSamples)
	}
	cl.level = level
	if cl.Confidence != nil {
		cl.level = *cl.Confidence
	}
	if err := checkLevel(cl.level); err != nil {
		return err
	}
	var err error
	cl.source, err = parse(cl.Expr)
	return err
}

// MaxConfidence is the highest confidence a contract may ask for: one error in a
// million. Nearer to 1 the quantiles that intervals are made of leave what a float64
// can tell from 1, also after the rest was shared out among several figures.
const MaxConfidence = 0.999999

func checkLevel(level float64) error {
	if !(level >= 0.5 && level <= MaxConfidence) {
		return fmt.Errorf("confidence %v: give a share from 0.5 to %v, such as 0.95", level, MaxConfidence)
	}
	return nil
}

// Paths are the names that the clauses mention, for facts.Options; what a clause
// goes through (all(perf, …)) counts with every member.
func (c *Contract) Paths() []facts.Path {
	var out []facts.Path
	for i := range c.Clauses {
		out = append(out, c.Clauses[i].source.paths()...)
	}
	return out
}

// Compares reports whether a clause refers to the performance and whether one
// refers to the accuracy of a baseline.
func (c *Contract) Compares() (performance, accuracy bool) {
	for _, p := range c.Paths() {
		switch {
		case p[0] != "compare":
		case len(p) > 2 && p[2] == "accuracy":
			accuracy = true
		default:
			performance = true
		}
	}
	return performance, accuracy
}
