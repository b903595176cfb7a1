//go:build unix

package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const sealedKey = "sk-of-the-engine-0123456789"

func hideKey(s string) string { return strings.ReplaceAll(s, sealedKey, "[redacted]") }

// The last words of an engine are told without credentials, also where the words are
// cut in the middle of one.
func TestLastWordsHoldNoKey(t *testing.T) {
	long := strings.Repeat("x", 300-len(sealedKey)/2) + sealedKey
	for _, words := range []string{"login failed for " + sealedKey, long} {
		log, now := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "now")
		addr := freeAddr(t)
		e, err := Start(t.Context(), Config{Command: os.Args[0] + " & until [ -e " + now + " ]; do sleep 0.02; done; echo " + words + "; kill $!; exit 7",
			Env: []string{"ENGINE_TEST_PART=engine", "ENGINE_TEST_ADDR=" + addr}, Server: "http://" + addr, Grace: time.Second, Log: log, Scrub: hideKey})
		if err != nil {
			t.Fatal(err)
		}
		said := make(chan string, 1)
		watched := e.Watch(nil, func(s string) { said <- s })
		if err := os.WriteFile(now, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		<-watched
		for _, text := range []string{<-said, e.Died(), *e.Facts().Died} {
			if !strings.Contains(text, "it last said: ") || strings.Contains(text, sealedKey[:10]) {
				t.Errorf("%q", text)
			}
		}
		e.Stop()
		if b, err := os.ReadFile(log); err != nil || !strings.Contains(string(b), "[redacted]") || strings.Contains(string(b), sealedKey) {
			t.Errorf("log %q, %v", b, err)
		}
	}
	var notes []string
	_, err := Start(t.Context(), Config{Command: "echo reading; echo denied " + long + "; exit 3", Server: "http://" + freeAddr(t), Log: filepath.Join(t.TempDir(), "log"),
		Scrub: hideKey, Note: func(s string) { notes = append(notes, s) }})
	_, told, _ := strings.Cut(fmt.Sprint(err), "it last said: ") // before it stands the command
	if !strings.HasPrefix(told, "denied ") || strings.Contains(told, sealedKey[:10]) {
		t.Errorf("%q", told)
	}
	if i := slices.Index(notes, "  | reading"); i < 0 || strings.Contains(strings.Join(notes[i:], "\n"), sealedKey) {
		t.Errorf("%q", notes)
	}
}

// SealLogs, at the end of a program that waits for nothing, leaves no key in a log that
// is still being written; what is said afterwards is not kept.
func TestSealLogs(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	l, err := newLog(log, 100, 200)
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{cfg: Config{Log: log, Scrub: hideKey}, log: l}
	logs.add(e)
	fmt.Fprintln(l, "args: --api-key "+sealedKey)
	for i := range 20 { // into both tails
		fmt.Fprintln(l, i, "asked with", sealedKey)
	}
	if left := SealLogs(); !slices.Equal(left, []string{log}) {
		t.Errorf("left %q", left)
	}
	fmt.Fprintln(l, "later", sealedKey)
	e.closeLog() // a Stop that was under way
	b, err := os.ReadFile(log)
	if err != nil || strings.Contains(string(b), sealedKey) || !strings.Contains(string(b), "--api-key [redacted]") || !strings.Contains(string(b), "19 asked with [redacted]") {
		t.Errorf("%q, %v", b, err)
	}
	if left := SealLogs(); left != nil {
		t.Errorf("a closed log is left: %q", left)
	}
}

// A log that cannot be put together keeps its end in files of their own: they are
// scrubbed, too.
func TestTailsThatAreLeftAreScrubbed(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	l, err := newLog(log, 10, 200)
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{cfg: Config{Log: log, Scrub: hideKey}, log: l}
	fmt.Fprintln(l, "beginning, and the end with", sealedKey)
	l.file.Close() // what join writes fails
	e.closeLog()
	b, err := os.ReadFile(l.tailPath(0))
	if err != nil || strings.Contains(string(b), sealedKey) || !strings.Contains(string(b), "[redacted]") {
		t.Errorf("%q, %v", b, err)
	}
}
