//go:build !unix

package load

// openFiles is unknown here.
func openFiles() (int64, bool) { return 0, false }

// openFilesLimit: open files are not limited per process here.
func openFilesLimit() (uint64, bool) { return 0, false }
