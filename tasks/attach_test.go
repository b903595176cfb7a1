package tasks

import (
	"fmt"
	"os"
	"path"
	"testing"

	"ais_bench/outputs"
)

// TestAttachedFilesAreKept: contracts given to --mode viz again and again, and then
// to a session that goes on, are each kept, and none is stored twice.
func TestAttachedFilesAreKept(t *testing.T) {
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &outputs.Manifest{Sessions: []outputs.Session{{}}}
	attach := func(text string) {
		t.Helper()
		if _, err := Attach(run, m, Attachment{Kind: "contract", Name: "acceptance", Text: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	session := func(text string) { // as startManifest does it
		t.Helper()
		m.Sessions = append(m.Sessions, outputs.Session{})
		if err := storeText(run, m, map[string]bool{}, len(m.Sessions), "contract", "acceptance", "", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	attach("first")
	attach("second")
	attach("third")
	session("fourth") // the second session: its number is in the third one's name
	session("fifth")
	attach("sixth")
	for _, again := range []string{"first", "second", "third", "fourth", "fifth", "sixth"} {
		attach(again)
		session(again)
	}
	var got, names []string
	var of []int
	for _, c := range m.Configs {
		text, err := os.ReadFile(run.Path(c.Path))
		if err != nil {
			t.Error(err)
		}
		if sum, _, err := outputs.HashFile(run.Path(c.Path)); err != nil || sum != c.SHA256 {
			t.Errorf("%s is not the file that was stored: %v", c.Path, err)
		}
		got, of, names = append(got, string(text)), append(of, c.Session), append(names, path.Base(c.Path))
	}
	if fmt.Sprint(got) != "[first second third fourth fifth sixth]" {
		t.Error(got)
	}
	// Each is of the session it was given in, whatever number its name has (0 = the first).
	if fmt.Sprint(of) != "[0 1 1 2 3 3]" {
		t.Errorf("of the sessions %v", of)
	}
	if want := "[contract-acceptance.yaml contract-acceptance-session1.yaml contract-acceptance-session2.yaml contract-acceptance-session3.yaml contract-acceptance-session4.yaml contract-acceptance-session5.yaml]"; fmt.Sprint(names) != want {
		t.Errorf("named %v", names)
	}
}
