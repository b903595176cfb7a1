package engine

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
)

// The engine's log is bounded: an engine that prints a line a request, or a
// traceback a second, would fill the disk in a long run. What is said first
// (arguments, versions, memory) and what is said last (why it ended) is kept, what is
// between them is counted.
const (
	logHead    = 16 << 20 // bytes of the beginning that are kept
	logSegment = 8 << 20  // of the end: at least this much, at most twice as much
)

// boundedLog writes to a file up to head bytes, and what comes after to two files
// beside it in turn, of which the older is dropped when the newer is full. close
// puts them together. On disk are never more than head + 2·segment bytes, and the
// last segment bytes are there at any time, also after a kill.
type boundedLog struct {
	path          string
	head, segment int64

	mu      sync.Mutex
	file    *os.File // the head, nil when closed
	written int64    // to the head
	tails   [2]*os.File
	sizes   [2]int64
	now     int   // of tails, that is being written
	dropped int64 // bytes of segments that were overwritten
	recent  []byte

	pipe   *os.File      // the end that is read; nil without one
	own    *os.File      // this program's copy of the other end
	mark   []byte        // settle writes it there
	marked chan struct{} // closed when it was read: so was what had been said before
	done   chan struct{} // closed when everything was read
	last   time.Time     // of the last read
	ask    sync.Once     // the mark is written once
}

// recentBytes is how much of the end is kept in memory, for messages.
const recentBytes = 64 << 10

// newLog makes the file, readable by nobody else: engines print their arguments,
// keys among them.
func newLog(path string, head, segment int64) (*boundedLog, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &boundedLog{path: path, head: head, segment: segment, file: f}, nil
}

// input is the end of a pipe that processes write to; everything that comes is
// logged until all of them have closed it, and settle or close, which closes this
// program's copy, was called.
func (l *boundedLog) input() (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	l.pipe, l.own, l.done, l.marked = r, w, make(chan struct{}), make(chan struct{})
	l.mark = []byte("\x00" + uuid.NewString() + "\x00")
	go l.read()
	return w, nil
}

// read logs what comes through the pipe, but for the mark. It ends with the last
// writer, or when close closes the pipe.
func (l *boundedLog) read() {
	defer close(l.done)
	marked := false
	buf := make([]byte, 0, 32<<10)
	for {
		n, err := l.pipe.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if before, after, found := bytes.Cut(buf, l.mark); found && !marked {
			_, _ = l.Write(before) // it never fails
			marked = true
			close(l.marked)
			buf = append(buf[:0], after...)
		}
		keep := 0 // bytes at the end that the mark may begin with
		if !marked && err == nil {
			for keep = min(len(l.mark)-1, len(buf)); !bytes.HasSuffix(buf, l.mark[:keep]); keep-- {
			}
		}
		if said := buf[:len(buf)-keep]; len(said) > 0 {
			_, _ = l.Write(said) // it never fails
		}
		buf = append(buf[:0], buf[len(buf)-keep:]...)
		if err != nil {
			return
		}
	}
}

// Write never fails: what cannot be written (a full disk) is lost to the log
// alone, and counted.
func (l *boundedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = time.Now()
	l.remember(p)
	n := len(p)
	if room := l.head - l.written; room > 0 && l.file != nil {
		part := p[:min(room, int64(len(p)))]
		k, err := l.file.Write(part)
		l.written += int64(k)
		if err != nil {
			l.dropped += int64(n - k)
			return n, nil
		}
		p = p[k:]
	}
	for len(p) > 0 {
		k := l.tail(p)
		if k == 0 {
			l.dropped += int64(len(p))
			break
		}
		p = p[k:]
	}
	return n, nil
}

