package pytext

import (
	"math"
	"testing"
)

func TestFloatAcceptsWhatPythonDoes(t *testing.T) {
	for in, want := range map[string]float64{"1e3": 1000, " 1 ": 1, "1_000": 1000, "１２": 12, "-.5": -0.5, "inf": math.Inf(1), "-Infinity": math.Inf(-1), "1e999": math.Inf(1), "٣": 3, "5.": 5} {
		if got, ok := Float(in); !ok || got != want {
			t.Errorf("Float(%q) = %v, %v; want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{"", " ", "0x10", "1__0", "_1", "1_", "1,000", "one", "1p3", "--1", "½"} {
		if got, ok := Float(in); ok {
			t.Errorf("Float(%q) = %v, want an error", in, got)
		}
	}
}

func TestInt(t *testing.T) {
	for in, want := range map[string]string{"007": "7", " -5 ": "-5", "+3": "3", "1_000": "1000", "１２": "12", "123456789012345678901234567890": "123456789012345678901234567890"} {
		if got, ok := Int(in); !ok || got.String() != want {
			t.Errorf("Int(%q) = %v, %v; want %s", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "1.0", "1e3", "+-1", "x", "1 2"} {
		if got, ok := Int(in); ok {
			t.Errorf("Int(%q) = %v, want an error", in, got)
		}
	}
}

func TestFormatFloatIsRepr(t *testing.T) {
	for in, want := range map[float64]string{1: "1.0", 0.5: "0.5", 1e16: "1e+16", 123456: "123456.0", 1e-5: "1e-05", -3: "-3.0", 0: "0.0"} {
		if got := FormatFloat(in); got != want {
			t.Errorf("FormatFloat(%v) = %s, want %s", in, got, want)
		}
	}
}

func TestClassesAreUnicode(t *testing.T) {
	for s, want := range map[string]bool{"Ａ": true, "A1": true, "Aa": false, "1": false, "": false, "中": false} {
		if IsUpper(s) != want {
			t.Errorf("IsUpper(%q) = %v", s, !want)
		}
	}
	if !IsLower("a1") || IsLower("A") || IsLower("1") {
		t.Error("IsLower")
	}
	if !IsWord('中') || !IsWord('_') || IsWord('，') || !IsDigit('٣') || IsDigit('½') || !IsSpace('\u3000') || !IsSpace(0x1d) {
		t.Error("character classes")
	}
	for r, want := range map[rune]int{'7': 7, '７': 7, '৪': 4, '𝟗': 9, 'x': -1} {
		if got := DigitValue(r); got != want {
			t.Errorf("DigitValue(%q) = %d, want %d", r, got, want)
		}
	}
	if got := Fields(" a\u3000b\x1cc "); len(got) != 3 {
		t.Errorf("Fields: %q", got)
	}
	if got := DeletePunctuation("O'Brien, U.S.—“x”"); got != "OBrien US—“x”" {
		t.Errorf("DeletePunctuation: %q", got)
	}
}
