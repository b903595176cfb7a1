// Package code judges programs written by a model: it takes the code out of
// the reply, joins it to the problem's tests, runs them in a sandbox and says
// pass, fail, timeout or error in one line.
//
// The extraction is one rule for every benchmark (see Extract); the
// bug-compatible extractions of other tools live elsewhere. A judge returns a Go
// error only when its own means fail (no sandbox, no python3), never because of
// the answer.
package code

import (
	"context"
	"time"

	"ais_bench/evaluators/sandbox"
)

// Status is how a judged program ended.
type Status string

// The statuses.
const (
	Pass    Status = "pass"
	Fail    Status = "fail"    // an assertion failed or an output was wrong
	Timeout Status = "timeout" // did not end in time
	Error   Status = "error"   // did not compile, raised, was killed for memory
	NoCode  Status = "no_code" // the reply holds no code
	Skipped Status = "skipped" // the language's toolchain is not on this host; says which
)

// Verdict is the judgement of one answer.
type Verdict struct {
	Status Status
	Detail string // one line: the failing assertion, the exception, the first wrong case
	Code   string // what was taken from the reply
	Passed int    // test cases passed, where cases are counted
	Total  int
}

// Runner is what a judge needs of a sandbox. *sandbox.Sandbox is one.
type Runner interface {
	Run(ctx context.Context, p sandbox.Program) (sandbox.Result, error)
}

// HumanEvalProblem are the fields of one HumanEval (or HumanEval+) row.
type HumanEvalProblem struct {
	Prompt, Test, EntryPoint string
	Timeout                  time.Duration // of the whole test [3 s, as published]
}

// MBPPProblem are the fields of one MBPP row.
type MBPPProblem struct {
	Setup   string        // test_setup_code
	Imports []string      // test_imports (sanitized)
	Tests   []string      // test_list, and challenge_test_list where wanted
	Timeout time.Duration // [10 s]
}

// Case is one test case of LiveCodeBench. For a call-based problem Input is one
// JSON value a line (the arguments) and Output a JSON value; otherwise they are
// stdin and stdout.
type Case struct{ Input, Output string }

// LiveCodeBenchProblem is one code generation problem.
type LiveCodeBenchProblem struct {
	Cases    []Case
	FuncName string        // non-empty: call-based, a method of Solution or a function
	AnyOrder bool          // also accept lines and tokens in any order, as published
	Timeout  time.Duration // per case [6 s]
}

// HumanEvalXProblem are the fields of one HumanEval-X row.
type HumanEvalXProblem struct {
	Language    string // python, cpp, go, java, js
	Prompt      string
	Declaration string // of the function, with what must stand before it
	Test        string
	TestSetup   string        // Go's package and imports
	EntryPoint  string        // optional
	Timeout     time.Duration // of the run; compilers have their own minute [10 s; 20 s where it compiles]
}

// RunOptions are the limits of RunPython.
type RunOptions struct {
	Timeout time.Duration // [10 s]
	Steps   []string      // tests run after the program, each an own step
}
