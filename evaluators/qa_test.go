package evaluators

import "testing"

func TestShortAnswerDefaults(t *testing.T) {
	for _, c := range []struct {
		id, text string
		golds    []string
		want     Outcome
	}{
		{"triviaqa", "The answer is Paris.", []string{"Paris"}, Right},
		{"triviaqa", "It is Mount Everest, in Nepal.", []string{"Everest", "Mount Everest"}, Right},
		{"triviaqa", "no idea", []string{""}, Wrong}, // an empty alias matches nothing
		{"triviaqa", "It is not Paris", []string{"Paris"}, Wrong},
		{"triviaqa", "Parisian", []string{"Paris"}, Wrong},
		{"triviaqa", "The Beatles", []string{"beatles"}, Right},
		{"triviaqa", "1,000", []string{"1000"}, Right},
		{"triviaqa", "It was one of Rome, Athens, Paris, London, Berlin, Madrid, Vienna, Prague, Warsaw, Lisbon or Oslo", []string{"Paris"}, Wrong},
		{"nq", "Answer: 北京", []string{"北京"}, Right},
		{"squad", "The answer is the Denver Broncos.", []string{"Denver Broncos"}, Right},
		{"squad", "answer: 42", []string{"42"}, Right},
		{"squad", "The question is unanswerable.", []string{"x", "impossible to answer"}, Right},
		{"squad", "Obama", []string{"Barack Obama"}, Wrong},
		{"drop", "Answer: 7 ", []string{"7"}, Right},
		{"drop", "Answer: 17", []string{"7"}, Wrong}, // containment is no equality
		{"drop", "Answer: $5.00", []string{"5"}, Right},
		{"drop", "The answer is 12.5%", []string{"12.5"}, Right},
		{"drop", "Answer: twenty-one", []string{"21"}, Right},
		{"drop", "Answer: 1,200", []string{"1200"}, Right},
		{"drop", "Answer: -3", []string{"3"}, Wrong},
		{"drop", "Answer: Mary Jones and John Smith", []string{`["John Smith", "Mary Jones"]`}, Right},
		{"drop", "Answer: Broncos", []string{"Denver Broncos|Broncos"}, Right},
		{"custom_qa", "The answer is: **Blue**.", []string{"blue"}, Right},
		{"custom_qa", "1,000.0", []string{"1000"}, Right},
		{"custom_qa", "a", []string{"the"}, Wrong},
		{"exact", "Yes", []string{"yes"}, Wrong},
		{"exact", " Yes\n", []string{"Yes"}, Right},
		{"lambada", "\"Menu\" is the word", []string{"menu"}, Right},
		{"lambada", "the answer is: menus", []string{"menu"}, Wrong},
		{"oc/drop", "Answer: 17", []string{"7"}, Right},
		{"oc/triviaqa", "no idea", []string{""}, Right},
		{"evalscope/triviaqa", "ANSWER: a", []string{"Paris", "France"}, Right},
	} {
		v := score(t, mustNew(t, c.id, nil), c.text, Item{Golds: c.golds})
		if v.Outcome != c.want {
			t.Errorf("%s: %q against %q: %s %q %v, want %s", c.id, c.text, c.golds, v.Outcome, v.Extracted, v.Parts, c.want)
		}
	}
}

func TestNearestOptionNeedsToBeNear(t *testing.T) {
	it := Item{Gold: "B", Fields: map[string]any{"answerA": "go home", "answerB": "stay late", "answerC": "call a friend"}}
	for text, want := range map[string]Outcome{"stay late": Right, "The answer is B": Right, "stay  latte": Right, "b": Right, "I would rather not say": Unparsable, "go home": Wrong} {
		if v := score(t, mustNew(t, "edacc", nil), text, it); v.Outcome != want {
			t.Errorf("%q: %s %q, want %s", text, v.Outcome, v.Extracted, want)
		}
	}
	// the published rule always chooses something
	if v := score(t, mustNew(t, "oc/siqa", nil), "I would rather not say", it); v.Outcome == Unparsable {
		t.Errorf("oc/siqa chose nothing")
	}
}

func TestBBHFreeform(t *testing.T) {
	s := mustNew(t, "bbh_freeform", nil)
	for _, c := range []struct {
		text, gold string
		want       Outcome
	}{
		{"So the answer is Yes.", "Yes", Right},
		{"So the answer is no, because...", "No", Right},
		{"So the answer is no, because...", "Yes", Wrong},
		{"So the answer is 1,204.", "1204", Right},
		{"So the answer is ] ) }.", "])}", Right},
		{"apple, banana, cherry", "apple banana cherry", Right},
		{"So the answer is **valid**", "valid", Right},
		{"So the answer is A. Wait. So the answer is invalid.", "invalid", Right},
		{"So the answer is -24.", "-24", Right},
		{"So the answer is 24", "-24", Wrong},
		{"It is hard to say.\nThere are many things to consider here, and I cannot settle on one of them at all.", "Yes", Unparsable},
	} {
		if v := score(t, s, c.text, Item{Gold: c.gold}); v.Outcome != c.want {
			t.Errorf("%q against %q: %s %q, want %s", c.text, c.gold, v.Outcome, v.Extracted, c.want)
		}
	}
}

