//go:build unix

package transport

import "syscall"

// RaiseFileLimit raises the soft limit of open files to the hard one and
// returns both as they are afterwards. Every live stream is an open file; the
// usual soft limit of 1,024 would fail streams on the client's side.
func RaiseFileLimit() (soft, hard uint64, err error) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, 0, err
	}
	if l.Cur < l.Max {
		raised := l
		raised.Cur = l.Max
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised); err != nil {
			return uint64(l.Cur), uint64(l.Max), err
		}
		l = raised
	}
	return uint64(l.Cur), uint64(l.Max), nil
}
