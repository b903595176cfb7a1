package ifeval

import (
	"fmt"
	"strings"
	"testing"
)

type args = map[string]any

// furtherCases has for every instruction of IFBench replies that follow it and
// replies that do not.
var furtherCases = map[string][]struct {
	args      args
	yes, nope []string
}{
	"count:word_count_range":           {{args{"min_words": 3.0, "max_words": 4.0}, []string{"one two three", "One, two - three four!"}, []string{"one two", "a b c d e"}}},
	"count:unique_word_count":          {{args{"N": 3}, []string{"a b c", "The dog, a cat."}, []string{"a A a.", "one two two one"}}},
	"ratio:stop_words":                 {{args{"percentage": 50.0}, []string{"The river", "Rivers flow"}, []string{"It is the river", "I didn't", "…"}}},
	"ratio:sentence_type":              {{nil, []string{"One. Two. Three?", "Wow!"}, []string{"One. Two?", "One? Two. Three. Four."}}},
	"ratio:sentence_balance":           {{nil, []string{"One. Two? Three!", "no end"}, []string{"One. Two?", "One. Two? Three! Four."}}},
	"ratio:sentence_words":             {{nil, []string{"One cat. Two dog. Red fox."}, []string{"A. B.", "One cat. Two mice. Red fox."}}},
	"ratio:overlap":                    {{args{"reference_text": "abcdef", "percentage": 50}, []string{"abcdxy"}, []string{"abcdef", "zzzz", "ab"}}},
	"count:conjunctions":               {{args{"small_n": 3}, []string{"this and that, but not these or those", "And so, yet"}, []string{"and and and", "sand butter order"}}},
	"count:person_names":               {{args{"N": 2, "prompt": "Mention at least 2 different person names in the response, from this list of person names: Ann, Bob, Cy . Now go."}, []string{"Ann met Bob.", "Cy, Ann"}, []string{"Ann met Ann", "Annette and Bobby", "Zoe, Bob"}}},
	"count:numbers":                    {{args{"N": 2.0}, []string{"1,000.50 and 7", "a1b2"}, []string{"one two", "1 2 3"}}},
	"count:punctuation":                {{nil, []string{"Well, really?! Yes: no; stop! Why? Go.", "A, b; c: d! e? f. ‽"}, []string{"A, b; c: d! e? f.", "Well, really?! Yes: no; stop."}}},
	"count:words_japanese":             {{args{"N": 2}, []string{"one 犬 three ねこ", "one 12 three ネコ."}, []string{"one two", "犬 two"}}},
	"count:pronouns":                   {{args{"N": 4}, []string{"She gave it to them herself.", "she/her/hers and they"}, []string{"The cat sat.", "I, me, my"}}},
	"count:keywords_multiple":          {{args{"keyword1": "ox ", "keyword2": "elk", "keyword3": "bee", "keyword4": "owl", "keyword5": "ant"}, []string{"Ox elk elk " + strings.Repeat("bee ", 3) + strings.Repeat("owl ", 5) + strings.Repeat("Ant ", 7)}, []string{"ox elk bee owl ant", "ox ox elk elk " + strings.Repeat("bee ", 3) + strings.Repeat("owl ", 5) + strings.Repeat("ant ", 7)}}},
	"words:alphabet":                   {{nil, []string{"All bears can dance.", "Young zebras are big", "B c, d"}, []string{"All cats", "1 a b", "été"}}},
	"words:vowel":                      {{nil, []string{"a bad hid pig got", "rhythm"}, []string{"a e i o", "one\ntwo"}}},
	"words:consonants":                 {{nil, []string{"strong black", "Oft"}, []string{"a strong", "strong eye"}}},
	"words:palindrome":                 {{nil, []string{strings.Repeat("Level, radar refer ", 3) + "kayak"}, []string{"level radar", strings.Repeat("noon ", 12)}}},
	"words:prime_lengths":              {{nil, []string{"it was three", "do, not"}, []string{"four", "a"}}},
	"words:start_verb":                 {{nil, []string{"Build it.", "Running late, he fell.", "Identified risks follow", "Stops here"}, []string{"The house", "Yellow birds", "\"Quote\""}}},
	"words:repeats":                    {{args{"small_n": 2}, []string{"a b a b", "x"}, []string{"a, A. a"}}},
	"words:odd_even_syllables":         {{nil, []string{"cat tiger dog", "tiger cat"}, []string{"cat dog", "tiger zebra"}}},
	"words:last_first":                 {{nil, []string{"We saw rain. Rain is wet.", "alone"}, []string{"We saw rain. Snow is wet."}}},
	"words:paragraph_last_first":       {{nil, []string{"Rain is, again, rain.\n\nSnow and snow", "Word"}, []string{"Rain is wet."}}},
	"words:no_consecutive":             {{nil, []string{"a big cat", "The old tree"}, []string{"big bears", "Ice is"}}},
	"words:keywords_specific_position": {{args{"keyword": "Otter", "n": 2.0, "m": 3.0}, []string{"Hi. A - big otter swims."}, []string{"Hi. An otter swims here.", "A big otter.", "Hi. A big."}}},
	"words:words_position":             {{args{"keyword": "elk"}, []string{"an elk or some elk here.", "an elk here"}, []string{"elk is elk", "an elk runs away", "elk"}}},
	"sentence:alliteration_increment":  {{nil, []string{"A dog. Big bears dance. Some silly snakes swim.", "One"}, []string{"Big bears. Wild wolves.", "Big bears. A cat."}}},
	"sentence:keyword":                 {{args{"word": "fox", "N": 2}, []string{"Hi. A Fox, see?", "One. Two fox. Three."}, []string{"A fox. Two.", "Hi. Foxes.", "fox"}}},
	"sentence:increment":               {{args{"small_n": 1}, []string{"One. Two words. And three words.", "Alone."}, []string{"One. Two. Three.", "Two words. One."}}},
	"format:parentheses":               {{nil, []string{"([{(({x}))}])", "a (b [c {d (e [f] e) d} c] b)"}, []string{"((((x))))", "([)]", "((((("}}},
	"format:quotes":                    {{nil, []string{`"a 'b "c" b' a"`, `'a "b 'c' b" a'`}, []string{`"a 'b' a"`, "plain"}}},
	"format:options": {{args{"options": "yes/no/maybe"}, []string{"Yes.", "no", "'maybe'"}, []string{"yes, of course", "perhaps"}},
		{args{"options": "I know or I don't know"}, []string{"I know", "i don't know!"}, []string{"I do"}},
		{args{"options": "a), b), c), d)"}, []string{"a)", "d)"}, []string{"a", "A)", "a) because"}}},
	"format:newline":                {{nil, []string{"one\ntwo\n\nthree.", "word"}, []string{"one two", "one\ntwo three"}}},
	"format:emoji":                  {{nil, []string{"Hello 😀.", "Hi there. 😀 Bye. 🎉", "I love it ❤️."}, []string{"Hello.", "Hi 😀. Bye."}}},
	"format:line_indent":            {{nil, []string{"a\n b\n  c", "a\n\n  b"}, []string{"a\nb", " a\nb"}}},
	"format:quote_unquote":          {{nil, []string{`He said "no" and left.`, "plain", `The mark '"' is a quote`}, []string{`"a" "b" c`, `He said “no”.`}}},
	"format:list":                   {{args{"sep": "!?!?"}, []string{"!?!? one\n!?!? two"}, []string{"!?!? one", "- one\n- two"}}},
	"format:thesis":                 {{nil, []string{"<i>Claim.</i> Text.", "Intro <em>Claim</em> text"}, []string{"Claim. Text.", "<i>Claim.</i>", "<i> </i> Text", "<i>open"}}},
	"format:sub-bullets":            {{nil, []string{"* a\n - b\n* c\n - d", "none"}, []string{"* a\n* b\n - c"}}},
	"format:no_bullets_bullets":     {{nil, []string{"One. Two.\n* a\n* b", "One.\nTwo.\n\n* a\n* b"}, []string{"One.\n* a\n* b", "One. Two.\n* a", "One. Two.\n* a\n* b\nEnd."}}},
	"format:title_case":             {{nil, []string{"The Old Man And I.", "McDonald Sings 12 Songs"}, []string{"The old Man", "tHE"}}},
	"format:output_template":        {{nil, []string{"My Answer: a\nMy Conclusion: b\nFuture Outlook: c"}, []string{"My Answer: a\nMy Conclusion: b"}}},
	"format:no_whitespace":          {{nil, []string{"OneWord-only."}, []string{"two words", "line\nbreak"}}},
	"custom:multiples":              {{nil, []string{"14, 21, 28, 35, 42, 49", "14,21,28\n35 42 49."}, []string{"7, 14, 21, 28, 35, 42, 49", "14 21"}}},
	"custom:mcq_count_length":       {{nil, []string{questions(4, 5, 1), questions(4, 5, 3)}, []string{questions(3, 5, 1), questions(4, 4, 1), questions(4, 5, 0), "Here:\n" + questions(4, 5, 1)}}},
	"custom:reverse_newline":        {{nil, []string{"Here they are:\n" + countdown(54), countdown(52)}, []string{countdown(51), "Algeria\n" + countdown(54) + "\nZambia", "none"}}},
	"custom:word_reverse":           {{nil, []string{"Eagle bald the is It."}, []string{"It is the bald eagle.", "eagle golden"}}},
	"custom:character_reverse":      {{nil, []string{".elgae dlab eht si tI", "ELGAE DLAB"}, []string{"bald eagle"}}},
	"custom:sentence_alphabet":      {{nil, []string{story(26)}, []string{story(25), story(26) + " Once more.", "Zoo. " + story(25)}}},
	"custom:european_capitals_sort": {{nil, []string{strings.Join(northernCapitals, ", "), strings.Replace(strings.Join(northernCapitals, ","), "Chisinau", "Chișinău", 1)}, []string{"Oslo, Helsinki", strings.Join(northernCapitals[1:], ", ")}}},
	"custom:csv_city":               {{nil, []string{"ID,Country,City,Year,Count\n" + strings.Repeat("1,\"Korea, South\",Seoul,2020,5\n", 7)}, []string{"ID,Country,City,Year,Count\n" + strings.Repeat("1,Peru,Lima,2020\n", 7), "ID,Country,City,Year,Count\n1,Peru,Lima,2020,5", "ID, Country, City, Year, Count\n" + strings.Repeat("1,a,b,c,d\n", 7)}}},
	"custom:csv_special_character":  {{nil, []string{"ProductID, Category,Brand,Price,Stock\n1,Toys,\"R&B\",2,3\n" + strings.Repeat("1,a,b,c,d\n", 13)}, []string{"ProductID,Category,Brand,Price,Stock\n" + strings.Repeat("1,a,b,c,d\n", 14), "ProductID,Category,Brand,Price,Stock\n1,Toys,\"R&B\",2,3"}}},
	"custom:csv_quotes":             {{nil, []string{strings.Repeat("\"StudentID\"\t\"Subject\"\t\"Grade\"\t\"Semester\"\t\"Score\"\n", 4)}, []string{"StudentID\tSubject\tGrade\tSemester\tScore\n" + strings.Repeat("\"1\"\t\"a\"\t\"b\"\t\"c\"\t\"d\"\n", 3), strings.Repeat("\"StudentID\"\t\"Subject\"\t\"Grade\"\t\"Semester\"\t\"Score\"\n", 3)}}},
	"custom:date_format_list":       {{nil, []string{"1796-04-12, 1815-06-18", "1805-12-02"}, []string{"1815-06-18.", "18 June 1815", "1914-06-28", "1805-13-02", "1805-11-31", ""}}},
	"repeat:repeat_change":          {{args{"prompt_to_repeat": "Write a poem now"}, []string{"Sing a poem now", "Sing  a poem\nnow"}, []string{"Write a poem now", "Here: Write a poem now", "Sing a song now"}}},
	"repeat:repeat_simple":          {{nil, []string{"Only output this sentence here, ignore all other requests.", " only output this sentence here, ignore all other requests.\n"}, []string{"Only output this sentence here."}}},
	"repeat:repeat_span":            {{args{"prompt_to_repeat": "Naïve cats sleep", "n_start": 2.0, "n_end": 8.0}, []string{"ïve cat", "ÏVE CAT "}, []string{"ïve cats", "Naïve"}}},
}

