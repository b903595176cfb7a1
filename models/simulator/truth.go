package simulator

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// ChunkKind says what an event carried.
type ChunkKind uint8

// The kinds of events. Only content, reasoning and tool events carry a payload.
const (
	ChunkHeader    ChunkKind = iota // the response header
	ChunkRole                       // role-only or empty delta
	ChunkContent                    // answer text
	ChunkReasoning                  // reasoning text
	ChunkTool                       // tool-call arguments, with the name or without
	ChunkUsage                      // usage without a payload
	ChunkDone                       // [DONE] and the end of the body
	ChunkError                      // an injected error event
	ChunkBody                       // the whole body of an answer that was not streamed
	ChunkToolName                   // a tool call's name with empty arguments: the model has said nothing of the call yet
)

var chunkKindNames = [...]string{"header", "role", "content", "reasoning", "tool", "usage", "done", "error", "body", "tool_name"}

// String gives the kind's name, as the JSON form of a truth file spells it.
func (k ChunkKind) String() string {
	if int(k) < len(chunkKindNames) {
		return chunkKindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Payload reports whether events of this kind count as tokens.
func (k ChunkKind) Payload() bool {
	return k == ChunkContent || k == ChunkReasoning || k == ChunkTool || k == ChunkBody
}

// TruthChunk is one event handed to the operating system.
type TruthChunk struct {
	Request uint32    // number of the request, as in TruthRequest.Number
	Kind    ChunkKind // what the event carried
	Tokens  uint16    // tokens in the event; 65535 stands for 65535 or more
	Wall    int64     // CLOCK_REALTIME in ns right before the write call
	Mono    int64     // monotonic ns since the server started, the same instant
}

// TruthRequest is what really happened to one request.
type TruthRequest struct {
	Number uint32       // position in order of arrival
	ID     string       // the client's x-request-id, else one of the server's own
	Wall   int64        // CLOCK_REALTIME in ns when the request had been read
	Mono   int64        // monotonic ns since the server started, the same instant
	Chunks []TruthChunk // in order of writing
}

// TruthSink receives the truth while it happens. Its methods are called from
// several goroutines at once, on the path between two writes: they must be
// quick and must not block. Events that share a write call share its time.
type TruthSink interface {
	Request(r TruthRequest) // Chunks is nil
	Chunk(c TruthChunk)
}

// MemoryTruth keeps the truth in memory. The zero value is ready.
type MemoryTruth struct {
	mu       sync.Mutex
	requests []TruthRequest
	index    map[uint32]int
}

// Request implements TruthSink.
func (m *MemoryTruth) Request(r TruthRequest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.index == nil {
		m.index = map[uint32]int{}
	}
	m.index[r.Number] = len(m.requests)
	m.requests = append(m.requests, r)
}

// Chunk implements TruthSink.
func (m *MemoryTruth) Chunk(c TruthChunk) {
	m.mu.Lock()
	if i, ok := m.index[c.Request]; ok {
		m.requests[i].Chunks = append(m.requests[i].Chunks, c)
	}
	m.mu.Unlock()
}

// Requests returns a copy of what has been recorded, in order of arrival.
func (m *MemoryTruth) Requests() []TruthRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]TruthRequest, len(m.requests))
	for i, r := range m.requests {
		r.Chunks = append([]TruthChunk(nil), r.Chunks...)
		out[i] = r
	}
	return out
}

// A truth file is the magic line and then records, all integers little-endian:
//
//	'R' number:u32 wall:i64 mono:i64 len:u16 id:len bytes
//	'C' number:u32 kind:u8 tokens:u16 wall:i64 mono:i64
//
// A chunk record follows its request record; chunks of different requests are interleaved.
const truthMagic = "AISTRUTH1\n"

// TruthWriter is a TruthSink that writes a truth file. Records are collected
// in memory and written by a goroutine of its own, so that a slow disk does not
// delay a chunk.
type TruthWriter struct {
	mu     sync.Mutex
	buf    []byte
	wake   chan struct{}
	closed bool
	done   chan struct{}
	err    error // owned by the writing goroutine until done is closed
}

// truthFlush is the number of bytes after which the writing goroutine is woken.
const truthFlush = 1 << 16

// NewTruthWriter starts a truth file on w. Close flushes it; w is not closed.
func NewTruthWriter(w io.Writer) *TruthWriter {
	t := &TruthWriter{buf: append(make([]byte, 0, 2*truthFlush), truthMagic...), wake: make(chan struct{}, 1), done: make(chan struct{})}
	go t.run(w)
	return t
}

