package datasets

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// choiceShapes read multiple-choice questions. Each accepts the layout of
// OpenCompass and AISBench and the columns of the hub's files.
var choiceShapes = map[string]shape{
	"mmlu":          shapeMMLU,
	"mmlu_pro":      shapeMMLUPro,
	"letters":       shapeLetters,
	"arc":           shapeStem(4),
	"openbookqa":    shapeStem(0),
	"commonsenseqa": shapeStem(0),
	"hellaswag":     shapeHellaSwag,
	"winogrande":    shapeWinoGrande,
	"piqa":          shapePIQA,
	"siqa":          shapeSIQA,
	"boolq":         shapeBoolQ,
	"race":          shapeRACE,
	"truthfulqa":    shapeTruthfulQA("mc1_targets"),

	"truthfulqa_mc2": shapeTruthfulQA("mc2_targets"),

	"gpqa":        shapeGPQA,
	"agieval":     shapeAGIEval,
	"longbenchv2": shapeLongBenchV2,
	"fewclue":     shapeFewCLUE,
}

// choice is an item with options.
func choice(row map[string]any, options []string, correct int) ([]item, error) {
	if len(options) == 0 { // MMLU-Pro has rows with a single one
		return nil, fmt.Errorf("a choice question without options")
	}
	if correct >= len(options) {
		return nil, fmt.Errorf("the answer is option %d, but the row has %d options", correct+1, len(options))
	}
	return []item{{fields: row, options: options, correct: correct}}, nil
}

// shapeMMLU reads the CSV columns question, A–D, target and the hub's question,
// choices, answer (0–3).
func shapeMMLU(row map[string]any, at position) ([]item, error) {
	if row["choices"] == nil {
		return shapeLetters(row, at)
	}
	if err := need(row, "question", "answer"); err != nil {
		return nil, err
	}
	options, _ := texts(row["choices"])
	correct, ok := wholeNumber(row["answer"])
	if !ok {
		correct = letterIndex(textOf(row["answer"]))
	}
	row["answer_index"] = int64(correct)
	return choice(row, options, correct)
}

// shapeMMLUPro drops the filler option "N/A", which the published file pads to
// ten with.
func shapeMMLUPro(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "question", "options"); err != nil {
		return nil, err
	}
	all, _ := texts(row["options"])
	var options []string
	for _, o := range all {
		if o != "N/A" {
			options = append(options, o)
		}
	}
	correct := letterIndex(textOf(row["answer"]))
	if i, ok := wholeNumber(row["answer_index"]); ok && correct < 0 {
		correct = i
	}
	// The published worked answers open with "A: Let's think", which after our
	// cue would read as option A.
	if cot, ok := row["cot_content"].(string); ok {
		row["cot_content"] = strings.TrimSpace(strings.TrimPrefix(cot, "A:"))
	}
	return choice(row, options, correct)
}

// shapeLetters reads question, A, B, C, …, and the letter in answer, under either
// spelling of the names. A missing answer is one that is not published.
func shapeLetters(row map[string]any, _ position) ([]item, error) {
	for _, name := range []string{"Question", "Answer"} {
		if v, ok := row[name]; ok && row[strings.ToLower(name)] == nil {
			row[strings.ToLower(name)] = v
		}
	}
	if v, ok := row["target"]; ok && row["answer"] == nil {
		row["answer"] = v
	}
	if err := need(row, "question", "A", "B"); err != nil {
		return nil, err
	}
	return choice(row, letterColumns(row), letterIndex(textOf(row["answer"])))
}

// labelled reads choices given as {text: […], label: […]} or [{text, label}, …].
func labelled(v any) (options, labels []string) {
	switch c := v.(type) {
	case map[string]any:
		options, _ = texts(c["text"])
		labels, _ = texts(c["label"])
	case []any:
		for _, e := range c {
			if m, ok := e.(map[string]any); ok {
				options = append(options, textOf(m["text"]))
				labels = append(labels, textOf(m["label"]))
			}
		}
	}
	return options, labels
}

// shapeStem reads ARC, OpenBookQA and CommonsenseQA: {question: {stem, choices},
// answerKey} or {question | question_stem, choices: {text, label}, answerKey}.
// Labels may be digits; options are known by their place. A want above 0 leaves
// out rows with another number of options, as OpenCompass does.
func shapeStem(want int) shape {
	return func(row map[string]any, _ position) ([]item, error) {
		choices := row["choices"]
		switch q := row["question"].(type) {
		case map[string]any:
			row["question"] = textOf(q["stem"])
			if q["choices"] != nil {
				choices = q["choices"]
			}
		case nil:
			if row["question_stem"] == nil {
				return nil, need(row, "question")
			}
			row["question"] = row["question_stem"]
		}
		options, labels := labelled(choices)
		if want > 0 && len(options) != want {
			return nil, dropped(fmt.Sprintf("do not have %d options", want))
		}
		key := strings.TrimSpace(textOf(row["answerKey"]))
		if fact, ok := row["fact1"]; ok {
			row["fact"] = fact
		}
		return choice(row, options, slices.Index(labels, key))
	}
}

