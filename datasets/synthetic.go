package datasets

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ais_bench/registry"
)

// Synthetic is AISBench's synthetic_config, with its keys: prompts made without
// any data. TrustRemoteCode and VocabSize are accepted; no model code is ever run,
// and a tokenizer knows its vocabulary.
type Synthetic struct {
	Type            string            `yaml:"Type"` // string | tokenid
	RequestCount    int               `yaml:"RequestCount"`
	TrustRemoteCode bool              `yaml:"TrustRemoteCode,omitempty"`
	StringConfig    *SyntheticString  `yaml:"StringConfig,omitempty"`
	TokenIDConfig   *SyntheticTokenID `yaml:"TokenIdConfig,omitempty"`
}

// SyntheticString are the lengths of Type string: words of a prompt, tokens of an
// answer.
type SyntheticString struct {
	Input  *SyntheticLengths `yaml:"Input,omitempty"`
	Output *SyntheticLengths `yaml:"Output,omitempty"`
}

// SyntheticTokenID are the lengths of Type tokenid: either RequestSize or, as newer
// files have it, Input and Output.
type SyntheticTokenID struct {
	RequestSize int               `yaml:"RequestSize,omitempty"` // tokens of every prompt
	PrefixLen   int               `yaml:"PrefixLen,omitempty"`   // tokens of these that all prompts have in common
	VocabSize   int               `yaml:"VocabSize,omitempty"`
	Input       *SyntheticLengths `yaml:"Input,omitempty"`
	Output      *SyntheticLengths `yaml:"Output,omitempty"`
}

// SyntheticLengths is a distribution of lengths.
type SyntheticLengths struct {
	Method string          `yaml:"Method"` // uniform | gaussian | zipf
	Params SyntheticParams `yaml:"Params"`
}

// SyntheticParams are the parameters of a distribution; nil = not given.
type SyntheticParams struct {
	MinValue *int     `yaml:"MinValue,omitempty"`
	MaxValue *int     `yaml:"MaxValue,omitempty"`
	Mean     *float64 `yaml:"Mean,omitempty"`
	Var      *float64 `yaml:"Var,omitempty"`
	Alpha    *float64 `yaml:"Alpha,omitempty"`
}

// MaxSynthetic is AISBench's bound on lengths and counts.
const MaxSynthetic = 1 << 20

// SyntheticMethods are the distributions and the parameters each needs.
var SyntheticMethods = map[string][]string{
	"uniform":  {"MinValue", "MaxValue"},
	"gaussian": {"Mean", "Var", "MinValue", "MaxValue"},
	"zipf":     {"Alpha", "MinValue", "MaxValue"},
}

// given are the names of the parameters that are there.
func (p *SyntheticParams) given() []string {
	var names []string
	for _, x := range []struct {
		name string
		has  bool
	}{{"Alpha", p.Alpha != nil}, {"Mean", p.Mean != nil}, {"Var", p.Var != nil}, {"MinValue", p.MinValue != nil}, {"MaxValue", p.MaxValue != nil}} {
		if x.has {
			names = append(names, x.name)
		}
	}
	return names
}

// check finds parameters that are missing or belong to another method; their
// values are for the workload to judge.
func (l *SyntheticLengths) check(where string) error {
	if l == nil {
		return fmt.Errorf("%s is missing: give Method and Params", where)
	}
	needs, ok := SyntheticMethods[l.Method]
	if !ok {
		return fmt.Errorf("%s: Method %q is unknown%s; give uniform, gaussian or zipf", where, l.Method, didYouMean(l.Method, sortedKeys(SyntheticMethods)))
	}
	given := l.Params.given()
	for _, name := range needs {
		if !slices.Contains(given, name) {
			return fmt.Errorf("%s: %s needs %s in Params; %s is missing", where, l.Method, strings.Join(needs, ", "), name)
		}
	}
	for _, name := range given {
		if !slices.Contains(needs, name) {
			return fmt.Errorf("%s: %s does not take %s; it takes %s", where, l.Method, name, strings.Join(needs, ", "))
		}
	}
	return nil
}

// Check tells what is wrong with s, apart from the values of its distributions.
func (s *Synthetic) Check() error {
	if s.RequestCount < 1 || s.RequestCount > MaxSynthetic {
		return fmt.Errorf("RequestCount must be between 1 and %d, got %d", MaxSynthetic, s.RequestCount)
	}
	switch s.Kind() {
	case "string":
		if s.StringConfig == nil {
			return errors.New("the Type string needs StringConfig with Input and Output")
		}
		return errors.Join(s.StringConfig.Input.check("StringConfig.Input"), s.StringConfig.Output.check("StringConfig.Output"))
	case "tokenid":
		c := s.TokenIDConfig
		switch {
		case c == nil:
			return errors.New("the Type tokenid needs TokenIdConfig with RequestSize")
		case c.Input != nil && c.RequestSize != 0:
			return errors.New("TokenIdConfig: RequestSize and Input both say how long prompts are; leave one out")
		case c.Input == nil && c.RequestSize == 0:
			return errors.New("TokenIdConfig: RequestSize, the tokens of a prompt, is missing")
		}
		if c.Input != nil {
			if err := c.Input.check("TokenIdConfig.Input"); err != nil {
				return err
			}
		}
		if c.Output != nil {
			return c.Output.check("TokenIdConfig.Output")
		}
		return nil
	}
	return fmt.Errorf("the Type %q is unknown%s; give string or tokenid", s.Type, didYouMean(s.Type, []string{"string", "tokenid"}))
}

