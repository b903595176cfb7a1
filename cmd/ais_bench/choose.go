package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/joho/godotenv"
	"github.com/urfave/cli/v2"

	"ais_bench/datasets"
	"ais_bench/datasets/tokenizer"
	"ais_bench/models"
	"ais_bench/registry"
	"ais_bench/tasks"
)

func modeNames() []string {
	var names []string
	for _, m := range tasks.Modes {
		names = append(names, string(m))
	}
	return names
}

// loadEnvFile puts the variables of --env-file into the environment; variables
// that are set already win.
func loadEnvFile(c *cli.Context) error {
	path := c.String("env-file")
	if path == "" {
		return nil
	}
	if err := godotenv.Load(path); err != nil {
		return usagef("--env-file %s: %w", path, err)
	}
	return nil
}

// configDir is the part of the user's configurations for one kind. The default
// directory need not exist; one that was named must.
func configDir(c *cli.Context, kind string) (string, error) {
	dir := c.String("config-dir")
	if dir == "" {
		return "", nil
	}
	if st, err := os.Stat(dir); c.IsSet("config-dir") {
		switch {
		case err != nil:
			return "", usagef("--config-dir: %w", err)
		case !st.IsDir():
			return "", usagef("--config-dir %s: this is no directory", dir)
		}
	}
	return filepath.Join(dir, kind), nil
}

// openModels is the registry of models with the user's directory laid over it.
func openModels(c *cli.Context) (*registry.Registry[models.Config], error) {
	dir, err := configDir(c, "models")
	if err != nil {
		return nil, err
	}
	r, err := models.OpenRegistry(dir)
	return r, usage(err)
}

// chosenModels resolves --models with flags and --set laid over.
func chosenModels(c *cli.Context, patterns []string) ([]tasks.ModelChoice, error) {
	reg, err := openModels(c)
	if err != nil {
		return nil, err
	}
	entries, err := reg.Select(splitCommas(patterns)...)
	if err != nil {
		return nil, usage(err)
	}
	for _, e := range entries {
		if err := overrideModel(c, &e.Value); err != nil {
			return nil, err
		}
	}
	if err := applySets(c.StringSlice("set"), "models", entries, reg.Names()); err != nil {
		return nil, err
	}
	if name := c.String("tokenizer"); name != "" {
		if _, err := tokenizer.Find(name, tokenizer.Options{}); err != nil {
			return nil, usagef("--tokenizer: %w", err)
		}
	}
	if file := c.String("chat-template"); file != "" {
		if _, err := tasks.NewChatRenderer(file, nil, nil); err != nil {
			return nil, usagef("--chat-template: %w", err)
		}
	}
	var out []tasks.ModelChoice
	for _, e := range entries {
		if err := e.Value.Validate(); err != nil {
			return nil, usagef("model %s: %w", e.Name, err)
		}
		out = append(out, tasks.ModelChoice{Name: e.Name, Origin: e.Origin, Config: e.Value})
	}
	return out, nil
}

// splitCommas lets lists be written with blanks or commas.
func splitCommas(list []string) []string {
	var out []string
	for _, s := range list {
		for _, p := range strings.Split(s, ",") {
			if p = strings.TrimSpace(p); p != "" {
				out = append(out, p)
			}
		}
	}
	return out
}

// chosenDatasets resolves --datasets and --custom-dataset-path.
func chosenDatasets(c *cli.Context) ([]tasks.DatasetChoice, error) {
	reg, err := openDatasets(c)
	if err != nil {
		return nil, err
	}
	entries, err := reg.Select(splitCommas(c.StringSlice("datasets"))...)
	if err != nil {
		return nil, usage(err)
	}
	if path := c.String("custom-dataset-path"); path != "" {
		cfg, err := datasets.Custom(path, datasets.CustomOptions{Meta: c.String("custom-dataset-meta-path"),
			DataType: c.String("custom-dataset-data-type"), InferMethod: c.String("custom-dataset-infer-method"), Scorer: c.String("scorer")})
		if err != nil {
			return nil, usageUnlessEnvironment(tasks.DataError(err))
		}
		entries = append(entries, &registry.Entry[datasets.Config]{Name: cfg.Abbr, Origin: path, Value: cfg})
	}
	if err := applySets(c.StringSlice("set"), "datasets", entries, reg.Names()); err != nil {
		return nil, err
	}
	if n := c.Int("num-prompts"); n < 0 || c.IsSet("num-prompts") && n == 0 {
		return nil, usagef("--num-prompts %d: give a number above 0", n)
	}
	var out []tasks.DatasetChoice
	for _, e := range entries {
		if e.Value.Workload != nil && c.String("scorer") != "" {
			return nil, usagef("--scorer %s: data set %s is a workload, which is only timed: it has no answers to compare with", c.String("scorer"), e.Name)
		}
		out = append(out, tasks.DatasetChoice{Name: e.Name, Origin: e.Origin, Config: e.Value,
			Load: datasets.LoadOptions{Path: c.String("dataset-path"), NumPrompts: c.Int("num-prompts"), Seed: c.Int64("seed")}})
	}
	return out, nil
}

