package ifeval

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// rule checks one instruction. It gets the response as it is and reports errors
// about its arguments only.
type rule func(a *arguments, response string) bool

// rules are IFEval's 25 instructions.
var rules = map[string]rule{
	"keywords:existence": func(a *arguments, r string) bool {
		for _, k := range a.list("keywords") {
			if a.count(k, r) == 0 {
				return false
			}
		}
		return true
	},
	"keywords:frequency": func(a *arguments, r string) bool {
		return a.relation("relation", a.count(a.text("keyword"), r), a.number("frequency"))
	},
	"keywords:forbidden_words": func(a *arguments, r string) bool {
		for _, w := range a.list("forbidden_words") {
			if a.count(`\b`+w+`\b`, r) > 0 {
				return false
			}
		}
		return true
	},
	"keywords:letter_frequency": func(a *arguments, r string) bool {
		letter := strings.ToLower(a.text("letter"))
		return a.relation("let_relation", strings.Count(strings.ToLower(r), letter), a.number("let_frequency"))
	},
	"language:response_language": func(a *arguments, r string) bool {
		want := a.text("language")
		if _, ok := languageCodes[want]; !ok && a.err == nil {
			a.fail("language", fmt.Sprintf("unknown code %q; IFEval has %s", want, strings.Join(slices.Sorted(maps.Keys(languageCodes)), " ")))
		}
		code, ok := detect(r)
		return !ok || code == want
	},
	"length_constraints:number_sentences": func(a *arguments, r string) bool {
		parts, err := splitSentences(r)
		if err != nil {
			a.err = err
		}
		return a.relation("relation", len(parts), a.number("num_sentences"))
	},
	"length_constraints:number_paragraphs": func(a *arguments, r string) bool {
		parts := paragraphMark.Split(r, -1)
		n := len(parts)
		for i, p := range parts {
			if strings.TrimSpace(p) == "" {
				if i != 0 && i != len(parts)-1 {
					return false
				}
				n--
			}
		}
		return n == a.number("num_paragraphs")
	},
	"length_constraints:number_words": func(a *arguments, r string) bool {
		return a.relation("relation", countWords(r), a.number("num_words"))
	},
	"length_constraints:nth_paragraph_first_word": nthParagraphFirstWord,
	"detectable_content:number_placeholders": func(a *arguments, r string) bool {
		return len(placeholder.FindAllString(r, -1)) >= a.number("num_placeholders")
	},
	"detectable_content:postscript": func(a *arguments, r string) bool {
		marker := a.text("postscript_marker")
		pattern := `(?m)\s*` + strings.ToLower(marker) + `.*$`
		switch marker {
		case "P.P.S":
			pattern = `(?m)\s*p\.\s?p\.\s?s.*$`
		case "P.S.":
			pattern = `(?m)\s*p\.\s?s\..*$`
		}
		return a.matches(pattern, regexp2.None, strings.ToLower(r)) > 0
	},
	"detectable_format:number_bullet_lists": func(a *arguments, r string) bool {
		return len(starBullet.FindAllString(r, -1))+len(dashBullet.FindAllString(r, -1)) == a.number("num_bullets")
	},
	"detectable_format:constrained_response": func(a *arguments, r string) bool {
		r = strings.TrimSpace(r)
		return strings.Contains(r, "My answer is yes.") || strings.Contains(r, "My answer is no.") || strings.Contains(r, "My answer is maybe.")
	},
	"detectable_format:number_highlighted_sections": func(a *arguments, r string) bool {
		n := 0
		for _, h := range single.FindAllString(r, -1) {
			if strings.TrimSpace(strings.Trim(h, "*")) != "" {
				n++
			}
		}
		for _, h := range double.FindAllString(r, -1) {
			if strings.TrimSpace(h[2:len(h)-2]) != "" {
				n++
			}
		}
		return n >= a.number("num_highlights")
	},
	"detectable_format:multiple_sections": func(a *arguments, r string) bool {
		return a.matches(`\s?`+a.text("section_spliter")+`\s?\d+\s?`, regexp2.None, r) >= a.number("num_sections")
	},
	"detectable_format:json_format": func(a *arguments, r string) bool {
		r = strings.TrimSpace(r)
		for _, p := range [...]string{"```json", "```Json", "```JSON", "```"} {
			r = strings.TrimPrefix(r, p)
		}
		return validPythonJSON(strings.TrimSpace(strings.TrimSuffix(r, "```")))
	},
	"detectable_format:title": func(a *arguments, r string) bool {
		for _, t := range title.FindAllString(r, -1) {
			if strings.TrimSpace(strings.TrimRight(strings.TrimLeft(t, "<"), ">")) != "" {
				return true
			}
		}
		return false
	},
	"combination:two_responses": func(a *arguments, r string) bool {
		var valid []string
		parts := strings.Split(r, "******")
		for i, p := range parts {
			p = strings.TrimSpace(p)
			if p != "" {
				valid = append(valid, p)
			} else if i != 0 && i != len(parts)-1 {
				return false
			}
		}
		return len(valid) == 2 && valid[0] != valid[1]
	},
	"combination:repeat_prompt": func(a *arguments, r string) bool {
		return strings.HasPrefix(strings.ToLower(strings.TrimSpace(r)), strings.ToLower(strings.TrimSpace(a.text("prompt_to_repeat"))))
	},
	"startend:end_checker": func(a *arguments, r string) bool {
		return strings.HasSuffix(strings.ToLower(strings.Trim(strings.TrimSpace(r), `"`)), strings.ToLower(strings.TrimSpace(a.text("end_phrase"))))
	},
	"startend:quotation": func(a *arguments, r string) bool {
		r = strings.TrimSpace(r)
		return len(r) > 1 && r[0] == '"' && r[len(r)-1] == '"'
	},
	"change_case:capital_word_frequency": func(a *arguments, r string) bool {
		words, err := treebankWords(r)
		if err != nil {
			a.err = err
		}
		n := 0
		for _, w := range words {
			if isUpper(w) {
				n++
			}
		}
		return a.relation("capital_relation", n, a.number("capital_frequency"))
	},
	"change_case:english_capital":   func(a *arguments, r string) bool { return isUpper(r) && isEnglish(r) },
	"change_case:english_lowercase": func(a *arguments, r string) bool { return isLower(r) && isEnglish(r) },
	"punctuation:no_comma":          func(a *arguments, r string) bool { return !strings.Contains(r, ",") },
}