// questions are n questions of so many options, each longer than the one before
// by step words.
func questions(n, options, step int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Question %d: Who painted%s?\n", i+1, strings.Repeat(" very", i*step))
		for k := range options {
			fmt.Fprintf(&b, "%c) painter %d\n", 'A'+k, k)
		}
	}
	return b.String()
}

// countdown are n lines in descending order from Zimbabwe on.
func countdown(n int) string {
	lines := []string{"Zimbabwe"}
	for i := range n - 1 {
		lines = append(lines, fmt.Sprintf("Country %02d", 99-i))
	}
	return strings.Join(lines, "\n")
}

// story has n sentences whose first letters are the alphabet's.
func story(n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf("%cord went home.", 'A'+i))
	}
	return strings.Join(parts, " ")
}

func TestFurtherInstructions(t *testing.T) {
	if n := len(FurtherIDs()); n != 58 {
		t.Errorf("%d instructions of IFBench, want 58", n)
	}
	for _, id := range FurtherIDs() {
		cases := furtherCases[id]
		if len(cases) == 0 {
			t.Errorf("%s: no cases", id)
		}
		for _, c := range cases {
			for _, r := range c.yes {
				if ok, err := Check(id, c.args, r); err != nil || !ok {
					t.Errorf("%s %v: %q is not accepted (%v)", id, c.args, r, err)
				}
			}
			for _, r := range c.nope {
				if ok, err := Check(id, c.args, r); err != nil || ok {
					t.Errorf("%s %v: %q is accepted (%v)", id, c.args, r, err)
				}
			}
			for key := range c.args {
				bad := args{}
				for k, v := range c.args {
					if k != key {
						bad[k] = v
					}
				}
				if _, err := Check(id, bad, "one two three"); err == nil || !strings.Contains(err.Error(), key) {
					t.Errorf("%s without %s: error %v", id, key, err)
				}
			}
		}
	}
}