func (t *TruthWriter) run(w io.Writer) {
	defer close(t.done)
	spare := make([]byte, 0, 2*truthFlush)
	tick := time.NewTicker(time.Second) // a killed server loses at most the last second
	defer tick.Stop()
	for {
		select {
		case <-t.wake:
		case <-tick.C:
		}
		t.mu.Lock()
		full, closed := t.buf, t.closed
		t.buf = spare[:0]
		t.mu.Unlock()
		if t.err == nil && len(full) > 0 {
			_, t.err = w.Write(full)
		}
		spare = full
		if closed {
			return
		}
	}
}

func (t *TruthWriter) poke() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Request implements TruthSink.
func (t *TruthWriter) Request(r TruthRequest) {
	id := r.ID[:min(len(r.ID), 0xffff)]
	t.mu.Lock()
	if !t.closed {
		b := append(t.buf, 'R')
		b = binary.LittleEndian.AppendUint32(b, r.Number)
		b = binary.LittleEndian.AppendUint64(b, uint64(r.Wall))
		b = binary.LittleEndian.AppendUint64(b, uint64(r.Mono))
		b = binary.LittleEndian.AppendUint16(b, uint16(len(id)))
		t.buf = append(b, id...)
	}
	t.mu.Unlock()
}

// Chunk implements TruthSink.
func (t *TruthWriter) Chunk(c TruthChunk) {
	t.mu.Lock()
	full := false
	if !t.closed {
		b := append(t.buf, 'C')
		b = binary.LittleEndian.AppendUint32(b, c.Request)
		b = append(b, byte(c.Kind))
		b = binary.LittleEndian.AppendUint16(b, c.Tokens)
		b = binary.LittleEndian.AppendUint64(b, uint64(c.Wall))
		t.buf = binary.LittleEndian.AppendUint64(b, uint64(c.Mono))
		full = len(t.buf) >= truthFlush
	}
	t.mu.Unlock()
	if full {
		t.poke()
	}
}

// Close writes what is left and returns the first error of the file. Records
// that arrive later are dropped.
func (t *TruthWriter) Close() error {
	t.mu.Lock()
	already := t.closed
	t.closed = true
	t.mu.Unlock()
	if !already {
		t.poke()
	}
	<-t.done
	return t.err
}

// ReadTruth reads a truth file. A file cut off in mid-record (a killed server)
// gives what is complete, without an error; anything else that is not the
// format is an error that names the byte offset.
func ReadTruth(r io.Reader) ([]TruthRequest, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	magic := make([]byte, len(truthMagic))
	if _, err := io.ReadFull(br, magic); err != nil || string(magic) != truthMagic {
		return nil, errors.New("not a truth file: it does not begin with " + fmt.Sprintf("%q", truthMagic))
	}
	var out []TruthRequest
	index := map[uint32]int{}
	offset := int64(len(truthMagic))
	var rec [23]byte
	for {
		kind, err := br.ReadByte()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("reading truth at byte %d: %w", offset, err)
		}
		switch kind {
		case 'R':
			if _, err = io.ReadFull(br, rec[:22]); err != nil {
				break
			}
			id := make([]byte, binary.LittleEndian.Uint16(rec[20:]))
			if _, err = io.ReadFull(br, id); err != nil {
				break
			}
			n := binary.LittleEndian.Uint32(rec[:])
			index[n] = len(out)
			out = append(out, TruthRequest{Number: n, ID: string(id),
				Wall: int64(binary.LittleEndian.Uint64(rec[4:])), Mono: int64(binary.LittleEndian.Uint64(rec[12:]))})
			offset += 23 + int64(len(id))
		case 'C':
			if _, err = io.ReadFull(br, rec[:23]); err != nil {
				break
			}
			n := binary.LittleEndian.Uint32(rec[:])
			i, ok := index[n]
			if !ok {
				return out, fmt.Errorf("truth file, byte %d: chunk of request %d, which was never announced", offset, n)
			}
			out[i].Chunks = append(out[i].Chunks, TruthChunk{Request: n, Kind: ChunkKind(rec[4]), Tokens: binary.LittleEndian.Uint16(rec[5:]),
				Wall: int64(binary.LittleEndian.Uint64(rec[7:])), Mono: int64(binary.LittleEndian.Uint64(rec[15:]))})
			offset += 24
		default:
			return out, fmt.Errorf("truth file, byte %d: unknown record %q", offset, kind)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("reading truth at byte %d: %w", offset, err)
		}
	}
}
