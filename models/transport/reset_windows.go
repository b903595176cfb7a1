package transport

import (
	"errors"
	"syscall"
)

// isReset tells a connection that the other side has torn down.
func isReset(err error) bool {
	return errors.Is(err, syscall.WSAECONNRESET) || errors.Is(err, syscall.WSAECONNABORTED)
}
