package models

import (
	"math"
	"strings"
	"testing"
)

// What JSON cannot say is refused before anything is sent, by its name.
func TestNumbersThatJSONCannotSay(t *testing.T) {
	for at, kwargs := range map[string]map[string]any{
		"temperature": {"temperature": math.NaN()},
		"top_p":       {"top_p": math.Inf(1)},
		"a.b.1":       {"a": map[string]any{"b": []any{1.0, math.Inf(-1)}}},
	} {
		c := Config{Abbr: "m", Type: "VLLMCustomAPIChat", GenerationKwargs: kwargs, HostIP: "localhost", HostPort: 8000}
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "generation_kwargs."+at+" ") {
			t.Errorf("%s: %v", at, err)
		}
	}
	c := Config{Abbr: "m", Type: "VLLMCustomAPIChat", GenerationKwargs: map[string]any{"temperature": 0.5, "stop": []any{"a"}}, HostIP: "localhost", HostPort: 8000}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}
