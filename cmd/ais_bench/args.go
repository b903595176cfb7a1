package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/registry"
)

// The published command lines were written for argparse: a flag takes several
// values (`--models A B`), a value may be left out (`--reuse`), underscores
// stand for dashes (`--max_concurrency`), `--no-x` switches x off and
// positional arguments may come first. normalizeArgs rewrites such a line into
// the form urfave/cli parses, and rejects what it cannot place with the nearest
// right name.

// severalValues are the flags that take all following words up to the next flag.
var severalValues = map[string]bool{
	"models": true, "datasets": true, "header": true, "metadata": true, "goodput": true,
	"generation-kwargs": true, "set": true, "server-meta": true, "lora-modules": true, "param": true, "server-metrics": true,
}

// optionalValue are the flags whose value may be left out, with what a bare flag means.
var optionalValue = map[string]string{"reuse": "latest", "server-metrics": "auto", "by-length-bucket": "128,1024"}

// valueOf tells, for flags whose value may be left out, whether the next word is
// their value; without an entry every word that is no flag is.
var valueOf = map[string]func(string) bool{
	"by-length-bucket": func(s string) bool { return s[0] >= '0' && s[0] <= '9' || strings.HasPrefix(s, "short,") },
}

// decides are the flags of benchmarks whose last value does not silently win.
var decides = map[string]bool{"contract": true, "baseline": true, "slo": true, "goodput": true}

// normalizeArgs rewrites args (without the program's name) for app.
func normalizeArgs(app *cli.App, args []string) ([]string, error) {
	commands, flags := app.Commands, app.Flags
	var path []string // sub-commands entered
	rest := args
	for len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(rest[0]) })
		if i < 0 {
			break
		}
		path = append(path, rest[0])
		flags, commands = commands[i].Flags, commands[i].Subcommands
		rest = rest[1:]
	}
	where := strings.Join(append([]string{app.Name}, path...), " ")
	known := flagIndex(flags)
	given := map[string]string{} // value by flag that has one
	once := func(f cli.Flag, value string) error {
		name := f.Names()[0]
		switch f.(type) {
		case *cli.StringSliceFlag, *cli.GenericFlag:
			return nil
		}
		if severalValues[name] {
			return nil
		}
		// The last would win, as in vLLM's and AISBench's parsers, whose command lines
		// may rely on it; what decides a verdict must not be won by accident. The value
		// may be a key and is not shown.
		if v, ok := given[name]; ok && v != value && (len(path) == 0 || path[0] != "bench" || decides[name]) {
			return fmt.Errorf("flag \"--%s\" of `%s` is given twice, with different values: give it once", name, where)
		}
		given[name] = value
		return nil
	}
	var out, positional []string
	for i := 0; i < len(rest); i++ {
		arg := rest[i]
		if arg == "--" {
			positional = append(positional, rest[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' || isNegativeNumber(arg) {
			positional = append(positional, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f, canonical := known.find(name)
		if f == nil {
			if name == "help" || name == "h" || name == "version" || name == "generate-bash-completion" {
				out = append(out, arg)
				continue
			}
			return nil, fmt.Errorf("unknown flag %q of `%s`%s; `%s --help` shows all", arg, where,
				registry.DidYouMean("--"+name, known.dashed()), where)
		}
		if isSwitch(f) {
			if !hasValue {
				out = append(out, "--"+canonical)
				continue
			}
			out = append(out, "--"+canonical+"="+value)
			continue
		}
		long := f.Names()[0]
		if hasValue {
			if err := once(f, value); err != nil {
				return nil, err
			}
			out = append(out, "--"+long+"="+value)
			continue
		}
		if bare, ok := optionalValue[long]; ok {
			is := valueOf[long]
			if i+1 < len(rest) && rest[i+1] != "" && !strings.HasPrefix(rest[i+1], "-") && (is == nil || is(rest[i+1])) {
				i++
				bare = rest[i]
			}
			if err := once(f, bare); err != nil {
				return nil, err
			}
			out = append(out, "--"+long+"="+bare)
			for severalValues[long] && i+1 < len(rest) && !strings.HasPrefix(rest[i+1], "-") {
				i++
				out = append(out, "--"+long+"="+rest[i])
			}
			continue
		}
		if i+1 >= len(rest) || (strings.HasPrefix(rest[i+1], "--") && len(rest[i+1]) > 2) {
			return nil, fmt.Errorf("flag %q of `%s` needs a value", arg, where)
		}
		i++
		if err := once(f, rest[i]); err != nil {
			return nil, err
		}
		out = append(out, "--"+long+"="+rest[i])
		for severalValues[long] && i+1 < len(rest) && !strings.HasPrefix(rest[i+1], "-") {
			i++
			out = append(out, "--"+long+"="+rest[i])
		}
	}
	line := append(append(path, out...), "--")
	if len(positional) == 0 {
		line = line[:len(line)-1]
	}
	return append(line, positional...), nil
}

// isNegativeNumber tells `-1` from a flag.
func isNegativeNumber(s string) bool {
	return len(s) > 1 && (s[1] >= '0' && s[1] <= '9' || s[1] == '.')
}

func isSwitch(f cli.Flag) bool {
	_, ok := f.(*cli.BoolFlag)
	return ok
}

type flagSet map[string]cli.Flag

func flagIndex(flags []cli.Flag) flagSet {
	set := flagSet{}
	for _, f := range flags {
		for _, n := range f.Names() {
			set[n] = f
		}
	}
	return set
}

// find looks a flag up by any spelling and returns the name to use.
func (s flagSet) find(name string) (cli.Flag, string) {
	for _, n := range []string{name, strings.ReplaceAll(name, "_", "-")} {
		if f, ok := s[n]; ok {
			return f, n
		}
	}
	return nil, ""
}

func (s flagSet) dashed() []string {
	var names []string
	for n := range s {
		if len(n) > 1 {
			names = append(names, "--"+n)
		}
	}
	return names
}

// commandLine is the command as it may be recorded: without the passwords of URLs.
func commandLine() []string {
	args := slices.Clone(os.Args)
	for i := range args {
		args[i] = outputs.WithoutURLPasswords(args[i])
	}
	return args
}
