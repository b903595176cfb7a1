//go:build linux && (amd64 || arm64 || riscv64 || loong64 || ppc64le || s390x)

package transport

import (
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelStamps reads a TCP socket with recvmsg, which also gives the time at
// which the kernel received the (last) segment it returns.
//
// A read allocates nothing: the callback is made once, and the message header
// lives on the stack, which is warm, whereas of thousands of connections none is
// when its turn comes. RawSyscall is right because the calls never block
// (MSG_DONTWAIT; the runtime's poller does the waiting): announcing a blocking
// call to the scheduler would cost more than the call.
type kernelStamps struct {
	rc      syscall.RawConn
	call    func(fd uintptr) bool
	p       []byte // where to
	n       int
	stamp   int64
	errno   syscall.Errno
	drained bool // the read before left nothing behind
}

// stampAnchor is a socket that asks for stamps as long as the program lives.
// The kernel stamps packets only while somebody wants it and switches that on
// lazily: without the anchor the first segments after a quiet phase come unstamped.
var stampAnchor struct {
	sync.Once
	conn net.PacketConn
}

// use turns the stamps of a connection on and reports whether it has any.
func (k *kernelStamps) use(c net.Conn) bool {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return false
	}
	rc, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	stampAnchor.Do(func() {
		if pc, err := net.ListenPacket("udp", "127.0.0.1:0"); err == nil {
			if rc, err := pc.(*net.UDPConn).SyscallConn(); err == nil && enableStamps(rc) == nil {
				stampAnchor.conn = pc
				return
			}
			_ = pc.Close() // stamps still work, only the first ones may be missing
		}
	})
	if enableStamps(rc) != nil {
		return false
	}
	k.rc, k.call = rc, k.receive
	return true
}

func enableStamps(rc syscall.RawConn) error {
	var serr error
	if err := rc.Control(func(fd uintptr) {
		serr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}); err != nil {
		return err
	}
	return serr
}

// receive is called by the poller until it says that it is done: at once, and each
// time there may be something to read.
func (k *kernelStamps) receive(fd uintptr) bool {
	if k.drained {
		// Most likely there is nothing yet. Only a call that finds nothing makes sure, and a
		// peek is the cheapest. A broken connection tells its error once: this may be it.
		k.drained = false
		switch _, errno := peek(fd); errno {
		case 0:
		case unix.EAGAIN:
			return false
		default:
			k.n, k.stamp, k.errno = 0, 0, errno
			return true
		}
	}
	for {
		k.n, k.stamp, k.errno = recvmsg(fd, k.p)
		switch k.errno {
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		}
		k.drained = k.n < len(k.p)
		return true
	}
}

// recvmsg reads without waiting. The stamp is the kernel's (wall ns), 0 when it gave none.
func recvmsg(fd uintptr, p []byte) (n int, stamp int64, errno syscall.Errno) {
	const head = int(unsafe.Sizeof(unix.Cmsghdr{}))
	var control struct {
		unix.Cmsghdr
		unix.Timespec
	}
	iov := unix.Iovec{Base: &p[0]}
	iov.SetLen(len(p))
	msg := unix.Msghdr{Iov: &iov, Control: (*byte)(unsafe.Pointer(&control))}
	msg.SetIovlen(1)
	msg.SetControllen(int(unsafe.Sizeof(control)))
	got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&msg)), unix.MSG_DONTWAIT)
	runtime.KeepAlive(&iov)
	if errno != 0 {
		return 0, 0, errno
	}
	if int(msg.Controllen) >= head+int(unsafe.Sizeof(unix.Timespec{})) && control.Level == unix.SOL_SOCKET && control.Type == unix.SCM_TIMESTAMPNS {
		stamp = control.Nano()
	}
	return int(got), stamp, 0
}

// peek looks for a byte without waiting and without taking it.
func peek(fd uintptr) (n int, errno syscall.Errno) {
	var b [1]byte
	for {
		got, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b)), 1, unix.MSG_DONTWAIT|unix.MSG_PEEK, 0, 0)
		if errno != unix.EINTR {
			return int(got), errno
		}
	}
}

// read returns the bytes and the kernel's stamp (wall ns, 0 when it gave none).
func (k *kernelStamps) read(p []byte) (n int, stamp int64, err error) {
	if len(p) == 0 {
		return 0, 0, nil
	}
	k.p = p
	err = k.rc.Read(k.call)
	k.p = nil
	switch {
	case err != nil:
		return 0, 0, err
	case k.errno != 0:
		return 0, 0, os.NewSyscallError("recvmsg", k.errno)
	case k.n == 0:
		return 0, 0, io.EOF
	}
	return k.n, k.stamp, nil
}

func (k *kernelStamps) stale() bool {
	waits := false
	err := k.rc.Read(func(fd uintptr) bool {
		_, errno := peek(fd)
		waits = errno == unix.EAGAIN
		return true // a peek does not wait
	})
	return err != nil || !waits
}
