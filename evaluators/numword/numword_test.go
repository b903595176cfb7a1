package numword

import "testing"

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"seven": "7", "twenty-one": "21", "one hundred and five": "105", "two thousand three hundred": "2300", "one million two hundred thousand": "1200000",
		"two point five": "2.5", "12": "12", "007": "7", "seven apples": "7", "ninety nine": "99", "hundred": "100",
	} {
		if got, ok := Parse(in); !ok || got != want {
			t.Errorf("Parse(%q) = %q, %v; want %s", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "apples", "thousand million million", "one point twenty"} {
		if got, ok := Parse(in); ok {
			t.Errorf("Parse(%q) = %q, want none", in, got)
		}
	}
}

func TestFirst(t *testing.T) {
	for in, want := range map[string]string{"i count twenty three items": "23", "there are one hundred and five": "105", "two, then nine": "2"} {
		got, ok := First(in)
		if !ok || got != want {
			t.Errorf("First(%q) = %q, %v; want %s", in, got, ok, want)
		}
	}
}
