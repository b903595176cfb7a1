package vllm

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ais_bench/registry"
)

// savedCounts are keys that count: whole numbers, 0 or more.
var savedCounts = []string{"completed", "failed", "num_prompts", "total_input_tokens", "total_output_tokens", "total_output_tokens_retokenized", "max_concurrency"}

// impossible refuses a saved result that no run can have left: a duration of 0,
// a negative number of requests, figures that are texts. What a tool leaves out or
// writes as null (NaN, where there was nothing to average) is merely missing.
func impossible(raw map[string]json.RawMessage) error {
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		name := strings.TrimSuffix(key, ":")
		count := slices.Contains(savedCounts, name)
		if name != "duration" && !count && !strings.HasSuffix(name, "_ms") && !strings.HasSuffix(name, "_throughput") && name != "request_goodput" {
			continue
		}
		text := registry.Excerpt(string(raw[key]), 0)
		bad := func(format string, args ...any) error {
			return fmt.Errorf("key %q is %s, which no run can leave: %s", key, text, fmt.Sprintf(format, args...))
		}
		var v *float64
		err := json.Unmarshal(raw[key], &v)
		switch {
		case string(raw[key]) == `"inf"` && name == "max_concurrency":
			continue // no bound
		case err != nil && count:
			return bad("it has to be a whole number")
		case err != nil:
			return bad("it has to be a number")
		case v == nil && name == "duration":
			return bad("it has to be the seconds that the run took")
		case v == nil:
			continue
		case name == "duration" && !(*v > 0):
			return bad("it has to be above 0 s")
		case *v < 0:
			return bad("it has to be 0 or more")
		case count && (*v != math.Trunc(*v) || *v > 1<<53):
			return bad("it has to be a whole number")
		}
	}
	return nil
}
