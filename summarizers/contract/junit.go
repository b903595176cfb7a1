package contract

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// The JUnit form that Jenkins, GitLab and GitHub's reporters read: one test case a
// clause. A clause that decides and failed is a failure, one that decides and is
// undecided an error; a minor clause that did not pass is skipped with its
// verdict, because it fails nothing.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string       `xml:"name,attr"`
	ClassName string       `xml:"classname,attr"`
	Time      string       `xml:"time,attr"`
	Skipped   *junitResult `xml:"skipped"`
	Error     *junitResult `xml:"error"`
	Failure   *junitResult `xml:"failure"`
	Out       string       `xml:"system-out"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the document as JUnit XML.
func (d *Document) WriteJUnit(w io.Writer) error {
	at := time.Now()
	if t, err := time.Parse(time.RFC3339, d.GeneratedAt); err == nil {
		at = t
	}
	s := junitSuite{Name: d.Contract.Name, Time: "0", Timestamp: at.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{{"verdict", string(d.State)}, {"reason", d.Reason}, {"contract", d.Contract.Path}, {"contract_sha256", d.Contract.SHA256},
			{"confidence", fmt.Sprint(d.Contract.Confidence)}, {"tool", d.Tool}}}
	for _, r := range d.Runs {
		s.Properties = append(s.Properties, junitProperty{"run", r})
	}
	if d.Baseline != nil {
		s.Properties = append(s.Properties, junitProperty{"baseline", *d.Baseline})
	}
	for _, r := range d.Clauses {
		s.Cases = append(s.Cases, r.junit())
	}
	if len(d.Problems) > 0 {
		text := strings.Join(d.Problems, "\n")
		s.Cases = append(s.Cases, junitCase{Name: "the run is valid", ClassName: "gate.validity", Time: "0",
			Error: &junitResult{Message: "not a valid run", Type: string(Inconclusive), Text: text}, Out: text})
	}
	for _, c := range s.Cases {
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	doc := junitSuites{Name: "ais_bench gate", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Time: "0", Suites: []junitSuite{s}}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("the verdict as JUnit XML: %w", err)
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

func (r Ruling) junit() junitCase {
	c := junitCase{Name: r.Name, ClassName: "gate." + string(r.Severity), Time: "0", Out: r.words()}
	message := r.Why
	if message == "" {
		message = r.brief()
	}
	result := &junitResult{Message: message, Type: string(r.State), Text: r.words()}
	switch {
	case r.State == Pass:
	case !r.Decides:
		c.Skipped = &junitResult{Message: string(r.State) + " (minor): " + message}
	case r.State == Fail:
		c.Failure = result
	default:
		c.Error = result
	}
	return c
}

// brief is the figures on one line.
func (r Ruling) brief() string {
	var list []string
	for _, m := range r.Metrics {
		list = append(list, fmt.Sprintf("%s = %s, interval %s", m.Name, m.text(), m.span()))
	}
	return strings.Join(list, "; ")
}

// words is everything about a ruling as text.
func (r Ruling) words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", r.State, r.Expr)
	if r.Reason != "" {
		fmt.Fprintf(&b, "demanded because: %s\n", r.Reason)
	}
	if r.Why != "" {
		fmt.Fprintf(&b, "why: %s\n", r.Why)
	}
	for _, m := range r.Metrics {
		fmt.Fprintf(&b, "%s = %s, interval %s, n %d", m.Name, m.text(), m.span(), m.N)
		if m.Method != "" {
			fmt.Fprintf(&b, ", %s", m.Method)
		}
		if m.Level != nil {
			fmt.Fprintf(&b, " at %.6g", *m.Level)
		}
		if m.Reason != "" {
			fmt.Fprintf(&b, " (%s)", m.Reason)
		}
		b.WriteByte('\n')
		for _, n := range m.Notes {
			fmt.Fprintf(&b, "  %s\n", n)
		}
	}
	return b.String()
}
