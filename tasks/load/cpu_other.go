//go:build !unix && !windows

package load

// processCPU is unknown here.
func processCPU() (float64, bool) { return 0, false }
