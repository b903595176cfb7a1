package models

import (
	"net"

	"golang.org/x/sys/unix"
)

// queued is what the sender's kernel holds until it is acknowledged, and what lies
// unread in the receiver's, in bytes.
func queued(from, to *net.TCPConn) (onTheWay, lying int, err error) {
	if onTheWay, err = ioctl(from, unix.TIOCOUTQ); err == nil {
		lying, err = ioctl(to, unix.TIOCINQ)
	}
	return onTheWay, lying, err
}

func ioctl(c *net.TCPConn, what uint) (n int, err error) {
	rc, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	if e := rc.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), what) }); e != nil {
		return 0, e
	}
	return n, err
}
