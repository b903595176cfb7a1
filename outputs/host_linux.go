package outputs

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func describeHost(h *HostInfo) {
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		k := unix.ByteSliceToString(u.Release[:]) + " " + unix.ByteSliceToString(u.Version[:])
		h.Kernel = &k
	}
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) == nil {
		n := int64(si.Totalram) * int64(si.Unit)
		h.MemoryBytes = &n
	}
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) == nil {
		n := uint64(lim.Cur)
		h.OpenFiles = &n
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for _, key := range []string{"model name", "Hardware", "Model"} {
			for line := range strings.Lines(string(b)) {
				if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
					v = strings.TrimSpace(v)
					h.CPUModel = &v
					return
				}
			}
		}
	}
}
