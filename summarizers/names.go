package summarizers

import (
	"cmp"
	"slices"
)

// sortedNames are a map's keys in order.
func sortedNames[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