var (
	paragraphMark = regexp.MustCompile(`[\s\p{Z}]?\*\*\*[\s\p{Z}]?`)
	placeholder   = regexp.MustCompile(`\[.*?\]`)
	starBullet    = regexp.MustCompile(`(?m)^\s*\*[^\*].*$`)
	dashBullet    = regexp.MustCompile(`(?m)^\s*-.*$`)
	single        = regexp.MustCompile(`\*[^\n*]*\*`)
	double        = regexp.MustCompile(`\*\*[^\n*]*\*\*`)
	title         = regexp.MustCompile(`<<[^\n]+>>`)
)

func isEnglish(s string) bool {
	code, ok := detect(s)
	return !ok || code == "en"
}

func nthParagraphFirstWord(a *arguments, r string) bool {
	parts := strings.Split(r, "\n\n")
	n := len(parts)
	for _, p := range parts {
		if strings.TrimSpace(p) == "" {
			n--
		}
	}
	nth := a.number("nth_paragraph")
	want := strings.ToLower(a.text("first_word"))
	if nth < 1 || nth > n || nth > len(parts) {
		return false
	}
	words := strings.Fields(parts[nth-1])
	if len(words) == 0 {
		return false
	}
	word := strings.TrimLeft(strings.TrimLeft(words[0], "'"), `"`)
	if i := strings.IndexAny(word, `.,?!'"`); i >= 0 {
		word = word[:i]
	}
	return n == a.number("num_paragraphs") && strings.ToLower(word) == want
}

