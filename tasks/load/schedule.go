package load

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"time"
)

// Schedule is an arrival process. Arrivals yields the times of requests 0, 1, …
// after the start of the phase, never descending; each call starts over and,
// for the same seed, yields the same times. A schedule may end by itself
// (Replay) or go on for ever.
type Schedule interface {
	Arrivals() iter.Seq[time.Duration]
	String() string
}

// AllAtOnce makes every request due at once: T_i = 0. With a concurrency cap it
// is the closed loop that vLLM calls request rate inf.
type AllAtOnce struct{}

// Arrivals implements Schedule.
func (AllAtOnce) Arrivals() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for yield(0) {
		}
	}
}

func (AllAtOnce) String() string { return "all at once" }

// Constant spaces requests evenly: T_i = i / Rate, so that within D seconds there
// are ⌈D·Rate⌉ requests. With Wait request 0 waits its gap too, as that of a Gamma
// does: T_i = (i+1) / Rate, and the last of n requests is due at n / Rate.
type Constant struct {
	Rate float64 // requests/s
	Wait bool
}

// Arrivals implements Schedule.
func (c Constant) Arrivals() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		i := 0
		if c.Wait {
			i = 1
		}
		for ; ; i++ {
			if !yield(seconds(float64(i) / c.Rate)) {
				return
			}
		}
	}
}

func (c Constant) String() string {
	if c.Wait {
		return fmt.Sprintf("constant %g requests/s, the first after a gap", c.Rate)
	}
	return fmt.Sprintf("constant %g requests/s", c.Rate)
}

// Gamma draws the gaps from Gamma(shape = Burstiness, scale = 1/(Rate·Burstiness)):
// mean 1/Rate, coefficient of variation 1/√Burstiness. Burstiness 1 is the
// Poisson process, below 1 is burstier, above 1 more regular. As vLLM does,
// request 0 waits its gap too: T_i = Σ_{j≤i} g_j.
type Gamma struct {
	Rate       float64 // requests/s
	Burstiness float64
	Seed       uint64
}

// Poisson is the memoryless process of the given rate.
func Poisson(rate float64, seed uint64) Gamma { return Gamma{Rate: rate, Burstiness: 1, Seed: seed} }

// Arrivals implements Schedule.
func (g Gamma) Arrivals() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		rng := newRand(g.Seed)
		for t := 0.0; ; {
			t += gammaVariate(rng, g.Burstiness) / (g.Rate * g.Burstiness)
			if !yield(seconds(t)) {
				return
			}
		}
	}
}

func (g Gamma) String() string {
	if g.Burstiness == 1 {
		return fmt.Sprintf("Poisson %g requests/s (seed %d)", g.Rate, g.Seed)
	}
	return fmt.Sprintf("gamma %g requests/s, burstiness %g (seed %d)", g.Rate, g.Burstiness, g.Seed)
}

// Ramp changes the rate from Start to End over Count requests, by request index
// as vLLM and AISBench do, not by time. With p = i/max(Count−1, 1):
//
//	linear       r_i = Start + (End−Start)·p
//	exponential  r_i = Start·(End/Start)^p
//
// and gaps Gamma(Burstiness, 1/(r_i·Burstiness)), or exactly 1/r_i when
// Burstiness is +Inf. After Count requests the rate stays at End.
type Ramp struct {
	Start, End  float64 // requests/s
	Count       int
	Exponential bool
	Burstiness  float64
	Seed        uint64
}

// Arrivals implements Schedule.
func (r Ramp) Arrivals() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		rng := newRand(r.Seed)
		t := 0.0
		for i := 0; ; i++ {
			rate := r.rate(i)
			if rate > 0 {
				t += gap(rng, rate, r.Burstiness)
			}
			if !yield(seconds(t)) {
				return
			}
		}
	}
}

func (r Ramp) rate(i int) float64 {
	p := min(float64(i)/float64(max(r.Count-1, 1)), 1)
	if r.Exponential {
		return r.Start * math.Pow(r.End/r.Start, p)
	}
	rate := r.Start + (r.End-r.Start)*p
	if rate <= 0 { // a linear ramp from 0: the first request has no finite gap
		return r.End / float64(max(r.Count, 1))
	}
	return rate
}

// exactSpan is the largest Count whose gaps are summed one by one.
const exactSpan = 100_000

// span is the mean time in seconds of arrival n of a ramp over n requests:
// Σ 1/r_i. Long ramps are summed as Euler and Maclaurin do, the integral and
// half of both ends: with I = ∫ dp/r(p), which is ln(End/Start)/(End−Start) for
// a linear and (1/Start − 1/End)/ln(End/Start) for an exponential ramp, that is
// (n−1)·I + (1/Start + 1/End)/2. A linear ramp from 0 has the harmonic sum.
func (r Ramp) span(n int) float64 {
	if r.Count = n; n <= exactSpan {
		t := 0.0
		for i := range n {
			t += 1 / r.rate(i)
		}
		return t
	}
	k := float64(n - 1)
	integral := 1 / r.Start
	switch log := math.Log(r.End / r.Start); {
	case r.Start == 0:
		const eulerMascheroni = 0.57721566490153286
		return (k + 1 + k*(math.Log(k)+eulerMascheroni)) / r.End
	case log < 1e-9:
	case r.Exponential:
		integral = (1/r.Start - 1/r.End) / log
	default:
		integral = log / (r.End - r.Start)
	}
	return k*integral + (1/r.Start+1/r.End)/2
}

