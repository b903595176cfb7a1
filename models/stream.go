package models

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"ais_bench/models/sse"
	"ais_bench/models/transport"
	"ais_bench/models/wire"
	"ais_bench/outputs"
)

// patience is how long the end of the body is waited for after [DONE], beside
// everything else, so that the connection can be used again.
const patience = 500 * time.Millisecond

// tokenCounter turns the running token counts that some servers send with every
// event into tokens per payload event. One payload event without a count makes
// all of them unknown: what the others hold could then not be told apart.
type tokenCounter struct {
	off     bool
	last    int32
	perItem []int32
}

func (t *tokenCounter) payload(counted bool, total int32) {
	if t.off {
		return
	}
	if !counted || total < t.last {
		t.off, t.perItem = true, nil
		return
	}
	t.perItem = append(t.perItem, total-t.last)
	t.last = total
}

// progress is where a stream is: the fields of Result that its events move.
type progress struct {
	firstEvent, firstToken, firstAnswer, lastToken int64
	firstOutput, lastOutput, lastEvent             int64
	reads, coalesced                               int32
	chunks                                         []int64
}

func (p *progress) into(r *Result) {
	r.FirstEvent, r.FirstToken, r.FirstAnswerToken, r.LastToken = p.firstEvent, p.firstToken, p.firstAnswer, p.lastToken
	r.FirstOutput, r.LastOutput, r.LastEvent = p.firstOutput, p.lastOutput, p.lastEvent
	r.Reads, r.Coalesced, r.ChunkAt = p.reads, p.coalesced, p.chunks
}

// readStream reads a streamed answer by design's rules: a payload is what was
// generated, the time of an event is its arrival, and only a stream that ended
// properly and carried a payload has succeeded. After [DONE] it leaves x open:
// the end of the body may be missing.
func (s *service) readStream(r *Result, x *transport.Exchange, choices int) {
	rd := sse.NewReader(x)
	a := wire.NewAnswer()
	// Where the stream is, is kept here until it ends: of thousands of streams none is
	// warm in the cache when its next event comes, but this stack is needed anyway.
	at := progress{firstEvent: outputs.Never, firstToken: outputs.Never, firstAnswer: outputs.Never, lastToken: outputs.Never,
		firstOutput: outputs.Never, lastOutput: outputs.Never, lastEvent: outputs.Never}
	var (
		tokens    tokenCounter
		done      bool
		whole     bool // the body ended within a line, which was an event all the same
		seen      wire.Verdict
		size      int // bytes of all events
		lastRead  = outputs.Never
		lastEvent = outputs.Never // [DONE] included
		err       error
	)
	for !done {
		var ev sse.Event
		if ev, err = rd.Next(); err != nil {
			break
		}
		if ev.At == lastRead {
			at.coalesced++
		} else {
			at.reads++
			lastRead = ev.At
		}
		if at.firstEvent == outputs.Never {
			at.firstEvent = ev.At
		}
		lastEvent = ev.At
		if size += len(ev.Data); size > maxBody {
			r.StreamEnd = outputs.EndMalformed
			s.failed(r, outputs.StatusMalformed, fmt.Sprintf("the stream is longer than %d MiB", maxBody>>20))
			break
		}
		data := bytes.TrimSpace(ev.Data)
		if len(data) == 0 {
			continue
		}
		if data[0] == '[' && string(data) == "[DONE]" {
			done = true
			break
		}
		at.lastEvent, whole = ev.At, ev.Cut
		v := s.protocol.scan(data, a)
		seen |= v
		if v.Has(wire.Failure) || string(ev.Name) == "error" {
			msg := a.Failure
			if msg == "" {
				msg = wire.ErrorMessage(data)
			}
			r.StreamEnd = outputs.EndErrorObject
			if len(ev.Name) > 0 {
				r.StreamEnd = outputs.EndErrorEvent
			}
			s.failed(r, outputs.StatusStreamError, outputs.ErrorFromServer+msg+": "+quote(data))
			break
		}
		if v.Has(wire.Malformed) && ev.Cut {
			r.StreamEnd = outputs.EndInEvent
			s.failed(r, outputs.StatusTruncated, outputs.ErrorInEvent+": "+quote(data))
			break
		}
		if v.Has(wire.Malformed) {
			r.StreamEnd = outputs.EndMalformed
			s.failed(r, outputs.StatusMalformed, "broken JSON in the stream: "+quote(data))
			break
		}
		if v.Has(wire.Payload) {
			if at.firstToken == outputs.Never {
				at.firstToken = ev.At
				x.Token(ev.At)
			}
			if v.Has(wire.Content) && at.firstAnswer == outputs.Never {
				at.firstAnswer = ev.At
			}
			at.lastToken = ev.At
			at.chunks = append(at.chunks, ev.At-r.Sent)
			tokens.payload(v.Has(wire.Tokens), a.OutputTokens)
		}
		if v.Has(s.protocol.output) {
			if at.firstOutput == outputs.Never {
				at.firstOutput = ev.At
			}
			at.lastOutput = ev.At
		}
		x.Progress(ev.At)
	}
	at.into(r)
	r.take(a)
	if len(tokens.perItem) > 0 {
		r.ChunkTokens = tokens.perItem
	}
	ended := done || errors.Is(err, io.EOF)
	r.End = lastEvent // Never without events: then the time of the return
	if !done {
		if ended {
			r.End = max(lastEvent, x.At())
		}
		x.Close()
	}
	if r.Status != "" {
		return // failed inside the loop
	}
	switch {
	case done:
		r.StreamEnd = outputs.EndDone
	case ended && rd.Cut() && !whole:
		r.StreamEnd = outputs.EndInEvent
	case ended:
		r.StreamEnd = outputs.EndBody
	default:
		r.StreamEnd = outputs.EndBroken
	}
	s.conclude(r, a, rd, err, ended, done || a.Finished(choices), seen)
}

