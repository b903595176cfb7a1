package evaluators

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// externalScorers ask a program of the user's.
var externalScorers = []entry{
	{"external", "1", "runs the program of option command once an answer: one JSON object on its standard input (answer, reasoning, gold, golds, fields), one on its standard output ({\"right\": true|false|null, \"score\", \"extracted\", \"detail\"}; null = unparsable)", []string{"command", "timeout"}, newExternal},
}

// externalScorer is a grader outside this program, in any language.
type externalScorer struct {
	meta
	argv    []string
	timeout time.Duration
}

func newExternal(m meta, o *options) (Scorer, error) {
	s := externalScorer{meta: m}
	switch v := o.values["command"].(type) {
	case string:
		s.argv = strings.Fields(v)
	default:
		s.argv, _ = asStrings(v)
	}
	if len(s.argv) == 0 {
		return nil, errors.New("option command is missing: give the program and its arguments")
	}
	if _, err := exec.LookPath(s.argv[0]); err != nil {
		return nil, fmt.Errorf("option command: %w", err)
	}
	seconds := o.number("timeout", 30)
	if seconds <= 0 {
		o.bad("timeout", "a positive number of seconds")
	}
	s.timeout = time.Duration(seconds * float64(time.Second))
	return s, nil
}

type externalQuestion struct {
	ID        string         `json:"id"`
	Answer    string         `json:"answer"`
	Reasoning string         `json:"reasoning,omitempty"`
	Gold      string         `json:"gold"`
	Golds     []string       `json:"golds,omitempty"`
	Fields    map[string]any `json:"fields,omitempty"`
}

type externalVerdict struct {
	Right     *bool    `json:"right"`
	Score     *float64 `json:"score"`
	Extracted string   `json:"extracted"`
	Detail    string   `json:"detail"`
}

// Score fails when the program cannot be run, takes too long, exits non-zero or
// writes something else than a verdict: a grader that breaks must not look like
// wrong answers.
func (s externalScorer) Score(ctx context.Context, a Answer, it Item) (Verdict, error) {
	text, v, done := gradable(a, nil)
	if done {
		return v, nil
	}
	question, err := json.Marshal(externalQuestion{it.ID, text, a.Reasoning, it.Gold, it.Golds, it.Fields})
	if err != nil {
		return Verdict{}, fmt.Errorf("scorer external: item %s: %w", it.ID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.Stdin = bytes.NewReader(append(question, '\n'))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no verdict within %s", s.timeout)
		}
		return Verdict{}, fmt.Errorf("scorer external: %s on item %s: %w%s", s.argv[0], it.ID, err, lastLine(stderr.String()))
	}
	var r externalVerdict
	if err := json.Unmarshal(out, &r); err != nil {
		return Verdict{}, fmt.Errorf("scorer external: %s on item %s wrote no verdict: %w", s.argv[0], it.ID, err)
	}
	if r.Right == nil && r.Score == nil {
		u := unreadable(a, r.Extracted)
		if r.Detail != "" {
			u.Detail = r.Detail
		}
		return u, nil
	}
	verdict := Verdict{Outcome: Wrong, Extracted: r.Extracted, Detail: r.Detail}
	if r.Score != nil {
		if *r.Score < 0 || *r.Score > 1 {
			return Verdict{}, fmt.Errorf("scorer external: %s on item %s: score %g is outside [0,1]", s.argv[0], it.ID, *r.Score)
		}
		verdict.Score = *r.Score
	}
	if r.Right != nil && *r.Right {
		verdict.Outcome = Right
		if r.Score == nil {
			verdict.Score = 1
		}
	} else if r.Right == nil && verdict.Score == 1 {
		verdict.Outcome = Right
	}
	return verdict, nil
}

// lastLine is the last line a program complained with, for an error message.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	return ": " + s[strings.LastIndexByte(s, '\n')+1:]
}
