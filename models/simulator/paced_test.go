//go:build unix

package simulator

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The heap gives due times in order whatever the order of arrival.
func TestPacerHeapOrders(t *testing.T) {
	p := &pacer{}
	for i := range uint64(1000) {
		p.push(dueSequence{at: int64(mix(3, i) >> 20)})
	}
	for i := range uint64(1000) { // replace each top once: later, so that it moves down
		top := p.heap[0]
		p.replaceTop(dueSequence{at: top.at + int64(mix(4, i)>>22)})
	}
	last := int64(-1)
	for len(p.heap) > 0 {
		if p.heap[0].at < last {
			t.Fatal("not in order")
		}
		last = p.heap[0].at
		p.pop()
	}
}

// Due times are absolute: token i is due at first + i/rate, with no rounding that adds up.
func TestPacedScheduleIsAbsolute(t *testing.T) {
	cfg, err := Config{TokensPerSecond: 30, TTFT: 100 * time.Millisecond}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	var m = newMetrics()
	srv := &Server{cfg: cfg}
	p, err := newPacer(&cfg, func() int64 { return 0 }, m, &srv.late)
	if err != nil {
		t.Fatal(err)
	}
	defer p.sleep.close()
	s := &sequence{call: &call{stream: true}, arrival: 1000, plan: outputPlan{total: 3001}}
	p.admit(s)
	if s.due != 1000+100_000_000 {
		t.Errorf("first token due at %d", s.due)
	}
	s.produced = 3000
	if got, want := p.next(s), s.firstDue+100_000_000_000; got != want {
		t.Errorf("token 3000 is due at %d, want %d", got, want)
	}
}

func TestPacedAnswersAndTruth(t *testing.T) {
	var file bytes.Buffer
	truth := NewTruthWriter(&file)
	mem := &MemoryTruth{}
	srv, url := start(t, Config{TokensPerSecond: 5000, TTFT: 2 * time.Millisecond, Truth: teeTruth{truth, mem}})
	const n, tokens = 40, 25
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			stream := i%4 != 0
			body := fmt.Sprintf(`{"prompt":"x","max_tokens":%d,"ignore_eos":true,"stream":%v}`, tokens, stream)
			_, _, answer, err := post(t, url+"/v1/completions", body, "X-Request-Id", fmt.Sprint("r", i))
			if err != nil {
				t.Error(err)
				return
			}
			if stream {
				if s := readStream(t, answer); s.payloads != tokens || !s.done {
					t.Errorf("stream %d: %+v", i, s)
				}
			} else if r := decode(t, answer); r.Usage.Completion != tokens {
				t.Errorf("answer %d: %+v", i, r.Usage)
			}
		})
	}
	wg.Wait()
	_ = srv.Close()
	if err := truth.Close(); err != nil {
		t.Fatal(err)
	}
	raw := file.Bytes()
	requests, err := ReadTruth(bytes.NewReader(raw))
	if err != nil || len(requests) != n || len(mem.Requests()) != n {
		t.Fatalf("%d requests in the file, %d in memory, error %v", len(requests), len(mem.Requests()), err)
	}
	for _, r := range requests {
		got, last := 0, r.Mono
		for _, c := range r.Chunks {
			if c.Kind.Payload() {
				got += int(c.Tokens)
			}
			if c.Mono < last || (c.Wall-r.Wall)-(c.Mono-r.Mono) > int64(time.Second) {
				t.Errorf("%s: chunk at %d after %d", r.ID, c.Mono, last)
			}
			last = c.Mono
		}
		if got != tokens || !strings.HasPrefix(r.ID, "r") {
			t.Errorf("%s: %d tokens", r.ID, got)
		}
	}
	if _, err := ReadTruth(bytes.NewReader(raw[:len(raw)-5])); err != nil {
		t.Errorf("a file cut off in mid-record: %v", err)
	}
	if _, err := ReadTruth(strings.NewReader("{}")); err == nil {
		t.Error("not a truth file, but accepted")
	}
	broken := append([]byte(truthMagic), 'X')
	if _, err := ReadTruth(bytes.NewReader(broken)); err == nil || !contains(err.Error(), "byte 10") {
		t.Errorf("unknown record: %v", err)
	}
}

