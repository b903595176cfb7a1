package strict

import (
	"math"
	"slices"
)

// rawLimit is how many values a Dist keeps as they are before it counts them in
// steps of its quantum. Up to there percentiles are exact to the last bit.
const rawLimit = 1 << 14

// denseLimit bounds the directly indexed part of a histogram (4 bytes a step).
const denseLimit = 1 << 21

// Dist is a distribution in bounded memory. Beyond rawLimit values are counted
// per quantum, so percentiles are exact to the quantum (1 µs for durations);
// mean, min and max are always exact.
type Dist struct {
	quantum float64
	n       int64
	sum     float64
	comp    float64 // Kahan compensation: sums of 10⁹ gaps keep their digits
	min     float64
	max     float64
	raw     []float64
	dense   []uint32
	sparse  map[int64]uint32
}

// NewDist makes a distribution counted in steps of quantum.
func NewDist(quantum float64) *Dist { return &Dist{quantum: quantum} }

// N is the number of values.
func (d *Dist) N() int64 { return d.n }

// Add adds a value; NaN and infinities are ignored, because undefined is not a
// value.
func (d *Dist) Add(x float64) { d.AddN(x, 1) }

// AddN adds a value k times.
func (d *Dist) AddN(x float64, k int) {
	if k <= 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	if d.n == 0 || x < d.min {
		d.min = x
	}
	if d.n == 0 || x > d.max {
		d.max = x
	}
	d.n += int64(k)
	y := x*float64(k) - d.comp
	t := d.sum + y
	d.comp = (t - d.sum) - y
	d.sum = t
	if d.sparse == nil {
		if len(d.raw)+k <= rawLimit {
			for range k {
				d.raw = append(d.raw, x)
			}
			return
		}
		d.spill()
	}
	d.count(x, k)
}

// spill moves the raw values into the histogram.
func (d *Dist) spill() {
	d.dense = make([]uint32, 1024)
	d.sparse = map[int64]uint32{}
	for _, x := range d.raw {
		d.count(x, 1)
	}
	d.raw = nil
}

func (d *Dist) count(x float64, k int) {
	i := int64(math.Round(x / d.quantum))
	if i < 0 || i >= denseLimit {
		d.sparse[i] += uint32(k)
		return
	}
	if i >= int64(len(d.dense)) {
		grown := make([]uint32, min(max(2*int64(len(d.dense)), i+1), denseLimit))
		copy(grown, d.dense)
		d.dense = grown
	}
	d.dense[i] += uint32(k)
}

// step is one distinct value and how often it occurred.
type step struct {
	x float64
	n int64
}

// steps are the values in ascending order.
func (d *Dist) steps() []step {
	var out []step
	if d.sparse == nil {
		vals := slices.Clone(d.raw)
		slices.Sort(vals)
		for _, x := range vals {
			if n := len(out); n > 0 && out[n-1].x == x {
				out[n-1].n++
				continue
			}
			out = append(out, step{x, 1})
		}
		return out
	}
	keys := make([]int64, 0, len(d.sparse))
	for k := range d.sparse {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	add := func(k int64, n uint32) { out = append(out, step{float64(k) * d.quantum, int64(n)}) }
	i := 0
	for ; i < len(keys) && keys[i] < 0; i++ {
		add(keys[i], d.sparse[keys[i]])
	}
	for k, n := range d.dense {
		if n > 0 {
			add(int64(k), n)
		}
	}
	for ; i < len(keys); i++ {
		add(keys[i], d.sparse[keys[i]])
	}
	return out
}

// Percentiles gives the values at ps (0–100) by linear interpolation between
// order statistics: h = (n−1)·p/100, x⌊h⌋ + (h−⌊h⌋)(x⌊h⌋₊₁ − x⌊h⌋), numpy's
// default; nil for an empty distribution. It also returns the population
// standard deviation √(Σ(x−x̄)²/n).
func (d *Dist) Percentiles(ps []float64) (values []float64, std float64) {
	if d.n == 0 {
		return nil, 0
	}
	steps := d.steps()
	mean := d.sum / float64(d.n)
	cumulated := make([]int64, len(steps)) // values up to and with step i
	var sq float64
	var n int64
	for i, s := range steps {
		sq += float64(s.n) * (s.x - mean) * (s.x - mean)
		n += s.n
		cumulated[i] = n
	}
	at := func(rank int64) float64 {
		i, _ := slices.BinarySearch(cumulated, rank+1)
		return steps[min(i, len(steps)-1)].x
	}
	for _, p := range ps {
		h := float64(d.n-1) * p / 100
		lo := int64(math.Floor(h))
		v := at(lo)
		if frac := h - float64(lo); frac > 0 {
			v += frac * (at(lo+1) - v)
		}
		values = append(values, min(max(v, d.min), d.max))
	}
	return values, math.Sqrt(sq / float64(d.n))
}
