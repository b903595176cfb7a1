package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ais_bench/registry"
)

// Server is a simulated inference server. It is safe for concurrent use.
type Server struct {
	cfg     Config
	start   time.Time
	runSeed uint64 // for ids of answers
	metrics *metrics
	answers *answerSheet // nil without answers
	engine  *engine      // nil in paced mode
	pacers  []*pacer     // nil with an engine
	quit    chan struct{}
	wg      sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}

	logMu sync.Mutex // serialises AnswersLog and the counts of questions
	last  map[*question]bool
	right, wrong, cut,
	requests, completed, aborted, refused, faulted, accepted,
	promptTokens, cachedTokens, chunks, writes, unknown, late atomic.Int64
}

// ErrClosed is what Serve returns after Close.
var ErrClosed = errors.New("simulator: server closed")

// New makes a server from cfg and starts its engine. An error names the wrong
// flag, or the file and line of the answers that cannot be read.
func New(cfg Config) (*Server, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: c, start: time.Now(), runSeed: mix(uint64(c.Seed), uint64(time.Now().UnixNano())), metrics: newMetrics(),
		quit: make(chan struct{}), listeners: map[net.Listener]struct{}{}, conns: map[*conn]struct{}{}, last: map[*question]bool{}}
	if c.Answers != "" || c.AnswersData != nil {
		if s.answers, err = newAnswerSheet(&s.cfg); err != nil {
			return nil, err
		}
	} else if c.AnswersLog != nil || c.AnswerTemplate != "" {
		return nil, errNoAnswers
	}
	if c.TokensPerSecond > 0 {
		for range c.Workers {
			p, err := newPacer(&s.cfg, s.now, s.metrics, &s.late)
			if err != nil {
				return nil, err
			}
			s.pacers = append(s.pacers, p)
		}
		for _, p := range s.pacers {
			s.wg.Go(p.run)
		}
		return s, nil
	}
	if s.engine, err = newEngine(&s.cfg, s.now, s.metrics); err != nil {
		return nil, err
	}
	for _, batches := range s.engine.out {
		s.wg.Go(func() {
			var w writer
			for batch := range batches {
				for _, e := range batch {
					w.token(e.seq, 1)
				}
				clear(batch)
				s.engine.pool.Put(&batch)
			}
		})
	}
	s.wg.Go(s.engine.run)
	return s, nil
}

// now is the monotonic time in ns since the server started.
func (s *Server) now() int64 { return int64(time.Since(s.start)) }

// StartTime is the zero of all monotonic times in the truth.
func (s *Server) StartTime() time.Time { return s.start }

// submit hands a call's sequences to the engine or to a pacing worker.
func (s *Server) submit(k *call) {
	for _, q := range k.seqs {
		if s.engine != nil {
			s.engine.add(q)
		} else {
			s.pacers[k.shard].add(q)
		}
	}
}

// Start listens on addr (host:port, port 0 picks a free one), serves in the
// background and returns the base URL, http://host:port.
func (s *Server) Start(addr string) (string, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	go func() { _ = s.Serve(ln) }()
	return "http://" + ln.Addr().String(), nil
}

// Serve accepts connections from ln until Close, then returns ErrClosed. ln
// may be a TLS listener. Several listeners may be served at once.
func (s *Server) Serve(ln net.Listener) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		_ = ln.Close()
		return ErrClosed
	}
	s.listeners[ln] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, ln)
		s.mu.Unlock()
		_ = ln.Close()
	}()
	for pause := time.Millisecond; ; {
		nc, err := ln.Accept()
		if err != nil {
			select {
			case <-s.quit:
				return ErrClosed
			default:
			}
			var temporary interface{ Temporary() bool }
			if errors.As(err, &temporary) && temporary.Temporary() { // out of descriptors: wait for some to be freed
				s.logf("cannot accept a connection: %v", err)
				time.Sleep(pause)
				pause = min(2*pause, time.Second)
				continue
			}
			return err
		}
		pause = time.Millisecond
		s.accepted.Add(1)
		c := newConn(s, nc)
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			_ = nc.Close()
			return ErrClosed
		}
		s.conns[c] = struct{}{}
		s.mu.Unlock()
		s.wg.Go(func() {
			c.serve()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		})
	}
}

