//go:build amd64 || arm64 || riscv64 || loong64 || ppc64le || s390x

package transport

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// stampedPair is a stamped connection and its other end.
func stampedPair(t *testing.T) (*stampConn, *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	conn := newStampConn(c, NewClock())
	if !conn.stamps {
		t.Fatal("a TCP connection without stamps")
	}
	return conn, s.(*net.TCPConn)
}

// TestReadAfterAShortRead: whatever has come since a read that left nothing behind is
// found by the next one, at once or after a wait. An error that the kernel tells once
// is not lost to the look whether there is anything.
func TestReadAfterAShortRead(t *testing.T) {
	buf := make([]byte, 64)
	closedByPeer := func(c *stampConn) { // waits until the kernel has seen it
		for state := uint8(unix.BPF_TCP_ESTABLISHED); state == unix.BPF_TCP_ESTABLISHED; {
			var failed error
			err := c.k.rc.Control(func(fd uintptr) {
				var info *unix.TCPInfo
				if info, failed = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); failed == nil {
					state = info.State
				}
			})
			if err != nil || failed != nil {
				t.Fatal(err, failed)
			}
		}
	}
	for name, c := range map[string]struct {
		then func(c *stampConn, s *net.TCPConn)
		want string
		err  error
	}{
		"more": {func(c *stampConn, s *net.TCPConn) { _, _ = s.Write([]byte("b")) }, "b", nil},
		"more, later": {func(c *stampConn, s *net.TCPConn) {
			go func() { _, _ = s.Write([]byte("b")) }()
		}, "b", nil},
		"end":   {func(c *stampConn, s *net.TCPConn) { _ = s.Close(); closedByPeer(c) }, "", io.EOF},
		"reset": {func(c *stampConn, s *net.TCPConn) { _ = s.SetLinger(0); _ = s.Close(); closedByPeer(c) }, "", syscall.ECONNRESET},
		"more, then reset": {func(c *stampConn, s *net.TCPConn) {
			_, _ = s.Write([]byte("b"))
			_ = s.SetLinger(0)
			_ = s.Close()
			closedByPeer(c)
		}, "b", syscall.ECONNRESET},
	} {
		conn, server := stampedPair(t)
		if _, err := server.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(buf); err != nil || string(buf[:n]) != "a" || !conn.kernel {
			t.Fatalf("%s: first read %q, %v, stamped by the kernel: %v", name, buf[:n], err, conn.kernel)
		}
		c.then(conn, server)
		n, err := conn.Read(buf)
		if n > 0 && err == nil && c.err != nil {
			var more int
			more, err = conn.Read(buf[n:])
			n += more
		}
		if string(buf[:n]) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %q, %v", name, buf[:n], err, c.want, c.err)
		}
	}
}
