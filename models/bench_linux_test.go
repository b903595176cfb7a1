package models

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// The benchmark's server is this test binary started again, so that its CPU time
// is not counted as the client's.
const benchServerEnv = "AIS_BENCH_STREAM_SERVER"

func TestMain(m *testing.M) {
	if spec := os.Getenv(benchServerEnv); spec != "" {
		benchServer(spec)
		return
	}
	os.Exit(m.Run())
}

// benchServer waits for spec's number of streams and then sends to all of them in
// turn, evenly spread over the interval, with the wall time of each write as the
// event's text.
func benchServer(spec string) {
	var streams, perSecond, chunks int
	if _, err := fmt.Sscan(spec, &streams, &perSecond, &chunks); err != nil {
		panic(err)
	}
	_, _, _ = transport.RaiseFileLimit()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	for {
		conns := make([]net.Conn, 0, streams)
		got := make(chan net.Conn)
		for range streams {
			c, err := l.Accept()
			if err != nil {
				panic(err)
			}
			go func() {
				req, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					panic(err)
				}
				_, _ = io.Copy(io.Discard, req.Body)
				_, _ = io.WriteString(c, sseHead)
				got <- c
			}()
		}
		for range streams {
			conns = append(conns, <-got)
		}
		start := time.Now()
		gap := time.Second / time.Duration(perSecond*streams)
		for i := range chunks {
			for j, c := range conns {
				due := start.Add(time.Duration(i*streams+j) * gap)
				if d := time.Until(due); d > 50*time.Microsecond {
					time.Sleep(d - 50*time.Microsecond)
				}
				text := fmt.Sprintf(`data: {"id":"chatcmpl-1f2e3d4c5b6a79880102030405060708","object":"chat.completion.chunk","created":1790000000,"model":"Qwen/Qwen3-32B","choices":[{"index":0,"delta":{"content":"%d "},"logprobs":null,"finish_reason":null}]}`+"\n\n", time.Now().UnixNano())
				_, _ = fmt.Fprintf(c, "%x\r\n%s\r\n", len(text), text)
			}
		}
		for _, c := range conns {
			_, _ = io.WriteString(c, "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
			_ = c.Close()
		}
	}
}

func startBenchServer(b *testing.B, streams, perSecond, chunks int) string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d", benchServerEnv, streams, perSecond, chunks))
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(addr)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func residentBytes() int64 {
	raw, _ := os.ReadFile("/proc/self/statm")
	f := strings.Fields(string(raw))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

const benchBody = `{"messages":[{"content":"hi","role":"user"}],"model":"m","stream":true,"stream_options":{"include_usage":true}}`

// bareReader is the least a client can do: a goroutine a stream that reads the
// socket and looks for the end.
func bareReader(b *testing.B, addr string, streams int) {
	var wg sync.WaitGroup
	for range streams {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c, err := net.Dial("tcp", addr)
			if err != nil {
				b.Error(err)
				return
			}
			defer c.Close()
			_, _ = fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(benchBody), benchBody)
			buf := make([]byte, 4096)
			for {
				n, err := c.Read(buf)
				if bytes.HasSuffix(buf[:n], []byte("0\r\n\r\n")) || err != nil {
					return
				}
			}
		}()
	}
	wg.Wait()
}

// BenchmarkClientPerChunk reads the same streams with the client and with a bare
// socket reader, in turn, and reports the CPU time of each a chunk, their ratio,
// and the error of the client's time stamps against the server's own.
// AIS_BENCH_STREAMS="streams tokens/s chunks" changes the load.
func BenchmarkClientPerChunk(b *testing.B) {
	streams, perSecond, chunks := 1000, 20, 60
	if spec := os.Getenv("AIS_BENCH_STREAMS"); spec != "" {
		if _, err := fmt.Sscan(spec, &streams, &perSecond, &chunks); err != nil {
			b.Fatal(err)
		}
	}
	_, _, _ = transport.RaiseFileLimit()
	addr := startBenchServer(b, streams, perSecond, chunks)
	var bare, client time.Duration
	var lateness []int64
	var memory, kernel, other int64
	for range b.N {
		runtime.GC()
		before := cpuTime()
		bareReader(b, addr, streams)
		bare += cpuTime() - before

		runtime.GC()
		clock := transport.NewClock()
		c, err := New(chatConfig(addr), clock, Options{})
		if err != nil {
			b.Fatal(err)
		}
		results := make([]*Result, streams)
		resident := residentBytes()
		before = cpuTime()
		var wg sync.WaitGroup
		for i := range streams {
			wg.Add(1)
			go func() {
				defer wg.Done()
				results[i] = c.Do(context.Background(), streamed("hi"))
			}()
		}
		time.Sleep(time.Second * time.Duration(chunks) / time.Duration(perSecond) / 2)
		memory = max(memory, (residentBytes()-resident)/int64(streams))
		wg.Wait()
		client += cpuTime() - before
		c.Close()
		rep := clock.Report()
		kernel += rep.KernelReads
		other += rep.OtherReads
		for _, r := range results {
			r.Decode()
			if r.Status != outputs.StatusOK {
				b.Fatalf("%s: %s", r.Status, r.Error)
			}
			for i, f := range strings.Fields(r.Text) {
				wall, err := strconv.ParseInt(f, 10, 64)
				if err != nil {
					b.Fatal(err)
				}
				lateness = append(lateness, r.Sent+r.ChunkAt[i]-(wall-rep.OffsetEndNS))
			}
		}
	}
	n := float64(streams*chunks) * float64(b.N)
	slices.Sort(lateness)
	at := func(q float64) float64 { return float64(lateness[int(q*float64(len(lateness)-1))]) / 1e3 }
	b.ReportMetric(float64(client.Microseconds())/n, "client-µs/chunk")
	b.ReportMetric(float64(bare.Microseconds())/n, "bare-µs/chunk")
	b.ReportMetric(float64(client)/float64(bare), "ratio")
	b.ReportMetric(at(0.5), "p50-µs-late")
	b.ReportMetric(at(0.99), "p99-µs-late")
	b.ReportMetric(at(1), "max-µs-late")
	b.ReportMetric(float64(memory)/1024, "KiB/stream")
	b.ReportMetric(float64(kernel)/float64(kernel+other)*100, "kernel-%")
	b.ReportMetric(0, "ns/op")
}