var hellaSwagNoise = regexp.MustCompile(`\[.*?\]`)

// cleanHellaSwag is the cleaning of lm-evaluation-harness: WikiHow's titles
// become sentences, other bracketed marks go.
func cleanHellaSwag(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), " [title]", ". ")
	s = hellaSwagNoise.ReplaceAllString(s, "")
	return strings.TrimSpace(strings.ReplaceAll(s, "  ", " "))
}

// shapeHellaSwag reads {query, choices, gold} and {activity_label, ctx_a, ctx_b,
// endings, label}. Column ctx is the context without its activity.
func shapeHellaSwag(row map[string]any, _ position) ([]item, error) {
	if row["endings"] == nil {
		if err := need(row, "query", "choices", "gold"); err != nil {
			return nil, err
		}
		query := textOf(row["query"])
		if _, after, ok := strings.Cut(query, ": "); ok {
			row["ctx"] = after
		} else {
			row["ctx"] = query
		}
		options, _ := texts(row["choices"])
		correct, _ := wholeNumber(row["gold"])
		return choice(row, options, correct)
	}
	options, _ := texts(row["endings"])
	for i, o := range options {
		options[i] = cleanHellaSwag(o)
	}
	ctx := textOf(row["ctx"])
	if a := textOf(row["ctx_a"]); a != "" {
		ctx = a
		if b := textOf(row["ctx_b"]); b != "" {
			ctx += " " + strings.ToUpper(b[:1]) + b[1:]
		}
	}
	row["ctx"] = cleanHellaSwag(ctx)
	row["query"] = cleanHellaSwag(textOf(row["activity_label"]) + ": " + ctx)
	correct, ok := wholeNumber(row["label"])
	if !ok {
		correct = -1
	}
	return choice(row, options, correct)
}

func shapeWinoGrande(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "sentence", "option1", "option2"); err != nil {
		return nil, err
	}
	n, ok := wholeNumber(row["answer"])
	if !ok {
		n = 0
	}
	sentence := textOf(row["sentence"])
	o1, o2 := textOf(row["option1"]), textOf(row["option2"])
	row["sentence1"], row["sentence2"] = strings.Replace(sentence, "_", o1, 1), strings.Replace(sentence, "_", o2, 1)
	return choice(row, []string{o1, o2}, n-1)
}

func shapePIQA(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "goal", "sol1", "sol2"); err != nil {
		return nil, err
	}
	correct, ok := wholeNumber(row["label"])
	if !ok {
		correct = -1
	}
	return choice(row, []string{textOf(row["sol1"]), textOf(row["sol2"])}, correct)
}

func shapeSIQA(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "context", "question", "answerA", "answerB", "answerC"); err != nil {
		return nil, err
	}
	n, ok := wholeNumber(row["label"])
	if !ok {
		n = letterIndex(textOf(row["label"])) + 1
	}
	return choice(row, []string{textOf(row["answerA"]), textOf(row["answerB"]), textOf(row["answerC"])}, n-1)
}

// shapeBoolQ makes yes the first option. The answer is a boolean, its name, or
// SuperGLUE's 1 for true.
func shapeBoolQ(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "question", "passage"); err != nil {
		return nil, err
	}
	v, ok := row["label"]
	if !ok {
		v = row["answer"]
	}
	correct := -1
	switch strings.ToLower(textOf(v)) {
	case "true", "1", "yes", "a":
		correct = 0
	case "false", "0", "no", "b":
		correct = 1
	}
	if q := textOf(row["question"]); !strings.HasSuffix(q, "?") {
		row["question"] = q + "?"
	}
	return choice(row, []string{"Yes", "No"}, correct)
}

func shapeRACE(row map[string]any, at position) ([]item, error) {
	if err := need(row, "article", "question"); err != nil {
		return nil, err
	}
	if row["options"] == nil {
		return shapeLetters(row, at)
	}
	options, _ := texts(row["options"])
	return choice(row, options, letterIndex(textOf(row["answer"])))
}

