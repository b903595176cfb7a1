package workloads

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"ais_bench/datasets"
)

// traceRow is one arrival of a trace.
type traceRow struct {
	seconds float64 // trace time
	in, out int
	hashes  []int64
	text    string // literal prompt, where the trace has one
	line    int
	untimed bool // the trace has no time stamps
}

// maxTraceSeconds is the latest a row of a trace may be sent, ten years: what is
// later is no time of a trace, and far later ones are beyond what is counted in
// nanoseconds.
const maxTraceSeconds = 3650 * 86400

func (c *Config) checkTrace() error {
	if !(c.SecMultiplier > 0) || math.IsInf(c.SecMultiplier, 0) {
		return fmt.Errorf("time multiplier must be above 0, got %g", c.SecMultiplier)
	}
	switch c.TimestampUnit {
	case "s", "ms":
	default:
		return fmt.Errorf("timestamp unit %q is not known; give s or ms", c.TimestampUnit)
	}
	if c.StartOffset < 0 {
		return fmt.Errorf("start offset must not be negative, got %g s", c.StartOffset)
	}
	if c.EndOffset > 0 && c.EndOffset <= c.StartOffset {
		return fmt.Errorf("end offset %g s is not after start offset %g s", c.EndOffset, c.StartOffset)
	}
	return nil
}

// replay turns trace rows into requests in order of arrival.
func (c *Config) replay(ctx context.Context, n *notes, rows []traceRow) ([]datasets.Sample, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: the trace is empty", c.DatasetPath)
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].seconds < rows[j].seconds })
	zero := rows[0].seconds
	if c.KeepOffset { // the window is in the trace's own times, as AISBench's without auto_offset
		zero = 0
	}
	if !rows[0].untimed && (c.StartOffset > 0 || c.EndOffset > 0) {
		first, last := rows[0].seconds-zero, rows[len(rows)-1].seconds-zero
		rows = slices.DeleteFunc(rows, func(r traceRow) bool {
			t := r.seconds - zero
			return t < c.StartOffset || c.EndOffset > 0 && t > c.EndOffset
		})
		if len(rows) == 0 {
			return nil, fmt.Errorf("%s: no row in the window from %g s to %g s; the trace is from %g s to %g s", c.DatasetPath, c.StartOffset, c.EndOffset, first, last)
		}
	}
	zero += c.StartOffset
	if c.KeepOffset {
		zero = 0
	}
	rows = slices.DeleteFunc(rows, func(r traceRow) bool {
		long := c.MaxModelLen > 0 && r.in+r.out > c.MaxModelLen
		if long {
			n.skip(r.line, fmt.Sprintf("longer than the model's %d tokens", c.MaxModelLen))
		}
		return long
	})
	if c.NumPrompts > 0 && len(rows) > c.NumPrompts {
		rows = rows[:c.NumPrompts]
	}
	var all promptTokens
	for _, r := range rows { // a block is made whole, whatever is taken of it
		blocks := min(len(r.hashes), 1+r.in/c.ChunkHashSize)
		if err := all.add(max(r.in, blocks*c.ChunkHashSize)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", c.DatasetPath, r.line, err)
		}
	}
	longest := 0
	if c.TraceAsText {
		for _, r := range rows {
			if rest := r.in - len(r.hashes)*c.ChunkHashSize; len(r.hashes) == 0 || rest > longest {
				longest = max(longest, rest, min(r.in, c.ChunkHashSize))
			}
		}
	}
	sp, err := newSpeller(ctx, c.Tokenizer, longest, 1)
	if err != nil {
		return nil, err
	}
	b := newBlocks(c, sp)
	samples := make([]datasets.Sample, len(rows))
	err = each(ctx, len(rows), func(i int) error {
		row := rows[i]
		s := c.sample(strconv.Itoa(row.line), row.out)
		s.Params = map[string]any{"ignore_eos": true}
		s.Fields[FieldRow] = row.line
		if !row.untimed {
			at := (row.seconds - zero) * c.SecMultiplier
			if !(at <= maxTraceSeconds) {
				return fmt.Errorf("%s:%d: with the time multiplier %g the request would be sent after %.3g s; at most %d days can be planned: give a smaller multiplier", c.DatasetPath, row.line, c.SecMultiplier, at, maxTraceSeconds/86400)
			}
			s.ArriveNS = int64(math.Round(at * 1e9))
		}
		switch {
		case row.text != "":
			s.Prompt.Text = c.salted(row.text)
			c.measure(&s)
		case c.TraceAsText:
			p := b.text(row)
			s.Prompt.Text = p.text
			s.Fields[FieldInputLen] = p.tokens + c.Tokenizer.AddedByDefault()
		default:
			s.Prompt.TokenIDs = b.ids(row)
			s.Fields[FieldInputLen] = len(s.Prompt.TokenIDs)
		}
		samples[i] = s
		return nil
	})
	return samples, err
}

