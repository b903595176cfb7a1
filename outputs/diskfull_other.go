//go:build windows || plan9 || js || wasip1

package outputs

import (
	"errors"
	"syscall"
)

// diskFull reports whether a write failed for want of space: Windows'
// ERROR_HANDLE_DISK_FULL (39) and ERROR_DISK_FULL (112).
func diskFull(err error) bool {
	var n syscall.Errno
	return errors.As(err, &n) && (n == 39 || n == 112)
}

// readOnly reports whether a write failed because the disk takes none: Windows'
// ERROR_WRITE_PROTECT (19).
func readOnly(err error) bool {
	var n syscall.Errno
	return errors.As(err, &n) && n == 19
}
