// Package pyrandom reproduces the numbers of CPython's random module, so that
// orders published as "random.Random(seed).shuffle(…)" can be had again bit for
// bit: the Mersenne Twister MT19937 seeded by init_by_array from the absolute
// value of the seed, 53-bit floats, rejection sampling for integers,
// Fisher–Yates from the end for Shuffle, and CPython's two algorithms for Sample.
package pyrandom

import "math/bits"

const (
	n         = 624
	m         = 397
	matrixA   = 0x9908b0df
	upperMask = 0x80000000
	lowerMask = 0x7fffffff
)

// Rand is one generator. It is not safe for concurrent use.
type Rand struct {
	mt  [n]uint32
	idx int
}

// New is random.Random(seed). CPython seeds by the magnitude of an int.
func New(seed int64) *Rand {
	if seed < 0 {
		return NewUint64(uint64(-seed))
	}
	return NewUint64(uint64(seed))
}

// NewUint64 is random.Random(seed) for seeds beyond int64, such as eight bytes
// of a digest.
func NewUint64(mag uint64) *Rand {
	key := []uint32{uint32(mag)}
	if hi := uint32(mag >> 32); hi != 0 {
		key = append(key, hi)
	}
	r := &Rand{}
	r.initGenrand(19650218)
	i, j := 1, 0
	for k := max(n, len(key)); k > 0; k-- {
		r.mt[i] = (r.mt[i] ^ ((r.mt[i-1] ^ (r.mt[i-1] >> 30)) * 1664525)) + key[j] + uint32(j)
		i++
		j++
		if i >= n {
			r.mt[0] = r.mt[n-1]
			i = 1
		}
		if j >= len(key) {
			j = 0
		}
	}
	for k := n - 1; k > 0; k-- {
		r.mt[i] = (r.mt[i] ^ ((r.mt[i-1] ^ (r.mt[i-1] >> 30)) * 1566083941)) - uint32(i)
		i++
		if i >= n {
			r.mt[0] = r.mt[n-1]
			i = 1
		}
	}
	r.mt[0] = 0x80000000
	return r
}

func (r *Rand) initGenrand(s uint32) {
	r.mt[0] = s
	for i := 1; i < n; i++ {
		r.mt[i] = 1812433253*(r.mt[i-1]^(r.mt[i-1]>>30)) + uint32(i)
	}
	r.idx = n
}

// Uint32 is the next 32 bits, getrandbits(32).
func (r *Rand) Uint32() uint32 {
	if r.idx >= n {
		for k := range n {
			y := (r.mt[k] & upperMask) | (r.mt[(k+1)%n] & lowerMask)
			v := r.mt[(k+m)%n] ^ (y >> 1)
			if y&1 != 0 {
				v ^= matrixA
			}
			r.mt[k] = v
		}
		r.idx = 0
	}
	y := r.mt[r.idx]
	r.idx++
	y ^= y >> 11
	y ^= (y << 7) & 0x9d2c5680
	y ^= (y << 15) & 0xefc60000
	return y ^ (y >> 18)
}

// Random is random(): a float in [0, 1) with 53 bits.
func (r *Rand) Random() float64 {
	a, b := r.Uint32()>>5, r.Uint32()>>6
	return (float64(a)*67108864 + float64(b)) / 9007199254740992
}

// Bits is getrandbits(k) for 1 ≤ k ≤ 64.
func (r *Rand) Bits(k int) uint64 {
	if k <= 32 {
		return uint64(r.Uint32() >> (32 - k))
	}
	low := uint64(r.Uint32())
	return low | uint64(r.Uint32()>>(64-k))<<32
}

// Below is _randbelow(limit): an integer in [0, limit); limit must be positive.
func (r *Rand) Below(limit int) int {
	k := bits.Len64(uint64(limit))
	for {
		if v := r.Bits(k); v < uint64(limit) {
			return int(v)
		}
	}
}

// Int is randint(a, b), both ends included.
func (r *Rand) Int(a, b int) int { return a + r.Below(b-a+1) }

// Shuffle is shuffle() of size elements.
func (r *Rand) Shuffle(size int, swap func(i, j int)) {
	for i := size - 1; i > 0; i-- {
		swap(i, r.Below(i+1))
	}
}

// Perm is the order a shuffle gives to 0 … size-1.
func (r *Rand) Perm(size int) []int {
	p := make([]int, size)
	for i := range p {
		p[i] = i
	}
	r.Shuffle(size, func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}

// Sample is sample(range(size), k); k may not exceed size.
func (r *Rand) Sample(size, k int) []int {
	out := make([]int, k)
	setSize := 21
	if k > 5 {
		// 4 ** ceil(log(3k, 4)) in exact integers
		p := 1
		for p < 3*k {
			p *= 4
		}
		setSize += p
	}
	if size <= setSize {
		pool := make([]int, size)
		for i := range pool {
			pool[i] = i
		}
		for i := range k {
			j := r.Below(size - i)
			out[i] = pool[j]
			pool[j] = pool[size-i-1]
		}
		return out
	}
	taken := make(map[int]bool, k)
	for i := range k {
		j := r.Below(size)
		for taken[j] {
			j = r.Below(size)
		}
		taken[j] = true
		out[i] = j
	}
	return out
}

// Choices is choices(range(size), k=k), with replacement.
func (r *Rand) Choices(size, k int) []int {
	out := make([]int, k)
	for i := range out {
		out[i] = int(r.Random() * float64(size))
	}
	return out
}
