package compare

import (
	"fmt"
	"math"
	"strings"
)

// Severity is what a difference means for a comparison.
type Severity string

// The severities, the worst first. "" = it does not matter.
const (
	Invalid Severity = "invalid" // what is compared is not the same thing: a change says nothing
	Caution Severity = "caution" // a change may come from this; it may also be what is compared on purpose
	Info    Severity = "info"    // worth knowing
)

func (s Severity) rank() int {
	switch s {
	case Invalid:
		return 3
	case Caution:
		return 2
	case Info:
		return 1
	}
	return 0
}

func worst(a, b Severity) Severity {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// condition is one thing a run was measured under.
type condition struct {
	text    string
	numbers []float64 // where it is judged by how far apart it is
	unknown bool
}

func known(format string, args ...any) condition {
	return condition{text: fmt.Sprintf(format, args...)}
}

// judgement is what a difference of one condition means.
type judgement struct {
	performance, accuracy Severity
	why                   string
}

func (j judgement) any() bool { return j.performance != "" || j.accuracy != "" }

// rule judges two values of one condition. It is only asked where both are known,
// except alone, which judges a single run.
type rule struct {
	judge func(base, other condition) judgement
	// unknown is the judgement where one side does not tell; neither telling counts as
	// nothing unless silent is set.
	unknown judgement
	silent  judgement
	alone   func(c condition) judgement
}

// different is a rule for texts that have to be equal.
func different(performance, accuracy Severity, why string) rule {
	return rule{judge: func(a, b condition) judgement {
		if a.text == b.text {
			return judgement{}
		}
		return judgement{performance, accuracy, why}
	}}
}

func (r rule) ifUnknown(performance, accuracy Severity, why string) rule {
	r.unknown = judgement{performance, accuracy, why}
	return r
}

// apart is a rule for numbers that may differ a little: by the largest relative
// difference of any of them.
func apart(caution, invalid float64, accuracy Severity, what string) rule {
	return rule{judge: func(a, b condition) judgement {
		d := 0.0
		for i := range min(len(a.numbers), len(b.numbers)) {
			x, y := a.numbers[i], b.numbers[i]
			switch {
			case x == y:
			case x == 0 || y == 0:
				d = math.Inf(1)
			default:
				d = max(d, math.Abs(y-x)/math.Abs(x))
			}
		}
		if d <= caution {
			return judgement{}
		}
		j := judgement{Caution, accuracy, fmt.Sprintf("%s differ by up to %.1f %%; above %g %% figures are of another workload", what, 100*d, 100*invalid)}
		if d > invalid {
			j.performance = Invalid
			j.why = fmt.Sprintf("%s differ by up to %.1f %%, more than %g %%: another workload", what, 100*d, 100*invalid)
		}
		return j
	}}
}

// Difference is one condition that is not the same, or not known to be.
type Difference struct {
	Subject     string   `json:"subject"`
	Base        string   `json:"base"`
	Other       string   `json:"other"`
	Performance Severity `json:"performance,omitempty"`
	Accuracy    Severity `json:"accuracy,omitempty"`
	Why         string   `json:"why"`
}

// found are conditions that a run turned out to have, not those it was given: runs
// of one configuration may differ in them.
var found = map[string]bool{"client-bound": true, "state": true, "sessions": true, "failed": true, "cached share": true, "token counts": true, "time stamps": true,
	"input tokens": true, "output tokens": true, "server changed": true, "server address": true}

// configuration reports whether the difference makes runs repeats of one
// configuration no longer.
func (d Difference) configuration() bool {
	return d.Performance == Invalid || d.Performance == Caution && !found[d.Subject]
}

func (d Difference) rank() int { return max(d.Performance.rank(), d.Accuracy.rank()) }

// reason is the difference in one phrase.
func (d Difference) reason() string {
	switch {
	case d.Base == "" || d.Base == d.Other:
		return fmt.Sprintf("%s (%s)", d.Subject, d.Other)
	case d.Other == "":
		return fmt.Sprintf("%s (%s in the base)", d.Subject, d.Base)
	}
	return fmt.Sprintf("%s (%s against %s)", d.Subject, d.Base, d.Other)
}

// notTold is how an unknown value is shown.
const notTold = "unknown"

func (c condition) shown() string {
	if c.unknown {
		return notTold
	}
	return strings.Join(strings.Fields(c.text), " ")
}
