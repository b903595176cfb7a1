//go:build !unix

package transport

import "math"

// RaiseFileLimit does nothing where open files are not limited per process.
func RaiseFileLimit() (soft, hard uint64, err error) { return math.MaxUint64, math.MaxUint64, nil }
