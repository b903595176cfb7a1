package outputs

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// batchWriter appends whole items to a file. Callers only copy bytes into
// memory; one background goroutine writes them, at least every flushEvery and
// whenever flushSize has gathered. Each write holds whole items, so that a
// kill between writes tears nothing. The first error is kept and returned by
// every later call.
type batchWriter struct {
	path string
	f    *os.File

	mu      sync.Mutex
	space   sync.Cond // the pending buffer was taken
	pending []byte
	spare   []byte
	err     error
	closed  bool

	wake chan struct{}
	stop chan struct{}
	done chan struct{}
}

const (
	flushEvery = 500 * time.Millisecond
	flushSize  = 256 << 10
	// backlogLimit makes appenders wait rather than fill the memory when the
	// disk cannot keep up.
	backlogLimit = 64 << 20
)

var errClosed = errors.New("already closed")

func newBatchWriter(path string, f *os.File) *batchWriter {
	b := &batchWriter{path: path, f: f,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	b.space.L = &b.mu
	go b.run()
	return b
}

// append adds one item.
func (b *batchWriter) append(item []byte) error {
	b.mu.Lock()
	for len(b.pending) > backlogLimit && b.err == nil && !b.closed {
		b.space.Wait()
	}
	if b.err != nil || b.closed {
		err := b.err
		b.mu.Unlock()
		if err == nil {
			err = fmt.Errorf("append to %s: %w", b.path, errClosed)
		}
		return err
	}
	b.pending = append(b.pending, item...)
	full := len(b.pending) >= flushSize
	b.mu.Unlock()
	if full {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

func (b *batchWriter) run() {
	defer close(b.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-b.wake:
		case <-b.stop:
			b.flush()
			return
		}
		b.flush()
	}
}

// flush is called by the background goroutine only.
func (b *batchWriter) flush() {
	b.mu.Lock()
	out := b.pending
	b.pending = b.spare[:0]
	b.spare = nil
	bad := b.err != nil
	b.space.Broadcast()
	b.mu.Unlock()
	var err error
	if len(out) > 0 && !bad {
		_, err = b.f.Write(out)
	}
	b.mu.Lock()
	if cap(out) <= 4*flushSize {
		b.spare = out
	}
	if err != nil {
		b.err = explainWrite(b.path, err)
		b.space.Broadcast()
	}
	b.mu.Unlock()
}

// close writes what is pending, makes it durable and closes the file.
func (b *batchWriter) close() error {
	b.mu.Lock()
	if b.closed {
		err := b.err
		b.mu.Unlock()
		<-b.done
		return err
	}
	b.closed = true
	b.space.Broadcast()
	b.mu.Unlock()
	close(b.stop)
	<-b.done
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.f.Sync(); err != nil && b.err == nil {
		b.err = explainWrite(b.path, err)
	}
	if err := b.f.Close(); err != nil && b.err == nil {
		b.err = explainWrite(b.path, err)
	}
	return b.err
}
