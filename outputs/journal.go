package outputs

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// The journal's format: a header, then frames.
//
//	header  "AISBJRNL" 0x01 <16 random bytes: the journal's id>
//	frame   0xA1 0x5B <uint32 LE length> <uint32 LE CRC-32C of the payload> <payload>
//
// The payload is one record (journal_codec.go). The two marker bytes let a
// reader find the next frame after damage in the middle.
const (
	journalMagic    = "AISBJRNL\x01"
	journalIDLen    = 16
	journalHeader   = len(journalMagic) + journalIDLen
	frameMark0      = 0xA1
	frameMark1      = 0x5B
	frameHeader     = 10
	maxFrame        = 256 << 20 // longest payload; a 16 MiB answer and its chunks fit many times
	journalReadUnit = 256 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Journal is an append-only log of records that survives kill -9: what was
// appended more than half a second ago is in the file, in whole frames with
// checksums. Append is safe for concurrent use.
type Journal struct {
	w    *batchWriter
	red  *Redactor
	note string
	n    atomic.Int64
}

// Journal opens the log of one pair, performances/<model>/<dataset>.journal,
// creating it or continuing one that an interrupted run left; a torn tail is
// cut first (see Note).
func (r *Run) Journal(model, dataset string) (*Journal, error) {
	return openJournal(r.PerformancePath(model, dataset, "journal"), r.Redactor())
}

func openJournal(path string, red *Redactor) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, explainWrite(path, err)
	}
	if err := regularOrNone(path); err != nil {
		return nil, explainWrite(path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, explainWrite(path, err)
	}
	j := &Journal{red: red}
	if err := j.recover(path, f); err != nil {
		f.Close()
		return nil, err
	}
	j.w = newBatchWriter(path, f)
	return j, nil
}

// recover leaves f positioned after the last whole frame.
func (j *Journal) recover(path string, f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return explainWrite(path, err)
	}
	if st.Size() < int64(journalHeader) {
		// New, or killed while the header was written: nothing is lost.
		head := append([]byte(journalMagic), make([]byte, journalIDLen)...)
		rand.Read(head[len(journalMagic):])
		if err := f.Truncate(0); err != nil {
			return explainWrite(path, err)
		}
		if _, err := f.WriteAt(head, 0); err != nil {
			return explainWrite(path, err)
		}
	}
	s, err := newJournalScanner(path, f)
	if err != nil {
		return err
	}
	for {
		_, err := s.next()
		if err == io.EOF {
			break
		}
		var damage *DamageError
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return err
		}
		j.n.Add(1)
	}
	if cut := st.Size() - s.good; s.good < st.Size() && st.Size() >= int64(journalHeader) {
		j.note = fmt.Sprintf("%s: cut a torn tail of %d bytes; %d records before it are intact", path, cut, j.n.Load())
		if err := f.Truncate(s.good); err != nil {
			return explainWrite(path, err)
		}
	}
	if _, err := f.Seek(s.good, io.SeekStart); err != nil {
		return explainWrite(path, err)
	}
	return nil
}

// Note says what was repaired when the journal was opened; "" for nothing.
func (j *Journal) Note() string { return j.note }

// Len is the number of records, including those found when it was opened.
func (j *Journal) Len() int64 { return j.n.Load() }

// frameBuf is a reusable encoding buffer.
var frameBufs = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

// Append adds one record. It copies what it needs and returns at once; the
// write happens in the background. The error is the first write error so far.
func (j *Journal) Append(rec *Record) error {
	bp := frameBufs.Get().(*[]byte)
	b := append((*bp)[:0], frameMark0, frameMark1, 0, 0, 0, 0, 0, 0, 0, 0)
	b = appendRecord(b, j.red.Record(rec))
	if len(b)-frameHeader > maxFrame {
		return fmt.Errorf("append to %s: record of sample %s takes %d bytes, more than the limit of %d", j.w.path, rec.SampleID, len(b), maxFrame)
	}
	binary.LittleEndian.PutUint32(b[2:], uint32(len(b)-frameHeader))
	binary.LittleEndian.PutUint32(b[6:], crc32.Checksum(b[frameHeader:], castagnoli))
	err := j.w.append(b)
	if cap(b) <= 1<<20 {
		*bp = b
		frameBufs.Put(bp)
	}
	if err == nil {
		j.n.Add(1)
	}
	return err
}

// Close writes what is pending and makes it durable. Its error is the first
// write error of the journal's life.
func (j *Journal) Close() error { return j.w.close() }

// DamageError reports bytes of a journal that hold no whole frame. Reading
// goes on behind them.
type DamageError struct {
	Path   string
	Offset int64
	Bytes  int64
	Tail   bool // at the end of the file: a write that was cut short
}

func (e *DamageError) Error() string {
	if e.Tail {
		return fmt.Sprintf("%s: the last %d bytes are an unfinished record (the run was killed while writing, or the disk was full); ignored", e.Path, e.Bytes)
	}
	return fmt.Sprintf("%s: %d damaged bytes at offset %d skipped; the records around them are intact", e.Path, e.Bytes, e.Offset)
}

