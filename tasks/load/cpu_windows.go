package load

import "golang.org/x/sys/windows"

// processCPU is the CPU time of this process so far, user and system, in
// seconds.
func processCPU() (float64, bool) {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return 0, false
	}
	ticks := func(f windows.Filetime) float64 { return float64(uint64(f.HighDateTime)<<32 | uint64(f.LowDateTime)) }
	return (ticks(kernel) + ticks(user)) * 100e-9, true // in steps of 100 ns
}
