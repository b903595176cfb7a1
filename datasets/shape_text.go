package datasets

import (
	"fmt"
	"slices"
	"strings"
)

// textShapes read questions that are answered in free words.
var textShapes = map[string]shape{
	"bbh":      shapeBBH,
	"drop":     shapeDROP,
	"triviaqa": shapeTriviaQA,
	"squad":    shapeSQuAD,
	"ifeval":   shapeInstructions,
	"xsum":     shapeXSum,
	"lcsts":    shapePair("content", "summary"),
	"flores":   shapeFLORES,
	"lambada":  shapeLAMBADA,
	"simpleqa": shapeSimpleQA,
}

// plainGold is one item with a gold text.
func plainGold(row map[string]any, gold string, golds ...string) ([]item, error) {
	return []item{{fields: row, gold: gold, golds: golds, correct: -1}}, nil
}

// shapeBBH keeps the row; targets are "(A)" for choices and free text else.
func shapeBBH(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "input", "target"); err != nil {
		return nil, err
	}
	row["answer"] = row["target"]
	return plainGold(row, textOf(row["target"]))
}

// shapeDROP reads simple-evals' {context, ref_text}, whose context is a whole
// prompt of which we keep the part after its examples, and the hub's {passage,
// question, answer | answers_spans, validated_answers}.
func shapeDROP(row map[string]any, _ position) ([]item, error) {
	if refs, ok := row["ref_text"]; ok {
		golds := strings.Split(textOf(refs), "|")
		context := textOf(row["context"])
		if i := strings.LastIndex(context, "# Your Task"); i >= 0 {
			context = context[i+len("# Your Task"):]
		}
		context = strings.Trim(strings.TrimSpace(context), "-")
		row["task"] = strings.TrimSpace(context)
		row["passage"], row["question"] = splitDROP(textOf(row["task"]))
		return plainGold(row, golds[0], golds...)
	}
	if err := need(row, "passage", "question"); err != nil {
		return nil, err
	}
	row["task"] = "Passage: " + textOf(row["passage"]) + "\nQuestion: " + textOf(row["question"]) + "\nAnswer:"
	var golds []string
	add := func(v any) {
		if s := dropAnswer(v); s != "" && !slices.Contains(golds, s) {
			golds = append(golds, s)
		}
	}
	if spans, ok := row["answers_spans"].(map[string]any); ok {
		list, _ := texts(spans["spans"])
		golds = slices.Compact(list)
	}
	add(row["answer"])
	switch v := row["validated_answers"].(type) {
	case []any:
		for _, e := range v {
			add(e)
		}
	case map[string]any: // parallel lists
		numbers, _ := v["number"].([]any)
		for i := range numbers {
			one := map[string]any{}
			for k, l := range v {
				if list, ok := l.([]any); ok && i < len(list) {
					one[k] = list[i]
				}
			}
			add(one)
		}
	}
	if len(golds) == 0 {
		return nil, fmt.Errorf("no answer in answer, answers_spans or validated_answers")
	}
	return plainGold(row, golds[0], golds...)
}

func splitDROP(task string) (passage, question string) {
	passage, question, _ = strings.Cut(task, "\nQuestion:")
	question, _, _ = strings.Cut(question, "\nAnswer:")
	return strings.TrimSpace(strings.TrimPrefix(passage, "Passage:")), strings.TrimSpace(question)
}

// dropAnswer is one {number, date, spans} as text.
func dropAnswer(v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	if n := textOf(m["number"]); n != "" {
		return n
	}
	if spans, ok := texts(m["spans"]); ok && len(spans) > 0 {
		return strings.Join(spans, ", ")
	}
	if d, ok := m["date"].(map[string]any); ok {
		return strings.TrimSpace(strings.Join(strings.Fields(textOf(d["day"])+" "+textOf(d["month"])+" "+textOf(d["year"])), " "))
	}
	return ""
}

// shapeTriviaQA reads question with answer as a list (JSON, or a Python list in a
// TSV cell), a text, or the hub's {value, aliases}; Natural Questions' open
// version has the same forms.
func shapeTriviaQA(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "question", "answer"); err != nil {
		return nil, err
	}
	var golds []string
	if m, ok := row["answer"].(map[string]any); ok {
		golds = append(golds, textOf(m["value"]))
		aliases, _ := texts(m["aliases"])
		for _, a := range aliases {
			if !slices.Contains(golds, a) {
				golds = append(golds, a)
			}
		}
	} else if list, ok := texts(row["answer"]); ok && len(list) > 0 {
		golds = list
	} else {
		golds = []string{textOf(row["answer"])}
	}
	row["answer"] = golds[0]
	return plainGold(row, golds[0], golds...)
}