// blocks makes and keeps what hash ids stand for. Equal ids give equal blocks,
// in this process and in any other: a block depends on the seed, the salt and the
// id alone.
type blocks struct {
	sp    *speller
	size  int
	seed  uint64
	mu    sync.Mutex
	made  map[int64]*block
	seams sync.Map // [2]int64 → int
}

type block struct {
	once sync.Once
	ids  []int
	text passage
}

func newBlocks(c *Config, sp *speller) *blocks {
	b := &blocks{sp: sp, size: c.ChunkHashSize, seed: c.Seed, made: map[int64]*block{}}
	if c.CacheBust != "" { // other blocks, shared among themselves as before
		h := fnv.New64a()
		h.Write([]byte(c.CacheBust))
		b.seed ^= h.Sum64()
	}
	return b
}

func (b *blocks) get(hash int64, asText bool) *block {
	b.mu.Lock()
	e := b.made[hash]
	if e == nil {
		e = &block{}
		b.made[hash] = e
	}
	b.mu.Unlock()
	e.once.Do(func() {
		r := b.start(hash)
		if asText {
			e.text = b.sp.piece(passage{}, r.IntN(len(b.sp.ids)), b.size, r)
		} else {
			e.ids = b.sp.draw(r, b.size)
		}
	})
	return e
}

// ids is the prompt of a row: its blocks, cut or filled to its length.
func (b *blocks) ids(row traceRow) []int {
	ids := make([]int, 0, row.in)
	for _, h := range row.hashes {
		if len(ids) >= row.in {
			break
		}
		e := b.get(h, false)
		ids = append(ids, e.ids[:min(len(e.ids), row.in-len(ids))]...)
	}
	return append(ids, b.sp.draw(b.own(row), row.in-len(ids))...)
}

// text is the prompt of a row as text: its whole blocks and, after them, the
// beginning of the last one or tokens of its own. Blocks can merge a token where
// they meet; the last part takes up the difference. Only the seams are encoded,
// once for two blocks: what lies further from a seam does not depend on it.
func (b *blocks) text(row traceRow) passage {
	var whole strings.Builder
	before, last := 0, "" // tokens and the end of what is written
	k := 0
	for ; k < len(row.hashes) && (k+1)*b.size < row.in; k++ {
		p := b.get(row.hashes[k], true).text
		whole.WriteString(p.text)
		before += p.tokens
		if k > 0 {
			before += b.seam(row.hashes[k-1], row.hashes[k])
		}
		last = ending(p.text)
	}
	r := b.own(row)
	start := r.IntN(len(b.sp.ids))
	if k < len(row.hashes) {
		start = b.start(row.hashes[k]).IntN(len(b.sp.ids))
	}
	before -= b.sp.tok.Count(last)
	var best passage
	for n, round := row.in-k*b.size, 0; round < rounds; round++ {
		rest := b.sp.piece(passage{}, start, max(n, 1), r).text
		got := before + b.sp.tok.Count(last+rest)
		if round == 0 || distance(got, row.in) < distance(best.tokens, row.in) {
			best = passage{text: rest, tokens: got}
		}
		if got == row.in || n <= 1 && got > row.in {
			break
		}
		n += row.in - got
	}
	best.text = whole.String() + best.text
	return best
}

// seamBytes is how much of the text on either side a seam is judged by.
const seamBytes = 256

// seam is how many tokens more (usually 0) two blocks have together than apart.
func (b *blocks) seam(left, right int64) int {
	key := [2]int64{left, right}
	if n, ok := b.seams.Load(key); ok {
		return n.(int)
	}
	l, r := ending(b.get(left, true).text.text), beginning(b.get(right, true).text.text)
	n := b.sp.tok.Count(l+r) - b.sp.tok.Count(l) - b.sp.tok.Count(r)
	b.seams.Store(key, n)
	return n
}

func ending(s string) string {
	at := max(0, len(s)-seamBytes)
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}

func beginning(s string) string {
	at := min(len(s), seamBytes)
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at]
}

// start is the stream that a block's content is drawn from.
func (b *blocks) start(hash int64) *rand.Rand {
	return stream(b.seed, purposePrompt<<16+uint64(hash))
}

// own is the stream of what belongs to one row alone.
func (b *blocks) own(row traceRow) *rand.Rand {
	return stream(b.seed, purposePrompt<<17+uint64(row.line))
}
