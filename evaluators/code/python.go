package code

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"ais_bench/evaluators/sandbox"
)

//go:embed harness.py
var harness string

// job is what the harness is asked to do; it comes by stdin, so that the
// solution cannot read the nonce from a file.
type job struct {
	Nonce  string   `json:"nonce"`
	Source string   `json:"source"`
	Steps  []string `json:"steps"`          // run after the source, one by one, in its namespace
	Call   string   `json:"call,omitempty"` // function to call with Args
	Args   []string `json:"args,omitempty"` // JSON values
}

// outcome is the harness's last line of output.
type outcome struct {
	Nonce  string          `json:"nonce"`
	Status Status          `json:"status"`
	Detail string          `json:"detail"`
	Passed int             `json:"passed"`
	Value  json.RawMessage `json:"value"`
}

// runJob runs a Python job and judges how it ended. Only a verdict with the
// nonce counts: a solution that exits early has passed nothing.
func runJob(ctx context.Context, box Runner, j job, wall time.Duration, output int64) (Verdict, outcome, error) {
	j.Nonce = rand.Text()
	input, err := json.Marshal(j)
	if err != nil {
		return Verdict{}, outcome{}, fmt.Errorf("code: encode the job: %w", err)
	}
	r, err := box.Run(ctx, sandbox.Program{
		Argv: []string{"python3", "-I", "harness.py"}, Files: map[string]string{"harness.py": harness},
		Stdin: string(input), Wall: wall, Output: output,
	})
	if err != nil {
		return Verdict{}, outcome{}, fmt.Errorf("code: %w", err)
	}
	v := Verdict{Total: len(j.Steps)}
	var o outcome
	lines := strings.Split(strings.TrimSpace(r.Stdout), "\n")
	if json.Unmarshal([]byte(lines[len(lines)-1]), &o) == nil && o.Nonce == j.Nonce {
		v.Status, v.Detail, v.Passed = o.Status, o.Detail, o.Passed
		return v, o, nil
	}
	v.Status, v.Detail = ending(r, wall)
	return v, outcome{}, nil
}

// ending judges a run that gave no verdict of its own.
func ending(r sandbox.Result, wall time.Duration) (Status, string) {
	switch {
	case r.TimedOut:
		return Timeout, fmt.Sprintf("not finished after %v", wall)
	case r.OOM:
		return Error, "killed for using too much memory"
	case r.Signal != 0:
		return Error, fmt.Sprintf("killed by signal %d", r.Signal)
	case r.Exit == 0:
		return Error, "ended the process before the tests were done"
	}
	return Error, fmt.Sprintf("exit status %d: %s", r.Exit, lastLine(r.Stderr))
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	if s == "" {
		return "no message"
	}
	return s
}

// RunPython runs code that was already extracted (by a compatible rule, say)
// together with its tests, and judges the outcome.
func RunPython(ctx context.Context, box Runner, program string, p RunOptions) (Verdict, error) {
	wall := p.Timeout
	if wall <= 0 {
		wall = 10 * time.Second
	}
	v, _, err := runJob(ctx, box, job{Source: program, Steps: p.Steps}, wall, 0)
	v.Code = program
	return v, err
}

// HumanEval judges one answer to a HumanEval problem.
func HumanEval(ctx context.Context, box Runner, p HumanEvalProblem, answer string) (Verdict, error) {
	wall := p.Timeout
	if wall <= 0 {
		wall = 3 * time.Second
	}
	source, ok := Extract(answer, "python", p.EntryPoint)
	if !ok {
		return Verdict{Status: NoCode, Detail: "the reply holds no Python code"}, nil
	}
	v, _, err := runJob(ctx, box, job{Source: joinPython(p.Prompt, source, p.EntryPoint), Steps: []string{p.Test + "\ncheck(" + p.EntryPoint + ")\n"}}, wall, 0)
	v.Code = source
	return v, err
}

// MBPP judges one answer to an MBPP problem.
func MBPP(ctx context.Context, box Runner, p MBPPProblem, answer string) (Verdict, error) {
	wall := p.Timeout
	if wall <= 0 {
		wall = 10 * time.Second
	}
	source, ok := Extract(unmark(answer), "python", testedName(p.Tests))
	if !ok {
		return Verdict{Status: NoCode, Detail: "the reply holds no Python code"}, nil
	}
	program := strings.Join(p.Imports, "\n") + "\n" + p.Setup + "\n" + source
	v, _, err := runJob(ctx, box, job{Source: program, Steps: p.Tests}, wall, 0)
	v.Code = source
	return v, err
}

// unmark takes the [BEGIN] … [DONE] frame of the few-shot prompt off a reply.
func unmark(answer string) string {
	if i := strings.LastIndex(answer, "[BEGIN]"); i >= 0 {
		answer = answer[i+len("[BEGIN]"):]
	}
	if i := strings.Index(answer, "[DONE]"); i >= 0 {
		answer = answer[:i]
		t := strings.TrimSpace(answer)
		if len(t) > 1 && t[0] == '\'' && t[len(t)-1] == '\'' {
			answer = t[1 : len(t)-1]
		} else if len(t) > 1 && t[len(t)-1] == '\'' { // the prompt held the opening quote
			answer = t[:len(t)-1]
		}
	}
	return answer
}

var called = regexp.MustCompile(`([A-Za-z_]\w*)\s*\(`)

// testedName guesses which function the assertions are about: the first called
// name that is not one of Python's own.
func testedName(tests []string) string {
	for _, t := range tests {
		for _, m := range called.FindAllStringSubmatchIndex(t, -1) {
			name := t[m[2]:m[3]]
			if !pythonNames[name] && (m[2] == 0 || t[m[2]-1] != '.') {
				return name
			}
		}
	}
	return ""
}

var pythonNames = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields("assert not and or in is if else lambda abs all any bool bytes chr dict divmod enumerate filter float frozenset hash hex int isinstance iter len list map max min next oct ord pow print range repr reversed round set sorted str sum tuple type zip Counter OrderedDict defaultdict deque isclose") {
		m[n] = true
	}
	return m
}()
