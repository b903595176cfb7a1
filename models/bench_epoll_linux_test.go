package models

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"ais_bench/models/transport"
)

// epollReader is the least any client of this language can do: one thread that
// waits for all sockets at once, reads and throws away. It returns how often it
// woke.
func epollReader(b *testing.B, addr string, streams int) (wakes int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ep, err := unix.EpollCreate1(0)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Close(ep)
	files := map[int32]*os.File{}
	for range streams {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(benchBody), benchBody)
		f, err := c.(*net.TCPConn).File() // a socket of our own, away from the runtime's poller
		_ = c.Close()
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		fd := int32(f.Fd())
		if err := unix.SetNonblock(int(fd), true); err != nil {
			b.Fatal(err)
		}
		if err := unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Events: unix.EPOLLIN, Fd: fd}); err != nil {
			b.Fatal(err)
		}
		files[fd] = f
	}
	buf := make([]byte, 64<<10)
	events := make([]unix.EpollEvent, 256)
	for len(files) > 0 {
		n, err := unix.EpollWait(ep, events, -1)
		if err != nil {
			continue // a signal
		}
		wakes++
		for _, e := range events[:n] {
			k, err := unix.Read(int(e.Fd), buf)
			if err == unix.EAGAIN {
				continue
			}
			if k <= 0 || bytes.HasSuffix(buf[:k], []byte("0\r\n\r\n")) {
				_ = unix.EpollCtl(ep, unix.EPOLL_CTL_DEL, int(e.Fd), nil)
				delete(files, e.Fd)
			}
		}
	}
	return wakes
}

// BenchmarkReadersFloor compares the bare reader of BenchmarkClientPerChunk, a
// goroutine a stream, with a loop around epoll_wait over the same streams: what
// could be won by not using the runtime's poller.
func BenchmarkReadersFloor(b *testing.B) {
	streams, perSecond, chunks := 1000, 20, 60
	if spec := os.Getenv("AIS_BENCH_STREAMS"); spec != "" {
		if _, err := fmt.Sscan(spec, &streams, &perSecond, &chunks); err != nil {
			b.Fatal(err)
		}
	}
	_, _, _ = transport.RaiseFileLimit()
	addr := startBenchServer(b, streams, perSecond, chunks)
	n := float64(streams*chunks) * float64(b.N)
	var bare, epoll float64
	wakes := 0
	for range b.N {
		runtime.GC()
		before := cpuTime()
		bareReader(b, addr, streams)
		bare += float64((cpuTime() - before).Microseconds())
		runtime.GC()
		before = cpuTime()
		wakes += epollReader(b, addr, streams)
		epoll += float64((cpuTime() - before).Microseconds())
	}
	b.ReportMetric(bare/n, "bare-µs/chunk")
	b.ReportMetric(epoll/n, "epoll-µs/chunk")
	b.ReportMetric(epoll/bare, "ratio")
	b.ReportMetric(float64(wakes)/n, "wakes/chunk")
	b.ReportMetric(0, "ns/op")
}
