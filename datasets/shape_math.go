package datasets

import (
	"fmt"
	"regexp"
	"strings"
)

// mathShapes read word problems and competition mathematics.
var mathShapes = map[string]shape{
	"gsm8k":         shapeGSM8K,
	"math":          shapeMath,
	"olympiadbench": shapeOlympiadBench,
	"svamp":         shapeSVAMP,
	"dapo_math":     shapeDAPO,
	"mgsm":          shapeMGSM,
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

// shapeMGSM adds the language, whose answer cue the scorer looks for.
func shapeMGSM(row map[string]any, at position) ([]item, error) {
	if err := need(row, "question", "answer"); err != nil {
		return nil, err
	}
	row["lang"] = at.subset.Name
	gold := strings.ReplaceAll(strings.TrimSpace(textOf(row["answer"])), ",", "")
	return []item{{fields: row, gold: gold, correct: -1}}, nil
}

// firstOf is the first of the columns that has a value.
func firstOf(row map[string]any, columns ...string) (string, bool) {
	for _, c := range columns {
		if v, ok := row[c]; ok && v != nil && textOf(v) != "" {
			return textOf(v), true
		}
	}
	return "", false
}

// answerInProblem finds the answer that some rows of published files carry at the
// end of the problem, with an empty answer column. It has to come out of the
// prompt.
var answerInProblem = regexp.MustCompile(`(?s)[Aa]nswers?:\s*(\S.*?)\s*$`)

// shapeMath reads the many names competition sets give to problem and answer. A
// row without an answer column has it in the last \boxed{} of its solution.
func shapeMath(row map[string]any, _ position) ([]item, error) {
	problem, ok := firstOf(row, "problem", "question", "Problem", "Question", "origin_prompt")
	if !ok {
		return nil, need(row, "problem")
	}
	gold, ok := firstOf(row, "answer", "gold_answer", "Answer", "expected_answer")
	if m := answerInProblem.FindStringSubmatchIndex(problem); !ok && m != nil {
		problem, gold, ok = problem[:m[0]], problem[m[2]:m[3]], true
	}
	row["problem"], row["question"] = problem, problem
	if !ok {
		solution, _ := firstOf(row, "solution", "Solution")
		if gold, ok = lastBoxed(solution); !ok {
			return nil, fmt.Errorf("no answer: neither a column answer nor a \\boxed{} in the solution")
		}
	}
	row["answer"] = strings.TrimSpace(gold)
	return []item{{fields: row, gold: strings.TrimSpace(gold), correct: -1}}, nil
}

// lastBoxed is the content of the last \boxed{…} (or \fbox{…}), with balanced
// braces, or of "\boxed 5" up to the end of its formula.
func lastBoxed(s string) (string, bool) {
	i := max(strings.LastIndex(s, `\boxed`), strings.LastIndex(s, `\fbox`))
	if i < 0 {
		return "", false
	}
	rest := s[i+1:]
	if after, ok := strings.CutPrefix(rest, "boxed "); ok {
		text, _, _ := strings.Cut(after, "$")
		return strings.TrimSpace(text), true
	}
	open := strings.IndexByte(rest, '{')
	if open < 0 {
		return "", false
	}
	depth := 0
	for j := open; j < len(rest); j++ {
		switch rest[j] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return rest[open+1 : j], true
			}
		}
	}
	return "", false
}

// shapeOlympiadBench takes final_answer; several answers are joined by commas,
// as the problem asks for them.
func shapeOlympiadBench(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "question", "final_answer"); err != nil {
		return nil, err
	}
	answers, ok := texts(row["final_answer"])
	if !ok {
		answers = []string{textOf(row["final_answer"])}
	}
	for i, a := range answers {
		answers[i] = strings.TrimSpace(strings.Trim(strings.TrimSpace(a), "$"))
	}
	if c := textOf(row["context"]); c != "" {
		row["question"] = c + "\n" + textOf(row["question"])
	}
	row["answer"] = strings.Join(answers, ", ")
	return []item{{fields: row, gold: textOf(row["answer"]), correct: -1}}, nil
}

func shapeSVAMP(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "Body", "Question", "Answer"); err != nil {
		return nil, err
	}
	body := strings.TrimSpace(textOf(row["Body"]))
	if body != "" && !strings.HasSuffix(body, ".") {
		body += "."
	}
	row["question"] = body + " " + textOf(row["Question"])
	row["answer"] = textOf(row["Answer"])
	return []item{{fields: row, gold: textOf(row["Answer"]), correct: -1}}, nil
}

// shapeDAPO reads {prompt: [{role, content}], reward_model: {ground_truth}} and
// plain {question | prompt, answer}. The published prompt wraps the problem in
// instructions, which the configuration states itself.
func shapeDAPO(row map[string]any, _ position) ([]item, error) {
	problem, ok := firstOf(row, "question", "problem")
	if list, isList := row["prompt"].([]any); !ok && isList && len(list) > 0 {
		if m, isMap := list[len(list)-1].(map[string]any); isMap {
			problem = textOf(m["content"])
			ok = true
		}
	}
	if !ok {
		if problem, ok = firstOf(row, "prompt"); !ok {
			return nil, need(row, "prompt")
		}
	}
	if strings.HasPrefix(problem, "Solve the following math problem") {
		if _, after, found := strings.Cut(problem, "\n\n"); found {
			problem = after
		}
		if i := strings.LastIndex(problem, "\n\nRemember to put your answer"); i >= 0 {
			problem = problem[:i]
		}
	}
	gold, ok := firstOf(row, "answer", "solution", "ground_truth")
	if m, isMap := row["reward_model"].(map[string]any); !ok && isMap {
		gold = textOf(m["ground_truth"])
	}
	if gold == "" {
		return nil, need(row, "answer")
	}
	row["question"], row["answer"] = strings.TrimSpace(problem), gold
	return []item{{fields: row, gold: gold, correct: -1}}, nil
}
