//go:build !linux || !(amd64 || arm64 || riscv64 || loong64 || ppc64le || s390x)

package transport

import "net"

// kernelStamps does not exist on this system: arrivals are stamped when Read
// returns.
type kernelStamps struct{}

func (*kernelStamps) use(net.Conn) bool { return false }

func (*kernelStamps) read([]byte) (int, int64, error) { return 0, 0, net.ErrClosed }

func (*kernelStamps) stale() bool { return false }
