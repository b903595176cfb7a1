package launch

import (
	"net"
	"strconv"
	"testing"
)

// A reserved port is nobody else's, and can be listened on.
func TestReservePort(t *testing.T) {
	seen := map[int]bool{}
	for range 300 {
		port, free, err := ReservePort()
		if err != nil {
			t.Fatal(err)
		}
		defer free()
		if seen[port] {
			t.Fatalf("port %d was given twice", port)
		}
		if seen[port] = true; port < 1024 || port >= 32768 {
			t.Fatalf("port %d is one that the system gives away", port)
		}
	}
	port, free, err := ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	free()
	for range 300 {
		p, free, err := ReservePort()
		if err != nil {
			t.Fatal(err)
		}
		free()
		if p == port {
			t.Fatalf("port %d was given while something listens on it", p)
		}
	}
}