// ReadJournal yields the records of a journal in the order they were appended,
// in constant memory. Damaged bytes yield a *DamageError (with a nil record)
// and reading goes on; any other error ends the sequence.
func ReadJournal(path string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		f, err := OpenFile(path)
		if err != nil {
			yield(nil, fmt.Errorf("read journal %s: %w", path, rootCause(err)))
			return
		}
		defer f.Close()
		s, err := newJournalScanner(path, f)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			payload, err := s.next()
			if err == io.EOF {
				return
			}
			var damage *DamageError
			if errors.As(err, &damage) {
				if !yield(nil, err) {
					return
				}
				continue
			}
			var rec *Record
			if err == nil {
				if rec, err = decodeRecord(payload); err != nil {
					err = fmt.Errorf("%s at offset %d: %w", path, s.good, err)
				}
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// journalID reads a journal's id as hex digits.
func journalID(path string) (string, error) {
	f, err := OpenFile(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, journalHeader)
	if _, err := io.ReadFull(f, head); err != nil {
		return "", nil // killed while the header was written: empty
	}
	return hex.EncodeToString(head[len(journalMagic):]), nil
}

// journalScanner finds whole frames.
type journalScanner struct {
	path string
	src  io.ReadSeeker
	in   *bufio.Reader
	size int64
	off  int64 // of the next byte of in
	good int64 // end of the last whole frame
	buf  []byte
	// held is a frame that resync found behind damage, to be returned next.
	held bool
}

func newJournalScanner(path string, r io.ReadSeeker) (*journalScanner, error) {
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	s := &journalScanner{path: path, src: r, size: size, in: bufio.NewReaderSize(r, journalReadUnit)}
	if err := s.seek(0); err != nil {
		return nil, err
	}
	head, err := s.in.Peek(int(min(size, int64(journalHeader))))
	if err != nil {
		return nil, fmt.Errorf("read journal %s: %w", path, rootCause(err))
	}
	if want := []byte(journalMagic); !bytes.HasPrefix(head, want[:min(len(head), len(want))]) {
		return nil, fmt.Errorf("%s is not a journal of this program (or of a newer version)", path)
	}
	// A shorter file was killed while its header was written: it is empty.
	s.off = int64(len(head))
	s.good = s.off
	s.in.Discard(len(head))
	return s, nil
}

func (s *journalScanner) seek(off int64) error {
	if _, err := s.src.Seek(off, io.SeekStart); err != nil {
		return fmt.Errorf("read journal %s: %w", s.path, rootCause(err))
	}
	s.in.Reset(s.src)
	s.off = off
	return nil
}

// next returns the next whole frame's payload, valid until the next call; a
// *DamageError for bytes that hold none; io.EOF at the end.
func (s *journalScanner) next() ([]byte, error) {
	if s.held {
		s.held = false
		s.good = s.off
		return s.buf, nil
	}
	start := s.off
	if start >= s.size {
		return nil, io.EOF
	}
	ok, err := s.frame()
	if err != nil {
		return nil, err
	}
	if ok {
		s.good = s.off
		return s.buf, nil
	}
	return nil, s.resync(start)
}

// resync looks for the next whole frame behind start and reports the bytes
// between as damaged.
func (s *journalScanner) resync(start int64) error {
	from := start + 1
	for {
		at, err := s.findMark(from)
		if err != nil {
			return err
		}
		if at < 0 {
			s.off = s.size
			return &DamageError{Path: s.path, Offset: start, Bytes: s.size - start, Tail: true}
		}
		if err := s.seek(at); err != nil {
			return err
		}
		ok, err := s.frame()
		if err != nil {
			return err
		}
		if ok {
			s.held = true
			return &DamageError{Path: s.path, Offset: start, Bytes: at - start}
		}
		from = at + 1
	}
}

// findMark returns the offset of the next marker at or behind from, or -1.
func (s *journalScanner) findMark(from int64) (int64, error) {
	if err := s.seek(from); err != nil {
		return 0, err
	}
	last := byte(0)
	for at := from; ; at++ {
		c, err := s.in.ReadByte()
		if err == io.EOF {
			return -1, nil
		}
		if err != nil {
			return 0, fmt.Errorf("read journal %s: %w", s.path, rootCause(err))
		}
		if last == frameMark0 && c == frameMark1 && at > from {
			return at - 1, nil
		}
		last = c
	}
}

// frame reads the frame at the current offset into buf; false when the bytes
// there are no whole frame.
func (s *journalScanner) frame() (bool, error) {
	left := s.size - s.off
	if left < frameHeader {
		return false, nil
	}
	head, err := s.in.Peek(frameHeader)
	if err != nil {
		return false, fmt.Errorf("read journal %s: %w", s.path, rootCause(err))
	}
	n := int64(binary.LittleEndian.Uint32(head[2:]))
	sum := binary.LittleEndian.Uint32(head[6:])
	if head[0] != frameMark0 || head[1] != frameMark1 || n > maxFrame || n > left-frameHeader {
		return false, nil
	}
	s.in.Discard(frameHeader)
	if int64(cap(s.buf)) < n {
		s.buf = make([]byte, n, n+n/4)
	}
	s.buf = s.buf[:n]
	if _, err := io.ReadFull(s.in, s.buf); err != nil {
		return false, fmt.Errorf("read journal %s: %w", s.path, rootCause(err))
	}
	s.off += frameHeader + n
	return crc32.Checksum(s.buf, castagnoli) == sum, nil
}
