package sandbox

import "sync"

// floodFactor times the kept size is how much output is drained before the
// program is killed for flooding.
const floodFactor = 256

// capture keeps the first bytes of an output stream and drops the rest; it
// calls flood once when far too much has come.
type capture struct {
	mu        sync.Mutex
	buf       []byte
	limit     int64
	seen      int64
	flood     func()
	truncated bool
}

func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen += int64(len(b))
	if room := c.limit - int64(len(c.buf)); room >= int64(len(b)) {
		c.buf = append(c.buf, b...)
	} else {
		c.buf = append(c.buf, b[:max(room, 0)]...)
		c.truncated = true
	}
	if c.seen > floodFactor*c.limit && c.flood != nil {
		c.flood()
		c.flood = nil
	}
	return len(b), nil
}

func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.buf)
}