// applySets carries out the --set assignments of one kind. The name may be a
// glob; a name that was not chosen is an error, because the setting would be lost.
func applySets[T any](sets []string, kind string, entries []*registry.Entry[T], all []string) error {
	for _, s := range sets {
		path, value, ok := strings.Cut(s, "=")
		if !ok {
			return usagef("--set %s: write %s.NAME.FIELD=VALUE", s, "models|datasets")
		}
		prefix, rest, _ := strings.Cut(path, ".")
		if prefix != kind {
			if prefix != "models" && prefix != "datasets" {
				return usagef("--set %s: the path starts with models. or datasets.%s", s, registry.DidYouMean(prefix, []string{"models", "datasets"}))
			}
			continue
		}
		name, field, ok := strings.Cut(rest, ".")
		if !ok || field == "" {
			return usagef("--set %s: write %s.NAME.FIELD=VALUE", s, kind)
		}
		hit := false
		var chosen []string
		for _, e := range entries {
			chosen = append(chosen, e.Name)
			if match, err := filepath.Match(name, e.Name); err != nil {
				return usagef("--set %s: %w", s, err)
			} else if !match {
				continue
			}
			hit = true
			if err := e.Set(field, value); err != nil {
				return usagef("--set %s: %w", s, err)
			}
		}
		if !hit {
			return usagef("--set %s: %q is not among the chosen %s (%s)%s", s, name, kind, strings.Join(chosen, ", "),
				registry.DidYouMean(name, append(chosen, all...)))
		}
	}
	return nil
}

// overrideModel lays the service and load flags over a configuration.
func overrideModel(c *cli.Context, m *models.Config) error {
	text := map[string]*string{"host-ip": &m.HostIP, "model": &m.Model, "tokenizer": &m.Path, "chat-template": &m.ChatTemplate, "ca-file": &m.CAFile, "proxy": &m.Proxy,
		"ramp-up-strategy": &m.TrafficCfg.RampUpStrategy}
	for flag, field := range text {
		if c.IsSet(flag) {
			*field = c.String(flag)
		}
	}
	if c.IsSet("url") {
		m.URL = c.String("url")
	} else if c.IsSet("host-ip") || c.IsSet("host-port") {
		m.URL = ""
	}
	for flag, field := range map[string]*int{"host-port": &m.HostPort, "max-out-len": &m.MaxOutLen, "batch-size": &m.BatchSize, "retry": &m.Retry} {
		if !c.IsSet(flag) {
			continue
		}
		v := c.Int(flag)
		if v < 0 || v == 0 && (flag == "batch-size" || flag == "host-port") {
			return usagef("--%s %d: give a number above 0", flag, v)
		}
		*field = v
	}
	if name := c.String("api-key-env"); name != "" {
		if os.Getenv(name) == "" {
			return &tasks.EnvironmentError{Err: fmt.Errorf("--api-key-env %s: the environment has no such variable (or it is empty); export it or give --env-file", name)}
		}
		m.APIKey = "${" + name + "}"
	}
	for _, h := range c.StringSlice("header") {
		k, v, ok := strings.Cut(h, "=")
		if !ok {
			k, v, ok = strings.Cut(h, ":")
		}
		if k = strings.TrimSpace(k); !ok || k == "" {
			return usagef("--header %s: write NAME=VALUE", k)
		}
		m.Headers = with(m.Headers, k, strings.TrimSpace(v))
	}
	for _, kv := range c.StringSlice("generation-kwargs") {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return usagef("--generation-kwargs %s: write KEY=VALUE", kv)
		}
		var value any
		if err := yaml.Unmarshal([]byte(v), &value); err != nil {
			return usagef("--generation-kwargs %s: the value is not YAML", kv)
		}
		m.GenerationKwargs = with(m.GenerationKwargs, k, value)
	}
	if c.Bool("stream") && c.Bool("no-stream") {
		return usagef("--stream and --no-stream exclude each other")
	}
	if c.IsSet("stream") {
		m.Stream = c.Bool("stream")
	}
	if c.Bool("no-stream") {
		m.Stream = false
	}
	if c.IsSet("skip-chat-template") {
		m.SkipChatTemplate = c.Bool("skip-chat-template")
	}
	if c.IsSet("insecure") {
		m.Insecure = c.Bool("insecure")
	}
	for flag, field := range map[string]*models.Duration{"timeout": &m.Timeouts.Total, "connect-timeout": &m.Timeouts.Connect,
		"first-token-timeout": &m.Timeouts.FirstToken, "idle-timeout": &m.Timeouts.Idle} {
		if !c.IsSet(flag) {
			continue
		}
		d, err := models.ParseDuration(c.String(flag))
		if err != nil || d < 0 {
			return usagef("--%s %s: give seconds or a duration like 1m30s", flag, c.String(flag))
		}
		*field = d
	}
	if c.IsSet("request-rate") {
		rate, err := parseRate(c.String("request-rate"))
		if err != nil {
			return usagef("--request-rate %w", err)
		}
		if math.IsInf(rate, 1) {
			rate = 0
		}
		m.RequestRate = rate
	}
	if c.IsSet("burstiness") {
		b, err := parseRate(c.String("burstiness"))
		if err != nil || b == 0 {
			return usagef("--burstiness %s: give a number above 0, or inf", c.String("burstiness"))
		}
		m.TrafficCfg.Burstiness = b
	}
	if c.IsSet("ramp-up-start-rps") {
		m.TrafficCfg.RampUpStartRPS = c.Float64("ramp-up-start-rps")
	}
	if c.IsSet("ramp-up-end-rps") {
		m.TrafficCfg.RampUpEndRPS = c.Float64("ramp-up-end-rps")
	}
	return nil
}

func with[V any](m map[string]V, k string, v V) map[string]V {
	out := map[string]V{}
	for key, value := range m {
		out[key] = value
	}
	out[k] = v
	return out
}

// parseRate reads a non-negative number or inf.
func parseRate(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || v < 0 || math.IsNaN(v) {
		return 0, fmt.Errorf("%s: give a number of 0 or more, or inf", cmp.Or(s, "(empty)"))
	}
	return v, nil
}
