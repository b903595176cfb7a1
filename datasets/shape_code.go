package datasets

import (
	"encoding/json"
	"fmt"
	"strings"
)

// codeShapes read programming problems. Their columns stay under their public
// names: the judge needs them.
var codeShapes = map[string]shape{
	"humaneval":     shapeHumanEval,
	"humanevalx":    shapeHumanEvalX,
	"mbpp":          shapeMBPP,
	"mbpp_test":     shapeMBPPTest,
	"livecodebench": shapeLiveCodeBench,
}

func shapeHumanEval(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "task_id", "prompt", "test", "entry_point"); err != nil {
		return nil, err
	}
	row["answer"] = textOf(row["canonical_solution"])
	return plainGold(row, textOf(row["canonical_solution"]))
}

func shapeHumanEvalX(row map[string]any, at position) ([]item, error) {
	if err := need(row, "task_id", "prompt", "test", "declaration"); err != nil {
		return nil, err
	}
	row["language"] = at.subset.Name
	row["answer"] = textOf(row["canonical_solution"])
	return plainGold(row, textOf(row["canonical_solution"]))
}

// shapeMBPP reads the full set (text, code) and the sanitized one (prompt, code,
// test_imports). Column tests is the list of assertions as the prompt shows it.
func shapeMBPP(row map[string]any, _ position) ([]item, error) {
	text, ok := firstOf(row, "text", "prompt")
	if !ok {
		return nil, need(row, "text")
	}
	if err := need(row, "test_list"); err != nil {
		return nil, err
	}
	tests, ok := texts(row["test_list"])
	if !ok || len(tests) == 0 {
		return nil, fmt.Errorf("test_list is not a list of assertions")
	}
	row["text"], row["tests"], row["answer"] = text, strings.Join(tests, "\n"), textOf(row["code"])
	return plainGold(row, textOf(row["code"]))
}

// shapeMBPPTest keeps the test part of the full file, task ids 11 to 510, which
// the hub has as a file of its own.
func shapeMBPPTest(row map[string]any, at position) ([]item, error) {
	if id, ok := wholeNumber(row["task_id"]); !ok || id < 11 || id > 510 {
		return nil, nil
	}
	return shapeMBPP(row, at)
}

// shapeLiveCodeBench unpacks the public test cases into a list of {input, output,
// testtype} and takes func_name out of metadata. The private cases stay Packed:
// all releases together unpack to more than most machines' memory.
func shapeLiveCodeBench(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "question_content", "public_test_cases"); err != nil {
		return nil, err
	}
	if text, ok := row["public_test_cases"].(string); ok {
		cases, err := Packed(text).Unpack()
		if err != nil {
			return nil, fmt.Errorf("public_test_cases: %w", err)
		}
		row["public_test_cases"] = cases
	}
	if text, ok := row["private_test_cases"].(string); ok {
		row["private_test_cases"] = Packed(text)
	}
	row["func_name"] = ""
	if meta, ok := row["metadata"].(string); ok && meta != "" {
		var m map[string]any
		if err := json.Unmarshal([]byte(meta), &m); err != nil {
			return nil, fmt.Errorf("metadata: not JSON: %s", jsonProblem(err))
		}
		row["func_name"] = textOf(m["func_name"])
	} else if m, ok := row["metadata"].(map[string]any); ok {
		row["func_name"] = textOf(m["func_name"])
	}
	// How the program is to be written depends on whether a signature is given.
	if starter := textOf(row["starter_code"]); starter != "" {
		row["format"] = "Complete the starter code below and return the whole program in one fenced block.\n```python\n" + starter + "\n```"
	} else {
		row["format"] = "Write a program that reads the input from stdin and prints the result to stdout (no test data of its own), in one fenced block.\n```python\n# YOUR CODE HERE\n```"
	}
	row["answer"] = ""
	return plainGold(row, "")
}
