package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// partSuffix marks a download that is not whole yet.
const partSuffix = ".part"

var (
	errDigest = errors.New("its bytes are not the ones the hub states")
	errDisk   = errors.New("cannot write")
)

// fetch downloads one file, trying again where that can help.
func (c *Client) fetch(ctx context.Context, id, revision string, f File, local string, progress Progress) error {
	if err := os.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return fmt.Errorf("make room for %s: %w", f.Path, err)
	}
	addr := c.address(id, revision, f.Path)
	pause := c.Pause
	var err error
	for try := 1; ; try++ {
		if err = c.fetchOnce(ctx, addr, f, local+partSuffix, progress); err == nil {
			break
		}
		if ctx.Err() != nil {
			return fmt.Errorf("download %s of %s: stopped; the next pull goes on from here", f.Path, id)
		}
		if permanent(err) || try >= c.Attempts {
			return fmt.Errorf("download %s of %s: %w", f.Path, id, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause *= 2
	}
	if err := f.verify(local + partSuffix); err != nil {
		// Keeping it would make every later resume fail the same way.
		os.Remove(local + partSuffix)
		return fmt.Errorf("download %s of %s: %w; pull again", f.Path, id, err)
	}
	if err := os.Rename(local+partSuffix, local); err != nil {
		return fmt.Errorf("download %s of %s: %w", f.Path, id, err)
	}
	return nil
}

// fetchOnce appends to part what is missing from it.
func (c *Client) fetchOnce(ctx context.Context, addr string, f File, part string, progress Progress) error {
	var have int64
	if st, err := os.Stat(part); err == nil {
		have = st.Size()
	}
	if f.Bytes > 0 && have == f.Bytes {
		return nil
	}
	if have > f.Bytes {
		have = 0
	}
	header := http.Header{}
	if have > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	resp, err := c.get(ctx, addr, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	flags := os.O_CREATE | os.O_WRONLY
	switch {
	case resp.StatusCode == http.StatusPartialContent && strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
		flags |= os.O_APPEND
	case resp.StatusCode == http.StatusOK:
		have = 0 // the server does not resume
		flags |= os.O_TRUNC
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		os.Remove(part)
		return errors.New("the hub cannot resume")
	default:
		return c.refused("download", resp)
	}
	out, err := os.OpenFile(part, flags, 0o644)
	if err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	n, err := io.Copy(&meter{out: out, file: f, done: have, report: progress}, resp.Body)
	if closeErr := out.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("%w: %w", errDisk, closeErr)
	}
	if err != nil {
		return err
	}
	if got := have + n; f.Bytes > 0 && got != f.Bytes {
		return fmt.Errorf("the connection ended after %d of %d bytes", got, f.Bytes)
	}
	if progress != nil {
		progress(f, have+n)
	}
	return nil
}

// meter writes and reports, not more often than an eye can follow.
type meter struct {
	out    io.Writer
	file   File
	done   int64
	report Progress
	last   time.Time
}

func (m *meter) Write(p []byte) (int, error) {
	n, err := m.out.Write(p)
	m.done += int64(n)
	if err != nil {
		return n, fmt.Errorf("%w: %w", errDisk, err)
	}
	if now := time.Now(); m.report != nil && now.Sub(m.last) > 200*time.Millisecond {
		m.last = now
		m.report(m.file, m.done)
	}
	return n, nil
}

// verify compares a file with the digest the hub states: the sha256 of large
// files, the git blob id of small ones.
func (f File) verify(local string) error {
	var h hash.Hash
	want := f.SHA256
	switch {
	case f.SHA256 != "":
		h = sha256.New()
	case len(f.Git) == 40:
		h, want = sha1.New(), f.Git
		fmt.Fprintf(h, "blob %d\x00", f.Bytes)
	default:
		return nil
	}
	in, err := os.Open(local)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := io.Copy(h, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); !strings.EqualFold(got, want) {
		return fmt.Errorf("%w (digest %.12s…, stated %.12s…)", errDigest, got, want)
	}
	return nil
}