// validPythonJSON accepts what Python's json.loads accepts: JSON, and NaN and
// Infinity as values.
func validPythonJSON(s string) bool {
	var b strings.Builder
	inString := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if inString {
			if c == '\\' && i+1 < len(s) {
				b.WriteByte(c)
				i++
				c = s[i]
			} else if c == '"' {
				inString = false
			}
			b.WriteByte(c)
			continue
		}
		switch {
		case c == '"':
			inString = true
		case strings.HasPrefix(s[i:], "NaN"):
			b.WriteByte('0')
			i += 2
			continue
		case strings.HasPrefix(s[i:], "Infinity"):
			b.WriteByte('0')
			i += 7
			continue
		}
		b.WriteByte(c)
	}
	return json.Valid([]byte(b.String()))
}

// arguments gives a rule its arguments and keeps the first error about them.
type arguments struct {
	id     string
	kwargs map[string]any
	err    error
}

func (a *arguments) fail(key, problem string) {
	if a.err == nil {
		a.err = fmt.Errorf("ifeval: %s: argument %q: %s", a.id, key, problem)
	}
}

func (a *arguments) text(key string) string {
	switch v := a.kwargs[key].(type) {
	case string:
		return v
	case nil:
		a.fail(key, "missing")
	default:
		a.fail(key, fmt.Sprintf("is a %T, not a string", v))
	}
	return ""
}

func (a *arguments) list(key string) []string {
	switch v := a.kwargs[key].(type) {
	case []string:
		return v
	case []any:
		out := make([]string, 0, len(v))
		for _, x := range v {
			s, ok := x.(string)
			if !ok {
				a.fail(key, fmt.Sprintf("holds a %T, not only strings", x))
				return nil
			}
			out = append(out, s)
		}
		return out
	case nil:
		a.fail(key, "missing")
	default:
		a.fail(key, fmt.Sprintf("is a %T, not a list of strings", v))
	}
	return nil
}

func (a *arguments) number(key string) int {
	switch v := a.kwargs[key].(type) {
	case int:
		return v
	case int32:
		return int(v)
	case int64:
		return int(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e9 {
			return int(v)
		}
		a.fail(key, fmt.Sprintf("is %v, not a whole number", v))
	case json.Number:
		if f, err := v.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) < 1e9 {
			return int(f)
		}
		a.fail(key, fmt.Sprintf("is %v, not a whole number", v))
	case nil:
		a.fail(key, "missing")
	default:
		a.fail(key, fmt.Sprintf("is a %T, not a number", v))
	}
	return 0
}

// relation compares a count: "less than" or "at least".
func (a *arguments) relation(key string, got, want int) bool {
	switch r := a.text(key); r {
	case "less than":
		return got < want
	case "at least":
		return got >= want
	default:
		a.fail(key, fmt.Sprintf(`is %q, not "less than" or "at least"`, r))
	}
	return false
}

// count counts the matches of a keyword, which is a pattern, in any case.
func (a *arguments) count(pattern, s string) int {
	return a.matches(pattern, regexp2.IgnoreCase, s)
}

// matches counts the matches of a pattern that data supplies, with Python's
// semantics. One that is no pattern ("c++") is taken literally.
func (a *arguments) matches(pattern string, options regexp2.RegexOptions, s string) int {
	re, err := regexp2.Compile(pattern, options)
	if err != nil {
		if re, err = regexp2.Compile(regexp2.Escape(pattern), options); err != nil {
			return 0
		}
	}
	re.MatchTimeout = 2 * time.Second
	n := 0
	m, err := re.FindStringMatch(s)
	for err == nil && m != nil {
		n++
		m, err = re.FindNextMatch(m)
	}
	return n
}

// IDs lists IFEval's instructions in order of their ids.
func IDs() []string { return slices.Sorted(maps.Keys(rules)) }

