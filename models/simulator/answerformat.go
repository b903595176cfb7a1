package simulator

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// word puts an answer into words and notes the result it gives. The form
// follows the row (worked solution, choice, code, JSON, text) and what the prompt asks
// for (\boxed{}, "answer is", 答案). Wrong answers are plausible and really
// wrong: another number, another choice, another row's answer, a function
// that returns nothing.
func (a *answerSheet) word(g *givenAnswer, prompt string, h uint64) string {
	q := g.q
	switch {
	case q.code:
		return a.code(g, prompt)
	case q.goldIdx >= 0:
		return a.choice(g, prompt, h)
	}
	g.Said = q.gold
	if !g.Right {
		g.Said = a.wrong(q, h)
	}
	solution := calculatorNotes.ReplaceAllString(q.solution, "")
	if !g.Right && solution != "" {
		if isNumber(q.gold) {
			solution = replaceNumber(solution, q.gold, g.Said)
		} else {
			solution = strings.ReplaceAll(solution, `\boxed{`+q.gold+`}`, `\boxed{`+g.Said+`}`)
		}
	}
	if a.template != "" {
		return fillTemplate(a.template, g.Said, solution, "")
	}
	if json.Valid([]byte(q.gold)) && (strings.HasPrefix(q.gold, "{") || strings.HasPrefix(q.gold, "[")) {
		return g.Said
	}
	boxed := strings.Contains(prompt, `\boxed`)
	var b strings.Builder
	if solution != "" {
		b.WriteString(strings.TrimSpace(solution) + "\n")
	}
	switch {
	case boxed:
		b.WriteString(`The answer is \boxed{` + g.Said + `}`)
	case solution != "" && isNumber(q.gold):
		b.WriteString("The answer is " + g.Said)
	case solution != "":
		b.WriteString(`The final answer is \boxed{` + g.Said + `}`)
	case strings.Contains(prompt, "答案"):
		b.WriteString("答案是" + g.Said)
	case answerCue.MatchString(prompt):
		b.WriteString("So the answer is " + g.Said + ".")
	case isNumber(q.gold) && strings.Contains(prompt, "####"):
	default:
		b.WriteString(g.Said)
	}
	if isNumber(q.gold) && (solution != "" && !boxed || strings.Contains(prompt, "####")) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("#### " + g.Said)
	}
	return b.String()
}

var (
	calculatorNotes = regexp.MustCompile(`<<[^<>]*>>`)
	answerCue       = regexp.MustCompile(`(?i)answer is|step[ -]by[ -]step`)
	plainNumber     = regexp.MustCompile(`^[-+]?[$]?\d[\d,]*(\.\d+)?%?$`)
)

func isNumber(s string) bool { return plainNumber.MatchString(s) }

// choice words the answer to a multiple-choice question. It begins and ends
// with the letter, so that extractors that look at either end agree.
func (a *answerSheet) choice(g *givenAnswer, prompt string, h uint64) string {
	q := g.q
	i := q.goldIdx
	if !g.Right {
		i = a.wrongChoice(q, h)
	}
	letter := q.letters[i]
	g.Said = letter
	if a.template != "" {
		return fillTemplate(a.template, letter, "", letter)
	}
	switch {
	case strings.Contains(prompt, `\boxed`):
		return letter + "\nThe answer is \\boxed{" + letter + "}"
	case strings.Contains(prompt, "答案"):
		return letter + "\n答案：" + letter
	}
	return letter + "\nThe answer is (" + letter + ").\nANSWER: " + letter
}

// wrongChoice is a choice whose text differs from the right one's.
func (a *answerSheet) wrongChoice(q *question, h uint64) int {
	n := len(q.choices)
	for k := range n {
		i := int((h + uint64(k)) % uint64(n))
		if i != q.goldIdx && q.choices[i] != q.choices[q.goldIdx] {
			return i
		}
	}
	return (q.goldIdx + 1) % n
}

