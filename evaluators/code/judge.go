package code

import (
	"context"
	"errors"
)

var errPending = errors.New("code: judge not available in this build")

// HumanEval judges one answer to a HumanEval problem.
func HumanEval(ctx context.Context, box Runner, p HumanEvalProblem, answer string) (Verdict, error) {
	return Verdict{}, errPending
}

// MBPP judges one answer to an MBPP problem.
func MBPP(ctx context.Context, box Runner, p MBPPProblem, answer string) (Verdict, error) {
	return Verdict{}, errPending
}

// LiveCodeBench judges one answer to a LiveCodeBench code generation problem:
// all cases in order, stopping at the first that is not passed.
func LiveCodeBench(ctx context.Context, box Runner, p LiveCodeBenchProblem, answer string) (Verdict, error) {
	return Verdict{}, errPending
}

// HumanEvalX judges one answer to a HumanEval-X problem.
func HumanEvalX(ctx context.Context, box Runner, p HumanEvalXProblem, answer string) (Verdict, error) {
	return Verdict{}, errPending
}

// RunPython runs code that was already extracted (by a compatible rule, say)
// followed by tests, and judges the outcome.
func RunPython(ctx context.Context, box Runner, program string, p RunOptions) (Verdict, error) {
	return Verdict{}, errPending
}

// Extract takes the code out of a reply: the last complete fenced block that
// defines entryPoint, else the last complete fenced block in the language, else
// the last complete block, else an unclosed block to the end, else the whole
// reply when it reads as code. lang is a fence tag ("python", "cpp", …);
// entryPoint may be empty. found is false when there is no code.
func Extract(answer, lang, entryPoint string) (source string, found bool) { return "", false }
