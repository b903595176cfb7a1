//go:build race

package verify

// raceDetector: built with it, a nil slice inside the Parquet library ends the
// program, where it is otherwise a panic that the reader turns into an error.
const raceDetector = true