// Close stops listening, ends every connection and waits until the engine and
// the writers have stopped. Truth and logs are complete when it returns; they
// are not closed.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.quit)
	for ln := range s.listeners {
		_ = ln.Close()
	}
	for c := range s.conns {
		_ = c.nc.Close()
	}
	s.mu.Unlock()
	if s.engine != nil {
		close(s.engine.quit)
	}
	for _, p := range s.pacers {
		p.stop()
	}
	s.wg.Wait()
	return nil
}

func (s *Server) logf(format string, args ...any) {
	if s.cfg.Log != nil {
		s.logMu.Lock()
		fmt.Fprintf(s.cfg.Log, format+"\n", args...)
		s.logMu.Unlock()
	}
}

// knownModel accepts a served name; an empty name means the first one.
func (s *Server) knownModel(name string) bool {
	return name == "" || slices.Contains(s.cfg.ServedModelNames, name)
}

// endpoints that anybody may ask, also without the API key.
var openPaths = map[string]bool{"/health": true, "/ping": true, "/version": true, "/metrics": true, "/sim/stats": true, "/health_generate": true}

// devPaths are there only in vLLM's development mode (VLLM_SERVER_DEV_MODE=1),
// or are SGLang's names of the same.
var devPaths = map[string]bool{"/server_info": true, "/get_server_info": true, "/model_info": true, "/get_model_info": true, "/reset_prefix_cache": true, "/flush_cache": true}

// handle answers one request. It returns the call to wait for when the answer
// takes time, else nil.
func (s *Server) handle(c *conn, r *http.Request, body []byte) *call {
	path := strings.TrimSuffix(r.URL.Path, "/")
	if root := s.cfg.RootPath; root != "" {
		rest, below := strings.CutPrefix(path, root)
		if !below || rest != "" && rest[0] != '/' {
			c.reply(r, jsonError(404, "NotFoundError", "Not Found: "+r.URL.Path+"; this server lies below "+root))
			return nil
		}
		path = rest
	}
	if s.cfg.APIKey != "" && !openPaths[path] && r.Header.Get("Authorization") != "Bearer "+s.cfg.APIKey {
		c.reply(r, jsonError(401, "AuthenticationError", "Unauthorized"))
		return nil
	}
	if p, ok := protocolPaths[path]; ok {
		if r.Method != http.MethodPost {
			c.reply(r, methodNotAllowed("POST"))
			return nil
		}
		return s.generate(c, r, p, body)
	}
	e, ok := s.endpoint(path)
	if s.cfg.NoDevMode && devPaths[path] {
		ok = false
	}
	switch {
	case !ok:
		c.reply(r, jsonError(404, "NotFoundError", "Not Found: "+r.URL.Path+registry.DidYouMean(r.URL.Path, knownPaths)))
	case !slices.Contains(e.methods, r.Method) && !(r.Method == http.MethodHead && e.methods[0] == http.MethodGet):
		c.reply(r, methodNotAllowed(strings.Join(e.methods, ", ")))
	case r.Method == http.MethodHead:
		c.write(e.answer(body).encode(requestID(r), false))
	default:
		c.reply(r, e.answer(body))
	}
	return nil
}

func methodNotAllowed(allow string) reply {
	rep := jsonError(405, "MethodNotAllowedError", "Method Not Allowed")
	rep.header = []string{"allow", allow}
	return rep
}

// endpoint is one that does not generate.
type endpoint struct {
	methods []string
	answer  func(body []byte) reply
}

var knownPaths = []string{"/v1/chat/completions", "/v1/completions", "/generate", "/generate_stream", "/v1/models", "/v1/embeddings", "/v1/rerank",
	"/rerank", "/tokenize", "/detokenize", "/health", "/health_generate", "/ping", "/version", "/metrics", "/server_info", "/get_server_info",
	"/model_info", "/get_model_info", "/reset_prefix_cache", "/flush_cache", "/start_profile", "/stop_profile", "/sim/stats"}

