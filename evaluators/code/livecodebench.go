package code

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"ais_bench/evaluators/sandbox"
)

// prelude are the imports that LiveCodeBench promises to a solution.
const prelude = `import sys, os, io, re, math, heapq, bisect, random, string, itertools, functools, collections, operator, copy, datetime, statistics, json, decimal, fractions, array
from typing import *
from collections import *
from itertools import *
from functools import *
from heapq import *
from bisect import *
from math import *
from operator import *
from string import *
from re import *
from random import *
from copy import *
from datetime import *
from io import *
from sys import *
from builtins import *
sys.setrecursionlimit(600000)
`

// LiveCodeBench judges one answer to a LiveCodeBench code generation problem:
// all cases in order, each in a process of its own, stopping at the first that
// is not passed. Output is compared by SameOutput, results of calls as JSON
// values.
func LiveCodeBench(ctx context.Context, box Runner, p LiveCodeBenchProblem, answer string) (Verdict, error) {
	wall := p.Timeout
	if wall <= 0 {
		wall = 6 * time.Second
	}
	source, ok := Extract(answer, "python", p.FuncName)
	if !ok {
		return Verdict{Status: NoCode, Detail: "the reply holds no Python code", Total: len(p.Cases)}, nil
	}
	v := Verdict{Status: Pass, Code: source, Total: len(p.Cases)}
	if len(p.Cases) == 0 {
		return v, fmt.Errorf("code: the problem has no test cases")
	}
	for i, c := range p.Cases {
		judge := stdinCase
		if p.FuncName != "" {
			judge = callCase
		}
		status, detail, err := judge(ctx, box, p, source, c, wall)
		if err != nil {
			return v, err
		}
		if status != Pass {
			v.Status, v.Detail = status, fmt.Sprintf("case %d of %d: %s", i+1, len(p.Cases), detail)
			return v, nil
		}
		v.Passed++
	}
	return v, nil
}

func stdinCase(ctx context.Context, box Runner, p LiveCodeBenchProblem, source string, c Case, wall time.Duration) (Status, string, error) {
	r, err := box.Run(ctx, sandbox.Program{
		Argv: []string{"python3", "-I", "main.py"}, Files: map[string]string{"main.py": prelude + source},
		Stdin: c.Input, Wall: wall, Output: int64(2*len(c.Output)) + 64<<10,
	})
	if err != nil {
		return "", "", fmt.Errorf("code: %w", err)
	}
	if r.TimedOut || r.Signal != 0 || r.Exit != 0 {
		status, detail := ending(r, wall)
		return status, detail, nil
	}
	same := SameOutput
	if p.AnyOrder {
		same = SameOutputAnyOrder
	}
	if same(r.Stdout, c.Output) {
		return Pass, "", nil
	}
	return Fail, fmt.Sprintf("wrong output %s, expected %s", quote(r.Stdout), quote(c.Output)), nil
}

func callCase(ctx context.Context, box Runner, p LiveCodeBenchProblem, source string, c Case, wall time.Duration) (Status, string, error) {
	j := job{Source: prelude + source, Call: p.FuncName}
	for _, line := range strings.Split(strings.TrimSpace(c.Input), "\n") {
		if strings.TrimSpace(line) != "" {
			j.Args = append(j.Args, line)
		}
	}
	v, o, err := runJob(ctx, box, j, wall, int64(2*len(c.Output))+64<<10)
	if err != nil || v.Status != Pass {
		return v.Status, v.Detail, err
	}
	if sameJSON(o.Value, []byte(c.Output)) {
		return Pass, "", nil
	}
	return Fail, fmt.Sprintf("returned %s, expected %s", quote(string(o.Value)), quote(c.Output)), nil
}

func quote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return strconv.Quote(s)
}

// sameJSON compares a result with the expected one as Python's == would after
// tuples have become lists: 1, 1.0 and true are equal. A list of one expected
// value also accepts that value alone, as published.
func sameJSON(got, want []byte) bool {
	decode := func(b []byte) (v any, err error) {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		err = d.Decode(&v)
		return v, err
	}
	g, err1 := decode(got)
	w, err2 := decode(want)
	if err1 != nil || err2 != nil {
		return strings.TrimSpace(string(got)) == strings.TrimSpace(string(want))
	}
	if sameValue(g, w) {
		return true
	}
	list, ok := w.([]any)
	return ok && len(list) > 0 && sameValue(g, list[0])
}

