package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// call is one generation request from its arrival to the end of its answer.
//
// It is touched by four parties in turn: the connection's goroutine makes it
// and writes the header; the scheduler or pacing worker moves its sequences
// on; the writer of its shard turns tokens into events (only it touches the fields below
// "writer"); and whoever ends it first settles it.
type call struct {
	srv       *Server
	c         *conn
	number    uint32
	xid       string // x-request-id
	id        string // id of the answer
	model     string
	proto     protocol
	stream    bool
	chunked   bool // HTTP/1.1 framing
	created   int64
	arrival   int64 // mono ns
	seqs      []*sequence
	perPrompt int     // choices per prompt
	inputs    []input // kept only where the prompt is part of the answer
	shard     int
	cacheSeed uint64

	usageLast, usageEvery bool
	echo, logprobs        bool
	promptLogprobs        bool
	fault                 *Fault

	// writer
	head      []byte
	live      int // sequences not yet finished
	faultDone bool
	silent    bool // an empty fault swallows all that is left to say
	pending   []byte
	events    []TruthChunk // of pending
	counter   int          // events so far, for comments

	hangUp bool // the connection ends with this answer; read after done
	state  atomic.Int32
	done   chan struct{}
}

// States of a call.
const (
	callLive int32 = iota
	callOver
)

var protocolPaths = map[string]protocol{
	"/v1/chat/completions": protoChat, "/v1/completions": protoCompletions,
	"/generate": protoGenerate, "/generate_stream": protoTGI,
}

// generate starts the answer to a generation request. It returns the call to
// wait for, or nil when the request has been answered already.
func (s *Server) generate(c *conn, r *http.Request, p protocol, body []byte) *call {
	now := time.Now()
	p = generateDialect(p, r.URL.Path, body)
	k := &call{srv: s, c: c, number: uint32(s.requests.Add(1) - 1), xid: requestID(r), proto: p, chunked: r.ProtoAtLeast(1, 1),
		created: now.Unix(), arrival: int64(now.Sub(s.start)), done: make(chan struct{})}
	if k.xid == "" {
		k.xid = hexID(mix(s.runSeed, uint64(k.number)))
	}
	if s.cfg.Truth != nil {
		s.cfg.Truth.Request(TruthRequest{Number: k.number, ID: k.xid, Wall: now.UnixNano(), Mono: k.arrival})
	}
	refuse := func(rep reply) *call {
		s.refused.Add(1)
		c.write(rep.encode(k.xid, true))
		return nil
	}
	req, err := parseRequest(body, p)
	if err == nil {
		if p == protoTGI && r.URL.Path == "/generate_stream" {
			req.Stream = true
		}
		if p == protoChat || p == protoCompletions {
			if known := s.knownModel(req.Model); !known {
				return refuse(jsonError(404, "NotFoundError", "The model `"+req.Model+"` does not exist."))
			}
		}
		err = k.prepare(req, p)
	}
	if err == nil {
		k.fault, err = s.faultOf(r, k.number)
	}
	if err != nil {
		var bad *badRequest
		if errors.As(err, &bad) {
			return refuse(paramError(bad))
		}
		return refuse(jsonError(400, "BadRequestError", err.Error()))
	}
	if f := k.fault; f != nil {
		s.faulted.Add(1)
		if handled, wait := k.faultBefore(); handled {
			if wait {
				return k
			}
			return nil
		}
	}
	k.shard = int(k.number) % s.cfg.Workers
	if k.stream && !k.sendHeader() {
		k.abandon()
		return k
	}
	s.submit(k)
	return k
}

// generateDialect tells TGI's body from SGLang's, which share a path.
func generateDialect(p protocol, path string, body []byte) protocol {
	if p == protoGenerate && path == "/generate" {
		var probe struct {
			Inputs *json.RawMessage `json:"inputs"`
		}
		if json.Unmarshal(body, &probe) == nil && probe.Inputs != nil {
			return protoTGI
		}
	}
	return p
}

