//go:build !windows

package transport

import (
	"errors"
	"syscall"
)

// isReset tells a connection that the other side has torn down.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