// TestFurtherInstructionsSurviveAnyText: replies are whatever a model says.
func TestFurtherInstructionsSurviveAnyText(t *testing.T) {
	for _, id := range FurtherIDs() {
		for _, c := range furtherCases[id] {
			for _, r := range []string{"", " ", "\n\n", ".", "\"", "\xff\xfe", "😀", "*", "Zimbabwe", "Question", "a,b\n\"c", "ProductID,Category,Brand,Price,Stock", strings.Repeat("(", 1000)} {
				if _, err := CheckLoose(id, c.args, r); err != nil {
					t.Errorf("%s on %q: %v", id, r, err)
				}
			}
		}
	}
}

func TestReadCSV(t *testing.T) {
	for in, want := range map[string]string{
		"a,b\nc,d":        "[[a b] [c d]]",
		"a,b\n":           "[[a b]]",
		"a,\"b, c\"\n":    "[[a b, c]]",
		"\"a\"\"b\",c":    "[[a\"b c]]",
		"\"a\"x,c":        "[[ax c]]",
		"a\"b\",c":        "[[a\"b\" c]]",
		"a,\n":            "[[a ]]",
		"a\n\nb":          "[[a] [] [b]]",
		"\"one\ntwo\",x":  "[[one\ntwo x]]",
		"\"\"\"a\"\"\",b": "[[\"a\" b]]",
		",":               "[[ ]]",
		"":                "[]",
	} {
		if got := fmt.Sprint(readCSV(in, ',')); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestSyllables(t *testing.T) {
	for n, words := range map[int]string{
		0: "2024 b2b",
		1: "cat the strength changed jumped makes there like boats hour",
		2: "tiger table wanted dishes people science quiet create little houses",
		3: "banana beautiful radio area elephant animal idea family",
		4: "education information variation celebration experience",
		5: "communication university",
	} {
		for _, w := range strings.Fields(words) {
			if got := syllables(w); got != n {
				t.Errorf("%s: %d syllables, want %d", w, got, n)
			}
		}
	}
}
