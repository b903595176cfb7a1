package vllm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"strings"

	"ais_bench/registry"
)

// Saved is one result read from a file, of vLLM, SGLang or this tool.
type Saved struct {
	Tool           string // vllm or sglang
	Line           int    // 1-based, where the object begins
	Date           string
	Backend, Model string
	Label          string
	RequestRate    float64 // +Inf = all at once; NaN = not stated (a trace)
	MaxConcurrency int     // 0 = no limit
	Completed      *int64
	Failed         *int64 // nil where the file has none (SGLang, old vLLM)
	// Values are all the numbers of the top level under vLLM's key names
	// (SGLang's e2e_latency becomes e2el, total_throughput becomes
	// total_token_throughput, input_throughput stays). Keys that are missing or
	// null in the file are missing here.
	Values map[string]float64
	// Raw is the object as read, keys spelled as in the file.
	Raw map[string]json.RawMessage
}

// sglangNames are SGLang's keys that vLLM spells differently.
var sglangNames = strings.NewReplacer("_e2e_latency_ms", "_e2el_ms")

// ReadResult reads every result of a file: one object, or one a line.
// Differences of age and tool are levelled: `request_goodput:` with the stray
// colon, keys that older versions did not write, Infinity and NaN, which are no
// JSON. An error names the file and the line.
func ReadResult(path string) ([]Saved, error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a saved result: %w", err)
	}
	doc = finite(bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf")))
	dec := json.NewDecoder(bytes.NewReader(doc))
	var out []Saved
	for {
		rest := doc[dec.InputOffset():]
		at := len(doc) - len(bytes.TrimLeft(rest, " \t\r\n"))
		line := 1 + bytes.Count(doc[:at], []byte("\n"))
		var raw map[string]json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: not a saved benchmark result: %w", path, line, registry.ExplainJSON(nil, err))
		}
		if _, ok := raw["duration"]; !ok {
			return nil, fmt.Errorf("%s:%d: not a saved benchmark result: the key \"duration\" is missing", path, line)
		}
		if err := impossible(raw); err != nil {
			return nil, fmt.Errorf("%s:%d: %w; save the result again with --save-result", path, line, err)
		}
		out = append(out, levelled(raw, line))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no benchmark result in it; save one with --save-result", path)
	}
	return out, nil
}

func levelled(raw map[string]json.RawMessage, line int) Saved {
	s := Saved{Tool: "vllm", Line: line, RequestRate: math.NaN(), Values: map[string]float64{}, Raw: raw}
	_, in := raw["input_throughput"]
	_, e2e := raw["mean_e2e_latency_ms"]
	if in || e2e {
		s.Tool = "sglang"
	}
	text := func(key string) (v string) {
		if json.Unmarshal(raw[key], &v) != nil {
			return ""
		}
		return v
	}
	s.Date, s.Backend, s.Label = text("date"), text("backend"), text("label")
	s.Model = text("model_id")
	if s.Backend == "" {
		s.Backend = text("endpoint_type")
	}
	for key := range maps.Keys(raw) {
		var v *float64
		if json.Unmarshal(raw[key], &v) != nil || v == nil {
			continue
		}
		name := strings.TrimSuffix(key, ":")
		if s.Tool == "sglang" {
			name = sglangNames.Replace(name)
			if name == "total_throughput" {
				name = "total_token_throughput"
			}
		}
		// Where both spellings stand, the clean one wins.
		if _, ok := s.Values[name]; ok && name != key {
			continue
		}
		s.Values[name] = *v
	}
	if v, ok := s.Values["request_rate"]; ok {
		s.RequestRate = v
	} else if r := text("request_rate"); r == "inf" || r == "Infinity" {
		s.RequestRate = math.Inf(1)
	}
	s.MaxConcurrency = int(s.Values["max_concurrency"])
	s.Completed, s.Failed = s.integer("completed"), s.integer("failed")
	return s
}

func (s *Saved) integer(key string) *int64 {
	v, ok := s.Values[key]
	if !ok {
		return nil
	}
	n := int64(v)
	return &n
}

// finite replaces Python's spellings of numbers that JSON lacks: Infinity by
// the string "inf", -Infinity and NaN by null. Text within strings stays.
func finite(doc []byte) []byte {
	if !bytes.Contains(doc, []byte("Infinity")) && !bytes.Contains(doc, []byte("NaN")) {
		return doc
	}
	var b bytes.Buffer
	quoted := false
	for i := 0; i < len(doc); i++ {
		c := doc[i]
		if quoted {
			if c == '\\' && i+1 < len(doc) {
				b.WriteByte(c)
				i++
				c = doc[i]
			} else if c == '"' {
				quoted = false
			}
			b.WriteByte(c)
			continue
		}
		rest := doc[i:]
		switch {
		case c == '"':
			quoted = true
			b.WriteByte(c)
		case bytes.HasPrefix(rest, []byte("-Infinity")):
			b.WriteString("null")
			i += len("-Infinity") - 1
		case bytes.HasPrefix(rest, []byte("Infinity")):
			b.WriteString(`"inf"`)
			i += len("Infinity") - 1
		case bytes.HasPrefix(rest, []byte("NaN")):
			b.WriteString("null")
			i += len("NaN") - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.Bytes()
}
