package outputs

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// TestJournalWritesEveryHalfSecond: a kill loses no more than the last half second.
// The clock is the test's own.
func TestJournalWritesEveryHalfSecond(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.journal")
	synctest.Test(t, func(t *testing.T) {
		j, err := openJournal(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 { // far from what fills a batch
			if err := j.Append(sampleRecord(i)); err != nil {
				t.Fatal(err)
			}
			if n := inFile(path); n != i {
				t.Errorf("%d records are in the file at once, want the %d of before", n, i)
			}
			time.Sleep(500 * time.Millisecond)
			synctest.Wait() // for the writer, whose turn it is
			if n := inFile(path); n != i+1 {
				t.Errorf("half a second after record %d the file has %d", i+1, n)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
