package workloads

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"ais_bench/registry"
)

// Ways to give requests an adapter (vLLM's --lora-assignment).
const (
	LoRARandom     = "random"      // each request draws one of the modules
	LoRARoundRobin = "round-robin" // request i gets module i mod their number
	LoRASkewed     = "skewed"      // module i is drawn alpha times as often as module i+1 (SGLang's skewed)
)

// AssignLoRA gives each of n requests, in sending order, one of modules: the
// model name to send in its place. It is nil when there are no modules. alpha is
// LoRASkewed's, above 1.
func AssignLoRA(modules []string, how string, alpha float64, n int, seed uint64) ([]string, error) {
	for _, m := range modules {
		if strings.TrimSpace(m) == "" {
			return nil, fmt.Errorf("--lora-modules has an empty name")
		}
	}
	switch how {
	case LoRARandom, LoRARoundRobin:
	case LoRASkewed:
		if !(alpha > 1) || math.IsInf(alpha, 1) {
			return nil, fmt.Errorf("--lora-zipf-alpha must be above 1, got %g", alpha)
		}
	default:
		return nil, fmt.Errorf("--lora-assignment %q is not known; give random, round-robin or skewed%s", how, registry.DidYouMean(how, []string{LoRARandom, LoRARoundRobin, LoRASkewed}))
	}
	if len(modules) == 0 {
		return nil, nil
	}
	r := stream(seed, purposeLoRA)
	shares, sum := make([]float64, len(modules)), 0.0
	for i := range shares {
		sum += math.Pow(alpha, -float64(i))
		shares[i] = sum
	}
	out := make([]string, n)
	for i := range out {
		k := i % len(modules)
		switch how {
		case LoRARandom:
			k = r.IntN(len(modules))
		case LoRASkewed:
			k = min(sort.SearchFloat64s(shares, r.Float64()*sum), len(modules)-1)
		}
		out[i] = modules[k]
	}
	return out, nil
}
