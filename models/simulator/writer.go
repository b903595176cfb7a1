package simulator

// writer turns tokens into events and events into write calls. A call belongs
// to one writer for its whole life, so its fields need no lock.
type writer struct {
	buf frame
}

// frame is a reusable buffer for one event inside one HTTP chunk. The chunk's
// length is written in front once it is known.
type frame struct {
	b     []byte
	start int // of the payload
}

const chunkHeaderRoom = 10 // hexadecimal length and \r\n

// startEvent begins an event: room for the chunk header, then "data: ".
func (k *call) startEvent(f *frame) {
	k.startChunk(f)
	shape := &k.srv.cfg.Shape
	k.counter++
	if shape.Comments > 0 && k.counter%shape.Comments == 0 {
		f.b = append(f.b, ": keep-alive"...)
		f.b = k.eol(k.eol(f.b))
	}
	k.startData(f)
}

func (k *call) startData(f *frame) {
	f.b = append(f.b, "data:"...)
	if !k.srv.cfg.Shape.NoSpace {
		f.b = append(f.b, ' ')
	}
}

func (k *call) startChunk(f *frame) {
	f.b = append(f.b[:0], "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)
	f.start = chunkHeaderRoom
}

func (k *call) eol(b []byte) []byte {
	if k.srv.cfg.Shape.CRLF {
		b = append(b, '\r')
	}
	return append(b, '\n')
}

// endEvent ends an event with its blank line.
func (k *call) endEvent(f *frame) { f.b = k.eol(k.eol(f.b)) }

// sealed ends the HTTP chunk and gives the bytes to write.
func (k *call) sealed(f *frame) []byte {
	if !k.chunked {
		return f.b[f.start:]
	}
	n := len(f.b) - f.start
	f.b = append(f.b, '\r', '\n')
	i := f.start
	i -= 2
	f.b[i], f.b[i+1] = '\r', '\n'
	for {
		i--
		f.b[i] = "0123456789abcdef"[n&15]
		if n >>= 4; n == 0 {
			return f.b[i:]
		}
	}
}

// put ends an event and writes it, or keeps it until EventsPerWrite are together.
func (k *call) put(f *frame, kind ChunkKind, tokens int) bool {
	k.endEvent(f)
	e := TruthChunk{Kind: kind, Tokens: uint16(min(tokens, 0xffff))}
	return k.send(k.sealed(f), e)
}

// send writes bytes that hold one event, or keeps them.
func (k *call) send(b []byte, e TruthChunk) bool {
	if k.srv.cfg.Shape.EventsPerWrite > 1 {
		k.pending = append(k.pending, b...)
		k.events = append(k.events, e)
		if len(k.events) < k.srv.cfg.Shape.EventsPerWrite {
			return true
		}
		return k.flush()
	}
	k.stamp(e)
	return k.bytes(b)
}

// flush writes what has been kept.
func (k *call) flush() bool {
	if len(k.pending) == 0 {
		return true
	}
	k.stamp(k.events...)
	ok := k.bytes(k.pending)
	k.pending, k.events = k.pending[:0], k.events[:0]
	return ok
}

func (k *call) bytes(b []byte) bool {
	if k.srv.cfg.Shape.OneByteWrites {
		for i := range b {
			if !k.c.write(b[i : i+1]) {
				return false
			}
		}
		return true
	}
	return k.c.write(b)
}

// token tells the writer that n more tokens of s exist; when the answer is not
// streamed, that all of them do.
func (w *writer) token(s *sequence, n int) {
	k := s.call
	if s.gone.Load() || s.finished {
		return
	}
	if s.ready = min(s.ready+n, s.plan.total); !k.stream {
		s.ready = s.plan.total // told once, at the end
	}
	last := s.ready == s.plan.total
	if !k.stream {
		if last {
			s.finished = true
			s.sent = s.ready
			if k.live--; k.live == 0 {
				k.respond()
			}
		}
		return
	}
	if s.ready-s.sent < k.srv.cfg.Shape.TokensPerChunk && !last {
		return
	}
	if !w.events(s, last) {
		return
	}
	if !last {
		return
	}
	s.finished = true
	if k.live--; k.live == 0 {
		w.end(k)
	}
}

// events writes the events of the tokens that are ready; false when the call is over.
func (w *writer) events(s *sequence, last bool) bool {
	k := s.call
	damage := ""
	if k.faultDue(s, last) {
		var over bool
		if damage, over = w.faultInStream(k, s); over {
			return false
		}
	}
	ok := true
	if k.proto == protoChat && s.sent == 0 && k.srv.cfg.Shape.RoleDelta == "first-token" {
		k.startEvent(&w.buf)
		w.buf.b = k.appendRole(w.buf.b, s)
		ok = k.put(&w.buf, ChunkRole, 0)
	}
	from := s.sent
	for first := true; ok && (first || from < s.ready); first = false {
		to := s.ready
		if from < s.plan.reasoning && to > s.plan.reasoning {
			to = s.plan.reasoning
		}
		final := last && to == s.ready
		k.startEvent(&w.buf)
		start := len(w.buf.b)
		s.sent = to // before the event is worded: its usage counts its own tokens
		b, kind, say := k.appendDelta(w.buf.b, s, from, to, final)
		w.buf.b = b
		if say {
			if damage == "malformed" {
				w.buf.b = w.buf.b[:start+(len(w.buf.b)-start)/2]
			}
			ok = k.put(&w.buf, kind, to-from)
			if damage == "duplicate" && ok {
				ok = k.send(k.again(&w.buf), TruthChunk{Kind: kind})
			}
			damage = ""
		}
		from = to
	}
	if !ok {
		k.abandon()
	}
	return ok
}

// again gives the bytes of the event put last once more.
func (k *call) again(f *frame) []byte {
	if k.chunked {
		f.b = f.b[:len(f.b)-2]
	}
	return k.sealed(f)
}

// end writes the end of a stream: usage, [DONE] and the last HTTP chunk in one
// write call.
func (w *writer) end(k *call) {
	if !k.settle() {
		return
	}
	k.account()
	var events []TruthChunk
	k.flush()
	k.startChunk(&w.buf)
	openAI := k.proto == protoChat || k.proto == protoCompletions
	if openAI && k.usageLast {
		k.startData(&w.buf)
		w.buf.b = k.appendUsageEvent(w.buf.b)
		k.endEvent(&w.buf)
		events = append(events, TruthChunk{Kind: ChunkUsage})
	}
	if k.proto != protoTGI && !k.srv.cfg.Shape.NoDone {
		k.startData(&w.buf)
		w.buf.b = append(w.buf.b, "[DONE]"...)
		k.endEvent(&w.buf)
		events = append(events, TruthChunk{Kind: ChunkDone})
	}
	w.terminate(k, events)
}

// terminate writes the frame's events, if any, and the end of the body.
func (w *writer) terminate(k *call, events []TruthChunk) {
	var b []byte
	if len(w.buf.b) > w.buf.start {
		b = k.sealed(&w.buf)
	}
	if k.chunked {
		b = append(b, "0\r\n\r\n"...)
	}
	if len(events) == 0 {
		events = []TruthChunk{{Kind: ChunkDone}}
	}
	k.stamp(events...)
	k.bytes(b)
	k.finish()
}
