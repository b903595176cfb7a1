package tasks

import (
	"errors"
	"io/fs"

	"ais_bench/datasets"
)

// EnvironmentError is a failure of the surroundings (no server, missing data,
// unwritable folder) rather than of a task's content.
type EnvironmentError struct{ Err error }

func (e *EnvironmentError) Error() string { return e.Err.Error() }
func (e *EnvironmentError) Unwrap() error { return e.Err }

// DataError tells data that are not there, a matter of the environment, from
// data that are wrong.
func DataError(err error) error {
	var missing *datasets.MissingError
	if errors.As(err, &missing) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return &EnvironmentError{err}
	}
	return err
}
