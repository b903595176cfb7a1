package ifeval

import "fmt"

// Check reports whether response follows one instruction, strictly: id is the
// instruction's id ("keywords:existence"), kwargs its arguments as in
// input_data.jsonl (nulls and missing keys are the same). A blank response
// follows nothing. The error names an unknown id or a missing or mistyped
// argument; it is never about the response.
func Check(id string, kwargs map[string]any, response string) (bool, error) {
	return false, fmt.Errorf("ifeval: unknown instruction %q", id)
}

// CheckLoose is Check on eight variants of the response (with and without its
// first and last line, with and without asterisks); one that follows is enough.
func CheckLoose(id string, kwargs map[string]any, response string) (bool, error) {
	return Check(id, kwargs, response)
}

// Evaluate judges a reply against all instructions of its prompt.
func Evaluate(ids []string, kwargs []map[string]any, response string) (Result, error) {
	return Result{}, nil
}

// Accuracy aggregates results: prompt-level (all instructions of a prompt
// followed) and instruction-level (micro over instructions), strict and loose.
func Accuracy(results []Result) Accuracies { return Accuracies{} }
