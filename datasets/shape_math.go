package datasets

import (
	"strings"
)

// mathShapes read word problems and competition mathematics.
var mathShapes = map[string]shape{
	"gsm8k": shapeGSM8K,
}

// shapeGSM8K keeps the worked solution as the column answer and takes the number
// after its last "####" as the gold, without thousands separators.
func shapeGSM8K(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "question", "answer"); err != nil {
		return nil, err
	}
	answer := textOf(row["answer"])
	gold := answer
	if i := strings.LastIndex(answer, "####"); i >= 0 {
		gold = answer[i+len("####"):]
	}
	gold = strings.ReplaceAll(strings.TrimSpace(gold), ",", "")
	return []item{{fields: row, gold: gold, correct: -1}}, nil
}
