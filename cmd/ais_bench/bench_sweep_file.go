package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/registry"
	"ais_bench/tasks"
)

// A sweep file holds flags of `bench sweep` as keys, with underscores or dashes,
// flat or in the tables bench, bench.dataset, bench.load … that such files have
// elsewhere. What the command line gives wins.

// fileTables are the tables of a sweep file; keys may stand in any of them.
var fileTables = []string{"bench", "dataset", "load", "sampling", "service", "slo"}

// fileKeys are keys that are called otherwise than the flag.
var fileKeys = map[string]string{
	"concurrency_gradient": "max-concurrency", "concurrency": "max-concurrency", "request_rate_gradient": "request-rate", "request_rates": "request-rate",
	"rate": "request-rate", "url": "base-url", "headers": "header", "dataset.name": "dataset-name", "dataset.path": "dataset-path", "slo.expr": "slo", "slo.condition": "slo",
}

// listFlags take several values in one.
var listFlags = []string{"max-concurrency", "request-rate", "num-prompts", "percentile-metrics", "metric-percentiles", "by-length-bucket"}

// fileRefuses are flags that make no sense in a file.
var fileRefuses = []string{"config", "reuse", "dry-run", "help"}

// readSweepFile decodes a file by its extension, else by its look.
func readSweepFile(path string) (map[string]any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, &tasks.EnvironmentError{Err: fmt.Errorf("sweep file %s does not exist", path)}
		}
		return nil, &tasks.EnvironmentError{Err: fmt.Errorf("sweep file: %w", err)}
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	m := map[string]any{}
	format := strings.ToLower(filepath.Ext(path))
	trimmed := bytes.TrimSpace(text)
	switch {
	case format == ".json", format != ".toml" && format != ".yaml" && format != ".yml" && bytes.HasPrefix(trimmed, []byte("{")):
		err = decodeJSON(text, &m)
	case format == ".toml", format != ".yaml" && format != ".yml" && bytes.HasPrefix(trimmed, []byte("[")):
		err = toml.Unmarshal(text, &m)
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, _ := at.Position()
			err = fmt.Errorf("line %d: %s", row, strings.TrimPrefix(at.Error(), "toml: "))
		}
	default:
		err = yaml.UnmarshalWithOptions(text, &m, yaml.Strict())
		if err != nil {
			err = registry.ExplainYAML(err)
		} else {
			err = registry.OneDocument(text)
		}
	}
	if err == nil && len(m) == 0 {
		err = errors.New("it is empty: give flags of bench sweep as keys, such as max_concurrency: [1, 8]")
	}
	if err != nil {
		return nil, usagef("sweep file %s: %w", path, err)
	}
	return m, nil
}

// decodeJSON reads one JSON object; errors tell the line.
func decodeJSON(text []byte, m *map[string]any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(m); err != nil {
		return registry.ExplainJSON(text, err)
	}
	if _, more := d.Token(); more != io.EOF {
		return fmt.Errorf("line %d: something follows the object", 1+bytes.Count(text[:d.InputOffset()], []byte("\n")))
	}
	return registry.DuplicateKey(text)
}

// fileEntry is one key of a sweep file that is a flag.
type fileEntry struct {
	key, flag string
	values    []string // several for flags that may be repeated
}

// sweepFileEntries translates a file's keys; the first that is no flag, or whose
// value cannot be one, is an error that names file, line and key.
func sweepFileEntries(path string, m map[string]any, flags []cli.Flag) ([]fileEntry, error) {
	text, _ := os.ReadFile(path) // it was read a moment ago; only lines are told from it
	known := flagIndex(flags)
	var list []fileEntry
	dataset := stringAt(m, "dataset_name", "dataset.name")
	var walk func(table string, m map[string]any) error
	walk = func(table string, m map[string]any) error {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			v := m[key]
			where := fmt.Sprintf("sweep file %s%s: key %s", path, lineOf(text, key), key)
			if sub, ok := v.(map[string]any); ok && slices.Contains(fileTables, key) {
				if err := walk(key, sub); err != nil {
					return err
				}
				continue
			}
			if within, inner, ok := dotted(key); ok {
				if err := walk(within, map[string]any{inner: v}); err != nil {
					return err
				}
				continue
			}
			flag := flagOfKey(key, table, dataset, known)
			if flag == "" && slices.Contains(fileTables, key) {
				if v == nil {
					continue // a table without a key
				}
				return usagef("%s is a table of keys and values, such as {max_concurrency: [1, 8]}, not %s", where, shortJSON(v))
			}
			if flag == "" {
				return usagef("%s is not known%s", where, registry.DidYouMean(key, keysKnown(known)))
			}
			e, err := entryOf(key, flag, v, known[flag])
			if err != nil {
				return usagef("%s: %w", where, err)
			}
			if e == nil {
				continue
			}
			if first := slices.IndexFunc(list, func(o fileEntry) bool { return o.flag == e.flag }); first >= 0 {
				return usagef("%s means the same as key %s, which is given too: give one of them", where, list[first].key)
			}
			list = append(list, *e)
		}
		return nil
	}
	return list, walk("", m)
}