// impossible is the reference of a SQuAD 2.0 question without an answer.
const impossible = "impossible to answer"

// shapeSQuAD reads the nested original (an article with its paragraphs and their
// questions a row) and the hub's flat rows.
func shapeSQuAD(row map[string]any, _ position) ([]item, error) {
	paragraphs, nested := row["paragraphs"].([]any)
	if !nested {
		if err := need(row, "context", "question"); err != nil {
			return nil, err
		}
		var golds []string
		if m, ok := row["answers"].(map[string]any); ok {
			golds, _ = texts(m["text"])
		}
		return squadItem(row, golds)
	}
	var items []item
	for _, p := range paragraphs {
		paragraph, _ := p.(map[string]any)
		questions, _ := paragraph["qas"].([]any)
		for _, q := range questions {
			qa, ok := q.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("paragraphs hold something that is not a question")
			}
			var golds []string
			answers, _ := qa["answers"].([]any)
			for _, a := range answers {
				if m, ok := a.(map[string]any); ok {
					golds = append(golds, textOf(m["text"]))
				}
			}
			qa["context"], qa["title"] = paragraph["context"], row["title"]
			more, err := squadItem(qa, golds)
			if err != nil {
				return nil, err
			}
			items = append(items, more...)
		}
	}
	return items, nil
}

func squadItem(row map[string]any, golds []string) ([]item, error) {
	var distinct []string
	for _, g := range golds {
		if !slices.Contains(distinct, g) {
			distinct = append(distinct, g)
		}
	}
	if len(distinct) == 0 {
		distinct = []string{impossible}
		row["is_impossible"] = true
	}
	row["answer"] = distinct[0]
	return plainGold(row, distinct[0], distinct...)
}

// shapeInstructions keeps the row: instruction_id_list and kwargs are what the
// scorer checks. There is no reference answer; a column answer, where a file has
// one, is a reply that follows the instructions.
func shapeInstructions(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "prompt", "instruction_id_list", "kwargs"); err != nil {
		return nil, err
	}
	if kw, ok := row["kwargs"].(string); ok { // some files hold JSON in a string
		v, err := decodeJSON([]byte(kw))
		if err != nil {
			return nil, fmt.Errorf("kwargs: not JSON: %s", jsonProblem(err))
		}
		row["kwargs"] = v
	}
	if _, ok := row["answer"].(string); !ok {
		row["answer"] = ""
	}
	return plainGold(row, "")
}

func shapeXSum(row map[string]any, _ position) ([]item, error) {
	text, ok := firstOf(row, "dialogue", "document")
	if !ok {
		return nil, need(row, "document")
	}
	if err := need(row, "summary"); err != nil {
		return nil, err
	}
	row["document"], row["answer"] = text, row["summary"]
	return plainGold(row, textOf(row["summary"]))
}

// shapePair reads parallel lines: the row's own text as column from, the other
// file's as column to.
func shapePair(from, to string) shape {
	return func(row map[string]any, _ position) ([]item, error) {
		if row[from] == nil {
			row[from] = row["text"]
		}
		if err := need(row, from, to); err != nil {
			return nil, err
		}
		row["answer"] = row[to]
		return plainGold(row, textOf(row[to]))
	}
}

// shapeFLORES adds the languages' names; the sub-set is "from-to".
func shapeFLORES(row map[string]any, at position) ([]item, error) {
	row["source_language"], row["target_language"], _ = strings.Cut(at.subset.title(), "-")
	return shapePair("source", "target")(row, at)
}

// shapeLAMBADA reads {prompt, label} and the hub's {text}, whose last word is the
// label.
func shapeLAMBADA(row map[string]any, _ position) ([]item, error) {
	if row["prompt"] == nil {
		if err := need(row, "text"); err != nil {
			return nil, err
		}
		text := strings.TrimSpace(textOf(row["text"]))
		i := strings.LastIndexAny(text, " \n")
		if i < 0 {
			return nil, fmt.Errorf("a passage of one word has no last word to guess")
		}
		row["prompt"], row["label"] = text[:i], text[i+1:]
	}
	if err := need(row, "label"); err != nil {
		return nil, err
	}
	row["answer"] = row["label"]
	return plainGold(row, textOf(row["label"]))
}

func shapeSimpleQA(row map[string]any, _ position) ([]item, error) {
	q, ok := firstOf(row, "problem", "question")
	if !ok {
		return nil, need(row, "problem")
	}
	if err := need(row, "answer"); err != nil {
		return nil, err
	}
	row["question"] = q
	return plainGold(row, textOf(row["answer"]))
}
