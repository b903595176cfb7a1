package simulator

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
)

// answerSheet knows the questions of a data set and their gold answers, finds
// the question a prompt asks, and answers it right or wrong.
//
// Finding: text is compared without blanks and case. Every question has an
// anchor (its longest part, the last one where several are equal); a rolling
// hash over the prompt looks for the first anchorLong or anchorShort bytes of any anchor
// and then compares in full, so the cost is linear in the prompt and does not
// grow with the number of questions. Of several questions found the one that
// ends last is asked (examples of a few-shot prompt come before it), of
// those that end together the longest; of equal ones the row whose other parts and choices
// all occur in the prompt.
type answerSheet struct {
	rows     []*question
	long     map[uint64][]*question // anchors of at least anchorLong bytes, by the hash of their head
	short    map[uint64][]*question // of at least anchorShort bytes
	lines    map[string][]*question // shorter still: a whole line of the prompt, with or without a label
	accuracy float64
	seed     uint64
	vary     bool
	template string

	mu    sync.Mutex
	asked map[*question]uint64 // times asked so far, for vary
}

const (
	anchorLong  = 32
	anchorShort = 12
)

// question is one row of the answer sheet.
type question struct {
	id       string
	row      int
	anchor   string   // normalised
	parts    []string // normalised further parts of the question
	choices  []string // texts of the choices
	letters  []string // their labels
	gold     string   // the answer: text, number or letter
	goldIdx  int      // index of the right choice, −1 without choices
	solution string   // worked solution, "" without
	code     bool
	entry    string // name of the function to write
	codeHead string // code before the solution (signature and docstring)
}

// givenAnswer is one line of the answers log.
type givenAnswer struct {
	RequestID  string `json:"request_id"`
	QuestionID string `json:"question_id"`
	Choice     int    `json:"choice"`
	Right      bool   `json:"right"`
	Cut        bool   `json:"cut,omitempty"`    // the token limit or a stop string ended it early
	Scored     bool   `json:"scored,omitempty"` // not said: the answer that the prompt's log-probabilities prefer
	Gold       string `json:"gold"`
	Said       string `json:"said"` // the result given
	q          *question
}

// newAnswerSheet reads the rows of cfg.AnswersData or cfg.Answers.
func newAnswerSheet(cfg *Config) (*answerSheet, error) {
	a := &answerSheet{accuracy: cfg.Accuracy, seed: mix(uint64(cfg.Seed), 0xa25), vary: cfg.VaryByRepeat, template: cfg.AnswerTemplate,
		long: map[uint64][]*question{}, short: map[uint64][]*question{}, lines: map[string][]*question{}, asked: map[*question]uint64{}}
	name, data := "answers", cfg.AnswersData
	if data == nil {
		name = cfg.Answers
		var err error
		if data, err = os.ReadFile(cfg.Answers); err != nil {
			return nil, fmt.Errorf("--answers: %w", err)
		}
	}
	if err := a.load(name, data); err != nil {
		return nil, err
	}
	if len(a.rows) == 0 {
		return nil, fmt.Errorf("--answers %s: no rows", name)
	}
	return a, nil
}

// find gives the question a prompt asks; nil when none is known.
func (a *answerSheet) find(in *input) *question {
	if q := a.findIn(in.last); q != nil || in.last == in.text {
		return q
	}
	return a.findIn(in.text)
}

func (a *answerSheet) findIn(text string) *question {
	s := squeeze(text)
	var best *question
	bestEnd := -1
	consider := func(q *question, end int) {
		if best == nil || end > bestEnd || end == bestEnd && (len(q.anchor) > len(best.anchor) ||
			len(q.anchor) == len(best.anchor) && q.fits(s) > best.fits(s)) {
			best, bestEnd = q, end
		}
	}
	scan := func(index map[uint64][]*question, width int) {
		if len(index) == 0 || len(s) < width {
			return
		}
		roll(s, width, func(i int, h uint64) {
			for _, q := range index[h] {
				if strings.HasPrefix(s[i:], q.anchor) {
					consider(q, i+len(q.anchor))
				}
			}
		})
	}
	scan(a.long, anchorLong)
	scan(a.short, anchorShort)
	if best == nil && len(a.lines) > 0 {
		for line := range strings.Lines(text) {
			for _, q := range a.lines[squeeze(line)] {
				best = q
			}
			if _, after, ok := strings.Cut(line, ":"); ok {
				for _, q := range a.lines[squeeze(after)] {
					best = q
				}
			}
		}
	}
	return best
}

// fits counts the parts and choices that occur in the normalised prompt.
func (q *question) fits(s string) int {
	n := 0
	for _, p := range q.parts {
		if strings.Contains(s, p) {
			n++
		}
	}
	for _, c := range q.choices {
		if strings.Contains(s, squeeze(c)) {
			n++
		}
	}
	return n
}

// isRight decides whether a question is answered right; vary tells repetitions apart.
func (a *answerSheet) isRight(q *question, vary uint64) bool {
	h := mix(a.seed, hashString(q.anchor))
	for _, c := range q.choices {
		h = mix(h, hashString(c))
	}
	return unit(mix(h, vary)) < a.accuracy
}

// answer decides and words an answer. vary is 0 for a request's first choice
// without a seed.
func (a *answerSheet) answer(q *question, vary uint64, prompt string) (*givenAnswer, string) {
	if a.vary {
		a.mu.Lock()
		n := a.asked[q]
		a.asked[q] = n + 1
		a.mu.Unlock()
		vary = mix(vary, n+1)
	}
	g := &givenAnswer{QuestionID: q.id, Gold: q.gold, Right: a.isRight(q, vary), q: q}
	text := a.word(g, prompt, mix(mix(a.seed, uint64(q.row)), vary))
	return g, text
}

// preference is the answer that the log-probabilities of prompts with q favour.
// Every prompt with the question gives the same one, whichever label it ends in.
func (a *answerSheet) preference(q *question) *givenAnswer {
	g := &givenAnswer{QuestionID: q.id, Gold: q.gold, Said: q.gold, Right: a.isRight(q, mix(0, 0)), Scored: true, q: q}
	switch {
	case g.Right:
	case q.goldIdx >= 0:
		g.Said = q.letters[a.preferredChoice(q)]
	default:
		g.Said = "anything else"
	}
	return g
}

// preferredChoice is the choice whose log-probabilities win.
func (a *answerSheet) preferredChoice(q *question) int {
	if a.isRight(q, mix(0, 0)) {
		return q.goldIdx
	}
	return a.wrongChoice(q, mix(mix(a.seed, uint64(q.row)), mix(0, 0)))
}

// squeeze drops all white space and folds ASCII case.
func squeeze(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		case upper(c):
			b = append(b, c+'a'-'A')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

const rollBase = 1099511628211

func headHash(s string, width int) uint64 {
	var h uint64
	for i := range width {
		h = h*rollBase + uint64(s[i]) + 1
	}
	return h
}

// roll calls f with the hash of every window of s.
func roll(s string, width int, f func(i int, h uint64)) {
	top := uint64(1)
	for range width - 1 {
		top *= rollBase
	}
	h := headHash(s, width)
	f(0, h)
	for i := width; i < len(s); i++ {
		h = (h-(uint64(s[i-width])+1)*top)*rollBase + uint64(s[i]) + 1
		f(i-width+1, h)
	}
}

var errNoAnswers = errors.New("--accuracy, --answers-log and --answer-template need --answers")
