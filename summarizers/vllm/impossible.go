package vllm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
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
	return contradiction(raw)
}

// slack is what rounding may leave between figures of one result.
const slack = 0.01

// contradiction refuses a result whose figures cannot be of one run: a latency above
// its duration, more requests a second than completed in it, a high percentile below
// a lower one. Each is a file that was edited, or put together from several.
func contradiction(raw map[string]json.RawMessage) error {
	number := func(key string) (v float64, ok bool) {
		var p *float64
		if json.Unmarshal(raw[key], &p) != nil || p == nil {
			return 0, false
		}
		return *p, true
	}
	bad := func(key string, format string, args ...any) error {
		return fmt.Errorf("key %q is %s, which no run can leave: %s", key, registry.Excerpt(string(raw[key]), 0), fmt.Sprintf(format, args...))
	}
	duration, timed := number("duration")
	type level struct {
		key      string
		percent  float64
		quantile float64
	}
	levels := map[string][]level{} // by figure
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		v, ok := number(key)
		if !ok || !strings.HasSuffix(key, "_ms") {
			continue
		}
		if timed && v > duration*1e3*(1+slack)+1 {
			return bad(key, "the run took %g s", duration)
		}
		kind, figure, _ := strings.Cut(key, "_")
		switch p, err := strconv.ParseFloat(strings.TrimPrefix(kind, "p"), 64); {
		case kind == "median":
			levels[figure] = append(levels[figure], level{key, 50, v})
		case err == nil && kind[0] == 'p':
			levels[figure] = append(levels[figure], level{key, p, v})
		}
	}
	for _, figure := range slices.Sorted(maps.Keys(levels)) {
		of := levels[figure]
		slices.SortStableFunc(of, func(a, b level) int { return cmp.Compare(a.percent, b.percent) })
		for i := 1; i < len(of); i++ {
			if of[i].percent > of[i-1].percent && of[i].quantile < of[i-1].quantile*(1-slack) {
				return bad(of[i].key, "%s is %g", of[i-1].key, of[i-1].quantile)
			}
		}
	}
	completed, counted := number("completed")
	if rate, ok := number("request_throughput"); ok && counted && timed && math.Abs(rate-completed/duration) > slack*max(rate, completed/duration)+0.01 {
		return bad("request_throughput", "%g completed in %g s are %.6g a second", completed, duration, completed/duration)
	}
	return nil
}
