//go:build !unix

package outputs

import (
	"errors"
	"fmt"
	"os"
)

// Lock keeps other processes from writing into the run until unlock is called.
// A process that is killed leaves the file; the message says so.
func (r *Run) Lock() (unlock func(), err error) {
	path := r.Path("run.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("run folder %s is being written by another process; if none is running, delete %s", r.dir, path)
	}
	if err != nil {
		return nil, explainWrite(path, err)
	}
	f.Close()
	return func() { os.Remove(path) }, nil
}
