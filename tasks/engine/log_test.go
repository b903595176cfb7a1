package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A long log keeps its beginning and its end, says how much it left out, and loses
// nothing that it does not say.
func TestBoundedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "engine.out")
	const head, segment = 1000, 500
	l, err := newLog(path, head, segment)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	onDisk := func() (n int64) {
		files, _ := filepath.Glob(path + "*")
		for _, f := range files {
			if st, err := os.Stat(f); err == nil {
				n += st.Size()
			}
		}
		return n
	}
	for i := range 2000 {
		line := fmt.Sprintf("line %d of what the engine says\n", i)
		all.WriteString(line)
		if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
		if n := onDisk(); n > head+2*segment {
			t.Fatalf("%d bytes on disk after line %d", n, i)
		}
	}
	if got := string(l.end()); !strings.HasSuffix(all.String(), got) || len(got) < recentBytes/2 {
		t.Errorf("the end in memory has %d bytes and is not the end", len(got))
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, rest, ok := strings.Cut(string(b), "\n[ais_bench: ")
	if !ok || begin != all.String()[:head] {
		t.Fatalf("the beginning is %q", begin)
	}
	var left int
	if _, err := fmt.Sscanf(rest, "%d bytes of the engine's log are left out here", &left); err != nil {
		t.Fatal(err)
	}
	_, end, _ := strings.Cut(rest, "]\n")
	if !strings.HasSuffix(all.String(), end) || len(end) < segment || !strings.HasPrefix(end, "line ") {
		t.Errorf("the end, %d bytes, is %.80q", len(end), end)
	}
	if head+left+len(end) != all.Len() {
		t.Errorf("%d + %d left out + %d is not %d", head, left, len(end), all.Len())
	}
	if files, _ := filepath.Glob(path + "*"); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// What was said before settle is logged when it returns, however late the reader's
// turn comes, and however much like the mark it looks.
func TestSettle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "engine.out")
	l, err := newLog(path, 1<<20, 500)
	if err != nil {
		t.Fatal(err)
	}
	w, err := l.input()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("line\n", 5000) + string(l.mark[:20]) + "\nlast words \x00"
	l.mu.Lock() // the reader cannot log
	fmt.Fprint(w, text)
	settled := make(chan struct{})
	go func() {
		l.settle()
		close(settled)
	}()
	time.Sleep(200 * time.Millisecond) // longer than the moment in which nothing may come
	l.mu.Unlock()
	<-settled
	if got := string(l.end()); got != text {
		t.Errorf("%d bytes of %d were logged when it had settled", len(got), len(text))
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); string(b) != text {
		t.Errorf("%d bytes said, %d kept: %v", len(text), len(b), err)
	}
}

// Short logs are as they were said; one of nothing is no file.
func TestShortLog(t *testing.T) {
	for _, text := range []string{"", "one line\n", strings.Repeat("x", 1000), strings.Repeat("y", 1400)} {
		path := filepath.Join(t.TempDir(), "engine.out")
		l, err := newLog(path, 1000, 500)
		if err != nil {
			t.Fatal(err)
		}
		w, err := l.input()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, text)
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if text == "" {
			if !os.IsNotExist(err) {
				t.Errorf("an empty log is left: %v", err)
			}
			continue
		}
		if string(b) != text {
			t.Errorf("%d bytes said, %d kept: %v", len(text), len(b), err)
		}
	}
}
