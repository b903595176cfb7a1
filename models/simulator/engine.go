package simulator

import (
	"sync"
	"sync/atomic"
)

// engine is the iteration-level scheduler. One goroutine repeats:
//
//  1. schedule: every running sequence gets the tokens it lacks, oldest first,
//     as far as MaxNumBatchedTokens allows: one for a decoding sequence, a chunk of
//     its prompt for one in prefill. A sequence that needs a KV block when
//     none is free throws the youngest out of the batch (its tokens are computed
//     again later). Then, unless somebody was thrown out, waiting sequences
//     are admitted in order while MaxNumSeqs, the token budget and the KV blocks allow.
//  2. wait until the step's end, start + its modelled length. A step starts at
//     the end of the one before it, not at the moment the goroutine woke
//     up, so lateness never adds up; but not before the sequences that it admits
//     have arrived, which a machine too slow for the modelled engine would have it do:
//     no token is older than its request.
//  3. hand every sequence whose tokens are all computed one new token, publish
//     full blocks to the prefix cache, and pass the batch to the writers.
type engine struct {
	cfg   *Config
	model stepModel
	clock func() int64 // mono ns since the server started
	sleep *sleeper
	out   []chan []emission // one per writer
	pool  sync.Pool         // *[]emission
	m     *metrics

	wake chan struct{} // something arrived while idle
	quit chan struct{}

	mu       sync.Mutex
	incoming []*sequence
	waiting  []*sequence // FIFO; thrown out sequences return to its head
	running  []*sequence // in order of admission
	kv       *blockPool

	steps       atomic.Int64
	maxLate     atomic.Int64
	preemptions atomic.Int64
	found       []int32 // scratch
	batch       []scheduled
	fresh       []*sequence // scratch: admitted for the first time by this step
}

// scheduled is a sequence's share of one step.
type scheduled struct {
	seq    *sequence
	tokens int
}

// emission tells a writer that a sequence has one more token.
type emission struct {
	seq *sequence
	at  int64 // mono ns
}

func newEngine(cfg *Config, clock func() int64, m *metrics) (*engine, error) {
	model, err := newStepModel(cfg)
	if err != nil {
		return nil, err
	}
	e := &engine{cfg: cfg, model: model, clock: clock, sleep: newSleeper(), m: m,
		wake: make(chan struct{}, 1), quit: make(chan struct{}),
		kv: newBlockPool(cfg.NumGPUBlocks, !cfg.DisablePrefixCaching)}
	e.pool.New = func() any { b := make([]emission, 0, 64); return &b }
	for range cfg.Workers {
		e.out = append(e.out, make(chan []emission, 64))
	}
	return e, nil
}