func sameValue(g, w any) bool {
	number := func(v any) (*big.Float, bool) {
		switch v := v.(type) {
		case json.Number:
			f, _, err := big.ParseFloat(v.String(), 10, 2000, big.ToNearestEven)
			if strings.ContainsAny(v.String(), ".eE") { // a float is a double, not a decimal
				d, err := strconv.ParseFloat(v.String(), 64)
				return big.NewFloat(d), err == nil && !math.IsInf(d, 0)
			}
			return f, err == nil
		case bool:
			if v {
				return big.NewFloat(1), true
			}
			return big.NewFloat(0), true
		}
		return nil, false
	}
	if a, ok := number(g); ok {
		b, ok := number(w)
		return ok && a.Cmp(b) == 0
	}
	switch g := g.(type) {
	case []any:
		l, ok := w.([]any)
		if !ok || len(l) != len(g) {
			return false
		}
		for i := range g {
			if !sameValue(g[i], l[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		m, ok := w.(map[string]any)
		if !ok || len(m) != len(g) {
			return false
		}
		for k := range g {
			v, ok := m[k]
			if !ok || !sameValue(g[k], v) {
				return false
			}
		}
		return true
	}
	return g == w
}

// SameOutput compares a program's output with the expected one: equal after
// white space at the ends of lines and blank lines are dropped; else line by
// line with the same tokens, where tokens that are not both integers may be
// numbers within numpy's allclose (1e-5 relative, 1e-8 absolute).
func SameOutput(got, want string) bool {
	g, w := outputLines(got), outputLines(want)
	if len(g) != len(w) {
		return false
	}
	for i := range g {
		if g[i] != w[i] && !sameTokens(strings.Fields(g[i]), strings.Fields(w[i])) {
			return false
		}
	}
	return true
}

// SameOutputAnyOrder is SameOutput, or the same set of lines, each taken as a
// set of tokens: the published comparator's last resort.
func SameOutputAnyOrder(got, want string) bool {
	if SameOutput(got, want) {
		return true
	}
	sets := func(s string) map[string]bool {
		m := map[string]bool{}
		for _, l := range outputLines(s) {
			seen := map[string]bool{}
			var tokens []string
			for _, t := range strings.Fields(l) {
				if !seen[t] {
					seen[t] = true
					tokens = append(tokens, t)
				}
			}
			slices.Sort(tokens)
			m[strings.Join(tokens, " ")] = true
		}
		return m
	}
	g, w := sets(got), sets(want)
	if len(g) != len(w) {
		return false
	}
	for k := range g {
		if !w[k] {
			return false
		}
	}
	return true
}

// EqualLines compares lines of output with an expected text after white space
// around each line is dropped, and nothing else.
func EqualLines(lines []string, want string) bool {
	strip := func(in []string) (out []string) {
		for _, l := range in {
			if l = strings.TrimSpace(l); l != "" {
				out = append(out, l)
			}
		}
		return out
	}
	g, w := strip(lines), strip(strings.Split(want, "\n"))
	return strings.Join(g, "\n") == strings.Join(w, "\n")
}

func outputLines(s string) (lines []string) {
	for _, l := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

func sameTokens(g, w []string) bool {
	if len(g) != len(w) {
		return false
	}
	for i := range g {
		if g[i] == w[i] {
			continue
		}
		if isInteger(g[i]) && isInteger(w[i]) {
			return false
		}
		a, err1 := strconv.ParseFloat(g[i], 64)
		b, err2 := strconv.ParseFloat(w[i], 64)
		if err1 != nil || err2 != nil || math.IsNaN(a) || math.IsNaN(b) || math.IsInf(a, 0) || math.IsInf(b, 0) || math.Abs(a-b) > 1e-8+1e-5*math.Abs(b) {
			return false
		}
	}
	return true
}

func isInteger(s string) bool {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
