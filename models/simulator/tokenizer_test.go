package simulator

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTokenizerInverts(t *testing.T) {
	for _, s := range []string{
		"", "a", " a", "  the  question ", "The quick brown fox, 12345 times; naïve café 你好\n\t\r", "\xff\xfe\x80x", "A B Ab aB",
		imStart + "user\nhi" + imEnd, "<|im_", strings.Repeat("x", 100), "\uFFFD", "emoji 👩‍👩‍👧", "x1y22z333w4444",
	} {
		ids := appendTokens(nil, s)
		if got := detokenize(ids); got != s {
			t.Errorf("detokenize(tokenize(%q)) = %q", s, got)
		}
		if n := countTokens(s); n != len(ids) {
			t.Errorf("countTokens(%q) = %d, want %d", s, n, len(ids))
		}
	}
}

func FuzzTokenizer(f *testing.F) {
	f.Add("Hello the World 12 \xff")
	f.Fuzz(func(t *testing.T, s string) {
		if got := detokenize(appendTokens(nil, s)); got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

// Every token id that has a text must be the id of that text, else prompts of
// token ids and their text would count differently.
func TestTokenIDsAreCanonicalForWords(t *testing.T) {
	for i := range vocabulary {
		for variant := int32(0); variant < 4; variant++ {
			id := idWords + 4*int32(i) + variant
			text := string(appendText(nil, id))
			if got := appendTokens(nil, text); len(got) != 1 || got[0] != id {
				t.Fatalf("token %d reads %q, which tokenizes to %v", id, text, got)
			}
		}
	}
	if top := idWords + 4*len(vocabulary); top > idRunes {
		t.Fatalf("word ids end at %d, beyond the first character id %d", top, idRunes)
	}
}

func TestFillerCountsOneTokenAWord(t *testing.T) {
	var b []byte
	for i := range 500 {
		b = appendText(b, fillerToken(7, i))
	}
	if n := countTokens(string(b)); n != 500 || !utf8.Valid(b) {
		t.Fatalf("500 filler tokens read back as %d", n)
	}
}

// A word without an end costs as much a byte as any other text: the time of a
// token must not depend on how much of the word follows.
func TestLongWordIsTokenizedInLinearSteps(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	ids := appendTokens(nil, long)
	if got := len(ids); got < 1<<20/3 || got > 1<<20/3+2 {
		t.Errorf("%d tokens of 1 MiB, want one for three letters", got)
	}
	var text []byte
	for _, id := range ids {
		text = appendText(text, id)
	}
	if string(text) != long {
		t.Error("the tokens do not spell the word")
	}
}
