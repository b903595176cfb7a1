package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/datasets"
	"ais_bench/datasets/workloads"
	"ais_bench/tasks"
)

// Flags of AISBench's synthetic data sets. A parameter is called as in its
// synthetic_config, in this program's spelling: Input.Params.MinValue is
// --synthetic-input-min.

// lengthFlags are the parameters of a distribution of lengths and their names in a
// synthetic_config.
var lengthFlags = []struct{ suffix, key string }{{"alpha", "Alpha"}, {"mean", "Mean"}, {"var", "Var"}, {"min", "MinValue"}, {"max", "MaxValue"}}

func syntheticFlags() []cli.Flag {
	var list []cli.Flag
	for _, side := range []struct{ name, what, without string }{
		{"input", "prompt", "1 to 200"},
		{"output", "answer", "gaussian around 100, at most 100; synthetic_tokenid 512"},
	} {
		pre := "synthetic-" + side.name + "-"
		list = append(list,
			&cli.StringFlag{Name: pre + "method", Category: groupBenchSet, DefaultText: "uniform", Usage: "synthetic_string, synthetic_tokenid: distribution of " + side.what + " lengths: uniform, gaussian or zipf; all of its parameters are needed (with none of these flags: " + side.without + ")"},
			&cli.IntFlag{Name: pre + "min", Category: groupBenchSet, DefaultText: "none", Usage: "the same: shortest " + side.what + " in tokens (MinValue)"},
			&cli.IntFlag{Name: pre + "max", Category: groupBenchSet, DefaultText: "none", Usage: "the same: longest " + side.what + " (MaxValue)"},
			&cli.Float64Flag{Name: pre + "mean", Category: groupBenchSet, DefaultText: "none", Usage: "the same, gaussian: mean (Mean)"},
			&cli.Float64Flag{Name: pre + "var", Category: groupBenchSet, DefaultText: "none", Usage: "the same, gaussian: variance, the square of the standard deviation (Var)"},
			&cli.Float64Flag{Name: pre + "alpha", Category: groupBenchSet, DefaultText: "none", Usage: "the same, zipf: exponent, above 1 and at most 10 (Alpha)"},
		)
	}
	return append(list,
		&cli.IntFlag{Name: "synthetic-prefix-len", Category: groupBenchSet, Usage: "synthetic_tokenid: tokens that all prompts have in common, within their length (PrefixLen)"},
		&cli.StringFlag{Name: "synthetic-config", Category: groupBenchSet, Usage: "synthetic_string, synthetic_tokenid: AISBench's synthetic_config `FILE` (.py, .json, .yaml); the flags beside it win over it"},
	)
}

// syntheticSet finds out which synthetic workload is meant. name is the one chosen
// so far; s is what --synthetic-config holds, nil without one.
func syntheticSet(c *cli.Context, name string) (chosen string, s *datasets.Synthetic, err error) {
	resolved := workloads.Resolve(name)
	is := strings.HasPrefix(resolved, "synthetic_")
	file := c.String("synthetic-config")
	if file == "" {
		for _, f := range syntheticFlags() {
			if flag := f.Names()[0]; c.IsSet(flag) && !is {
				return "", nil, usagef("--%s goes with --dataset-name synthetic-string or synthetic-tokenid, not with %s", flag, name)
			}
		}
		if is {
			name = resolved
		}
		return name, nil, nil
	}
	read, err := datasets.ReadSynthetic(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "", nil, &tasks.EnvironmentError{Err: fmt.Errorf("--synthetic-config: %w", err)}
	case err != nil:
		return "", nil, usagef("--synthetic-config: %w", err)
	}
	kind := "synthetic_" + read.Kind()
	open := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	switch {
	case !c.IsSet("dataset-name") && !c.IsSet("dataset"), open == "synthetic", open == "synthetic_gen", resolved == kind:
		return kind, &read, nil
	case is:
		return "", nil, usagef("--dataset-name %s: --synthetic-config %s has Type %s; give synthetic-%s, or leave the name out", name, file, read.Type, read.Kind())
	}
	return "", nil, usagef("--synthetic-config goes with --dataset-name synthetic-string or synthetic-tokenid, not with %s", name)
}

