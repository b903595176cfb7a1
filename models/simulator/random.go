package simulator

import "math"

// Everything random is a pure function of the seed and of what it decides
// about (a question, a request, a position), never of a shared generator's
// state: results then do not depend on order or concurrency.

// mix hashes two words (the finalizer of splitmix64).
func mix(a, b uint64) uint64 {
	x := a + 0x9e3779b97f4a7c15*(b+1)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashString is 64-bit FNV-1a followed by mix, which spreads its weak high bits.
func hashString(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h, 0)
}

// unit maps a hash to [0, 1).
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// normal maps a hash to a standard normal value (Box–Muller).
func normal(h uint64) float64 {
	u, v := unit(h), unit(mix(h, 0x6e))
	return math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v)
}
