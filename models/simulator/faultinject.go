package simulator

import (
	"bytes"
	"net/http"
	"strconv"
)

// faultOf is the fault a request suffers: the one its X-Sim-Fault header
// names, else one drawn by rate, else nil.
func (s *Server) faultOf(r *http.Request, number uint32) (*Fault, error) {
	if h := r.Header.Get("X-Sim-Fault"); h != "" && !s.cfg.NoHeaderFaults {
		f, err := ParseFault(h)
		if err != nil {
			return nil, &badRequest{"X-Sim-Fault: " + err.Error(), "X-Sim-Fault"}
		}
		if f.Rate < 1 && unit(mix(mix(uint64(s.cfg.Seed), 0xfa18), uint64(number))) >= f.Rate {
			return nil, nil
		}
		return &f, nil
	}
	if f := pickFault(s.cfg.Faults, uint64(s.cfg.Seed), uint64(number)); f != nil {
		own := *f
		return &own, nil
	}
	return nil, nil
}

const htmlPage = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Sign in to continue</h1></body></html>\n"

// faultReply is the complete answer of a fault that has one.
func (k *call) faultReply() (reply, bool) {
	retry := strconv.Itoa(int((k.srv.cfg.RetryAfter + 999999999) / 1e9))
	switch k.fault.Kind {
	case "429":
		rep := jsonError(429, "RateLimitError", "rate limit exceeded (injected fault)")
		rep.header = []string{"retry-after", retry}
		return rep, true
	case "500":
		return jsonError(500, "InternalServerError", "internal server error (injected fault)"), true
	case "503":
		rep := jsonError(503, "ServiceUnavailableError", "the server is overloaded (injected fault)")
		rep.header = []string{"retry-after", retry}
		return rep, true
	case "html":
		return reply{status: 200, ctype: "text/html; charset=utf-8", body: []byte(htmlPage)}, true
	case "error":
		rep := jsonError(500, "InternalServerError", "engine failure (injected fault)")
		rep.status = 200
		return rep, true
	case "empty":
		return reply{status: 200, ctype: "application/json"}, true
	case "malformed":
		return reply{status: 200, ctype: "application/json", body: []byte(`{"id":"` + k.id + `","choices":[{"index":0,`)}, true
	}
	return reply{}, false
}

// faultBefore carries out a fault that comes before the answer. handled: there
// will be no ordinary answer; wait: the caller must wait for the call to end.
func (k *call) faultBefore() (handled, wait bool) {
	if k.fault.When != FaultBefore {
		return false, false
	}
	switch k.fault.Kind {
	case "reset":
		k.breakOff(true)
		return true, true
	case "close":
		k.breakOff(false)
		return true, true
	case "hang":
		return true, true // until the client gives up
	case "slow-loris":
		k.slowDown()
		return false, false
	case "duplicate":
		k.fault.When = FaultStart
		return false, false
	}
	rep, _ := k.faultReply()
	if k.stream && k.fault.Kind == "malformed" {
		rep.ctype = "text/event-stream; charset=utf-8"
		rep.body = []byte("data: " + string(rep.body) + "\n\n")
	}
	k.stamp(TruthChunk{Kind: ChunkError})
	k.c.write(rep.encode(k.xid, true))
	return true, false
}

// slowDown makes the connection a slow-loris; it ends with the answer.
func (k *call) slowDown() {
	k.c.mu.Lock()
	k.c.slow = true
	k.c.mu.Unlock()
	k.hangUp = true
}

// breakOff ends the connection without a proper end of the answer.
func (k *call) breakOff(rst bool) {
	if !k.settle() {
		return
	}
	k.stopSequences("error")
	k.hangUp = true
	close(k.done)
	if rst {
		k.c.afterBacklog(k.c.reset)
	} else {
		k.closeConn()
	}
}

// faultDue reports whether the call's fault strikes before the tokens of s that
// are ready now: at the start before the first payload, in mid-stream once
// half of the first choice is out (at its last event at the latest).
func (k *call) faultDue(s *sequence, last bool) bool {
	if k.fault == nil || k.faultDone || k.fault.When == FaultBefore {
		return false
	}
	if k.fault.When == FaultStart {
		return true
	}
	return s.index == 0 && (last || s.sent >= max(1, s.plan.total/2))
}

// faultInStream carries out a fault within a stream. over: nothing more is
// written; else damage says what is done to the next event.
func (w *writer) faultInStream(k *call, s *sequence) (damage string, over bool) {
	k.faultDone = true
	switch k.fault.Kind {
	case "duplicate", "malformed":
		return k.fault.Kind, false
	case "slow-loris":
		k.slowDown()
		return "", false
	case "reset", "close":
		k.flush()
		k.breakOff(k.fault.Kind == "reset")
		return "", true
	case "hang":
		k.flush()
		k.stopSequences("error")
		return "", true
	}
	if !k.settle() {
		return "", true
	}
	k.flush()
	k.stopSequences("error")
	event := TruthChunk{Kind: ChunkError}
	switch k.fault.Kind {
	case "html":
		k.startChunk(&w.buf)
		w.buf.b = append(w.buf.b, htmlPage...)
		w.terminate(k, []TruthChunk{event})
		return "", true
	case "empty":
		k.startEvent(&w.buf)
		k.silent = true
		w.buf.b, _, _ = k.appendDelta(w.buf.b, s, s.sent, s.sent, true)
		event.Kind = ChunkRole
	default: // error, and the statuses that come too late to be one
		code, kind, message := 500, "InternalServerError", "engine failure (injected fault)"
		switch k.fault.Kind {
		case "429":
			code, kind, message = 429, "RateLimitError", "rate limit exceeded (injected fault)"
		case "503":
			code, kind, message = 503, "ServiceUnavailableError", "the server is overloaded (injected fault)"
		}
		k.startEvent(&w.buf)
		w.buf.b = append(w.buf.b, bytes.TrimSpace(jsonError(code, kind, message).body)...)
	}
	k.endEvent(&w.buf)
	if k.proto != protoTGI && !k.srv.cfg.Shape.NoDone {
		k.startData(&w.buf)
		w.buf.b = append(w.buf.b, "[DONE]"...)
		k.endEvent(&w.buf)
	}
	w.terminate(k, []TruthChunk{event})
	return "", true
}

// faultInBody carries out a fault on a complete body that is not streamed;
// over: nothing more is written.
func (k *call) faultInBody(rep *reply) (over bool) {
	if k.fault == nil || k.fault.When == FaultBefore {
		return false
	}
	whole := rep.encode(k.xid, true)
	header := len(whole) - len(rep.body)
	part := whole[:header]
	if k.fault.When == FaultMid {
		part = whole[:header+len(rep.body)/2]
	}
	switch k.fault.Kind {
	case "reset", "close", "hang":
		k.stamp(TruthChunk{Kind: ChunkError})
		k.c.write(part)
		if k.fault.Kind == "hang" {
			k.stopSequences("error")
			return true
		}
		k.breakOff(k.fault.Kind == "reset")
		return true
	case "malformed":
		rep.body = rep.body[:len(rep.body)/2]
	case "duplicate":
		rep.body = append(rep.body, rep.body...)
	case "slow-loris":
		k.slowDown()
	case "empty":
		k.silent = true
		*rep = k.body()
	default:
		*rep, _ = k.faultReply()
	}
	return false
}
