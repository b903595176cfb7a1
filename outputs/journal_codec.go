package outputs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// codecVersion is the first byte of every encoded record. Readers refuse
// versions they do not know instead of guessing.
const codecVersion = 1

// Flags of an encoded record.
const (
	flagStream = 1 << iota
	flagKernelStamp
	flagReused
	flagChunkAt       // chunk arrivals follow
	flagChunkTokens   // one count a chunk follows
	flagSameTokens    // one count for all chunks follows
	flagTokensNoMatch // the counts have a length of their own
	flagMore          // what was added to the record later follows at its end
)

// moreTimes are the times that were added later. They stand at the end of an
// encoded record, where readers of before do not look.
func (r *Record) moreTimes() [3]*int64 {
	return [3]*int64{&r.FirstOutput, &r.LastOutput, &r.LastEvent}
}

// times are the nine time fields in the order they usually happen.
func (r *Record) times() [9]*int64 {
	return [9]*int64{&r.Scheduled, &r.Sent, &r.Connected, &r.FirstByte, &r.FirstEvent,
		&r.FirstToken, &r.FirstAnswerToken, &r.LastToken, &r.End}
}

func (r *Record) int32s() [12]*int32 {
	return [12]*int32{&r.Repeat, &r.Turn, &r.Attempt, &r.InputTokens, &r.OutputTokens, &r.ReasoningTokens,
		&r.CachedTokens, &r.MaxTokens, &r.HTTPStatus, &r.Resent, &r.Reads, &r.Coalesced}
}

func (r *Record) texts() [15]*string {
	return [15]*string{&r.Model, &r.Dataset, &r.SampleID, &r.SessionID, (*string)(&r.Phase), &r.RequestID,
		(*string)(&r.TokenSource), (*string)(&r.Status), &r.FinishReason, &r.Error,
		&r.Text, &r.Reasoning, &r.ToolCalls, &r.Prompt, &r.PromptSHA256}
}

// appendRecord encodes r. Times are a presence bitmap and zigzag varint
// differences to the time before. Chunk arrivals are differences to the mean
// gap, so that a steady stream costs two to three bytes a chunk whatever its
// rate; equal token counts are stored once.
func appendRecord(b []byte, r *Record) []byte {
	b = append(b, codecVersion)
	flags := uint64(0)
	set := func(on bool, f uint64) {
		if on {
			flags |= f
		}
	}
	set(r.Stream, flagStream)
	set(r.KernelStamp, flagKernelStamp)
	set(r.Reused, flagReused)
	set(len(r.ChunkAt) > 0, flagChunkAt)
	same := len(r.ChunkTokens) > 0
	for _, n := range r.ChunkTokens {
		same = same && n == r.ChunkTokens[0]
	}
	set(len(r.ChunkTokens) > 0 && !same, flagChunkTokens)
	set(same, flagSameTokens)
	set(len(r.ChunkTokens) > 0 && len(r.ChunkTokens) != len(r.ChunkAt), flagTokensNoMatch)
	more := r.StreamEnd != EndUnknown
	for _, t := range r.moreTimes() {
		more = more || *t != Never
	}
	set(more, flagMore)
	b = binary.AppendUvarint(b, flags)

	times := r.times()
	b, prev := appendTimes(b, times[:], 0)
	for _, n := range r.int32s() {
		b = binary.AppendVarint(b, int64(*n))
	}
	b = binary.AppendVarint(b, r.BytesIn)
	for _, s := range r.texts() {
		b = binary.AppendUvarint(b, uint64(len(*s)))
		b = append(b, *s...)
	}
	if n := len(r.ChunkAt); n > 0 {
		b = binary.AppendUvarint(b, uint64(n))
		mean := int64(0)
		if n > 1 {
			mean = (r.ChunkAt[n-1] - r.ChunkAt[0]) / int64(n-1)
		}
		b = binary.AppendVarint(b, mean)
		b = binary.AppendVarint(b, r.ChunkAt[0])
		for i := 1; i < n; i++ {
			b = binary.AppendVarint(b, r.ChunkAt[i]-r.ChunkAt[i-1]-mean)
		}
	}
	if n := len(r.ChunkTokens); n > 0 {
		if flags&flagTokensNoMatch != 0 {
			b = binary.AppendUvarint(b, uint64(n))
		}
		if same {
			b = binary.AppendVarint(b, int64(r.ChunkTokens[0]))
		} else {
			for _, t := range r.ChunkTokens {
				b = binary.AppendVarint(b, int64(t))
			}
		}
	}
	if more {
		times := r.moreTimes()
		b, _ = appendTimes(b, times[:], prev)
		b = binary.AppendUvarint(b, uint64(len(r.StreamEnd)))
		b = append(b, r.StreamEnd...)
	}
	return b
}

