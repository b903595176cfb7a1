//go:build unix

package outputs

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Lock keeps other processes from writing into the run until unlock is called
// or this process ends, however it ends. The lock is on the folder itself, so
// that nothing is left behind.
func (r *Run) Lock() (unlock func(), err error) {
	d, err := os.Open(r.dir)
	if err != nil {
		return nil, fmt.Errorf("lock run folder %s: %w", r.dir, rootCause(err))
	}
	switch err := unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		return func() { d.Close() }, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		d.Close()
		return nil, fmt.Errorf("run folder %s is being written by another process; wait until it ends, or stop it", r.dir)
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EBADF):
		d.Close() // a file system without locks: working there is better than not working at all
		return func() {}, nil
	default:
		d.Close()
		return nil, fmt.Errorf("lock run folder %s: %w", r.dir, err)
	}
}
