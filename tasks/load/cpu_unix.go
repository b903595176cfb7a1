//go:build unix

package load

import "golang.org/x/sys/unix"

// processCPU is the CPU time of this process so far, user and system, in
// seconds.
func processCPU() (float64, bool) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, true
}
