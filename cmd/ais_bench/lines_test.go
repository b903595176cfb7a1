package main

import (
	"flag"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
)

func TestErrorLine(t *testing.T) {
	for msg, want := range map[string]string{
		"two\nlines  and\ttabs":         "two lines and tabs",
		"bell \a, colour \x1b[31mred":   `bell \a, colour \x1b[31mred`,
		"broken \xff\xfe UTF-8, 你好, é":  `broken \xff\xfe UTF-8, 你好, é`,
		"right to left \u202e reversed": `right to left \u202e reversed`,
		`quoted "\x1b" as written`:      `quoted "\x1b" as written`,
	} {
		if got := errorLine(msg); got != want {
			t.Errorf("%q is written %q, want %q", msg, got, want)
		}
	}
	long := errorLine("begin " + strings.Repeat("x", 1<<20) + " end")
	if n := len([]rune(long)); n > 4100 || !strings.HasPrefix(long, "begin xxx") || !strings.HasSuffix(long, "xxx end") || !strings.Contains(long, "characters left out") {
		t.Errorf("%d characters: %.60s", n, long)
	}
}

// What is printed for pasting is what a shell reads.
func TestShellLine(t *testing.T) {
	words := []string{"ais_bench", "--models", "a b", "--set=x={\"k\": \"it's\"}", "", "$HOME `x` *", "two  blanks\n and a line", `back\slash  x`, "é", "a;b|c&d", "#x", "~"}
	line := errorLine(shellLine(words)) // as it is printed
	sh := "/bin/bash"
	if _, err := exec.LookPath(sh); err != nil {
		t.Skip("no bash here")
	}
	out, err := exec.Command(sh, "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("%s\nis read as %q, want %q", line, got, words)
	}
}

// The lines that say how to go on name the work dir where one was given.
func TestResumeHints(t *testing.T) {
	run, err := outputs.CreateIn(filepath.Join(t.TempDir(), "20260101_000000"))
	if err != nil {
		t.Fatal(err)
	}
	run.SetRedactor(outputs.NewRedactor("sk-very-secret"))
	c := cli.NewContext(newApp(io.Discard, io.Discard), flag.NewFlagSet("", flag.ContinueOnError), nil)
	args := []string{"--models", "a", "b", "--datasets", "d", "-w", "my runs", "--reuse", "--header", "X-Key=sk-very-secret", "--num-prompts", "5"}
	want := "`ais_bench --models=a --models=b --datasets=d '--work-dir=my runs' '--header=X-Key=[redacted]' --num-prompts=5 --reuse=20260101_000000`"
	if got := sameAgain(c, args, run); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.String("work-dir", "outputs/default", "")
	fs.String("header", "", "")
	c = cli.NewContext(c.App, fs, nil)
	if got, want := continueLine(c, "sweep", run), "`ais_bench bench sweep --reuse 20260101_000000`"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	_ = fs.Set("work-dir", "my runs")
	if got, want := continueLine(c, "grid", run), "`ais_bench bench grid --reuse 20260101_000000 --work-dir 'my runs'`"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
