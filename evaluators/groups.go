package evaluators

import (
	"fmt"
	"math"

	"ais_bench/registry"
)

// The ways a group of sub-set scores becomes one number; the names are those of
// OpenCompass's and AISBench's summaries.
const (
	NaiveAverage      = "naive_average"      // unweighted mean over members (macro)
	WeightedAverage   = "weighted_average"   // mean weighted by Weight, usually the number of samples (micro)
	SumOf             = "sum"                // Σ value
	StandardDeviation = "standard_deviation" // population standard deviation of the members
	HarmonicMean      = "harmonic_mean"      // 0 when a member is 0
)

// GroupKinds are the names Group accepts.
func GroupKinds() []string {
	return []string{NaiveAverage, WeightedAverage, SumOf, StandardDeviation, HarmonicMean}
}

// Member is one sub-set's score in a group. Weight is used by WeightedAverage.
type Member struct {
	Name   string
	Value  float64
	Weight float64
	StdErr *float64 // of Value; nil = unknown
}

// GroupStdErr is the standard error of Group's number from the members' own,
// √Σ(w·se)² with the weights w that the kind gives them; false where a member has none and for kinds that
// are no weighted sum.
func GroupStdErr(kind string, members []Member) (float64, bool) {
	whole, ss := 0.0, 0.0
	for _, m := range members {
		w := 1.0
		if kind == WeightedAverage {
			w = m.Weight
		}
		if m.StdErr == nil {
			return 0, false
		}
		whole, ss = whole+w, ss+w**m.StdErr*w**m.StdErr
	}
	switch kind {
	case SumOf:
		return math.Sqrt(ss), len(members) > 0
	case NaiveAverage, WeightedAverage:
		return math.Sqrt(ss) / whole, whole > 0
	}
	return 0, false
}

// Group reduces members to one number. It fails on an unknown kind, on an empty
// group, and on weights that are negative or all zero; a group with a member
// missing is the caller's to refuse, because a mean over fewer sub-sets is
// another metric under the same name.
func Group(kind string, members []Member) (float64, error) {
	if len(members) == 0 {
		return 0, fmt.Errorf("%s of an empty group is undefined", kind)
	}
	n, sum := float64(len(members)), 0.0
	for _, m := range members {
		sum += m.Value
	}
	switch kind {
	case NaiveAverage:
		return sum / n, nil
	case WeightedAverage:
		num, den := 0.0, 0.0
		for _, m := range members {
			if m.Weight < 0 {
				return 0, fmt.Errorf("weighted_average: weight of %q is negative (%g)", m.Name, m.Weight)
			}
			num, den = num+m.Value*m.Weight, den+m.Weight
		}
		if den == 0 {
			return 0, fmt.Errorf("weighted_average: all %d weights are zero", len(members))
		}
		return num / den, nil
	case SumOf:
		return sum, nil
	case StandardDeviation:
		mean, ss := sum/n, 0.0
		for _, m := range members {
			ss += (m.Value - mean) * (m.Value - mean)
		}
		return math.Sqrt(ss / n), nil
	case HarmonicMean:
		inv := 0.0
		for _, m := range members {
			if m.Value < 0 {
				return 0, fmt.Errorf("harmonic_mean: value of %q is negative (%g)", m.Name, m.Value)
			}
			if m.Value == 0 {
				return 0, nil
			}
			inv += 1 / m.Value
		}
		return n / inv, nil
	}
	return 0, fmt.Errorf("unknown group metric %q%s", kind, registry.DidYouMean(kind, GroupKinds()))
}
