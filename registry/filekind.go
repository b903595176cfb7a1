package registry

import "io/fs"

// FileKind names what a file mode is of, for messages about files that have to be
// ordinary ones.
func FileKind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "an ordinary file"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m.IsDir():
		return "a folder"
	}
	return "something special"
}
