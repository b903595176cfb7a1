package stats

import (
	"math"
	"strconv"
)

// Sample is one answer to an item that was asked several times.
type Sample struct {
	Right  bool
	Answer string // what was extracted; the vote of ConsAtK
	Voted  bool   // an answer was extracted
}

// Samples are the answers to one item in the order they were asked.
type Samples []Sample

// RightCount is the number of right answers.
func (s Samples) RightCount() int {
	c := 0
	for _, v := range s {
		if v.Right {
			c++
		}
	}
	return c
}

// Powers are the k for which metrics of up to n repeats are given: powers of two
// below n, and n.
func Powers(n int) []int {
	var ks []int
	for k := 1; k < n; k *= 2 {
		ks = append(ks, k)
	}
	if n > 0 {
		ks = append(ks, n)
	}
	return ks
}

// PassAtK is the unbiased estimate of the probability that at least one of k
// answers is right when c of n were: 1 − C(n−c,k)/C(n,k), as a product (Chen et
// al. 2021, arXiv 2107.03374). It is 1 when n − c < k.
func PassAtK(n, c, k int) float64 {
	if n-c < k {
		return 1
	}
	p := 1.0
	for j := n - c + 1; j <= n; j++ {
		p *= 1 - float64(k)/float64(j)
	}
	return 1 - p
}

// PassHatK is the unbiased estimate of the probability that all of k answers are
// right: C(c,k)/C(n,k) (τ-bench, arXiv 2406.12045). It is 0 when c < k.
func PassHatK(n, c, k int) float64 {
	if c < k || k > n {
		return 0
	}
	p := 1.0
	for i := range k {
		p *= float64(c-i) / float64(n-i)
	}
	return p
}

// Taus are the thresholds G-Pass@k is given for.
var Taus = []float64{0, 0.25, 0.5, 0.75, 1}

// GPassName names G-Pass@k_τ as OpenCompass does: "4_0.25".
func GPassName(k int, tau float64) string {
	s := strconv.FormatFloat(tau, 'f', -1, 64)
	if tau == math.Trunc(tau) {
		s += ".0"
	}
	return strconv.Itoa(k) + "_" + s
}

// GPassAtK is G-Pass@k_τ: the probability that at least max(⌈kτ⌉, 1) of k answers
// drawn without replacement from n with c right are right (Liu et al. 2024,
// arXiv 2412.13147): Σ_{j≥m} C(c,j)·C(n−c,k−j)/C(n,k).
func GPassAtK(n, c, k int, tau float64) float64 {
	m := max(int(math.Ceil(float64(k)*tau-1e-12)), 1)
	if m > min(c, k) || k > n {
		return 0
	}
	p := 0.0
	for j := m; j <= min(c, k); j++ {
		if k-j > n-c {
			continue
		}
		p += math.Exp(logChoose(c, j) + logChoose(n-c, k-j) - logChoose(n, k))
	}
	return min(p, 1)
}

// MGPassAtK is mG-Pass@k: (2/k)·Σ_{i=⌈k/2⌉+1..k} G-Pass@k_{i/k}.
func MGPassAtK(n, c, k int) float64 {
	sum := 0.0
	for i := (k+1)/2 + 1; i <= k; i++ {
		sum += GPassAtK(n, c, k, float64(i)/float64(k))
	}
	return 2 * sum / float64(k)
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// ConsAtK is 1 when the most frequent answer among the first k is right, else 0:
// self-consistency as a real vote (Wang et al. 2022, arXiv 2203.11171). Answers from
// which nothing was extracted do not vote; ties go to the answer that came
// first; equal answers are equal strings.
func ConsAtK(s Samples, k int) float64 {
	votes, right := map[string]int{}, map[string]bool{}
	var order []string
	for _, v := range s[:min(k, len(s))] {
		if !v.Voted {
			continue
		}
		if votes[v.Answer] == 0 {
			order = append(order, v.Answer)
		}
		votes[v.Answer]++
		right[v.Answer] = right[v.Answer] || v.Right
	}
	best := ""
	for _, a := range order {
		if votes[a] > votes[best] {
			best = a
		}
	}
	if right[best] {
		return 1
	}
	return 0
}

// MajorityRightAtK is what AISBench calls cons@k: 1 when more than k/2 of an
// item's answers are right. It is not a vote: it cannot be computed without the
// key, and a majority for one wrong answer does not make it fail.
func MajorityRightAtK(right, k int) float64 {
	if 2*right > k {
		return 1
	}
	return 0
}

// MixedAsAISBench regroups the answers of n items the way AISBench's evaluator
// does by mistake before it computes pass@k and cons@k: answers that lie item by
// item are dealt out as if they lay repeat by repeat, so that one group holds
// answers of several items. It exists to explain a number measured with that
// tool; every item must have the same number of answers.
func MixedAsAISBench(items []Samples) []Samples {
	var flat Samples
	for _, s := range items {
		flat = append(flat, s...)
	}
	mixed := make([]Samples, len(items))
	for i, s := range flat {
		mixed[i%len(items)] = append(mixed[i%len(items)], s)
	}
	return mixed
}