// tail writes what fits into the current segment; 0 when nothing can be written.
func (l *boundedLog) tail(p []byte) int {
	if l.file == nil {
		return 0
	}
	if l.tails[l.now] != nil && l.sizes[l.now] >= l.segment {
		l.now = 1 - l.now
		if f := l.tails[l.now]; f != nil {
			l.dropped += l.sizes[l.now]
			l.sizes[l.now] = 0
			if f.Truncate(0) != nil {
				return 0
			}
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return 0
			}
		}
	}
	if l.tails[l.now] == nil {
		f, err := os.OpenFile(l.tailPath(l.now), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return 0
		}
		l.tails[l.now] = f
	}
	k, _ := l.tails[l.now].Write(p[:min(l.segment-l.sizes[l.now], int64(len(p)))])
	l.sizes[l.now] += int64(k)
	return k
}

func (l *boundedLog) tailPath(i int) string { return fmt.Sprintf("%s.tail%d", l.path, i+1) }

func (l *boundedLog) remember(p []byte) {
	if len(p) >= recentBytes {
		l.recent = append(l.recent[:0], p[len(p)-recentBytes:]...)
		return
	}
	if len(l.recent)+len(p) > 2*recentBytes {
		l.recent = append(l.recent[:0], l.recent[len(l.recent)-recentBytes:]...)
	}
	l.recent = append(l.recent, p...)
}

// end is the end of what was said.
func (l *boundedLog) end() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.recent)
}

// settle waits until what was said before is read, however late the reader's turn
// comes, and then for what is still being said: until all writers are gone, or nothing
// has come for a moment (a worker that outlives its engine keeps the pipe open).
func (l *boundedLog) settle() {
	if l.done == nil {
		return
	}
	l.ask.Do(func() {
		_, _ = l.own.Write(l.mark) // in one piece, behind what was said; the reader takes it
		_ = l.own.Close()
	})
	select {
	case <-l.done:
		return
	case <-l.marked:
	}
	const quiet = 50 * time.Millisecond
	for began := time.Now(); time.Since(began) < 20*quiet; {
		select {
		case <-l.done:
			return
		case <-time.After(quiet):
		}
		l.mu.Lock()
		still := time.Since(l.last) >= quiet && time.Since(began) >= quiet
		l.mu.Unlock()
		if still {
			return
		}
	}
}

// close ends the log: head, a line that says how much was left out, and the end are
// put into one file. A log of nothing leaves none.
func (l *boundedLog) close() error {
	l.settle()
	if l.pipe != nil {
		l.pipe.Close() // whoever still writes is no longer of interest
		<-l.done
	}
	return l.finish()
}

// finish is close for what was read so far: what comes later is dropped.
func (l *boundedLog) finish() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	err := l.join(f)
	if e := f.Close(); err == nil {
		err = e
	}
	for i, t := range l.tails {
		if t == nil {
			continue
		}
		t.Close()
		if err == nil { // else the end is there and nowhere else
			os.Remove(l.tailPath(i))
		}
	}
	if err == nil && l.written == 0 && l.dropped == 0 {
		os.Remove(l.path)
	}
	return err
}

// paths are the files of a log while it is written.
func (l *boundedLog) paths() []string { return []string{l.path, l.tailPath(0), l.tailPath(1)} }

// join appends the segments to the head, the older first.
func (l *boundedLog) join(f *os.File) error {
	left := l.dropped
	for _, i := range []int{1 - l.now, l.now} {
		t := l.tails[i]
		if t == nil || l.sizes[i] == 0 {
			continue
		}
		from := int64(0)
		if left > 0 { // begin with a whole line
			start := make([]byte, min(l.sizes[i], 4096))
			if n, _ := t.ReadAt(start, 0); n > 0 {
				if k := bytes.IndexByte(start[:n], '\n'); k >= 0 {
					from = int64(k) + 1
				}
			}
			if _, err := fmt.Fprintf(f, "\n[ais_bench: %d bytes of the engine's log are left out here; its beginning and its end are kept]\n", left+from); err != nil {
				return err
			}
			left = 0
		}
		if _, err := io.Copy(f, io.NewSectionReader(t, from, l.sizes[i]-from)); err != nil {
			return err
		}
	}
	if left > 0 { // the disk was full
		_, err := fmt.Fprintf(f, "\n[ais_bench: %d bytes of the engine's log could not be written]\n", left)
		return err
	}
	return nil
}
