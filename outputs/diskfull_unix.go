//go:build !windows && !plan9 && !js && !wasip1

package outputs

import (
	"errors"
	"syscall"
)

// diskFull reports whether a write failed for want of space or quota.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// readOnly reports whether a write failed because the disk takes none.
func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
