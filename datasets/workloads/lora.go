package workloads

import (
	"fmt"
	"strings"

	"ais_bench/registry"
)

// Ways to give requests an adapter (vLLM's --lora-assignment).
const (
	LoRARandom     = "random"      // each request draws one of the modules
	LoRARoundRobin = "round-robin" // request i gets module i mod their number
)

// AssignLoRA gives each of n requests, in sending order, one of modules: the
// model name to send in its place. It is nil when there are no modules.
func AssignLoRA(modules []string, how string, n int, seed uint64) ([]string, error) {
	for _, m := range modules {
		if strings.TrimSpace(m) == "" {
			return nil, fmt.Errorf("--lora-modules has an empty name")
		}
	}
	if how != LoRARandom && how != LoRARoundRobin {
		return nil, fmt.Errorf("--lora-assignment %q is not known; give random or round-robin%s", how, registry.DidYouMean(how, []string{LoRARandom, LoRARoundRobin}))
	}
	if len(modules) == 0 {
		return nil, nil
	}
	r := stream(seed, purposeLoRA)
	out := make([]string, n)
	for i := range out {
		k := i % len(modules)
		if how == LoRARandom {
			k = r.IntN(len(modules))
		}
		out[i] = modules[k]
	}
	return out, nil
}
