//go:build unix

package load

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// openFiles counts the open files of this process.
func openFiles() (int64, bool) {
	if runtime.GOOS == "linux" {
		// Since Linux 6.2 the directory's size is the number of its entries.
		if st, err := os.Stat("/proc/self/fd"); err == nil && st.Size() > 0 {
			return st.Size(), true
		}
	}
	d, err := os.Open("/dev/fd")
	if err != nil {
		return 0, false
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	return int64(len(names)) - 1, err == nil && len(names) > 0 // d itself is one of them
}

// openFilesLimit is the soft limit of open files.
func openFilesLimit() (uint64, bool) {
	var l unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l)
	return uint64(l.Cur), err == nil
}
