//go:build !linux && !darwin

package outputs

// describeHost adds nothing here: kernel, processor and memory stay unknown.
func describeHost(*HostInfo) {}
