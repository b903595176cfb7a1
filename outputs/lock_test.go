package outputs

import "testing"

// Two processes must not write one run folder at once; a second open file of
// the same process stands for the other process here, as locks are by open file.
func TestRunFolderIsLocked(t *testing.T) {
	run, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := run.Lock()
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(run.Dir())
	if err == nil {
		t.Fatalf("an empty folder was opened as a run: %v", other)
	}
	other = &Run{dir: run.dir}
	if _, err := other.Lock(); err == nil {
		t.Fatal("the folder was locked twice")
	}
	unlock()
	again, err := other.Lock()
	if err != nil {
		t.Fatalf("after unlock: %v", err)
	}
	again()
}