// dotted tells the table and the key of a key that names both, as TOML reads it
// and YAML and JSON do not: bench.load.request_rate.
func dotted(key string) (table, inner string, ok bool) {
	parts := strings.Split(key, ".")
	last := len(parts) - 1
	for _, p := range parts[:last] {
		if !slices.Contains(fileTables, p) {
			return "", "", false
		}
	}
	if last == 0 {
		return "", "", false
	}
	return parts[last-1], parts[last], true
}

// stringAt is a text in the file by its flat or nested key.
func stringAt(m map[string]any, flat, nested string) string {
	for _, key := range []string{flat, nested, "bench." + nested} {
		if s, ok := m[key].(string); ok {
			return s
		}
	}
	for _, key := range []string{"bench"} {
		if sub, ok := m[key].(map[string]any); ok {
			return stringAt(sub, flat, nested)
		}
	}
	table, key, _ := strings.Cut(nested, ".")
	if sub, ok := m[table].(map[string]any); ok {
		s, _ := sub[key].(string)
		return s
	}
	return ""
}

// flagOfKey is the flag a key stands for, "" for none. In the table of the data
// set a key may leave out the workload's name: prefix_len is --sonnet-prefix-len.
func flagOfKey(key, table, dataset string, known flagSet) string {
	for _, k := range []string{table + "." + key, key} {
		if f, ok := fileKeys[strings.ReplaceAll(k, "-", "_")]; ok {
			return f
		}
	}
	candidates := []string{strings.ReplaceAll(key, "_", "-")}
	if table == "dataset" && dataset != "" {
		candidates = append(candidates, strings.ReplaceAll(dataset+"-"+key, "_", "-"))
	}
	for _, name := range candidates {
		if f, _ := known.find(name); f != nil && !slices.Contains(fileRefuses, f.Names()[0]) {
			return f.Names()[0]
		}
	}
	return ""
}

func keysKnown(known flagSet) []string {
	keys := slices.Collect(maps.Keys(fileKeys))
	for name := range known {
		if len(name) > 1 && !slices.Contains(fileRefuses, name) {
			keys = append(keys, strings.ReplaceAll(name, "-", "_"))
		}
	}
	return slices.DeleteFunc(append(keys, fileTables...), func(k string) bool { return strings.Contains(k, ".") })
}

// lineOf tells the first line that names the key.
func lineOf(text []byte, key string) string {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		at := bytes.Index(line, []byte(key))
		if at < 0 {
			continue
		}
		rest := bytes.TrimLeft(line[at+len(key):], `"' `+"\t")
		if len(rest) > 0 && strings.ContainsRune("=:]", rune(rest[0])) && strings.Trim(string(line[:at]), "\"'{[, \t") == "" {
			return fmt.Sprintf(", line %d", n)
		}
	}
	return ""
}