func (s *Server) endpoint(path string) (endpoint, bool) {
	get := func(f func() reply) (endpoint, bool) {
		return endpoint{[]string{http.MethodGet}, func([]byte) reply { return f() }}, true
	}
	post := func(f func([]byte) reply) (endpoint, bool) { return endpoint{[]string{http.MethodPost}, f}, true }
	either := func(f func() reply) (endpoint, bool) {
		return endpoint{[]string{http.MethodGet, http.MethodPost}, func([]byte) reply { return f() }}, true
	}
	empty := func() reply { return reply{status: 200, ctype: "text/plain; charset=utf-8"} }
	switch path {
	case "/health", "/health_generate":
		return get(empty)
	case "/ping", "/start_profile", "/stop_profile":
		return either(empty)
	case "/version":
		return get(func() reply { return jsonReply(200, map[string]any{"version": Version}) })
	case "/v1/models":
		return get(s.listModels)
	case "/metrics":
		return get(s.exposeMetrics)
	case "/server_info", "/get_server_info":
		return get(func() reply { return jsonReply(200, s.settings()) })
	case "/model_info", "/get_model_info":
		return get(func() reply {
			return jsonReply(200, map[string]any{"model_path": s.cfg.ServedModelNames[0], "tokenizer_path": s.cfg.ServedModelNames[0], "is_generation": true})
		})
	case "/reset_prefix_cache", "/flush_cache":
		return either(func() reply {
			if s.engine != nil && !s.engine.resetCache() {
				return reply{status: 400, ctype: "text/plain; charset=utf-8", body: []byte("the prefix cache was not reset: requests are running\n")}
			}
			if path == "/flush_cache" {
				return reply{status: 200, ctype: "text/plain; charset=utf-8", body: []byte("Cache flushed.\n")}
			}
			return empty()
		})
	case "/tokenize":
		return post(s.tokenize)
	case "/detokenize":
		return post(s.detokenize)
	case "/v1/embeddings":
		return post(s.embeddings)
	case "/v1/rerank", "/rerank":
		return post(s.rerank)
	case "/sim/stats":
		return get(func() reply { return jsonReply(200, s.Stats()) })
	}
	return endpoint{}, false
}

// logAnswer books an answer to a known question.
func (s *Server) logAnswer(g *givenAnswer) {
	if g.Cut {
		s.cut.Add(1)
	} else if g.Right {
		s.right.Add(1)
	} else {
		s.wrong.Add(1)
	}
	s.logMu.Lock()
	defer s.logMu.Unlock()
	s.last[g.q] = g.Right && !g.Cut
	if s.cfg.AnswersLog != nil {
		if b, err := json.Marshal(g); err == nil {
			_, _ = s.cfg.AnswersLog.Write(append(b, '\n'))
		}
	}
}

// Stats returns the counters so far.
func (s *Server) Stats() Stats {
	st := Stats{
		Requests: s.requests.Load(), Completed: s.completed.Load(), Aborted: s.aborted.Load(), Refused: s.refused.Load(), Faulted: s.faulted.Load(),
		Connections: s.accepted.Load(), PromptTokens: s.promptTokens.Load(), CachedTokens: s.cachedTokens.Load(),
		GenerationTokens: s.metrics.generated.Load(), Chunks: s.chunks.Load(), Writes: s.writes.Load(),
		Running: s.metrics.running.Load(), Waiting: s.metrics.waiting.Load(), MaxLateNS: s.late.Load(),
		AnswersRight: s.right.Load(), AnswersWrong: s.wrong.Load(), AnswersCut: s.cut.Load(), Unknown: s.unknown.Load(),
	}
	if s.engine != nil {
		st.Preemptions, st.Steps, st.MaxLateNS = s.engine.preemptions.Load(), s.engine.steps.Load(), s.engine.maxLate.Load()
	}
	s.mu.Lock()
	st.Open = int64(len(s.conns))
	s.mu.Unlock()
	s.logMu.Lock()
	st.QuestionsAsked = int64(len(s.last))
	for _, right := range s.last {
		if right {
			st.QuestionsRight++
		}
	}
	s.logMu.Unlock()
	return st
}
