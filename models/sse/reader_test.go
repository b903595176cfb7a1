package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// pieces is a source that cuts a text into pieces of the lengths given (the last
// one again and again) and stamps each with its number.
type pieces struct {
	text  []byte
	sizes []int
	n     int64
	end   error
	buf   []byte
}

func (p *pieces) Next() ([]byte, int64, error) {
	if len(p.text) == 0 {
		if p.end != nil {
			return nil, p.n, p.end
		}
		return nil, p.n, io.EOF
	}
	size := p.sizes[min(int(p.n), len(p.sizes)-1)]
	size = min(max(size, 1), len(p.text))
	// One buffer for all pieces, overwritten each time: a reader that keeps a
	// piece beyond its life is found out.
	p.buf = append(p.buf[:0], p.text[:size]...)
	p.text = p.text[size:]
	p.n++
	return p.buf, p.n, nil
}

func readAll(t testing.TB, r *Reader) (events []string, err error) {
	for {
		ev, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, fmt.Sprintf("%s|%s", ev.Name, ev.Data))
		if len(events) > 1<<20 {
			t.Fatal("endless events")
		}
	}
}

func TestReader(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"usual", "data: {\"a\":1}\n\ndata: [DONE]\n\n", []string{`|{"a":1}`, "|[DONE]"}},
		{"no space", "data:x\n\n", []string{"|x"}},
		{"one space only is dropped", "data:  x\n\n", []string{"| x"}},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"cr", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"mixed line ends", "data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", []string{"|a", "|b", "|c"}},
		{"comments", ": ping\n\n:\n\ndata: a\n: in between\ndata: b\n\n", []string{"|a\nb"}},
		{"several lines", "data: {\ndata:  \"a\": 1\ndata: }\n\n", []string{"|{\n \"a\": 1\n}"}},
		{"event name", "event: error\ndata: x\n\ndata: y\n\n", []string{"error|x", "|y"}},
		{"event name after the data", "data: x\nevent: late\n\n", []string{"late|x"}},
		{"event without data is none", "event: ping\n\ndata: y\n\n", []string{"|y"}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []string{"|a"}},
		{"no final blank line", "data: a\n\ndata: b\n", []string{"|a", "|b"}},
		{"no final line end", "data: a\n\ndata: b", []string{"|a", "|b"}},
		{"id and retry", "id: 1\nretry: 5\ndata: a\n\n", []string{"|a"}},
		{"separators within JSON", "data: {\"a\":\"x\u2028y\u2029z\u0085\"}\n\n", []string{"|{\"a\":\"x\u2028y\u2029z\u0085\"}"}},
		{"empty data", "data:\n\ndata\n\n", []string{"|", "|"}},
		{"blank lines forgotten", "data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n", []string{`|{"a":1}`, `|{"b":2}`, "|[DONE]"}},
		{"characters of several bytes", "data: 你好 🙂\n\n", []string{"|你好 🙂"}},
		{"nothing", "", nil},
		{"only comments", ": a\n\n: b\n\n", nil},
	}
	for _, tc := range tests {
		for _, size := range []int{1, 2, 3, 7, 64, 1 << 20} {
			got, err := readAll(t, NewReader(&pieces{text: []byte(tc.in), sizes: []int{size}}))
			if !errors.Is(err, io.EOF) {
				t.Fatalf("%s in pieces of %d: error %v", tc.name, size, err)
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("%s in pieces of %d:\n got %q\nwant %q", tc.name, size, got, tc.want)
			}
		}
	}
}

func TestArrivalIsThatOfTheLastLine(t *testing.T) {
	tests := []struct {
		name  string
		sizes []int
		want  []int64
	}{
		// "data: a\n\n" is 9 bytes
		{"both in one read", []int{18}, []int64{1, 1}},
		{"a read each", []int{9, 9}, []int64{1, 2}},
		{"blank line later", []int{8, 1, 9}, []int64{1, 3}},
		{"line in two reads", []int{4, 5, 9}, []int64{2, 3}},
	}
	for _, tc := range tests {
		r := NewReader(&pieces{text: []byte("data: a\n\ndata: b\n\n"), sizes: tc.sizes})
		for i, want := range tc.want {
			ev, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if ev.At != want {
				t.Errorf("%s: event %d arrived at %d, want %d", tc.name, i, ev.At, want)
			}
		}
	}
}

func TestLongLine(t *testing.T) {
	fits := strings.Repeat("x", MaxEvent-6)
	got, err := readAll(t, NewReader(&pieces{text: []byte("data: " + fits + "\n\n"), sizes: []int{64 << 10}}))
	if !errors.Is(err, io.EOF) || len(got) != 1 || len(got[0]) != len(fits)+1 {
		t.Fatalf("a line of 16 MiB: %d events, error %v", len(got), err)
	}
	_, err = readAll(t, NewReader(&pieces{text: []byte("data: " + fits + "xx\n\n"), sizes: []int{64 << 10}}))
	if !errors.Is(err, ErrTooLong) {
		t.Fatalf("a longer line: error %v, want ErrTooLong", err)
	}
	many := strings.Repeat("data: "+strings.Repeat("y", 1<<20)+"\n", 17)
	_, err = readAll(t, NewReader(&pieces{text: []byte(many), sizes: []int{64 << 10}}))
	if !errors.Is(err, ErrTooLong) {
		t.Fatalf("a longer event of several lines: error %v, want ErrTooLong", err)
	}
}

func TestBrokenSource(t *testing.T) {
	reset := errors.New("reset")
	r := NewReader(&pieces{text: []byte("data: a\n\ndata: b\ndata: half"), sizes: []int{5}, end: reset})
	got, err := readAll(t, r)
	if !errors.Is(err, reset) {
		t.Fatalf("error %v, want the source's", err)
	}
	if fmt.Sprint(got) != fmt.Sprint([]string{"|a", "|b"}) {
		t.Errorf("events %q: the complete lines must come, the cut one must not", got)
	}
}

func TestStray(t *testing.T) {
	r := NewReader(&pieces{text: []byte("{\"error\": \"no\"}\n"), sizes: []int{3}})
	if got, err := readAll(t, r); !errors.Is(err, io.EOF) || len(got) != 0 {
		t.Fatalf("events %q, error %v", got, err)
	}
	if !bytes.Contains(r.Stray(), []byte(`{"error": "no"}`)) {
		t.Errorf("stray text is %q", r.Stray())
	}
}

// FuzzReader: the events are the same whatever the boundaries of the reads.
func FuzzReader(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\ndata:b\n\n: c\ndata: [DONE]"), uint8(1), uint8(5))
	f.Add([]byte("event: x\ndata: {\ndata: }\n\n\xef\xbb\xbf"), uint8(2), uint8(3))
	f.Add([]byte("data: {\"a\":1}\ndata: {\"b\":2}\r\rdata\n"), uint8(7), uint8(1))
	f.Add([]byte("data: \xe4\xbd\xa0\u2028\n\n"), uint8(3), uint8(64))
	f.Fuzz(func(t *testing.T, text []byte, a, b uint8) {
		want, werr := readAll(t, NewReader(&pieces{text: text, sizes: []int{1 << 30}}))
		for _, sizes := range [][]int{{1}, {int(a), int(b), int(a) + 1, 1, int(b) * 7}} {
			got, gerr := readAll(t, NewReader(&pieces{text: text, sizes: sizes}))
			if fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(gerr) != fmt.Sprint(werr) {
				t.Fatalf("pieces %v:\n got %q %v\nwant %q %v", sizes, got, gerr, want, werr)
			}
		}
	})
}
