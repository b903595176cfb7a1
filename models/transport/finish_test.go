package transport

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// lateEnd is a server whose answers end with the terminating chunk only when
// told to: one value of end for every answer.
func lateEnd(t *testing.T, end <-chan struct{}) (origin string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				br := bufio.NewReader(nc)
				for {
					r, err := http.ReadRequest(br)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					fmt.Fprint(nc, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nyes\r\n")
					<-end
					fmt.Fprint(nc, "0\r\n\r\n")
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func ask(t *testing.T, c *Client, patience time.Duration) *Exchange {
	t.Helper()
	x, err := c.Do(context.Background(), &Request{Method: "GET", Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for got.String() != "yes" {
		p, _, err := x.Next()
		if err != nil {
			t.Fatal(err)
		}
		got.Write(p)
	}
	was := *x
	x.Finish(patience)
	return &was
}

// TestFinishWaitsBeside: Finish returns before the body has ended (it would
// never, were it waited for), and the connection is used again once it has.
func TestFinishWaitsBeside(t *testing.T) {
	end := make(chan struct{})
	c := newTestClient(t, ClientConfig{Origin: lateEnd(t, end)})
	ask(t, c, time.Hour)
	end <- struct{}{}
	c.pool.wait = time.Hour // the connection is on its way back: it is waited for
	if x := ask(t, c, time.Hour); !x.Reused || x.SetupWait != 0 {
		t.Errorf("reused %v, waited %d", x.Reused, x.SetupWait)
	}
	// Somebody waits while the end comes.
	got := make(chan *Exchange)
	go func() { got <- ask(t, c, time.Hour) }()
	end <- struct{}{}
	if x := <-got; !x.Reused {
		t.Error("the connection that came back was not handed on")
	}
	// The end does not come in time for the next one, which gets a connection of its own.
	c.pool.wait = time.Microsecond
	if x := ask(t, c, time.Hour); x.Reused {
		t.Error("a connection that is still in use was used again")
	}
	if st := c.Stats(); st.Opened != 2 || st.Reused != 2 {
		t.Errorf("pool %+v", st)
	}
	end <- struct{}{}
	end <- struct{}{}
}

// TestFinishGivesUp: a body that never ends costs a connection, and those who
// wait for it go on.
func TestFinishGivesUp(t *testing.T) {
	end := make(chan struct{})
	c := newTestClient(t, ClientConfig{Origin: lateEnd(t, end)})
	ask(t, c, 20*time.Millisecond)
	c.pool.wait = time.Hour
	if x := ask(t, c, 0); x.Reused {
		t.Error("a connection with half an answer in it was used again")
	}
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if c.pool.ending != 0 || len(c.pool.queue) != 0 {
		t.Errorf("%d connections are still expected, %d requests wait for one", c.pool.ending, len(c.pool.queue))
	}
	close(end)
}

// TestSetupWaitIsTold: a request that the client's own limit of set-ups holds up
// says so, whatever becomes of it.
func TestSetupWaitIsTold(t *testing.T) {
	c := newTestClient(t, ClientConfig{Origin: "http://127.0.0.1:1", MaxDials: 1})
	c.pool.dialer.slots <- struct{}{} // somebody is connecting and does not come to an end
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	x, err := c.Do(ctx, &Request{Method: "GET", Path: "/"})
	st := c.Stats()
	if err == nil || x.SetupWait <= 0 || st.SetupWaits != 1 || st.SetupWaitNS != x.SetupWait || st.MaxSetupWaitNS != x.SetupWait {
		t.Errorf("error %v, waited %d, pool %+v", err, x.SetupWait, st)
	}
}