func TestMGSMReadsEveryLanguage(t *testing.T) {
	s := mustNew(t, "mgsm", nil)
	for _, c := range []struct{ lang, text, gold string }{
		{"fr", "Donc 3 et 4.\nRéponse: -4", "-4"}, {"ru", "Ответ: 1 200", "1200"}, {"bn", "উত্তর: ৪২", "42"}, {"te", "సమాధానం: 7", "7"},
		{"zh", "逐步推理……\n答案：42", "42"}, {"en", "Answer: 5.0", "5"}, {"ja", "答え: 15個", "15"}, {"sw", "Jibu ni 9, si 8... Jibu: 9", "9"},
	} {
		text := c.text
		if c.lang == "ru" {
			text = "Ответ: 1\u00a0200"
		}
		if v := score(t, s, text, Item{Gold: c.gold, Fields: map[string]any{"lang": c.lang}}); v.Outcome != Right {
			t.Errorf("%s %q: %s %q, want %s", c.lang, c.text, v.Outcome, v.Extracted, c.gold)
		}
	}
}

func TestLongContextScorers(t *testing.T) {
	for _, c := range []struct {
		id, text string
		opts     map[string]any
		it       Item
		want     float64
	}{
		{"longbench_count", "5 of 10", nil, Item{Gold: "5"}, 0.5},
		{"longbench_retrieval", "Paragraph 3", nil, Item{Gold: "Paragraph 30"}, 0},
		{"longbench_retrieval_zh", "是段落2和段落12", nil, Item{Gold: "段落2"}, 0.5},
		{"longbench_classification", "Other number", nil, Item{Gold: "Number", Fields: map[string]any{"all_classes": []any{"Number", "Other number"}}}, 0},
		{"longbench_classification", "number\nType: Date", map[string]any{"first_line": true}, Item{Gold: "Number", Fields: map[string]any{"all_classes": []any{"Number", "Date"}}}, 1},
		{"needlebench", "the secret is BLUE tiger", nil, Item{Gold: "The hidden thing is a blue tiger*blue tiger"}, 1},
		{"needlebench", "nothing", nil, Item{Gold: "The hidden thing is a blue tiger*blue tiger"}, 0},
		{"needlebench_parallel", "red and blue", nil, Item{Gold: "red*green*blue#10*20*30"}, 2.0 / 3},
		{"needlebench_atc", `So it is \boxed{Jasmine Lane}.`, nil, Item{Gold: "Jasmine Lane"}, 1},
		{"ruler", "The numbers are 123 and 456", nil, Item{Golds: []string{"123", "456", "789", "1"}}, 0.75},
		{"ruler", "It was in paris", map[string]any{"match": "part"}, Item{Golds: []string{"Paris", "Rome"}}, 1},
		{"leval_scifi", "True [fact: False]", nil, Item{Gold: "True [fact: True]"}, 1},
		{"leval_codeu", "The output will be [1, 2, 3]", nil, Item{Gold: "[1,2,3]"}, 1},
	} {
		if v := score(t, mustNew(t, c.id, c.opts), c.text, c.it); !near(v.Score, c.want) {
			t.Errorf("%s %q: %v, want %v", c.id, c.text, v.Score, c.want)
		}
	}
}

func TestFunctionCalls(t *testing.T) {
	fn := map[string]any{"name": "weather.get", "parameters": map[string]any{"type": "dict", "properties": map[string]any{"city": map[string]any{"type": "string"}, "days": map[string]any{"type": "integer"}}, "required": []any{"city"}}}
	it := Item{Fields: map[string]any{"function": []any{fn}, "ground_truth": []any{map[string]any{"weather.get": map[string]any{"city": []any{"New York"}, "days": []any{3, ""}}}}}}
	s := mustNew(t, "bfcl", map[string]any{"category": "simple"})
	for _, c := range []struct {
		a    Answer
		want Outcome
	}{
		{Answer{ToolCalls: `[{"id":"1","type":"function","function":{"name":"weather_get","arguments":"{\"city\":\"new york\",\"days\":3}"}}]`}, Right},
		{Answer{Text: `[weather.get(city="New York")]`}, Right},
		{Answer{Text: "```json\n[{\"name\": \"weather.get\", \"arguments\": {\"city\": \"New York\", \"days\": 3.0}}]\n```"}, Wrong},
		{Answer{Text: `[weather.get(city="Boston")]`}, Wrong},
		{Answer{Text: `[weather.get(town="New York")]`}, Wrong},
		{Answer{Text: "I cannot call anything"}, Unparsable},
		{Answer{}, Empty},
	} {
		v, err := s.Score(t.Context(), c.a, it)
		if err != nil || v.Outcome != c.want {
			t.Errorf("%+v: %s %s (%v), want %s", c.a, v.Outcome, v.Detail, err, c.want)
		}
	}
	none := mustNew(t, "bfcl", map[string]any{"category": "live_irrelevance"})
	if v, _ := none.Score(t.Context(), Answer{Text: "None of these functions fits."}, it); v.Outcome != Right {
		t.Errorf("declining is %s, want right", v.Outcome)
	}
	if v, _ := none.Score(t.Context(), Answer{Text: "f(x=1)"}, it); v.Outcome != Wrong {
		t.Errorf("calling is %s, want wrong", v.Outcome)
	}
}
