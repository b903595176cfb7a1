package outputs

import "golang.org/x/sys/unix"

func describeHost(h *HostInfo) {
	if s, err := unix.Sysctl("machdep.cpu.brand_string"); err == nil {
		h.CPUModel = &s
	}
	if s, err := unix.Sysctl("kern.osrelease"); err == nil {
		h.Kernel = &s
	}
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil {
		v := int64(n)
		h.MemoryBytes = &v
	}
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) == nil {
		n := uint64(lim.Cur)
		h.OpenFiles = &n
	}
}