// accept makes an answer that came whole a success, unless the server itself
// calls it a failure: vLLM and SGLang end an answer that their engine gave up
// with these reasons.
func (s *service) accept(r *Result) {
	switch r.FinishReason {
	case "error", "abort":
		s.failed(r, outputs.StatusStreamError, outputs.ErrorGivenReason+strconv.Quote(r.FinishReason))
	default:
		r.Status = outputs.StatusOK
	}
}

// conclude classifies a stream without a failure of its own.
func (s *service) conclude(r *Result, a *wire.Answer, rd *sse.Reader, err error, ended, terminal bool, seen wire.Verdict) {
	switch {
	case errors.Is(err, sse.ErrTooLong):
		r.StreamEnd = outputs.EndMalformed
		s.failed(r, outputs.StatusMalformed, err.Error())
	case !ended:
		// Also after finish_reason: usage may be missing, and a body that breaks off has
		// failed for every other client.
		r.End = s.clock.Now()
		s.failedBy(r, err)
		if terminal {
			r.Error += ", after finish_reason and before the end of the body"
		}
	case !terminal && len(rd.Stray()) > 0 && (r.FirstEvent == outputs.Never || rd.StrayLines() > 0):
		r.StreamEnd = outputs.EndMalformed
		s.failed(r, outputs.StatusMalformed, "the stream holds something else than events: "+quote(rd.Stray()))
	case !terminal:
		text := outputs.ErrorNoTerminal
		if seen.Has(wire.Finish) {
			text += " of every choice"
		}
		s.failed(r, outputs.StatusTruncated, text)
	case a.Any():
		s.accept(r)
	case !seen.Has(wire.Choices):
		s.failed(r, outputs.StatusMalformed, "no event of the stream has choices")
	default:
		s.failed(r, outputs.StatusEmpty, "the stream ended without any text")
	}
}
