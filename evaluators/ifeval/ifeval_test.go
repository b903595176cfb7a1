package ifeval

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func conformance(t *testing.T, name string) *bufio.Scanner {
	t.Helper()
	dir := os.Getenv("AIS_BENCH_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "conformance")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("conformance data not found (%v): set AIS_BENCH_CONFORMANCE to its folder", err)
	}
	t.Cleanup(func() { f.Close() })
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<22)
	return s
}

func TestGolden(t *testing.T) {
	s := conformance(t, "golden_extract.jsonl")
	rows := 0
	for s.Scan() {
		var r struct {
			Family, Func    string
			Input, Expected any
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Family != "ifeval" {
			continue
		}
		rows++
		name := r.Func[strings.LastIndex(r.Func, "/")+1:]
		switch {
		case strings.Contains(name, "count_words"):
			if got := countWords(r.Input.(string)); float64(got) != r.Expected {
				t.Errorf("countWords(%q) = %d, want %v", r.Input, got, r.Expected)
			}
			continue
		case strings.Contains(name, "count_sentences"):
			got, err := splitSentences(r.Input.(string))
			if err != nil || float64(len(got)) != r.Expected {
				t.Errorf("splitSentences(%q) = %q, %v, want %v", r.Input, got, err, r.Expected)
			}
			continue
		}
		in := r.Input.(map[string]any)
		kwargs, _ := in["kwargs"].(map[string]any)
		response := in["response"].(string)
		var got bool
		var err error
		id, _ := in["instruction_id"].(string)
		if strings.Contains(name, "loose") {
			got, err = CheckLoose(id, kwargs, response)
		} else {
			id = name[strings.Index(name, "[")+1 : strings.Index(name, "]")]
			if strings.TrimSpace(response) == "" {
				continue // the row calls the checker alone; here a blank response follows nothing
			}
			got, err = Check(id, kwargs, response)
		}
		if want, ok := r.Expected.(bool); ok {
			if err != nil || got != want {
				t.Errorf("%s %v on %q: %v, %v, want %v", id, kwargs, response, got, err, want)
			}
		} else if err == nil {
			t.Errorf("%s %v: no error, but the original raises %v", id, kwargs, r.Expected)
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows", rows)
	}
	t.Logf("%d rows", rows)
}

// TestPublishedPrompts checks that every instruction of the data set is known
// and its arguments are understood, by judging each prompt itself as a reply.
func TestPublishedPrompts(t *testing.T) {
	s := conformance(t, filepath.Join("ifeval", "input_data.jsonl"))
	seen := map[string]int{}
	var results []Result
	for s.Scan() {
		var r struct {
			Prompt string
			IDs    []string         `json:"instruction_id_list"`
			Kwargs []map[string]any `json:"kwargs"`
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		res, err := Evaluate(r.IDs, r.Kwargs, r.Prompt)
		if err != nil {
			t.Errorf("%q: %v", r.Prompt[:40], err)
		}
		for _, id := range r.IDs {
			seen[id]++
		}
		results = append(results, res)
	}
	a := Accuracy(results)
	if a.Prompts != 541 || a.Instructions != 834 || len(seen) != 25 || !reflect.DeepEqual(len(seen), len(IDs())) {
		t.Errorf("%d prompts, %d instructions, %d kinds", a.Prompts, a.Instructions, len(seen))
	}
	if a.InstLoose < a.InstStrict || a.PromptLoose < a.PromptStrict || a.InstStrict < a.PromptStrict {
		t.Errorf("impossible accuracies: %+v", a)
	}
	t.Logf("%+v", a)
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		id       string
		kwargs   map[string]any
		response string
		strict   bool
		loose    bool
	}{
		{"keywords:existence", map[string]any{"keywords": []string{"c++"}}, "I like C++", true, true},
		{"keywords:frequency", map[string]any{"keyword": "a", "frequency": json.Number("2"), "relation": "at least"}, "a b a", true, true},
		{"keywords:forbidden_words", map[string]any{"forbidden_words": []any{"bad"}}, "не bad", false, false},
		{"keywords:letter_frequency", map[string]any{"letter": "E", "let_frequency": 3.0, "let_relation": "less than"}, "eee", false, false},
		{"punctuation:no_comma", nil, "", false, false},
		{"punctuation:no_comma", nil, "Sure, here:\nno commas", false, true},
		{"startend:quotation", nil, "*\"x\"*", false, true},
		{"detectable_format:json_format", nil, "```json\n{\"a\": NaN, \"b\": [-Infinity]}\n```", true, true},
		{"detectable_format:json_format", nil, "{\"a\": \"NaN", false, false},
		{"change_case:english_capital", nil, "HELLO, THIS IS THE ANSWER TO YOUR QUESTION", true, true},
		{"change_case:english_lowercase", nil, "das ist ein schöner tag und die sonne scheint", false, false},
		{"change_case:capital_word_frequency", map[string]any{"capital_frequency": 3, "capital_relation": "at least"}, "DON'T stop U.S. it", true, true},
		{"length_constraints:nth_paragraph_first_word", map[string]any{"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "World"}, "Hello\n\nworld's end", true, true},
	} {
		strict, err := Check(c.id, c.kwargs, c.response)
		loose, err2 := CheckLoose(c.id, c.kwargs, c.response)
		if err != nil || err2 != nil || strict != c.strict || loose != c.loose {
			t.Errorf("%s %v on %q: strict %v, loose %v (%v, %v)", c.id, c.kwargs, c.response, strict, loose, err, err2)
		}
	}
	for _, c := range []struct {
		id     string
		kwargs map[string]any
		want   string
	}{
		{"keywords:existance", nil, "unknown instruction"},
		{"keyword:existence", nil, `nearest is "keywords:existence"`},
		{"keywords:existence", map[string]any{"keywords": nil}, `"keywords": missing`},
		{"keywords:existence", map[string]any{"keywords": "x"}, "not a list"},
		{"length_constraints:number_words", map[string]any{"num_words": 2.5, "relation": "at least"}, "whole number"},
		{"length_constraints:number_words", map[string]any{"num_words": 2, "relation": "more than"}, "less than"},
		{"language:response_language", map[string]any{"language": "xx"}, "unknown code"},
	} {
		if _, err := Check(c.id, c.kwargs, "text"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.id, c.kwargs, err, c.want)
		}
	}
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]string{
		"This is clearly an English sentence about the weather.": "en", "Das ist ein schöner Tag und die Sonne scheint.": "de", "C'est une belle journée et nous allons au parc.": "fr", "Hace muy buen tiempo hoy y vamos al parque.": "es",
		"Oggi il tempo è molto bello.": "it", "Hoje o tempo está muito bom.": "pt", "Dzisiaj jest bardzo ładna pogoda i idziemy na spacer.": "pl", "Vandaag is het weer erg mooi en we gaan wandelen.": "nl", "Tänään on erittäin kaunis sää.": "fi", "Leo hali ya hewa ni nzuri sana.": "sw", "Hôm nay thời tiết rất đẹp.": "vi",
		"Сегодня хорошая погода, и мы идём гулять.": "ru", "Днес времето е много хубаво и отиваме на разходка.": "bg", "Сьогодні дуже гарна погода, і ми йдемо гуляти.": "uk", "الطقس جميل جدا اليوم": "ar", "امروز هوا خیلی خوب است": "fa", "آج موسم بہت اچھا ہے اور ہم سیر کو جا رہے ہیں": "ur",
		"आज मौसम बहुत अच्छा है": "hi", "आज हवामान खूप छान आहे": "mr", "आज मौसम धेरै राम्रो छ र हामी घुम्न जाँदैछौं": "ne", "今日はとても天気がいいです": "ja", "今天天气很好": "zh", "오늘은 날씨가 좋습니다": "ko", "วันนี้อากาศดีมาก": "th", "આજે હવામાન સારું છે": "gu", "ಇಂದು ಹವಾಮಾನ ಚೆನ್ನಾಗಿದೆ": "kn", "ఈ రోజు వాతావరణం బాగుంది": "te", "இன்று வானிலை நன்றாக உள்ளது": "ta", "আজ আবহাওয়া খুব ভালো": "bn", "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਵਧੀਆ ਹੈ": "pa", "ഇന്ന് കാലാവസ്ഥ വളരെ നല്ലതാണ്": "ml", "היום מזג האוויר יפה מאוד": "he",
		"THE QUICK BROWN FOX": "en", "python code: for i in range(10): print(i) is the way to do it": "en", "I LOVE ABSOLUTELY EVERYTHING": "en",
	} {
		if got, ok := detect(text); !ok || got != want {
			t.Errorf("detect(%q) = %s, want %s", text, got, want)
		}
	}
	for _, none := range []string{"", "12345 !?", "😀"} {
		if got, ok := detect(none); ok {
			t.Errorf("detect(%q) = %s, want nothing", none, got)
		}
	}
}

func TestSplitSentences(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{`He said "Hello!" Then he left.`, []string{`He said "Hello!"`, "Then he left."}},
		{"**Bold.** Next sentence. *It.* End", []string{"**Bold.", "** Next sentence.", "*It.", "* End"}},
		{"Dr. Smith vs. Mr. Green met at 5 p.m. in the U.S. yesterday. They left.", []string{"Dr. Smith vs. Mr. Green met at 5 p.m. in the U.S. yesterday.", "They left."}},
		{"Is it 3.5? Yes. No!", []string{"Is it 3.5?", "Yes.", "No!"}},
		{"J. K. Rowling wrote it. (Really.) So.", []string{"J. K. Rowling wrote it.", "(Really.)", "So."}},
		{"Wait... what? Fine.", []string{"Wait... what?", "Fine."}},
		{"A line\n\nAnother line", []string{"A line\n\nAnother line"}},
		{"Great. “Quoted.” Next.", []string{"Great.", "“Quoted.” Next."}},
		{"", nil}, {"...", []string{"..."}}, {"?!?! ", []string{"?", "!?", "!"}},
	} {
		got, err := splitSentences(c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("splitSentences(%q) = %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

func TestTreebankWords(t *testing.T) {
	for in, want := range map[string]string{
		`I can't go, NASA-led U.S. team.`: "I|ca|n't|go|,|NASA-led|U.S.|team|.", `He said "HI" (ok).`: "He|said|``|HI|''|(|ok|)|.", "I'M HERE; WE'LL SEE...": "I|'M|HERE|;|WE|'LL|SEE|...", "CANNOT wait": "CAN|NOT|wait",
	} {
		got, err := treebankWords(in)
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("treebankWords(%q) = %s, want %s (%v)", in, strings.Join(got, "|"), want, err)
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	text := strings.Repeat("This is a sentence of MANY words. ", 200)
	kwargs := map[string]any{"capital_frequency": 3, "capital_relation": "at least"}
	for b.Loop() {
		Check("change_case:capital_word_frequency", kwargs, text)
	}
}