// prepare plans the answers.
func (k *call) prepare(req *apiRequest, p protocol) error {
	s := k.srv
	k.stream, k.echo, k.logprobs = req.Stream, req.Echo && p == protoCompletions, req.wantsLogprobs()
	k.promptLogprobs = req.PromptLogprobs != nil
	if k.promptLogprobs && k.stream {
		return badf("prompt_logprobs", "`prompt_logprobs` are not available when `stream=True`.")
	}
	k.model = req.Model
	if k.model == "" {
		k.model = s.cfg.ServedModelNames[0]
	}
	inputs, err := req.inputs(p)
	if err != nil {
		return err
	}
	k.perPrompt = 1
	if req.N != nil {
		k.perPrompt = *req.N
	}
	k.cacheSeed = mix(hashString(k.model), hashString(req.CacheSalt))
	caching := !s.cfg.DisablePrefixCaching && s.engine != nil
	for i := range inputs {
		in := &inputs[i]
		var hashes []uint64
		var tail []int32
		if caching {
			hashes = blockHashes(k.cacheSeed, in.ids, s.cfg.BlockSize)
			tail = append(tail, in.ids[len(hashes)*s.cfg.BlockSize:]...)
		}
		for j := range k.perPrompt {
			plan, err := s.plan(req, p, in, j)
			if err != nil {
				return err
			}
			if plan.given != nil {
				plan.given.RequestID, plan.given.Choice = k.xid, j
			}
			k.seqs = append(k.seqs, &sequence{call: k, index: len(k.seqs), plan: plan, promptLen: len(in.ids),
				hashes: hashes, tail: tail, arrival: k.arrival})
		}
	}
	if k.echo || k.promptLogprobs {
		k.inputs = inputs
	}
	k.live = len(k.seqs)
	switch s.cfg.Shape.Usage {
	case "auto":
		if o := req.StreamOptions; o != nil {
			k.usageLast, k.usageEvery = o.IncludeUsage, o.ContinuousUsageStats && o.IncludeUsage
		}
	case "last":
		k.usageLast = true
	case "every":
		k.usageEvery = true
	}
	prefix := "chatcmpl-"
	switch p {
	case protoCompletions:
		prefix = "cmpl-"
	case protoGenerate, protoTGI:
		prefix = ""
	}
	k.id = prefix + hexID(mix(s.runSeed, uint64(k.number)+1<<40))
	if k.stream {
		k.buildHead()
	}
	return nil
}

// sendHeader writes the header of a stream and, where the shape says so, the role.
func (k *call) sendHeader() bool {
	var b bytes.Buffer
	writeStatus(&b, 200)
	b.WriteString("content-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n")
	writeCommon(&b, k.xid, nil)
	if k.chunked {
		b.WriteString("transfer-encoding: chunked\r\n\r\n")
	} else {
		b.WriteString("connection: close\r\n\r\n")
		k.hangUp = true
	}
	k.stamp(TruthChunk{Kind: ChunkHeader})
	if !k.c.write(b.Bytes()) {
		return false
	}
	if k.proto == protoChat && k.srv.cfg.Shape.RoleDelta == "accept" {
		var buf frame
		for _, s := range k.seqs {
			k.startEvent(&buf)
			buf.b = k.appendRole(buf.b, s)
			k.put(&buf, ChunkRole, 0)
		}
		k.flush()
	}
	return true
}

// stamp records the time of an event about to be written.
func (k *call) stamp(events ...TruthChunk) {
	k.srv.chunks.Add(int64(len(events)))
	if k.srv.cfg.Truth == nil {
		return
	}
	now := time.Now()
	wall, mono := now.UnixNano(), int64(now.Sub(k.srv.start))
	for _, e := range events {
		e.Request, e.Wall, e.Mono = k.number, wall, mono
		k.srv.cfg.Truth.Chunk(e)
	}
}

// settle ends a call once; false when somebody else has ended it.
func (k *call) settle() bool { return k.state.CompareAndSwap(callLive, callOver) }

// account books a complete answer. It comes before the last write, so that a
// client that has read the whole answer finds it in the statistics. An answer
// that a fault has spoilt is not one.
func (k *call) account() {
	s := k.srv
	if k.fault != nil && k.fault.Kind != "slow-loris" && k.fault.Kind != "duplicate" {
		return
	}
	s.completed.Add(1)
	prompt, cached := 0, 0
	for i, q := range k.seqs {
		if i%k.perPrompt == 0 {
			prompt += q.promptLen
			cached += int(q.cached.Load())
		}
		if q.plan.given != nil {
			s.logAnswer(q.plan.given)
		} else if s.answers != nil {
			s.unknown.Add(1)
		}
	}
	s.promptTokens.Add(int64(prompt))
	s.cachedTokens.Add(int64(cached))
}

// finish lets the connection go on to its next request.
func (k *call) finish() {
	if ka := k.srv.cfg.KeepAlive; ka > 0 && !k.hangUp {
		_ = k.c.nc.SetReadDeadline(time.Now().Add(ka))
	}
	close(k.done)
	if k.hangUp {
		k.closeConn()
	}
}

// closeConn ends the connection after what has been written is out; the
// connection's own goroutine wakes up from its read.
func (k *call) closeConn() { k.c.afterBacklog(func() { _ = k.c.nc.Close() }) }

// abandon ends a call whose client went away or whose connection died.
func (k *call) abandon() {
	if !k.settle() {
		return
	}
	k.srv.aborted.Add(1)
	k.stopSequences("abort")
	k.hangUp = true
	close(k.done)
	_ = k.c.nc.Close()
}

// stopSequences takes the sequences out of the engine.
func (k *call) stopSequences(reason string) {
	for _, s := range k.seqs {
		s.gone.Store(true)
		if !s.ended.Swap(true) {
			k.srv.metrics.success(reason)
		}
	}
}

func hexID(h uint64) string {
	s := strconv.FormatUint(h, 16)
	for len(s) < 16 {
		s = "0" + s
	}
	return s
}
