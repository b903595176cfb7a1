package tasks

import (
	"context"
	"sync"

	"ais_bench/models"
	"ais_bench/tasks/load"
)

// ahead makes requests before they are due, in the order of their slots: what a
// long prompt takes to become bytes (milliseconds for 200 KB) would else pass
// between a free slot and the send. It never keeps anybody waiting: a request
// that is not ready yet is made by whoever needs it.
type ahead struct {
	mu    sync.Mutex
	moved sync.Cond // a request was taken, or it is over
	ready map[int]*models.Request
	bytes int
	next  int // to be made
	taken int // the next slot that was not dispatched yet
	over  bool
	gone  sync.WaitGroup
}

// Requests made ahead are bounded in number and in bytes.
const (
	minAhead      = 64
	maxAhead      = 1024
	maxAheadBytes = 32 << 20
)

// prepareAhead starts making the requests of the questions, which are asked round
// after round, and returns when as many as may be sent at once are ready. Nil
// when there is nothing to make ahead.
func (in *inference) prepareAhead(ctx context.Context, todo []question, cfg load.Config) *ahead {
	client, ok := in.svc.client.(models.Preparer)
	for _, q := range todo {
		ok = ok && len(q.sample.Choices) == 0 && len(q.sample.FollowUps) == 0
	}
	if !ok || len(todo) == 0 {
		return nil
	}
	a := &ahead{ready: map[int]*models.Request{}}
	a.moved.L = &a.mu
	window := min(max(cfg.MaxConcurrency, cfg.Clients, minAhead), maxAhead)
	filled := make(chan struct{})
	a.gone.Go(func() {
		full := sync.OnceFunc(func() { close(filled) })
		defer full()
		for {
			a.mu.Lock()
			for !a.over && len(a.ready) > 0 && (a.next-a.taken >= window || a.bytes >= maxAheadBytes) {
				full()
				a.moved.Wait()
			}
			a.next = max(a.next, a.taken)
			i, over := a.next, a.over
			a.next++
			a.mu.Unlock()
			if over || cfg.Count > 0 && i >= cfg.Count {
				return
			}
			req := in.request(todo[i%len(todo)])
			client.Prepare(ctx, req)
			a.put(i, req)
		}
	})
	<-filled
	return a
}

// put keeps a request unless its slot has been dispatched meanwhile.
func (a *ahead) put(i int, req *models.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i >= a.taken {
		a.ready[i] = req
		a.bytes += req.Size()
	}
}

// take gives the request of a slot, nil where it has to be made.
func (a *ahead) take(i int) *models.Request {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	req := a.ready[i]
	if req != nil {
		delete(a.ready, i)
		a.bytes -= req.Size()
	}
	a.taken = max(a.taken, i+1)
	a.moved.Signal()
	return req
}

func (a *ahead) close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.over = true
	a.moved.Signal()
	a.mu.Unlock()
	a.gone.Wait()
}