type teeTruth struct{ a, b TruthSink }

func (t teeTruth) Request(r TruthRequest) { t.a.Request(r); t.b.Request(r) }
func (t teeTruth) Chunk(c TruthChunk)     { t.a.Chunk(c); t.b.Chunk(c) }

// A client that does not read must not hold up the others of its worker: the
// stalled stream is far more than sockets hold, so were its writes waited for, the
// other would never end.
func TestStalledReaderDoesNotBlockOthers(t *testing.T) {
	const stalled, other = 100_000, 2000 // tokens; 20 MB and more
	srv, url := start(t, Config{TokensPerSecond: 1e6, TTFT: time.Millisecond, Workers: 1})
	nc, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	body := fmt.Sprintf(`{"prompt":"x","max_tokens":%d,"ignore_eos":true,"stream":true}`, stalled)
	fmt.Fprintf(nc, "POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%s", len(body), body)
	for srv.Stats().Chunks < stalled { // all of it has been handed over, though nobody reads
		time.Sleep(time.Millisecond)
	}
	_, _, answer, err := post(t, url+"/v1/completions", fmt.Sprintf(`{"prompt":"y","max_tokens":%d,"ignore_eos":true,"stream":true}`, other))
	if err != nil {
		t.Fatal(err)
	}
	if s := readStream(t, answer); s.payloads != other || !s.done {
		t.Errorf("%d payloads", s.payloads)
	}
	// And nothing of the stalled one is lost once it reads.
	resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(resp.Body)
	if n := bytes.Count(all, []byte(`"text":"`)); err != nil || n != stalled || !bytes.HasSuffix(all, []byte("data: [DONE]\n\n")) {
		t.Errorf("%d events of %d, error %v", n, stalled, err)
	}
}

// BenchmarkSimulatorCapacity measures what the simulator can send: paced
// streams, read by goroutines that only discard bytes. It reports chunks per
// second and the CPU time of the whole process per chunk, readers included.
// rate=max asks for more than any machine can write, so it shows the ceiling.
//
//	go test -run '^$' -bench Capacity -benchtime 40000x ./models/simulator
func BenchmarkSimulatorCapacity(b *testing.B) {
	for _, bc := range []struct {
		name    string
		streams int
		rate    float64
	}{{"streams=1000/rate=20", 1000, 20}, {"streams=100/rate=max", 100, 1e6}, {"streams=1000/rate=max", 1000, 1e6}} {
		b.Run(bc.name, func(b *testing.B) {
			srv, url := start(b, Config{TokensPerSecond: bc.rate, TTFT: time.Millisecond})
			body := fmt.Sprintf(`{"messages":[{"role":"user","content":"x"}],"max_tokens":%d,"ignore_eos":true,"stream":true}`, max(b.N/bc.streams, 1))
			request := fmt.Sprintf("POST /v1/chat/completions HTTP/1.0\r\nhost: x\r\ncontent-length: %d\r\n\r\n%s", len(body), body)
			before, began := cpuTime(), time.Now()
			var wg sync.WaitGroup
			for range bc.streams {
				wg.Go(func() {
					nc, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
					if err != nil {
						b.Error(err)
						return
					}
					defer nc.Close()
					if _, err := io.WriteString(nc, request); err != nil {
						b.Error(err)
					}
					buf := make([]byte, 4096)
					for err == nil {
						_, err = nc.Read(buf)
					}
					if err != io.EOF {
						b.Error(err)
					}
				})
			}
			wg.Wait()
			st := srv.Stats()
			b.ReportMetric(float64(st.Chunks)/time.Since(began).Seconds(), "chunks/s")
			b.ReportMetric(float64(cpuTime()-before)/1e3/float64(st.Chunks), "cpu-µs/chunk")
			b.ReportMetric(float64(st.MaxLateNS)/1e3, "max-late-µs")
		})
	}
}

// cpuTime is the process's user and system time.
func cpuTime() time.Duration {
	var t syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &t); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return time.Duration(t.Utime.Nano() + t.Stime.Nano())
}
