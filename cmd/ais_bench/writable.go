package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ais_bench/tasks"
)

// canWrite finds before a command does its work that a file it is to leave cannot be
// written: hours of measuring are not the way to learn of a slip in its name. flag is
// how the command line names it. What is there is neither opened for writing over nor
// made longer; folders on the way are not made.
func canWrite(flag, path string) error {
	refuse := func(format string, args ...any) error {
		return &tasks.EnvironmentError{Err: fmt.Errorf("%s %s cannot be written: %s", flag, path, fmt.Sprintf(format, args...))}
	}
	st, err := os.Stat(path)
	switch {
	case err == nil && st.IsDir():
		return refuse("it is a folder; name a file")
	case err == nil && st.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return refuse("%v", causeOf(err))
		}
		return f.Close()
	case err == nil: // a pipe or a device: writing is the only way to know, but for the one that never takes a byte
		if full, err := os.Stat("/dev/full"); err == nil && os.SameFile(st, full) {
			return refuse("that device is always full")
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return refuse("%v", causeOf(err))
	}
	if st, err := os.Lstat(path); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		return nil // a link to what is not there yet: it is made at its other end
	}
	dir := filepath.Dir(path)
	for { // the nearest folder that is there has to take what is made on the way
		st, err := os.Stat(dir)
		if err == nil {
			if !st.IsDir() {
				return refuse("%s is no folder", dir)
			}
			break
		}
		if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
			dir = parent
			continue
		}
		return refuse("%s: %v", dir, causeOf(err))
	}
	probe, err := os.CreateTemp(dir, ".ais_bench-*")
	if err != nil {
		return refuse("%v in %s", causeOf(err), dir)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// causeOf is an error without the path that is named already.
func causeOf(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