// shapeTruthfulQA makes a choice question of mc1_targets (one true answer) or
// mc2_targets (several), stored as {choices, labels} or as {text: 0 or 1}. The
// hub stores the true answers first, so configurations that show the options have
// to reorder them (choice_order). The column comes out in the first form.
func shapeTruthfulQA(column string) shape {
	return func(row map[string]any, _ position) ([]item, error) {
		if err := need(row, "question", column); err != nil {
			return nil, err
		}
		m, ok := row[column].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s is %s, not an object", column, jsonKind(row[column]))
		}
		options, isList := texts(m["choices"])
		labels, _ := texts(m["labels"])
		if !isList {
			options, labels = nil, nil
			for _, text := range columnNames(m) { // a decoded object has no order; sorting gives it one
				options = append(options, text)
				labels = append(labels, textOf(m[text]))
			}
			row[column] = map[string]any{"choices": anyList(options), "labels": anyList(labels)}
		}
		return choice(row, options, slices.Index(labels, "1"))
	}
}

// shapeGPQA puts the right answer first; configurations reorder.
func shapeGPQA(row map[string]any, _ position) ([]item, error) {
	columns := []string{"Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"}
	if err := need(row, append([]string{"Question"}, columns...)...); err != nil {
		return nil, err
	}
	row["question"] = strings.TrimSpace(textOf(row["Question"]))
	options := make([]string, len(columns))
	for i, c := range columns {
		options[i] = strings.TrimSpace(textOf(row[c]))
	}
	return choice(row, options, 0)
}

var optionPrefix = regexp.MustCompile(`^\s*[(（]?([A-Z])[)）.．:：、]?\s*`)

// shapeAGIEval reads {passage, question, options, label, answer}. Cloze rows have
// no options and their gold in answer; multiple answers are joined letters.
func shapeAGIEval(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "question"); err != nil {
		return nil, err
	}
	if p := textOf(row["passage"]); p != "" {
		row["question"] = p + "\n" + textOf(row["question"])
	}
	options, _ := texts(row["options"])
	if len(options) == 0 {
		gold := textOf(row["answer"])
		if gold == "" {
			gold = textOf(row["label"])
		}
		row["answer"] = gold
		return []item{{fields: row, gold: gold, correct: -1}}, nil
	}
	for i, o := range options {
		if m := optionPrefix.FindStringSubmatch(o); m != nil && m[1] == letter(i) {
			options[i] = o[len(m[0]):]
		}
	}
	it := item{fields: row, options: options, correct: -1}
	label := row["label"]
	if label == nil {
		label = row["answer"]
	}
	if many, ok := texts(label); ok {
		slices.Sort(many)
		it.gold = strings.Join(many, "")
	} else {
		it.gold = strings.TrimSpace(textOf(label))
	}
	if len(it.gold) == 1 {
		it.correct = letterIndex(it.gold)
	}
	return []item{it}, nil
}

func shapeLongBenchV2(row map[string]any, _ position) ([]item, error) {
	columns := []string{"choice_A", "choice_B", "choice_C", "choice_D"}
	if err := need(row, append([]string{"question", "context"}, columns...)...); err != nil {
		return nil, err
	}
	options := make([]string, len(columns))
	for i, c := range columns {
		options[i] = textOf(row[c])
	}
	return choice(row, options, letterIndex(textOf(row["answer"])))
}

// shapeFewCLUE brings the six tasks' rows to a label the configuration's choices
// know. CHID's idioms and CLUEWSC's pronouns are put into the text.
func shapeFewCLUE(row map[string]any, at position) ([]item, error) {
	switch at.subset.Name {
	case "chid":
		options, _ := texts(row["candidates"])
		if err := need(row, "content"); err != nil {
			return nil, err
		}
		correct, ok := wholeNumber(row["answer"])
		if !ok {
			correct = -1
		}
		for i, o := range options {
			row[fmt.Sprintf("content%d", i)] = strings.Replace(textOf(row["content"]), "#idiom#", o, 1)
			options[i] = textOf(row[fmt.Sprintf("content%d", i)])
		}
		return choice(row, options, correct)
	case "cluewsc":
		if target, ok := row["target"].(map[string]any); ok {
			row["span1"], row["span2"] = textOf(target["span1_text"]), textOf(target["span2_text"])
			row["new_text"] = strings.Replace(textOf(row["text"]), textOf(target["span2_text"]), textOf(target["span1_text"]), 1)
		}
	case "csl":
		if words, ok := texts(row["keyword"]); ok {
			row["keywords"] = strings.Join(words, "，")
		}
	}
	label := row[at.cfg.Gold()]
	if label == nil {
		label = row["answer"]
	}
	return []item{{fields: row, gold: textOf(label), correct: -1}}, nil
}