// code words a program. A wrong one has the right signature and returns nothing.
func (a *answerSheet) code(g *givenAnswer, prompt string) string {
	q := g.q
	program := q.codeHead + q.solution
	g.Gold, g.Said = "canonical solution", "canonical solution"
	if !g.Right {
		g.Said = "returns None"
		if q.codeHead != "" {
			program = strings.TrimRight(q.codeHead, "\n") + "\n    return None\n"
		} else {
			program = "def " + q.entry + "(*args, **kwargs):\n    return None\n"
		}
	}
	if a.template != "" {
		return fillTemplate(a.template, program, program, "")
	}
	return "```python\n" + strings.TrimRight(program, "\n") + "\n```"
}

// wrong is a plausible answer that differs from the gold one in value.
func (a *answerSheet) wrong(q *question, h uint64) string {
	switch low := strings.ToLower(q.gold); low {
	case "yes", "no", "true", "false", "valid", "invalid", "correct", "incorrect":
		return matchCase(q.gold, opposite[low])
	}
	if n, ok := new(big.Rat).SetString(strings.NewReplacer(",", "", "$", "", "%", "").Replace(q.gold)); ok && isNumber(q.gold) {
		delta := int64(1 + h%9)
		if h>>32&1 == 0 && n.Cmp(big.NewRat(delta, 1)) > 0 {
			delta = -delta
		}
		n.Add(n, big.NewRat(delta, 1))
		if n.IsInt() {
			return n.Num().String()
		}
		_, frac, _ := strings.Cut(strings.TrimRight(q.gold, "%"), ".")
		return n.FloatString(len(frac))
	}
	if m := letterInParens.FindStringSubmatch(q.gold); m != nil { // "(B)", as BIG-Bench Hard labels its options
		c := m[1][0]
		if c == 'A' || c > 'A' && h&1 == 0 {
			return "(" + string(rune('A'+(c-'A'+1)%4)) + ")"
		}
		return "(" + string(rune(c-1)) + ")"
	}
	var list any
	if (strings.HasPrefix(q.gold, "{") || strings.HasPrefix(q.gold, "[")) && json.Unmarshal([]byte(q.gold), &list) == nil {
		switch v := list.(type) {
		case map[string]any:
			for k := range v {
				v[k] = nil
			}
			if len(v) == 0 {
				v["unexpected"] = true
			}
		case []any:
			list = append(v, "unexpected")
		}
		if out, err := json.Marshal(list); err == nil {
			return string(out)
		}
	}
	if strings.ContainsAny(q.gold, `\$^_{}=+`) { // a formula plus one is never the same formula
		return strings.TrimSuffix(strings.TrimPrefix(q.gold, "$"), "$") + "+1"
	}
	gold := squeeze(q.gold)
	for k := range uint64(64) {
		other := a.rows[mix(h, k)%uint64(len(a.rows))]
		if s := squeeze(other.gold); s != "" && s != gold && other.goldIdx < 0 && !strings.Contains(s, gold) && !strings.Contains(gold, s) && !other.code {
			return other.gold
		}
	}
	return "none of these"
}

var letterInParens = regexp.MustCompile(`^\(([A-Z])\)$`)

var opposite = map[string]string{"yes": "no", "no": "yes", "true": "false", "false": "true", "valid": "invalid",
	"invalid": "valid", "correct": "incorrect", "incorrect": "correct"}

// matchCase writes word with the capital of like.
func matchCase(like, word string) string {
	if like != "" && upper(like[0]) {
		return strings.ToUpper(word[:1]) + word[1:]
	}
	return word
}

// replaceNumber replaces whole numbers equal to old, with or without
// thousands separators.
func replaceNumber(text, old, with string) string {
	plain := strings.ReplaceAll(old, ",", "")
	return numberInText.ReplaceAllStringFunc(text, func(m string) string {
		if strings.ReplaceAll(m, ",", "") == plain {
			return with
		}
		return m
	})
}

var numberInText = regexp.MustCompile(`\d(?:[\d,]*\d)?(?:\.\d+)?`)

func fillTemplate(t, answer, solution, letter string) string {
	return strings.NewReplacer("{answer}", answer, "{solution}", solution, "{letter}", letter, `\n`, "\n").Replace(t)
}

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0
}
