package metrics

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// rawLimit is how many values a Dist keeps as they are before it counts them in
// steps of its quantum. Up to there percentiles are exact to the tick.
const rawLimit = 1 << 14

// denseLimit bounds the directly indexed part of a histogram: 2²¹ µs = 2.1 s,
// 8 MiB. Values beyond are rare and counted in a map.
const denseLimit = 1 << 21

// Dist is a distribution of integers (ticks) in bounded memory. Beyond rawLimit
// values it counts per quantum, so percentiles are exact to the quantum
// (1 µs for durations); mean, standard deviation, min and max are exact
// whatever the number of values, and nothing depends on their order.
type Dist struct {
	quantum int64
	n       int64
	// sum (two's complement) and squares are 128 bit: 10⁹ gaps of hours fit.
	sumHi, sumLo, sqHi, sqLo uint64
	min, max                 int64
	raw                      []int64
	dense                    []uint32
	sparse                   map[int64]int64
}

// NewDist makes a distribution that may count in steps of quantum ticks.
func NewDist(quantum int64) *Dist { return &Dist{quantum: quantum} }

// N is the number of values.
func (d *Dist) N() int64 { return d.n }

// Add adds a value.
func (d *Dist) Add(x int64) { d.AddN(x, 1) }

// AddN adds a value k times.
func (d *Dist) AddN(x, k int64) {
	if k <= 0 {
		return
	}
	if d.n == 0 {
		d.min, d.max = x, x
	} else {
		d.min, d.max = min(d.min, x), max(d.max, x)
	}
	d.n += k
	hi, lo := bits.Mul64(magnitude(x), uint64(k))
	var carry uint64
	if x >= 0 {
		d.sumLo, carry = bits.Add64(d.sumLo, lo, 0)
		d.sumHi, _ = bits.Add64(d.sumHi, hi, carry)
	} else {
		d.sumLo, carry = bits.Sub64(d.sumLo, lo, 0)
		d.sumHi, _ = bits.Sub64(d.sumHi, hi, carry)
	}
	hi, lo = bits.Mul64(magnitude(x), magnitude(x))
	if k != 1 {
		h2, l2 := bits.Mul64(lo, uint64(k))
		hi, lo = hi*uint64(k)+h2, l2
	}
	d.sqLo, carry = bits.Add64(d.sqLo, lo, 0)
	d.sqHi, _ = bits.Add64(d.sqHi, hi, carry)

	if d.sparse == nil {
		if int64(len(d.raw))+k <= rawLimit {
			for range k {
				d.raw = append(d.raw, x)
			}
			return
		}
		d.spill()
	}
	d.count(x, k)
}

// Merge adds the values of o, which must have the same quantum. It is exact as
// Add is; values that o has counted stay exact to the quantum.
func (d *Dist) Merge(o *Dist) {
	if o.n == 0 {
		return
	}
	if d.n == 0 {
		d.min, d.max = o.min, o.max
	} else {
		d.min, d.max = min(d.min, o.min), max(d.max, o.max)
	}
	d.n += o.n
	var carry uint64
	d.sumLo, carry = bits.Add64(d.sumLo, o.sumLo, 0)
	d.sumHi, _ = bits.Add64(d.sumHi, o.sumHi, carry)
	d.sqLo, carry = bits.Add64(d.sqLo, o.sqLo, 0)
	d.sqHi, _ = bits.Add64(d.sqHi, o.sqHi, carry)
	if d.sparse == nil && o.sparse == nil && len(d.raw)+len(o.raw) <= rawLimit {
		d.raw = append(d.raw, o.raw...)
		return
	}
	if d.sparse == nil {
		d.spill()
	}
	for _, x := range o.raw {
		d.count(x, 1)
	}
	for i, n := range o.dense {
		if n > 0 {
			d.count(int64(i)*d.quantum, int64(n))
		}
	}
	for i, n := range o.sparse {
		d.count(i*d.quantum, n)
	}
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return uint64(-x)
	}
	return uint64(x)
}

// spill moves the raw values into the histogram.
func (d *Dist) spill() {
	d.dense = make([]uint32, 1024)
	d.sparse = map[int64]int64{}
	for _, x := range d.raw {
		d.count(x, 1)
	}
	d.raw = nil
}

func (d *Dist) count(x, k int64) {
	i := x + d.quantum/2
	if i < 0 {
		i -= d.quantum - 1 // floor
	}
	i /= d.quantum
	if i < 0 || i >= denseLimit {
		d.sparse[i] += k
		return
	}
	if i >= int64(len(d.dense)) {
		grown := make([]uint32, min(max(2*int64(len(d.dense)), i+1), denseLimit))
		copy(grown, d.dense)
		d.dense = grown
	}
	if int64(d.dense[i])+k > math.MaxUint32 {
		d.sparse[i] += k // a full counter continues in the map
		return
	}
	d.dense[i] += uint32(k)
}