// Kind is Type in AISBench's own spelling, which does not mind case.
func (s *Synthetic) Kind() string { return strings.ToLower(s.Type) }

// String describes s in one line.
func (s *Synthetic) String() string {
	side := func(l *SyntheticLengths) string {
		if l == nil {
			return "the model's"
		}
		p := l.Params
		text := l.Method
		for _, x := range []struct {
			name string
			v    *float64
		}{{"Mean", p.Mean}, {"Var", p.Var}, {"Alpha", p.Alpha}} {
			if x.v != nil {
				text += fmt.Sprintf(" %s %g", x.name, *x.v)
			}
		}
		if p.MinValue != nil && p.MaxValue != nil {
			text += fmt.Sprintf(" in [%d, %d]", *p.MinValue, *p.MaxValue)
		}
		return text
	}
	switch {
	case s.Kind() == "string" && s.StringConfig != nil:
		return fmt.Sprintf("%d requests of Type string, input %s, output %s", s.RequestCount, side(s.StringConfig.Input), side(s.StringConfig.Output))
	case s.TokenIDConfig != nil && s.TokenIDConfig.Input != nil:
		return fmt.Sprintf("%d requests of Type tokenid, input %s (%d shared), output %s", s.RequestCount, side(s.TokenIDConfig.Input), s.TokenIDConfig.PrefixLen, side(s.TokenIDConfig.Output))
	case s.TokenIDConfig != nil:
		return fmt.Sprintf("%d requests of Type tokenid, %d tokens each (%d shared), output %s", s.RequestCount, s.TokenIDConfig.RequestSize, s.TokenIDConfig.PrefixLen, side(s.TokenIDConfig.Output))
	}
	return fmt.Sprintf("%d requests of Type %s", s.RequestCount, s.Type)
}

// ReadSynthetic reads a synthetic_config: AISBench's synthetic_config.py or one of
// its synthetic_gen_*.py, of which nothing but the literal synthetic_config = {…} is
// read (no Python is run), or the same keys as JSON or YAML. Errors name the file.
func ReadSynthetic(path string) (Synthetic, error) {
	var s Synthetic
	raw, err := readWhole(path)
	if err != nil {
		return s, fmt.Errorf("synthetic configuration: %w", err)
	}
	text := strings.TrimPrefix(string(raw), "\ufeff")
	switch strings.ToLower(filepath.Ext(path)) {
	case ".py":
		if text, err = literal(text, "synthetic_config"); err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
	case ".json", ".yaml", ".yml":
	default:
		return s, fmt.Errorf("%s: a synthetic configuration is AISBench's synthetic_config.py, or the same keys as .json or .yaml", path)
	}
	if err := registry.Decode([]byte(text), &s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("%s: %s", path, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return s, nil
}

// literal cuts the dictionary that is assigned to name out of Python text and gives
// it as YAML: without comments and commas before a closing bracket, on the lines
// it stands on.
func literal(text, name string) (string, error) {
	at := regexp.MustCompile(`(?m)^[ \t]*` + regexp.QuoteMeta(name) + `[ \t]*(?::[^=\n]*)?=[ \t]*\{`).FindStringIndex(text)
	if at == nil {
		return "", fmt.Errorf("there is no %s = {…} in it", name)
	}
	start := at[1] - 1
	var b strings.Builder
	b.WriteString(strings.Repeat("\n", strings.Count(text[:start], "\n")))
	depth, comma := 0, -1 // comma: where the last one stands in b, -1 when something came after it
	out := []byte{}
	for i := start; i < len(text); i++ {
		c := text[i]
		switch c {
		case '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
			continue
		case '"', '\'':
			end := i + 1
			for end < len(text) && text[end] != c && text[end] != '\n' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(text) || text[end] != c {
				return "", fmt.Errorf("%s: a string does not end in its line", name)
			}
			out, comma = append(out, text[i:end+1]...), -1
			i = end
			continue
		case '{', '[', '(':
			depth++
			comma = -1
		case '}', ']', ')':
			depth--
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case ',':
			comma = len(out)
		case '\t', '\r':
			c = ' '
		case ' ', '\n':
		default:
			comma = -1
		}
		out = append(out, c)
		if depth == 0 {
			b.Write(out)
			return b.String(), nil
		}
	}
	return "", fmt.Errorf("%s: the dictionary does not end", name)
}
