package lmeval

import "testing"

func TestFiltersKeepTheirFaults(t *testing.T) {
	for _, c := range []struct{ what, got, want string }{
		{"the last digit is eaten", GSM8KCoTStrict("The answer is 55"), "5"},
		{"first ####", GSM8KStrict("#### 1\n#### 2"), "1"},
		{"full stop kept", GSM8KFlexible("The answer is 55."), "55."},
		{"first answer", MMLUPro("the answer is (A); finally the answer is (B)"), "A"},
		{"a colon in between", MMLUPro("The answer is: C"), Invalid},
		{"last character dropped", AfterPhrase("the answer is (B)", "the answer is "), "(B"},
		{"one character", AfterPhrase("the answer is C", "the answer is "), ""},
		{"no phrase", AfterPhrase("x", "the answer is "), Invalid},
		{"a lone hyphen", NumberParse("- 7 apples"), "-"},
		{"spelled number", NumberParse("I count twenty three items"), "23"},
		{"after thinking", AfterThinking("<think>a</think> B</think>\n C"), "C"},
		{"stop strings", AfterThinkingStop("a</think>x STOP y", []string{"STOP"}), "x "},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	if NQOpen.Equal("the  Beatles", "the Beatles") || !NQOpen.Equal("The Beatles", "beatles") {
		t.Error("articles of nq_open")
	}
}

func TestDropMetrics(t *testing.T) {
	for _, c := range []struct {
		pred, gold []string
		em, f1     float64
	}{
		{[]string{"7.0"}, []string{"7"}, 1, 1}, {[]string{"7 yards"}, []string{"7"}, 0, 0.67}, {[]string{"12.5%"}, []string{"12.5"}, 0, 0},
		{[]string{"Mary", "John"}, []string{"John", "Mary"}, 1, 1}, {[]string{"John"}, []string{"John", "Mary"}, 0, 0.5}, {[]string{""}, []string{"3"}, 0, 0},
	} {
		if em, f1 := DropMetrics(c.pred, c.gold); em != c.em || f1 != c.f1 {
			t.Errorf("%q against %q: %v, %v; want %v, %v", c.pred, c.gold, em, f1, c.em, c.f1)
		}
	}
}

func TestClassificationLetsTheNeighbourEscape(t *testing.T) {
	// "a" and "ab" are parts of the gold; dropping the first skips the second
	if got := Classification("a ab abc", "abc", []string{"a", "ab", "abc"}); got != 0.5 {
		t.Errorf("got %v, want 0.5 as published", got)
	}
}
