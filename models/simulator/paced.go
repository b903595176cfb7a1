package simulator

import (
	"sync"
	"sync/atomic"
	"time"
)

// pacer is the instrument mode: every stream follows its own absolute
// schedule, whatever the others do. Token i of a stream that arrived at t is due at
//
//	t + TTFT·scale + i / (TokensPerSecond / scale)
//
// with the gaps multiplied by tail, drift and position factors where those are
// configured. One goroutine serves many streams from a heap of due times: it
// writes everything that is due, sleeps until the next due time but at least
// TimerQuantum, and thereby shares one wake-up among neighbours. A late wake-up
// delays the chunks it finds due and nothing after them.
type pacer struct {
	cfg   *Config
	clock func() int64
	tail  tail
	seed  uint64
	gap   float64 // ns between two tokens
	ttft  float64 // ns
	m     *metrics
	w     writer
	sleep *sleeper
	late  *atomic.Int64
	quit  chan struct{}

	mu      sync.Mutex
	arrived []*sequence
	asleep  bool
	heap    []dueSequence
}

type dueSequence struct {
	at int64
	s  *sequence
}

func newPacer(cfg *Config, clock func() int64, m *metrics, late *atomic.Int64) (*pacer, error) {
	t, err := parseTail(cfg.LatencyTail)
	if err != nil {
		return nil, err
	}
	return &pacer{cfg: cfg, clock: clock, tail: t, seed: mix(uint64(cfg.Seed), 0x9ace), m: m, sleep: newSleeper(), late: late,
		gap: 1e9 / cfg.TokensPerSecond * cfg.TimeScale, ttft: float64(cfg.TTFT) * cfg.TimeScale, quit: make(chan struct{})}, nil
}

// add takes a sequence; it may be called from any goroutine.
func (p *pacer) add(s *sequence) {
	p.mu.Lock()
	p.arrived = append(p.arrived, s)
	if p.asleep {
		p.sleep.wake()
	}
	p.mu.Unlock()
}

func (p *pacer) stop() {
	close(p.quit)
	p.mu.Lock()
	p.sleep.wake()
	p.mu.Unlock()
}

func (p *pacer) run() {
	defer p.sleep.close()
	for {
		select {
		case <-p.quit:
			return
		default:
		}
		now := p.clock()
		for len(p.heap) > 0 && p.heap[0].at <= now {
			if late := now - p.heap[0].at; late > p.late.Load() {
				p.late.Store(late)
			}
			p.step(p.heap[0].s)
		}
		p.mu.Lock()
		if len(p.arrived) > 0 {
			for _, s := range p.arrived {
				p.admit(s)
			}
			clear(p.arrived)
			p.arrived = p.arrived[:0]
			p.mu.Unlock()
			continue
		}
		wait := int64(time.Hour)
		if len(p.heap) > 0 {
			// now is from before the writes: what they took counts as waiting.
			wait = max(p.heap[0].at, now+int64(p.cfg.TimerQuantum)) - p.clock()
		}
		if wait > 0 {
			p.asleep = true
			p.sleep.arm(time.Duration(wait))
		}
		p.mu.Unlock()
		if wait > 0 {
			p.sleep.wait()
			p.mu.Lock()
			p.asleep = false
			p.mu.Unlock()
		}
	}
}

// admit schedules the first token of a sequence; for one that is not streamed,
// the last.
func (p *pacer) admit(s *sequence) {
	h := mix(p.seed, s.plan.seed)
	s.admitted = s.arrival
	p.m.queueTime.observe(0)
	p.m.running.Add(1)
	s.firstDue = s.arrival + int64(p.ttft*p.tail.at(mix(h, 0))*driftFactor(p.cfg.LatencyDrift, s.arrival))
	s.due = s.firstDue
	if !s.call.stream {
		for s.produced = 1; s.produced < s.plan.total; s.produced++ {
			s.due = p.next(s)
		}
	}
	p.push(dueSequence{s.due, s})
}

// next is the due time of the token after the produced-th.
func (p *pacer) next(s *sequence) int64 {
	if p.tail.kind == "" && p.cfg.LatencyDrift == 0 && p.cfg.PositionDrift == 0 {
		return s.firstDue + int64(float64(s.produced)*p.gap)
	}
	f := p.tail.at(mix(mix(p.seed, s.plan.seed), uint64(s.produced))) * driftFactor(p.cfg.LatencyDrift, s.due)
	return s.due + int64(p.gap*f*max(0.1, 1+p.cfg.PositionDrift*float64(s.produced)/1000))
}

// step hands out the token of the sequence at the top of the heap and
// schedules its next one.
func (p *pacer) step(s *sequence) {
	if s.gone.Load() {
		p.pop()
		p.m.running.Add(-1)
		return
	}
	if !s.call.stream {
		p.pop()
		p.m.bulk(s, s.firstDue, s.due)
		p.m.running.Add(-1)
		p.w.token(s, s.plan.total)
		return
	}
	s.produced++
	p.m.token(s, s.due)
	if s.produced >= s.plan.total {
		p.pop()
		p.m.running.Add(-1)
	} else {
		s.due = p.next(s)
		p.replaceTop(dueSequence{s.due, s})
	}
	p.w.token(s, 1)
}

// The heap is four-ary: half the levels of a binary one, and a node's children share
// a cache line.

func (p *pacer) push(d dueSequence) {
	p.heap = append(p.heap, d)
	i := len(p.heap) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if p.heap[parent].at <= d.at {
			break
		}
		p.heap[i] = p.heap[parent]
		i = parent
	}
	p.heap[i] = d
}

func (p *pacer) pop() {
	n := len(p.heap) - 1
	last := p.heap[n]
	p.heap[n] = dueSequence{}
	p.heap = p.heap[:n]
	if n > 0 {
		p.replaceTop(last)
	}
}

func (p *pacer) replaceTop(d dueSequence) {
	n, i := len(p.heap), 0
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if p.heap[c].at < p.heap[least].at {
				least = c
			}
		}
		if p.heap[least].at >= d.at {
			break
		}
		p.heap[i] = p.heap[least]
		i = least
	}
	p.heap[i] = d
}
