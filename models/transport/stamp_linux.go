//go:build linux && (amd64 || arm64 || riscv64 || loong64 || ppc64le || s390x)

package transport

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelStamps reads a TCP socket with recvmsg, which also gives the time at
// which the kernel received the (last) segment it returns.
//
// The message header lives as long as the connection and the callback is made
// once, so a read allocates nothing. RawSyscall is right because the call never
// blocks (MSG_DONTWAIT; the runtime's poller does the waiting): announcing a
// blocking call to the scheduler would cost more than the call.
type kernelStamps struct {
	rc    syscall.RawConn
	call  func(fd uintptr) bool
	msg   unix.Msghdr
	iov   unix.Iovec
	oob   [64]byte
	flags uintptr
	n     int
	errno syscall.Errno
}

// stampAnchor is a socket that asks for stamps as long as the program lives.
// The kernel stamps packets only while somebody wants it and switches that on
// lazily: without the anchor the first segments after a quiet phase come unstamped.
var stampAnchor struct {
	sync.Once
	conn net.PacketConn
}

func newKernelStamps(c net.Conn) *kernelStamps {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	rc, err := tcp.SyscallConn()
	if err != nil {
		return nil
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
		return nil
	}
	k := &kernelStamps{rc: rc}
	k.call = k.recvmsg
	return k
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

func (k *kernelStamps) recvmsg(fd uintptr) bool {
	for {
		k.msg.Iov = &k.iov
		k.msg.SetIovlen(1)
		k.msg.Control = &k.oob[0]
		k.msg.SetControllen(len(k.oob))
		n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&k.msg)), k.flags|unix.MSG_DONTWAIT)
		k.n, k.errno = int(n), errno
		switch errno {
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return k.flags&unix.MSG_PEEK != 0 // a peek does not wait
		}
		return true
	}
}

// read returns the bytes and the kernel's stamp (wall ns, 0 when it gave none).
func (k *kernelStamps) read(p []byte) (n int, stamp int64, err error) {
	if len(p) == 0 {
		return 0, 0, nil
	}
	k.iov.Base = &p[0]
	k.iov.SetLen(len(p))
	k.flags = 0
	err = k.rc.Read(k.call)
	k.iov.Base = nil
	switch {
	case err != nil:
		return 0, 0, err
	case k.errno != 0:
		return 0, 0, os.NewSyscallError("recvmsg", k.errno)
	case k.n == 0:
		return 0, 0, io.EOF
	}
	return k.n, k.stamp(), nil
}

func (k *kernelStamps) stamp() int64 {
	const head = int(unsafe.Sizeof(unix.Cmsghdr{}))
	if int(k.msg.Controllen) < head+int(unsafe.Sizeof(unix.Timespec{})) {
		return 0
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&k.oob[0]))
	if h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	ts := (*unix.Timespec)(unsafe.Pointer(&k.oob[head]))
	return ts.Nano()
}

func (k *kernelStamps) stale() bool {
	var b [1]byte
	k.iov.Base = &b[0]
	k.iov.SetLen(1)
	k.flags = unix.MSG_PEEK
	err := k.rc.Read(k.call)
	k.iov.Base = nil
	return err != nil || k.errno != unix.EAGAIN
}