// appendTimes encodes times from the one before; it returns the last of them.
func appendTimes(b []byte, times []*int64, prev int64) ([]byte, int64) {
	present := uint64(0)
	for i, t := range times {
		if *t != Never {
			present |= 1 << i
		}
	}
	b = binary.AppendUvarint(b, present)
	for _, t := range times {
		if *t != Never {
			b = binary.AppendVarint(b, *t-prev)
			prev = *t
		}
	}
	return b, prev
}

var errShort = errors.New("record ends early")

// cursor reads varints; after the first error every read returns zero.
type cursor struct {
	b   []byte
	err error
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.b, c.err = nil, errShort
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.b, c.err = nil, errShort
		return 0
	}
	c.b = c.b[n:]
	return v
}

// count reads a length and refuses one that the rest cannot hold, so that a
// damaged length never allocates more than the frame itself.
func (c *cursor) count() int {
	n := c.uvarint()
	if n > uint64(len(c.b)) {
		c.b, c.err = nil, errShort
		return 0
	}
	return int(n)
}

// times is the inverse of appendTimes.
func (c *cursor) times(times []*int64, prev int64) int64 {
	present := c.uvarint()
	for i, t := range times {
		*t = Never
		if present&(1<<i) != 0 {
			prev += c.varint()
			*t = prev
		}
	}
	return prev
}

// decodeRecord is the inverse of appendRecord. The record shares no memory
// with b.
func decodeRecord(b []byte) (*Record, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	if b[0] != codecVersion {
		return nil, fmt.Errorf("record format %d is newer than this program (%d); use the version that wrote it", b[0], codecVersion)
	}
	c := &cursor{b: b[1:]}
	r := new(Record)
	flags := c.uvarint()
	r.Stream = flags&flagStream != 0
	r.KernelStamp = flags&flagKernelStamp != 0
	r.Reused = flags&flagReused != 0
	times, more := r.times(), r.moreTimes()
	prev := c.times(times[:], 0)
	for _, t := range more {
		*t = Never
	}
	for _, n := range r.int32s() {
		v := c.varint()
		if v < math.MinInt32 || v > math.MaxInt32 {
			return nil, errors.New("record holds a count beyond 32 bits")
		}
		*n = int32(v)
	}
	r.BytesIn = c.varint()
	for _, s := range r.texts() {
		n := c.count()
		*s = string(c.b[:n])
		c.b = c.b[n:]
	}
	n := 0
	if flags&flagChunkAt != 0 {
		n = c.count()
		r.ChunkAt = make([]int64, n)
		mean, at := c.varint(), c.varint()
		for i := range r.ChunkAt {
			if i > 0 {
				at += mean + c.varint()
			}
			r.ChunkAt[i] = at
		}
	}
	if flags&(flagChunkTokens|flagSameTokens) != 0 {
		if flags&flagTokensNoMatch != 0 {
			n = int(min(c.uvarint(), maxChunks))
		}
		if flags&flagChunkTokens != 0 && n > len(c.b) {
			return nil, errShort
		}
		r.ChunkTokens = make([]int32, n)
		if flags&flagSameTokens != 0 {
			v := int32(c.varint())
			for i := range r.ChunkTokens {
				r.ChunkTokens[i] = v
			}
		} else {
			for i := range r.ChunkTokens {
				r.ChunkTokens[i] = int32(c.varint())
			}
		}
	}
	if flags&flagMore != 0 {
		c.times(more[:], prev)
		n := c.count()
		r.StreamEnd = StreamEnd(c.b[:n])
		c.b = c.b[n:]
	}
	if c.err != nil {
		return nil, c.err
	}
	return r, nil
}

// maxChunks bounds the arrays of one record; 16 Mi chunks are beyond any
// context length.
const maxChunks = 1 << 24
