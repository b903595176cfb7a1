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
	time.Sleep(time.Second)
	os.Stdout.WriteString("a second has passed\n")
	for i := 5000; ; i++ {
		if j.Append(sampleRecord(i)) != nil {
			os.Exit(4)
		}
	}
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
		t.Fatalf("%d records survive, want at least the 5,000 that were a second old", len(recs))
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