// within is how many requests a ramp has whose last is due, in the mean, at d: so
// that a run of that length ends at the rate End. At least 1 for d above 0.
func (r Ramp) within(d time.Duration) int {
	if d <= 0 {
		return 0
	}
	most := int(min(d.Seconds()*r.End, 1<<40)) + 1 // the rate never exceeds End
	return max(sort.Search(most, func(i int) bool { return r.span(i+1) > d.Seconds()*(1+1e-9) }), 1)
}

func (r Ramp) String() string {
	kind := "linear"
	if r.Exponential {
		kind = "exponential"
	}
	return fmt.Sprintf("%s ramp %g to %g requests/s over %d requests, burstiness %g (seed %d)", kind, r.Start, r.End, r.Count, r.Burstiness, r.Seed)
}

// Stage is a stretch of constant mean rate.
type Stage struct {
	Rate float64 // requests/s; 0 is a pause
	For  time.Duration
}

// Stages runs through stretches of different rates with Poisson arrivals and
// ends with the last.
type Stages struct {
	List []Stage
	Seed uint64
}

// Arrivals implements Schedule.
func (s Stages) Arrivals() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		rng := newRand(s.Seed)
		begin := 0.0
		for _, st := range s.List {
			end := begin + st.For.Seconds()
			if st.Rate > 0 {
				for t := begin + rng.ExpFloat64()/st.Rate; t < end; t += rng.ExpFloat64() / st.Rate {
					if !yield(seconds(t)) {
						return
					}
				}
			}
			begin = end
		}
	}
}

func (s Stages) String() string {
	parts := make([]string, len(s.List))
	for i, st := range s.List {
		parts[i] = fmt.Sprintf("%g/s for %s", st.Rate, st.For)
	}
	return fmt.Sprintf("stages %s (seed %d)", strings.Join(parts, ", "), s.Seed)
}

// Replay sends at recorded times: T_i = (t_i − t_0) / Speed, sorted. Speed 2 is
// twice as fast as recorded. With a Period above 0 it goes on for ever, pass k
// being k·Period later.
type Replay struct {
	Times  []time.Duration
	Speed  float64
	Period time.Duration // of the recording, not of the replay
}

// Arrivals implements Schedule.
func (r Replay) Arrivals() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		times := slices.Clone(r.Times)
		slices.Sort(times)
		for pass := 0.0; len(times) > 0; pass++ {
			for _, t := range times {
				if !yield(seconds((float64(t-times[0]) + pass*float64(r.Period)) / r.Speed / 1e9)) {
					return
				}
			}
			if r.Period <= 0 {
				return
			}
		}
	}
}

func (r Replay) String() string {
	return fmt.Sprintf("replay of %d time stamps at %g× speed", len(r.Times), r.Speed)
}

// Rescaled stretches the first Count arrivals of Of so that the last is at
// exactly Count/Rate, as vLLM does: T_i ← T_i·(Count/Rate)/T_last. The nominal
// rate is met exactly, at the price that the sum is no longer random.
type Rescaled struct {
	Of    Schedule
	Count int
	Rate  float64
}

// Arrivals implements Schedule; it yields Count times.
func (r Rescaled) Arrivals() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		times := make([]time.Duration, 0, r.Count)
		for t := range r.Of.Arrivals() {
			if len(times) == r.Count {
				break
			}
			times = append(times, t)
		}
		factor := 1.0
		if n := len(times); n > 0 && times[n-1] > 0 {
			factor = float64(n) / r.Rate / times[n-1].Seconds()
		}
		for _, t := range times {
			if !yield(time.Duration(float64(t) * factor)) {
				return
			}
		}
	}
}

func (r Rescaled) String() string {
	return fmt.Sprintf("%s, rescaled to %d requests in %s", r.Of, r.Count, seconds(float64(r.Count)/r.Rate).Round(time.Millisecond))
}

func seconds(s float64) time.Duration {
	if ns := s * float64(time.Second); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x10ad)) }

func gap(rng *rand.Rand, rate, burstiness float64) float64 {
	if math.IsInf(burstiness, 1) {
		return 1 / rate
	}
	return gammaVariate(rng, burstiness) / (rate * burstiness)
}

// gammaVariate draws from Gamma(shape, 1) (Marsaglia and Tsang, "A simple
// method for generating gamma variables", 2000; shape < 1 by the power of a
// uniform).
func gammaVariate(rng *rand.Rand, shape float64) float64 {
	if shape == 1 {
		return rng.ExpFloat64()
	}
	if shape < 1 {
		return gammaVariate(rng, shape+1) * math.Pow(1-rng.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - rng.Float64()
		if math.Log(u) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