// bin is one distinct value in ticks and how often it occurred.
type bin struct {
	x float64
	n int64
}

// bins are the values in ascending order.
func (d *Dist) bins() []bin {
	var out []bin
	if d.sparse == nil {
		vals := slices.Clone(d.raw)
		slices.Sort(vals)
		for _, v := range vals {
			x := float64(v)
			if n := len(out); n > 0 && out[n-1].x == x {
				out[n-1].n++
				continue
			}
			out = append(out, bin{x, 1})
		}
		return out
	}
	for i, n := range d.dense {
		if n > 0 {
			out = append(out, bin{float64(int64(i) * d.quantum), int64(n)})
		}
	}
	for i, n := range d.sparse { // a full counter has a second bin here
		out = append(out, bin{float64(i * d.quantum), n})
	}
	slices.SortFunc(out, func(a, b bin) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		}
		return 0
	})
	return out
}

// total is the sum of the values, exactly.
func (d *Dist) total() *big.Int {
	s := new(big.Int).SetUint64(d.sumHi)
	s.Lsh(s, 64).Add(s, new(big.Int).SetUint64(d.sumLo))
	if d.sumHi>>63 == 1 {
		s.Sub(s, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return s
}

// Mean of the values in ticks; false for none.
func (d *Dist) Mean() (float64, bool) {
	if d.n == 0 {
		return 0, false
	}
	m, _ := new(big.Rat).SetFrac(d.total(), big.NewInt(d.n)).Float64()
	return m, true
}

// Std is the population standard deviation √(Σ(x−x̄)²/n) in ticks, from exact
// sums: √(n·Σx² − (Σx)²)/n; false for no values.
func (d *Dist) Std() (float64, bool) {
	if d.n == 0 {
		return 0, false
	}
	sq := new(big.Int).SetUint64(d.sqHi)
	sq.Lsh(sq, 64).Add(sq, new(big.Int).SetUint64(d.sqLo))
	sum := d.total()
	sq.Mul(sq, big.NewInt(d.n)).Sub(sq, sum.Mul(sum, sum))
	f, _ := new(big.Float).SetInt(sq).Float64()
	return math.Sqrt(f) / float64(d.n), true
}

// Ranked gives the values of a Dist in ascending order.
type Ranked struct {
	bins     []bin
	upTo     []int64 // values in bins[:i+1]
	min, max float64
}

// Ranked sorts what was added so far.
func (d *Dist) Ranked() Ranked {
	r := Ranked{bins: d.bins(), min: float64(d.min), max: float64(d.max)}
	r.upTo = make([]int64, len(r.bins))
	n := int64(0)
	for i, b := range r.bins {
		n += b.n
		r.upTo[i] = n
	}
	return r
}

// N is the number of values.
func (r Ranked) N() int64 {
	if len(r.upTo) == 0 {
		return 0
	}
	return r.upTo[len(r.upTo)-1]
}

// At is the value of a rank, from 1 to N, in ticks; there must be one.
func (r Ranked) At(rank int64) float64 {
	i, _ := slices.BinarySearch(r.upTo, rank)
	return min(max(r.bins[min(i, len(r.bins)-1)].x, r.min), r.max)
}

// Above is how many values are above x ticks.
func (r Ranked) Above(x float64) int64 {
	i, found := slices.BinarySearchFunc(r.bins, x, func(b bin, x float64) int {
		switch {
		case b.x < x:
			return -1
		case b.x > x:
			return 1
		}
		return 0
	})
	for found && i < len(r.bins) && r.bins[i].x == x {
		i++
	}
	if i == 0 {
		return r.N()
	}
	return r.N() - r.upTo[i-1]
}

// Percentile is the value at p (0–100) in ticks by linear interpolation between
// order statistics, numpy's default: h = (n−1)·p/100,
// x⌊h⌋ + (h−⌊h⌋)·(x⌊h⌋₊₁ − x⌊h⌋). There must be a value.
func (r Ranked) Percentile(p float64) float64 {
	h := float64(r.N()-1) * min(max(p, 0), 100) / 100
	lo := math.Floor(h)
	a := r.At(int64(lo) + 1)
	if frac := h - lo; frac > 0 {
		a += frac * (r.At(int64(lo)+2) - a)
	}
	return min(max(a, r.min), r.max)
}

// Percentiles gives the values at ps (0–100, any order) in ticks, see
// Ranked.Percentile. nil for an empty distribution.
func (d *Dist) Percentiles(ps []float64) []float64 {
	if d.n == 0 {
		return nil
	}
	r := d.Ranked()
	values := make([]float64, len(ps))
	for i, p := range ps {
		values[i] = r.Percentile(p)
	}
	return values
}
