package datasets

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
)

// pickled packs text the way LiveCodeBench's private test cases are packed.
func pickled(text string, short bool) string {
	var p bytes.Buffer
	p.Write([]byte{0x80, 4, 0x95})
	var frame [8]byte
	binary.LittleEndian.PutUint64(frame[:], uint64(len(text)+7))
	p.Write(frame[:])
	if short {
		p.Write([]byte{0x8c, byte(len(text))})
	} else {
		p.WriteByte('X')
		binary.Write(&p, binary.LittleEndian, uint32(len(text)))
	}
	p.WriteString(text)
	p.Write([]byte{0x94, '.'})
	return base64.StdEncoding.EncodeToString(deflate(p.Bytes()))
}

func deflate(raw []byte) []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write(raw)
	w.Close()
	return z.Bytes()
}

func TestPickledTestCases(t *testing.T) {
	text := `[{"input": "1 2", "output": "3", "testtype": "stdin"}]`
	want := []any{map[string]any{"input": "1 2", "output": "3", "testtype": "stdin"}}
	for name, packed := range map[string]string{"json": text, "short": pickled(text, true), "long": pickled(text, false)} {
		got, err := Packed(packed).Unpack()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	pack := func(raw string) string { return base64.StdEncoding.EncodeToString(deflate([]byte(raw))) }
	for name, c := range map[string][2]string{
		"not base64":      {"%%%", "neither JSON nor base64"},
		"not deflated":    {"AAAA", "not deflated"},
		"calls something": {pack("\x80\x04cos\nsystem\n."), "opcode 0x63; only a plain string is accepted"},
		"truncated":       {pack("\x80\x04X\xff\x00\x00\x00abc"), "ends too early"},
		"huge length":     {pack("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xffabc"), "ends too early"},
		"empty":           {pack("\x80\x04."), "holds no string"},
		"no JSON inside":  {pickled("hello", true), "not JSON"},
	} {
		if _, err := Packed(c[0]).Unpack(); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: error %v, want %q", name, err, c[1])
		}
	}
}

func TestLiveCodeBenchWindows(t *testing.T) {
	row := func(date, starter string) string {
		return `{"question_content":"Add.","contest_date":"` + date + `T00:00:00","starter_code":"` + starter + `","public_test_cases":"[]","private_test_cases":"` +
			pickled(`[{"input":"1","output":"2","testtype":"functional"}]`, true) + `","metadata":"{\"func_name\": \"add\"}"}` + "\n"
	}
	dir := write(t, map[string]string{
		"test.jsonl":  row("2024-07-31", "") + row("2024-08-01", "class Solution:"),
		"test6.jsonl": row("2025-01-31", "") + row("2025-05-01", ""),
	})
	for name, want := range map[string]int{"livecodebench_0_shot_chat_v4_v5": 2, "livecodebench_0_shot_chat_v4_v5_v6": 3,
		"livecodebench_0_shot_chat_v6": 2, "livecodebench_gen": 4} {
		s := load(t, config(t, name), LoadOptions{Path: dir})
		if len(s.Samples) != want {
			t.Errorf("%s: %d rows, want %d", name, len(s.Samples), want)
		}
		f := s.Samples[0].Fields
		packed, ok := f["private_test_cases"].(Packed)
		cases, err := packed.Unpack()
		if list, isList := cases.([]any); !ok || err != nil || !isList || len(list) != 1 || f["func_name"] != "add" {
			t.Errorf("%s: fields %v, %v", name, f, err)
		}
	}
	s := load(t, config(t, "livecodebench_gen"), LoadOptions{Path: dir})
	if !strings.Contains(s.Samples[1].Prompt.String(), "class Solution:") || !strings.Contains(s.Samples[0].Prompt.String(), "# YOUR CODE HERE") {
		t.Error("starter code decides the format")
	}
}

func TestMBPPKeepsTheTestPart(t *testing.T) {
	rows := ""
	for _, id := range []string{"2", "10", "11", "510", "511"} {
		rows += `{"task_id":` + id + `,"text":"T` + id + `","code":"c","test_list":["assert f()"]}` + "\n"
	}
	s := load(t, config(t, "mbpp_gen"), LoadOptions{Path: write(t, map[string]string{"mbpp.jsonl": rows})})
	var got []string
	for _, x := range s.Samples {
		got = append(got, x.Fields["text"].(string))
	}
	if !reflect.DeepEqual(got, []string{"T11", "T510"}) || len(s.Warnings) > 0 {
		t.Errorf("asked %v, warnings %v", got, s.Warnings)
	}
}
