// Package grid measures one workload on an engine started in different ways: with
// every combination of the values of some parameters.
//
// A Plan is the parameters and how often each combination is measured. A Runner goes
// through its combinations one after the other: it starts an engine with the
// combination's values in its command (tasks/launch), measures on it the runs that are
// missing (tasks/sweep, whose Store keeps a grid's points as it keeps a sweep's), and
// stops it. What concerns one engine alone, such as one that does not start, is that
// combination's failure; the grid goes on with the next one.
//
// Nothing here computes a figure: summarizers/tradeoff does, from the points' records.
package grid

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ais_bench/tasks/engine"
	"ais_bench/tasks/sweep"
)

// Kind names grids' folders and their description, see sweep.Spec.
const Kind = "grid"

// MaxCombinations is how many combinations a grid may have.
const MaxCombinations = 1000

// Param is one parameter and its values. Its name is a placeholder of the engine's
// command: letters, digits and _.
type Param struct {
	Name   string
	Values []string
}

var paramName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ParseParams reads parameters written NAME=V1,V2,… . A - in a name is taken for _.
// The error names the text at fault; no parameter at all is one, too.
func ParseParams(list []string) ([]Param, error) {
	var params []Param
	n := 1
	for _, text := range list {
		name, values, ok := strings.Cut(text, "=")
		name = strings.ReplaceAll(strings.TrimSpace(name), "-", "_")
		switch {
		case !ok:
			return nil, fmt.Errorf("--param %s: write NAME=V1,V2,…", text)
		case !paramName.MatchString(name):
			return nil, fmt.Errorf("--param %s: %q is no name; use letters, digits and _", text, name)
		case name == "port" || name == "host":
			return nil, fmt.Errorf("--param %s: {%s} is the address of the engine, which is filled in by itself", text, name)
		case slices.ContainsFunc(params, func(p Param) bool { return p.Name == name }):
			return nil, fmt.Errorf("--param %s: %s is given twice; write all its values into one", text, name)
		}
		p := Param{Name: name}
		for _, v := range strings.Split(values, ",") {
			if v = strings.TrimSpace(v); v == "" {
				return nil, fmt.Errorf("--param %s: a value is empty", text)
			}
			if slices.Contains(p.Values, v) {
				return nil, fmt.Errorf("--param %s: %s is given twice", text, v)
			}
			p.Values = append(p.Values, v)
		}
		params = append(params, p)
		n *= len(p.Values)
	}
	switch {
	case len(params) == 0:
		return nil, errors.New("bench grid: --param is missing: what is to be varied, such as --param max_num_seqs=16,32,64")
	case n > MaxCombinations:
		return nil, fmt.Errorf("--param: %d combinations are too many (at most %d)", n, MaxCombinations)
	}
	return params, nil
}

// Combinations are all settings of the parameters, the last one varying fastest.
func Combinations(params []Param) [][]sweep.Setting {
	list := [][]sweep.Setting{nil}
	for _, p := range params {
		var next [][]sweep.Setting
		for _, c := range list {
			for _, v := range p.Values {
				next = append(next, append(slices.Clone(c), sweep.Setting{Name: p.Name, Value: v}))
			}
		}
		list = next
	}
	return list
}

// Name is a combination as people read it: "max_num_seqs 16, mnbt 2048".
func Name(settings []sweep.Setting) string {
	parts := make([]string, len(settings))
	for i, s := range settings {
		parts[i] = s.Name + " " + s.Value
	}
	return strings.Join(parts, ", ")
}

// CheckCommand fills the first combination in, so that a placeholder without a value
// and a parameter without a placeholder are found before anything starts.
func CheckCommand(command string, params []Param) error {
	values := map[string]string{"host": "127.0.0.1", "port": "8000"}
	var names []string
	for _, p := range params {
		values[p.Name] = p.Values[0]
		names = append(names, p.Name)
	}
	if _, err := engine.Expand(command, values, names...); err != nil {
		return fmt.Errorf("--launch: %w", err)
	}
	return nil
}

// Command is the command of one combination; {host} and {port} stay open.
func Command(command string, settings []sweep.Setting) (string, error) {
	values := map[string]string{"host": "{host}", "port": "{port}"}
	for _, s := range settings {
		values[s.Name] = s.Value
	}
	text, err := engine.Expand(command, values)
	if err != nil {
		return "", fmt.Errorf("--launch: %w", err)
	}
	return text, nil
}

// Plan is what is to be measured.
type Plan struct {
	Params []Param
	Runs   int // of every combination, on the same engine
}

// Points are the points of one combination: those that are done, in the order of
// their runs, and those that are missing. store may be nil: all are missing.
func (p Plan) Points(store *sweep.Store, settings []sweep.Setting) (done []*sweep.Done, missing []sweep.Point, err error) {
	for run := 1; run <= p.Runs; run++ {
		at := sweep.Point{Settings: settings, Run: run}
		var d *sweep.Done
		if store != nil {
			if d, err = store.Done(at); err != nil {
				return nil, nil, err
			}
		}
		if d != nil {
			done = append(done, d)
		} else {
			missing = append(missing, at)
		}
	}
	return done, missing, nil
}
