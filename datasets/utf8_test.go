package datasets

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestOnlyUTF8IsRead(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"plain\nétude 中文 😀\n":      "",
		"one\ntwo h\xe9llo\nthree": "line 2 is not UTF-8 (byte 0xE9); convert the file, for example with iconv",
		"cut off \xe4\xb8":         "line 1 is not UTF-8 (byte 0xE4); convert the file, for example with iconv",
		"\xff\xfeu\x00":            "line 1 is not UTF-8 (byte 0xFF); convert the file, for example with iconv",
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "by bytes": iotest.OneByteReader(strings.NewReader(in)), "data with EOF": iotest.DataErrReader(strings.NewReader(in))} {
			got, err := io.ReadAll(&utf8Reader{r: r})
			if want == "" && (err != nil || string(got) != in) || want != "" && (err == nil || err.Error() != want) {
				t.Errorf("%q, %s: %q, %v; want %q", in, name, got, err, want)
			}
		}
	}
}
