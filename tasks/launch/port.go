package launch

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"

	"ais_bench/tasks"
)

// ReservePort finds a port of the loopback address that nothing listens on and that
// is the caller's until free: an engine may load for minutes before it takes it. The
// port lies below those that systems give to connections, and to listeners that name
// none (from 32768 on Linux, from 49152 elsewhere); and its UDP namesake is held
// meanwhile, so that no other ais_bench is given it. The error is the environment's.
func ReservePort() (port int, free func(), err error) {
	for range 1000 {
		port = 10000 + rand.IntN(20000)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		var held net.PacketConn
		if held, err = net.ListenPacket("udp", address); err != nil {
			continue
		}
		var ln net.Listener
		if ln, err = net.Listen("tcp", address); err == nil {
			_ = ln.Close() // it has served its purpose
			return port, func() { _ = held.Close() }, nil
		}
		_ = held.Close()
	}
	return 0, nil, &tasks.EnvironmentError{Err: fmt.Errorf("find a free port: %w", err)}
}