// chooseSynthetic reads the lengths of a synthetic workload: from the flags of a side
// where one of them is given, else from --input-len or --output-len, else from s,
// else as in AISBench's own file.
func chooseSynthetic(c *cli.Context, kind string, s *datasets.Synthetic, cfg *workloads.Config) error {
	if s != nil {
		cfg.SetSynthetic(*s)
		cfg.ConfigFile = c.String("synthetic-config")
		if cfg.OutputLengths.Method == "" { // AISBench takes the model configuration's here
			cfg.OutputLen = workloads.Defaults(kind).OutputLen
		}
		if c.IsSet("num-prompts") {
			cfg.NumPrompts = c.Int("num-prompts")
		}
	}
	for _, side := range []struct {
		name    string
		fixed   int
		lengths *workloads.Lengths
	}{{"input", c.Int("input-len"), &cfg.InputLengths}, {"output", c.Int("output-len"), &cfg.OutputLengths}} {
		l, given, err := lengthsGiven(c, side.name)
		flag := side.name + "-len"
		switch {
		case err != nil:
			return err
		case given:
			*side.lengths = l
		case c.IsSet(flag) && (side.fixed < 1 || side.fixed > datasets.MaxSynthetic):
			return usagef("--%s %d: give 1 to %d", flag, side.fixed, datasets.MaxSynthetic)
		case c.IsSet(flag):
			*side.lengths = workloads.Fixed(side.fixed)
		}
	}
	if n := c.Int("synthetic-prefix-len"); c.IsSet("synthetic-prefix-len") {
		if n < 0 {
			return usagef("--synthetic-prefix-len %d: give 0 or more", n)
		}
		if kind == "synthetic_string" {
			return usagef("--synthetic-prefix-len goes with --dataset-name synthetic-tokenid: the prompts of synthetic-string are all beginnings of one text")
		}
		cfg.PrefixLen = n
	}
	return nil
}

// lengthsGiven reads the flags of one side; given is false when there is none.
func lengthsGiven(c *cli.Context, side string) (l workloads.Lengths, given bool, err error) {
	pre := "synthetic-" + side + "-"
	has := map[string]bool{}
	for _, f := range lengthFlags {
		has[f.key] = c.IsSet(pre + f.suffix)
		given = given || has[f.key]
	}
	l.Method = "uniform"
	if c.IsSet(pre + "method") {
		l.Method, given = strings.ToLower(c.String(pre+"method")), true
	}
	if !given {
		return l, false, nil
	}
	needs, known := datasets.SyntheticMethods[l.Method]
	if !known {
		return l, true, usagef("--%smethod %s: give uniform, gaussian or zipf", pre, c.String(pre+"method"))
	}
	var flags, missing []string
	for _, f := range lengthFlags {
		needed := false
		for _, key := range needs {
			needed = needed || key == f.key
		}
		flag := "--" + pre + f.suffix
		switch {
		case needed && !has[f.key]:
			missing = append(missing, flag)
		case !needed && has[f.key]:
			return l, true, usagef("%s does not go with --%smethod %s", flag, pre, l.Method)
		}
		if needed {
			flags = append(flags, flag)
		}
	}
	if len(missing) > 0 {
		return l, true, usagef("--%smethod %s needs %s; %s missing", pre, l.Method, strings.Join(flags, ", "), isOrAre(missing))
	}
	l.Min, l.Max, l.Alpha = c.Int(pre+"min"), c.Int(pre+"max"), c.Float64(pre+"alpha")
	l.Mean, l.Var = c.Float64(pre+"mean"), c.Float64(pre+"var")
	if err := l.Check(); err != nil {
		own := make([]string, 0, 2*len(lengthFlags))
		for _, f := range lengthFlags {
			own = append(own, f.key, "--"+pre+f.suffix)
		}
		return l, true, usagef("%s", strings.NewReplacer(own...).Replace(err.Error()))
	}
	return l, true, nil
}

func isOrAre(list []string) string {
	if len(list) == 1 {
		return list[0] + " is"
	}
	return strings.Join(list, ", ") + " are"
}