// add queues a sequence.
func (e *engine) add(s *sequence) {
	e.mu.Lock()
	e.incoming = append(e.incoming, s)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// run is the scheduler loop; it returns after quit is closed and closes the writers' channels.
func (e *engine) run() {
	defer func() {
		e.sleep.close()
		for _, c := range e.out {
			close(c)
		}
	}()
	end := e.clock() // end of the step before
	for {
		select {
		case <-e.quit:
			return
		default:
		}
		e.mu.Lock()
		start, prefill, decode, context := e.schedule(end)
		e.mu.Unlock()
		if len(e.batch) == 0 {
			select {
			case <-e.quit:
				return
			case <-e.wake:
			}
			end = e.clock()
			continue
		}
		n := e.steps.Add(1)
		end = start + e.model.step(uint64(n), start, prefill, decode, context)
		e.sleep.until(end, e.clock)
		if late := e.clock() - end; late > e.maxLate.Load() {
			e.maxLate.Store(late)
		}
		e.m.iterationTokens.observe(float64(prefill + decode))
		e.complete(end)
	}
}

// schedule fills e.batch for the next step, which starts at the end of the one before
// it, or when the last of the sequences that it admits arrived.
func (e *engine) schedule(end int64) (start int64, prefill, decode, context int) {
	e.waiting = append(e.waiting, e.incoming...)
	clear(e.incoming)
	e.incoming = e.incoming[:0]
	e.batch = e.batch[:0]
	budget := e.cfg.MaxNumBatchedTokens
	thrownOut := false
	start = end
	e.fresh = e.fresh[:0]

	plan := func(s *sequence, n int) {
		e.batch = append(e.batch, scheduled{s, n})
		budget -= n
		if s.length()-s.computed == 1 && s.produced > 0 {
			decode++
			context += s.length()
		} else {
			prefill += n
		}
	}
	keep := e.running[:0]
	for _, s := range e.running {
		if s.gone.Load() {
			e.drop(s)
			continue
		}
		keep = append(keep, s)
	}
	clear(e.running[len(keep):])
	e.running = keep
	for i := 0; i < len(e.running) && budget > 0; i++ {
		s := e.running[i]
		n := min(s.length()-s.computed, budget)
		for !e.grow(s, s.computed+n) {
			victim := e.running[len(e.running)-1]
			e.running = e.running[:len(e.running)-1]
			e.throwOut(victim)
			thrownOut = true
			if victim == s {
				break
			}
		}
		if i < len(e.running) {
			plan(s, n)
		}
	}
	for !thrownOut && len(e.waiting) > 0 && len(e.running) < e.cfg.MaxNumSeqs && budget > 0 {
		s := e.waiting[0]
		if s.gone.Load() {
			e.popWaiting()
			e.drop(s)
			continue
		}
		hit, freeAmong := e.kv.lookup(s.hashes[:min(len(s.hashes), (s.length()-1)/e.cfg.BlockSize)], e.found)
		e.found = hit
		computed := len(hit) * e.cfg.BlockSize
		n := min(s.length()-computed, budget)
		if (computed+n+e.cfg.BlockSize-1)/e.cfg.BlockSize-len(hit) > e.kv.free-freeAmong {
			break
		}
		e.popWaiting()
		e.kv.hold(hit)
		s.blocks = append(s.blocks[:0], hit...)
		s.hashed = len(hit)
		s.lastHash = s.call.cacheSeed
		if len(hit) > 0 {
			s.lastHash = s.hashes[len(hit)-1]
		}
		s.computed = computed
		if !s.cacheTried {
			s.cacheTried = true
			s.cached.Store(int32(computed))
			start = max(start, s.arrival)
			e.fresh = append(e.fresh, s)
			if e.kv.caching { // an engine without a prefix cache looks nothing up
				e.m.prefixQueries.add(int64(s.promptLen))
			}
			e.m.prefixHits.add(int64(computed))
		}
		e.grow(s, computed+n)
		e.running = append(e.running, s)
		plan(s, n)
	}
	for _, s := range e.fresh {
		s.admitted = start
		e.m.queueTime.observe(float64(start-s.arrival) / 1e9)
	}
	clear(e.fresh)
	e.m.running.Store(int64(len(e.running)))
	e.m.waiting.Store(int64(len(e.waiting)))
	return start, prefill, decode, context
}

func (e *engine) popWaiting() {
	e.waiting[0] = nil
	e.waiting = e.waiting[1:]
}

// grow gives s the blocks that tokens tokens need; false when none is free.
// What it got stays with it.
func (e *engine) grow(s *sequence, tokens int) bool {
	for len(s.blocks)*e.cfg.BlockSize < tokens {
		b, ok := e.kv.alloc()
		if !ok {
			return false
		}
		s.blocks = append(s.blocks, b)
	}
	return true
}

// throwOut returns a running sequence to the head of the queue; what it has
// computed is lost except for what the prefix cache keeps.
func (e *engine) throwOut(s *sequence) {
	e.kv.release(s.blocks)
	s.blocks, s.computed, s.hashed = s.blocks[:0], 0, 0
	s.preemptions++
	e.preemptions.Add(1)
	e.waiting = append([]*sequence{s}, e.waiting...)
}

// drop ends a sequence nobody waits for any more.
func (e *engine) drop(s *sequence) {
	e.kv.release(s.blocks)
	s.blocks = nil
}

// complete ends a step at the (modelled) time now.
func (e *engine) complete(now int64) {
	lists := make([]*[]emission, len(e.out))
	e.mu.Lock()
	finished := false
	for _, b := range e.batch {
		s := b.seq
		s.computed += b.tokens
		e.publish(s)
		if s.computed < s.length() {
			continue
		}
		s.produced++
		e.m.token(s, now)
		last := s.produced == s.plan.total
		if last {
			e.kv.release(s.blocks)
			s.blocks = nil
			finished = true
		}
		if s.call.stream || last {
			l := lists[s.call.shard]
			if l == nil {
				l = e.pool.Get().(*[]emission)
				*l = (*l)[:0]
				lists[s.call.shard] = l
			}
			*l = append(*l, emission{s, now})
		}
	}
	if finished {
		keep := e.running[:0]
		for _, s := range e.running {
			if s.produced < s.plan.total {
				keep = append(keep, s)
			}
		}
		clear(e.running[len(keep):])
		e.running = keep
		e.m.running.Store(int64(len(e.running)))
	}
	e.mu.Unlock()
	for i, l := range lists {
		if l != nil {
			e.out[i] <- *l
		}
	}
}

// publish makes the blocks that have become full known to the prefix cache.
func (e *engine) publish(s *sequence) {
	if !e.kv.caching {
		return // the blocks of such prompts have no hashes
	}
	for size := e.cfg.BlockSize; (s.hashed+1)*size <= s.computed; s.hashed++ {
		if s.hashed < len(s.hashes) {
			s.lastHash = s.hashes[s.hashed]
		} else {
			for i := s.hashed * size; i < (s.hashed+1)*size; i++ {
				s.lastHash = mix(s.lastHash, uint64(uint32(s.tokenAt(i))))
			}
		}
		e.kv.publish(s.blocks[s.hashed], s.lastHash)
	}
}

// kvUse is the share of KV blocks in use.
func (e *engine) kvUse() float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.kv.used()
}

// resetCache forgets the prefix cache; false while sequences hold blocks.
func (e *engine) resetCache() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.kv.reset()
}
