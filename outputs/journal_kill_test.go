package outputs

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The test binary is its own victim: as a child it appends until it is killed.
const killEnv = "AIS_BENCH_TEST_JOURNAL"

func TestMain(m *testing.M) {
	if path := os.Getenv(killEnv); path != "" {
		appendUntilKilled(path)
	}
	code := m.Run()
	if chromium.stop != nil {
		chromium.stop()
	}
	os.Exit(code)
}

func appendUntilKilled(path string) {
	j, err := openJournal(path, nil)
	if err != nil {
		os.Exit(3)
	}
	for i := range 5000 {
		j.Append(sampleRecord(i))
	}
	// Nothing but time brings the last of them there: half a second, more where the
	// machine is too busy for the writer's turn.
	for began := time.Now(); inFile(path) < 5000; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 5*time.Minute {
			os.Exit(5)
		}
	}
	os.Stdout.WriteString("what was appended is in the file\n")
	for i := 5000; ; i++ {
		if j.Append(sampleRecord(i)) != nil {
			os.Exit(4)
		}
	}
}

// inFile is how many whole records a journal that is being written has.
func inFile(path string) (n int) {
	for rec := range ReadJournal(path) {
		if rec != nil {
			n++
		}
	}
	return n
}

func TestJournalSurvivesKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "x.journal")
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), killEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill() // SIGKILL, in the middle of appending at full speed
	cmd.Wait()
	recs, damage := collect(t, ReadJournal(path))
	if len(recs) < 5000 {
		t.Fatalf("%d records survive, want at least the 5,000 that were in the file before", len(recs))
	}
	for i, r := range recs {
		if want := sampleRecord(i).RequestID; r.RequestID != want {
			t.Fatalf("record %d is %s, want %s", i, r.RequestID, want)
		}
	}
	for _, d := range damage {
		if !d.Tail {
			t.Errorf("damage before the tail: %v", d)
		}
	}
	j, err := openJournal(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if j.Len() != int64(len(recs)) {
		t.Errorf("reopened with %d records, want %d", j.Len(), len(recs))
	}
	j.Close()
}
