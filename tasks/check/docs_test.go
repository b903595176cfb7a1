package check

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestCausesAreDocumented fails when a cause or a line does not stand in
// docs/check.md.
func TestCausesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("causes.go")
	if err != nil {
		t.Fatal(err)
	}
	causes := regexp.MustCompile(`= "([a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(causes) < 50 {
		t.Fatalf("%d causes found in causes.go", len(causes))
	}
	for _, c := range causes {
		if !strings.Contains(string(page), "`"+c[1]+"`") {
			t.Errorf("docs/check.md does not name the cause %s", c[1])
		}
	}
	for _, name := range Checks {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/check.md does not name the line %s", name)
		}
	}
}
