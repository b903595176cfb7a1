package outputs

import (
	"os"
	"path/filepath"
	"runtime"
)

// HostInfo is the machine the client ran on.
type HostInfo struct {
	OS          string  `json:"os"`
	Arch        string  `json:"arch"`
	Kernel      *string `json:"kernel"`
	CPUModel    *string `json:"cpu_model"`
	CPUs        int     `json:"cpus"`       // logical processors usable by the process
	GOMAXPROCS  int     `json:"gomaxprocs"` // threads running Go code at once
	MemoryBytes *int64  `json:"memory_bytes"`
	OpenFiles   *uint64 `json:"open_files_limit"`
	Hostname    string  `json:"hostname"`
	GoVersion   string  `json:"go_version"`
}

// Host describes this machine. What cannot be found out is nil.
func Host() HostInfo {
	h := HostInfo{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0), GoVersion: runtime.Version()}
	h.Hostname, _ = os.Hostname()
	describeHost(&h)
	return h
}

// baseName is the last element of a path, also of "." and relative ones.
func baseName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}
