//go:build unix

package simulator

import "syscall"

// tryWrite writes to a non-blocking descriptor once. would reports that the
// socket's buffer is full.
func tryWrite(fd uintptr, b []byte) (n int, would bool, err error) {
	for {
		n, err = syscall.Write(int(fd), b)
		if err == syscall.EINTR {
			continue
		}
		if err == syscall.EAGAIN {
			return 0, true, nil
		}
		return max(n, 0), false, err
	}
}

const rawWrites = true
