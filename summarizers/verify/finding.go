package verify

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Status is what came of one check.
type Status string

// The statuses.
const (
	OK         Status = "ok"
	Differs    Status = "differs"     // the file says something else than what it is made from
	Missing    Status = "missing"     // the manifest names it, or something else needs it
	Unreadable Status = "unreadable"  // it cannot be read as what it is
	NotChecked Status = "not checked" // Detail says why
)

// Bad reports whether the status is a difference.
func (s Status) Bad() bool { return s == Differs || s == Missing || s == Unreadable }

// Finding is what came of checking one file for one thing. There may be several
// for a file.
type Finding struct {
	Check  string `json:"check"` // hash, records, answers, performance, scores, summary, verdict, data
	File   string `json:"file"`  // relative to the run folder; a data file as the manifest has it
	Where  string `json:"where,omitempty"`
	Status Status `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Stored and Recomputed are the two values of a difference, as JSON or text.
	Stored     string `json:"stored,omitempty"`
	Recomputed string `json:"recomputed,omitempty"`
}

// Report is everything that was checked.
type Report struct {
	Run      string    `json:"run"`
	Manifest string    `json:"manifest_sha256"`
	Findings []Finding `json:"findings"`
	// Numbers is how many single numbers were recomputed and compared.
	Numbers int64 `json:"numbers_recomputed"`
}

func (r *Report) add(f Finding) { r.Findings = append(r.Findings, f) }

func (r *Report) ok(check, file, format string, args ...any) {
	r.add(Finding{Check: check, File: file, Status: OK, Detail: fmt.Sprintf(format, args...)})
}

func (r *Report) notChecked(check, file, format string, args ...any) {
	r.add(Finding{Check: check, File: file, Status: NotChecked, Detail: fmt.Sprintf(format, args...)})
}

// Differences are the findings that are no agreement.
func (r *Report) Differences() []Finding {
	var out []Finding
	for _, f := range r.Findings {
		if f.Status.Bad() {
			out = append(out, f)
		}
	}
	return out
}

// maxDifferences is how many differences of one file are listed.
const maxDifferences = 20

// limited adds at most maxDifferences findings of one file and says how many
// more there are.
type limited struct {
	r           *Report
	check, file string
	n           int
}

func (l *limited) add(f Finding) {
	f.Check, f.File = l.check, l.file
	if f.Status == "" {
		f.Status = Differs
	}
	l.n++
	if l.n <= maxDifferences {
		l.r.add(f)
	}
}

// end closes the list and reports whether there was no difference.
func (l *limited) end() bool {
	if more := l.n - maxDifferences; more > 0 {
		l.r.add(Finding{Check: l.check, File: l.file, Status: Differs, Detail: fmt.Sprintf("… and %d more differences", more)})
	}
	return l.n == 0
}

// Text is what the finding says, in one line.
func (f Finding) Text() string {
	var parts []string
	if f.Where != "" {
		parts = append(parts, f.Where+":")
	}
	if f.Detail != "" {
		parts = append(parts, f.Detail)
	}
	if f.Stored != "" || f.Recomputed != "" {
		parts = append(parts, fmt.Sprintf("stored %s, recomputed %s", orNothing(f.Stored), orNothing(f.Recomputed)))
	}
	return strings.Join(parts, " ")
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// Line is the report in one line.
func (r *Report) Line() string {
	counts := map[Status]int{}
	files := map[string]bool{}
	for _, f := range r.Findings {
		counts[f.Status]++
		if f.Status.Bad() {
			files[f.File] = true
		}
	}
	bad := counts[Differs] + counts[Missing] + counts[Unreadable]
	line := fmt.Sprintf("%s: %d checks agree, %d numbers recomputed", filepath.Base(r.Run), counts[OK], r.Numbers)
	if n := counts[NotChecked]; n > 0 {
		line += fmt.Sprintf(", %d things not checked", n)
	}
	if bad > 0 {
		names := make([]string, 0, len(files))
		for f := range files {
			names = append(names, f)
		}
		slices.Sort(names)
		line += fmt.Sprintf("; %d DIFFERENCES in %s", bad, strings.Join(names, ", "))
	} else {
		line += "; no difference"
	}
	return line
}
