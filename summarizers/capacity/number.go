package capacity

import (
	"maps"
	"math"
	"slices"
	"strconv"
)

// number is a value of an axis or a limit without superfluous digits.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// short is a figure in text: three significant digits or all integer ones.
func short(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// percent is a share or a relative change in text.
func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 0, 64) + " %" }

func mean(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
