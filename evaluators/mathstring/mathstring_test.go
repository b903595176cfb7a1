package mathstring

import "testing"

func TestBoxes(t *testing.T) {
	for in, want := range map[string]string{`\boxed{\frac{3}{4}}`: `\frac{3}{4}`, `\boxed{1} \boxed{2}`: "2", `\fbox{7}`: "7", `\boxed{{5}}`: "5", `\boxed{\boxed{9}}`: "9"} {
		if got, ok := LastBoxed(in); !ok || got != want {
			t.Errorf("LastBoxed(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "no box", `\boxed{open`, `\boxed 7`} {
		if got, ok := LastBoxed(in); ok {
			t.Errorf("LastBoxed(%q) = %q, want none", in, got)
		}
	}
	if _, ok := OCBoxed(`\fbox{7}`); ok {
		t.Error("OpenCompass reads no fbox")
	}
	if got, ok := LMBoxed(`\boxed 7$ x`); !ok || got != "7" {
		t.Errorf("LMBoxed = %q, %v", got, ok)
	}
}

func TestStringRulesDifferWhereTheyShould(t *testing.T) {
	type verdicts struct{ v1, v2, lm bool }
	for _, c := range []struct {
		pred, gold string
		want       verdicts
	}{
		{"0.5", `\frac{1}{2}`, verdicts{true, false, true}},
		{"12", "12.", verdicts{false, true, false}},
		{"1,000", "1000", verdicts{true, true, false}},
		{"2j", "2i", verdicts{false, true, false}},
		{"204", "204.0", verdicts{false, true, false}},
		{`\sqrt{12}`, `2\sqrt{3}`, verdicts{}},
		{`\dfrac{3}{4}`, `\frac34`, verdicts{true, true, true}},
	} {
		got := verdicts{OCEqual(c.pred, c.gold, StripHendrycks), OCEqual(c.pred, c.gold, StripV2), LMEqual(c.pred, c.gold)}
		if got != c.want {
			t.Errorf("%s against %s: %+v, want %+v", c.pred, c.gold, got, c.want)
		}
	}
}

func TestWhereTheOriginalRaises(t *testing.T) {
	for _, in := range []string{`5\text{ cm} and \text{ mm}`, `\sqrt`, "a/b"} {
		if got, ok := StripHendrycks(in); ok {
			t.Errorf("StripHendrycks(%q) = %q, want a failure", in, got)
		}
	}
}

func FuzzStrings(f *testing.F) {
	for _, s := range []string{`\frac12`, `\sqrt3`, `\boxed{{x}}`, "1,234,567.890", `\begin{pmatrix}1\\2\end{pmatrix}`, "a/b/c", `(1,2]`, "50\\%", `\text{seven}`} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 400 {
			return
		}
		StripHendrycks(a)
		StripV2(a)
		OCNormalize(a)
		OCPostprocessV2(a)
		MinervaNormalize(a)
		DapoMinerva(a)
		VerifyExtract(a)
		if s := ESExtract(a); s != "" && !ESEqual(s, s) {
			t.Fatalf("%q is not equal to itself", s)
		}
		ESEqual(a, b)
		PRM800KEqual(a, b)
	})
}
