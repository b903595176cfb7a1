package datasets

import (
	"fmt"
)

// longShapes read questions about long documents.
var longShapes = map[string]shape{
	"longbench": shapeLongBench,
	"leval":     shapeLEval,
}

// shapeLongBench keeps input, context and all_classes; every answer counts.
func shapeLongBench(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "context", "answers"); err != nil {
		return nil, err
	}
	answers, ok := texts(row["answers"])
	if !ok || len(answers) == 0 {
		return nil, fmt.Errorf("answers is not a list of texts")
	}
	if row["input"] == nil {
		row["input"] = ""
	}
	row["answer"] = answers[0]
	return plainGold(row, answers[0], answers...)
}

// shapeLEval makes one item of each instruction about a document.
func shapeLEval(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "input", "instructions", "outputs"); err != nil {
		return nil, err
	}
	questions, _ := texts(row["instructions"])
	outputs, _ := texts(row["outputs"])
	if len(questions) != len(outputs) {
		return nil, fmt.Errorf("%d instructions but %d outputs", len(questions), len(outputs))
	}
	var items []item
	for i, q := range questions {
		one := map[string]any{"context": row["input"], "question": q, "answer": outputs[i], "length": len([]rune(outputs[i]))}
		for _, c := range []string{"source", "evaluation"} {
			if v, ok := row[c]; ok {
				one[c] = v
			}
		}
		items = append(items, item{fields: one, gold: outputs[i], correct: -1})
	}
	return items, nil
}
