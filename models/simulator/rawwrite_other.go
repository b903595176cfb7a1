//go:build !unix

package simulator

import "errors"

// rawWrites is false where a socket cannot be written without waiting; the
// connection's own Write is used instead.
const rawWrites = false

func tryWrite(uintptr, []byte) (int, bool, error) { return 0, false, errors.ErrUnsupported }