// Check reports whether response follows one instruction, strictly: id is the
// instruction's id ("keywords:existence"), kwargs its arguments as in
// input_data.jsonl (nulls and missing keys are the same). A blank response
// follows nothing. The error names an unknown id or a missing or mistyped
// argument; it is never about the response.
func Check(id string, kwargs map[string]any, response string) (bool, error) {
	return check(id, kwargs, response, []string{response})
}

// CheckLoose is Check on eight variants of the response (with and without its
// first and last line, with and without asterisks); one that follows is enough.
func CheckLoose(id string, kwargs map[string]any, response string) (bool, error) {
	return check(id, kwargs, response, variants(response))
}

func check(id string, kwargs map[string]any, response string, texts []string) (bool, error) {
	follow, ok := rules[id]
	if !ok {
		follow, ok = furtherRules[id]
	}
	if !ok {
		return false, fmt.Errorf("ifeval: unknown instruction %q%s", id, nearest(id))
	}
	// The arguments are checked even when the response decides nothing.
	a := &arguments{id: id, kwargs: kwargs}
	follow(a, "probe")
	if a.err != nil {
		return false, a.err
	}
	for _, t := range texts {
		if strings.TrimSpace(t) != "" && follow(a, t) {
			return true, a.err
		}
	}
	return false, a.err
}

// variants are the texts that loose checking tries.
func variants(r string) []string {
	lines := strings.Split(r, "\n")
	join := func(l []string) string { return strings.TrimSpace(strings.Join(l, "\n")) }
	texts := []string{r, join(lines[1:]), join(lines[:len(lines)-1]), join(lines[min(1, len(lines)-1):max(len(lines)-1, min(1, len(lines)-1))])}
	for _, t := range texts[:4:4] {
		texts = append(texts, strings.ReplaceAll(t, "*", ""))
	}
	return texts
}

// nearest suggests the id that shares the most with a mistyped one.
func nearest(id string) string {
	_, name, ok := strings.Cut(id, ":")
	if !ok {
		name = id
	}
	for _, known := range append(IDs(), FurtherIDs()...) {
		if _, k, _ := strings.Cut(known, ":"); name != "" && (strings.Contains(k, name) || strings.Contains(name, k)) {
			return fmt.Sprintf("; the nearest is %q", known)
		}
	}
	return "; the 25 of IFEval and the 58 of IFBench are known"
}

// Evaluate judges a reply against all instructions of its prompt.
func Evaluate(ids []string, kwargs []map[string]any, response string) (Result, error) {
	if len(ids) != len(kwargs) {
		return Result{}, fmt.Errorf("ifeval: %d instructions but %d sets of arguments", len(ids), len(kwargs))
	}
	var r Result
	for i, id := range ids {
		strict, err := Check(id, kwargs[i], response)
		if err != nil {
			return Result{}, err
		}
		loose := strict
		if !loose {
			if loose, err = CheckLoose(id, kwargs[i], response); err != nil {
				return Result{}, err
			}
		}
		r.Strict, r.Loose = append(r.Strict, strict), append(r.Loose, loose)
	}
	return r, nil
}

// All reports whether all instructions were followed, strictly and loosely.
func (r Result) All() (strict, loose bool) {
	return !slices.Contains(r.Strict, false), !slices.Contains(r.Loose, false)
}

// Accuracy aggregates results: prompt-level (all instructions of a prompt
// followed) and instruction-level (micro over instructions), strict and loose.
func Accuracy(results []Result) Accuracies {
	var a Accuracies
	for _, r := range results {
		a.Prompts++
		strict, loose := r.All()
		a.PromptStrict += one(strict)
		a.PromptLoose += one(loose)
		for i := range r.Strict {
			a.Instructions++
			a.InstStrict += one(r.Strict[i])
			a.InstLoose += one(r.Loose[i])
		}
	}
	if a.Prompts > 0 {
		a.PromptStrict /= float64(a.Prompts)
		a.PromptLoose /= float64(a.Prompts)
	}
	if a.Instructions > 0 {
		a.InstStrict /= float64(a.Instructions)
		a.InstLoose /= float64(a.Instructions)
	}
	return a
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