// entryOf turns a value into what the flag takes; nil where it means "not given".
func entryOf(key, flag string, v any, f cli.Flag) (*fileEntry, error) {
	e := &fileEntry{key: key, flag: flag}
	if on, ok := v.(bool); ok {
		switch {
		case isSwitch(f) && on:
			e.values = []string{"true"}
		case flag == "ignore-eos": // false is an answer: by default it would be sent
			e.flag, e.values = "disable-ignore-eos", []string{"true"}
		case flag == "by-length-bucket" && on:
			e.values = []string{optionalValue[flag]}
		case isSwitch(f) || flag == "by-length-bucket":
			return nil, nil
		default:
			return nil, fmt.Errorf("%v is no value for it", on)
		}
		return e, nil
	}
	if isSwitch(f) {
		return nil, fmt.Errorf("give true or false, not %s", shortJSON(v))
	}
	_, repeated := f.(*cli.StringSliceFlag)
	switch x := v.(type) {
	case nil:
		return nil, nil
	case []any:
		var words []string
		for _, one := range x {
			s, err := scalar(one)
			if err != nil {
				return nil, err
			}
			words = append(words, s)
		}
		switch {
		case repeated:
			e.values = words
		case slices.Contains(listFlags, flag):
			e.values = []string{strings.Join(words, ",")}
		default:
			return nil, fmt.Errorf("it takes one value, not the list %s", shortJSON(v))
		}
		if len(words) == 0 {
			return nil, errors.New("the list is empty")
		}
		return e, nil
	case map[string]any:
		switch {
		case flag == "header":
			for _, name := range slices.Sorted(maps.Keys(x)) {
				s, err := scalar(x[name])
				if err != nil {
					return nil, err
				}
				e.values = append(e.values, name+"="+s)
			}
		case flag == "extra-body", flag == "chat-template-kwargs", flag == "random-range-ratio":
			e.values = []string{plainJSON(v)}
		default:
			return nil, fmt.Errorf("it takes one value, not the table %s", shortJSON(v))
		}
		return e, nil
	}
	s, err := scalar(v)
	if err != nil {
		return nil, err
	}
	if s == "" {
		return nil, nil
	}
	e.values = []string{s}
	return e, nil
}

// scalar is a number, text or truth value as a flag has it.
func scalar(v any) (string, error) {
	switch x := v.(type) {
	case string:
		return x, nil
	case json.Number:
		if f, err := x.Float64(); err == nil && !strings.ContainsAny(x.String(), "eE") {
			return strings.TrimSuffix(x.String(), ".0"), nil
		} else if err == nil {
			return strconv.FormatFloat(f, 'f', -1, 64), nil
		}
		return x.String(), nil
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64), nil
	case int64, int, uint64, bool:
		return fmt.Sprint(x), nil
	}
	return "", fmt.Errorf("%s is no number and no text", shortJSON(v))
}

// shortJSON is a value as an error line shows it.
func shortJSON(v any) string {
	const most = 80
	s := plainJSON(v)
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func plainJSON(v any) string {
	b, err := outputs.MarshalJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// applySweepFile gives the flags that the command line does not give the file's
// values.
func applySweepFile(c *cli.Context, path string) error {
	m, err := readSweepFile(path)
	if err != nil {
		return err
	}
	entries, err := sweepFileEntries(path, m, c.Command.Flags)
	if err != nil {
		return err
	}
	given := map[string]bool{}
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; c.IsSet(name) {
			given[name] = true
			for _, other := range insteadOf[name] {
				given[other] = true
			}
		}
	}
	for _, e := range entries {
		if given[e.flag] {
			continue
		}
		for _, v := range e.values {
			if err := c.Set(e.flag, v); err != nil {
				return usagef("sweep file %s: key %s: %s is no value for it (%w)", path, e.key, v, err)
			}
			if _, ok := flagIndex(c.Command.Flags)[e.flag].(*cli.Float64Flag); ok {
				if err := finite(e.flag, c.Float64(e.flag)); err != nil {
					return usagef("sweep file %s: key %s: %w", path, e.key, err)
				}
			}
		}
	}
	// Data beside the file are found from anywhere.
	if p := c.String("dataset-path"); p != "" && !given["dataset-path"] && !filepath.IsAbs(p) {
		if _, err := os.Stat(p); err != nil {
			if beside := filepath.Join(filepath.Dir(path), p); exists(beside) {
				if err := c.Set("dataset-path", beside); err != nil {
					return usage(err)
				}
			}
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// insteadOf are flags that the command line overrules by giving another one.
var insteadOf = map[string][]string{
	"max-concurrency": {"request-rate"}, "request-rate": {"max-concurrency"}, "num-prompts": {"num-prompts-factor"}, "num-prompts-factor": {"num-prompts"},
	"base-url": {"host", "port"}, "host": {"base-url"}, "port": {"base-url"}, "ignore-eos": {"disable-ignore-eos"}, "disable-ignore-eos": {"ignore-eos"},
	"dataset": {"dataset-name"},
}
