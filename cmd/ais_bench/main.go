// Command ais_bench decides whether an LLM service may go live: it asks a
// service data sets under load and reports whether the answers are right and
// whether they come fast enough.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"ais_bench/evaluators/sandbox"
	"ais_bench/models/transport"
	"ais_bench/outputs"
	"ais_bench/tasks"
)

// Stamped by the Makefile.
var (
	version = "dev"
	commit  = ""
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1 // a gate or a task failed
	exitUsage       = 2 // the command line, a configuration or a data file is wrong
	exitEnvironment = 3 // the surroundings are: no server, no key, no room, a file or folder that is not there
	// 4: a contract can be judged neither way (contract.State.ExitCode)
)

func main() {
	sandbox.MaybeChild() // a sandboxed program starts as a copy of this one
	os.Exit(run(os.Args, os.Stdout, os.Stderr))
}

// run is the program with its exit code.
func run(argv []string, stdout, stderr io.Writer) int {
	if _, _, err := transport.RaiseFileLimit(); err != nil {
		fmt.Fprintf(stderr, "warning: could not raise the limit of open files: %v\n", err)
	}
	app := newApp(stdout, stderr)
	args, err := normalizeArgs(app, argv[1:])
	if err != nil {
		return fail(stderr, usage(err))
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return fail(stderr, app.RunContext(ctx, append(argv[:1:1], args...)))
}

func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:  "ais_bench",
		Usage: "are the answers right, and is the service fast enough under load",
		UsageText: "ais_bench --models MODEL … --datasets DATASET … [--summarizer NAME] [--mode MODE] [flags]\n" +
			"ais_bench COMMAND [flags]",
		Description: "Asks every chosen model every chosen data set once, scores the answers, times the requests, and leaves a run folder\n" +
			"with Parquet, Excel and a manifest. No file has to be edited: each field of a configuration has a flag or\n" +
			"--set models.NAME.FIELD=VALUE / --set datasets.NAME.FIELD=VALUE.\n\n" +
			"Exit codes: 0 done, 1 a task or gate failed, 2 wrong usage, 3 the environment (server, key, disk, a file that is not there), 4 a gate is inconclusive.",
		Version:                   versionLine(),
		Flags:                     evaluateFlags(),
		Action:                    evaluateAction,
		Commands:                  commands(),
		EnableBashCompletion:      true,
		Writer:                    stdout,
		ErrWriter:                 stderr,
		DisableSliceFlagSeparator: true, // values may hold commas: JSON, headers
		HideHelpCommand:           true,
		ExitErrHandler:            func(*cli.Context, error) {}, // run maps errors to exit codes
		OnUsageError:              func(_ *cli.Context, err error, _ bool) error { return usage(err) },
	}
	finiteFlags(app.Flags)
	for _, c := range app.Commands {
		quietUsageErrors(c)
	}
	return app
}

// quietUsageErrors makes a wrong flag one line instead of a page of help.
func quietUsageErrors(c *cli.Command) {
	c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return usage(err) }
	c.HideHelpCommand = true
	finiteFlags(c.Flags)
	if c.Action != nil {
		apart(c)
	}
	for _, s := range c.Subcommands {
		quietUsageErrors(s)
	}
}

// finiteFlags refuses NaN and infinity for every flag that is a number: nothing can
// be compared with the one, and nothing ends at the other. Where inf has a meaning
// (--request-rate, --burstiness) the flag is a text that is read there.
func finiteFlags(flags []cli.Flag) {
	for _, f := range flags {
		if f, ok := f.(*cli.Float64Flag); ok {
			f.Action = func(_ *cli.Context, v float64) error { return finite(f.Name, v) }
		}
	}
}

func finite(flag string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return usagef("--%s %g: give a finite number", flag, v)
	}
	return nil
}

// usageError is a mistake of the caller's.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// usageUnlessEnvironment makes an error a usage error unless the surroundings are to blame.
func usageUnlessEnvironment(err error) error {
	var env *tasks.EnvironmentError
	if errors.As(err, &env) {
		return err
	}
	return usage(err)
}

// fail prints an error as one line and chooses the exit code.
func fail(stderr io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	code := exitFailed
	var env *tasks.EnvironmentError
	var use usageError
	var coder cli.ExitCoder
	switch { // the last case also fits the exit status of a child, wrapped in one of the others
	case errors.As(err, &use):
		code = exitUsage
	case errors.As(err, &env):
		code = exitEnvironment
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EROFS):
		code = exitEnvironment // a full disk, wherever it was met
	case errors.As(err, &coder):
		code = coder.ExitCode()
	}
	// Whichever flag or configuration names a file: that it is not there is one thing,
	// and another than a file with wrong content.
	if code == exitUsage && errors.Is(err, fs.ErrNotExist) {
		code = exitEnvironment
	}
	if msg := err.Error(); msg != "" {
		fmt.Fprintln(stderr, "error: "+errorLine(msg))
	}
	return code
}

// errorLine is a message as one line of bounded length. What a file or a server put
// into it and no terminal shows (control bytes, which may command it; broken
// UTF-8) is escaped as in Go's strings.
func errorLine(msg string) string {
	const most, tail = 4000, 1000
	var b strings.Builder
	for i, word := range strings.Fields(msg) {
		if i > 0 {
			b.WriteByte(' ')
		}
		for len(word) > 0 {
			r, n := utf8.DecodeRuneInString(word)
			switch {
			case r == utf8.RuneError && n == 1:
				fmt.Fprintf(&b, `\x%02x`, word[0])
			case unicode.IsPrint(r):
				b.WriteString(word[:n])
			default:
				q := strconv.QuoteRuneToASCII(r)
				b.WriteString(q[1 : len(q)-1])
			}
			word = word[n:]
		}
	}
	line := []rune(b.String())
	if len(line) <= most {
		return string(line)
	}
	return fmt.Sprintf("%s … (%d characters left out) … %s", string(line[:most-tail]), len(line)-most, string(line[len(line)-tail:]))
}

func versionLine() string {
	c := buildCommit()
	if c == "" {
		return version
	}
	return version + " (commit " + c + ")"
}

// buildCommit is the stamped commit, or the one the Go tool recorded.
func buildCommit() string {
	if commit != "" {
		return commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}

// toolInfo identifies the program in manifests.
func toolInfo() outputs.ToolInfo {
	return outputs.ToolInfo{Name: "ais_bench", Version: version, Commit: buildCommit(),
		Dirty: strings.HasSuffix(version, "-dirty"), GoVersion: runtime.Version(), Repository: surroundingCommit()}
}
