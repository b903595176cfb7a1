package simulator

// blockPool is the KV memory: a fixed number of blocks of BlockSize tokens.
// A block is in use (ref > 0) or free. Free blocks keep their contents until
// they are handed out again, least recently used first, so a later prompt with
// the same beginning finds them by hash and takes them back: this is the prefix cache.
type blockPool struct {
	blocks  []kvBlock        // [0] is the free list's sentinel
	byHash  map[uint64]int32 // contents -> block, while the contents are intact
	free    int
	caching bool
}

type kvBlock struct {
	prev, next int32 // free list, oldest first; meaningless while in use
	ref        int32
	hashed     bool
	hash       uint64
}

func newBlockPool(n int, caching bool) *blockPool {
	p := &blockPool{blocks: make([]kvBlock, n+1), byHash: map[uint64]int32{}, caching: caching}
	for i := int32(1); i <= int32(n); i++ {
		p.pushFree(i)
	}
	return p
}

func (p *blockPool) pushFree(i int32) {
	last := p.blocks[0].prev
	p.blocks[i].prev, p.blocks[i].next = last, 0
	p.blocks[last].next, p.blocks[0].prev = i, i
	p.free++
}

func (p *blockPool) unlink(i int32) {
	b := &p.blocks[i]
	p.blocks[b.prev].next, p.blocks[b.next].prev = b.next, b.prev
	p.free--
}

// lookup gives the blocks that hold the longest known prefix of hashes, and
// how many of them are free (and would be taken out of the free list).
func (p *blockPool) lookup(hashes []uint64, into []int32) (found []int32, freeAmong int) {
	found = into[:0]
	if !p.caching {
		return found, 0
	}
	for _, h := range hashes {
		i, ok := p.byHash[h]
		if !ok {
			break
		}
		found = append(found, i)
		if p.blocks[i].ref == 0 {
			freeAmong++
		}
	}
	return found, freeAmong
}

// hold takes one more reference to blocks that lookup found.
func (p *blockPool) hold(blocks []int32) {
	for _, i := range blocks {
		if p.blocks[i].ref == 0 {
			p.unlink(i)
		}
		p.blocks[i].ref++
	}
}

// alloc hands out the least recently used free block; its old contents are forgotten.
func (p *blockPool) alloc() (int32, bool) {
	i := p.blocks[0].next
	if i == 0 {
		return 0, false
	}
	p.unlink(i)
	b := &p.blocks[i]
	p.forget(i)
	b.ref = 1
	return i, true
}

func (p *blockPool) forget(i int32) {
	b := &p.blocks[i]
	if b.hashed {
		delete(p.byHash, b.hash)
		b.hashed = false
	}
}

// publish makes a full block's contents known. Contents that another block
// holds already stay with that one.
func (p *blockPool) publish(i int32, hash uint64) {
	if !p.caching || p.blocks[i].hashed {
		return
	}
	if _, taken := p.byHash[hash]; taken {
		return
	}
	p.byHash[hash] = i
	p.blocks[i].hash, p.blocks[i].hashed = hash, true
}

// release gives references back, the end of the sequence first: the beginning
// of a prompt is the most likely to be shared and should be evicted last.
func (p *blockPool) release(blocks []int32) {
	for k := len(blocks) - 1; k >= 0; k-- {
		i := blocks[k]
		p.blocks[i].ref--
		if p.blocks[i].ref == 0 {
			p.pushFree(i)
		}
	}
}

// reset forgets all contents. Like vLLM it refuses while blocks are in use.
func (p *blockPool) reset() bool {
	if p.free != len(p.blocks)-1 {
		return false
	}
	for i := range p.blocks {
		p.blocks[i].hashed = false
	}
	clear(p.byHash)
	return true
}

// used is the share of blocks in use, 0 to 1.
func (p *blockPool) used() float64 {
	n := len(p.blocks) - 1
	return float64(n-p.free) / float64(n)
}

// blockHashes chains the hash of every full block of tokens: a block's hash
// covers everything before it.
func blockHashes(seed uint64, tokens []int32, size int) []uint64 {
	out := make([]uint64, 0, len(tokens)/size)
	h := seed
	for i, t := range tokens {
		h = mix(h, uint64(uint32(t)))
		if (i+1)%size == 0 {
			out = append(out, h)
		}
	}
	return out
}
