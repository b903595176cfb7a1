package oc

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"ais_bench/evaluators/pytext"
)

// FirstCapital is the first upper-case letter of the text, "" when there is none.
func FirstCapital(text string) string {
	for _, r := range text {
		if unicode.IsUpper(r) {
			return string(r)
		}
	}
	return ""
}

// LastCapital is the last upper-case letter of the text.
func LastCapital(text string) string {
	last := ""
	for _, r := range text {
		if unicode.IsUpper(r) {
			last = string(r)
		}
	}
	return last
}

// FirstCapitalMulti is the first run of the letters A to D.
func FirstCapitalMulti(text string) string {
	in := func(r rune) bool { return 'A' <= r && r <= 'D' }
	start := strings.IndexFunc(text, in)
	if start < 0 {
		return ""
	}
	run := text[start:]
	if end := strings.IndexFunc(run, func(r rune) bool { return !in(r) }); end >= 0 {
		run = run[:end]
	}
	return run
}

// MultipleSelect is every upper-case letter of the text, once, in code point
// order.
func MultipleSelect(text string) string {
	seen := map[rune]bool{}
	for _, r := range text {
		if unicode.IsUpper(r) {
			seen[r] = true
		}
	}
	var letters []rune
	for r := range seen {
		letters = append(letters, r)
	}
	for i := 1; i < len(letters); i++ {
		for j := i; j > 0 && letters[j] < letters[j-1]; j-- {
			letters[j], letters[j-1] = letters[j-1], letters[j]
		}
	}
	return string(letters)
}

// LastOption is the last character of text that is one of options.
func LastOption(text, options string) string {
	i := strings.LastIndexAny(text, options)
	if options == "" || i < 0 {
		return ""
	}
	for _, r := range text[i:] {
		return string(r)
	}
	return ""
}

var firstNumber = regexp.MustCompile(`-?\p{Nd}*\.?\p{Nd}+`)

// FirstNumber is the first integer or decimal.
func FirstNumber(text string) (float64, bool) {
	m := firstNumber.FindString(text)
	if m == "" {
		return 0, false
	}
	return pytext.Float(m)
}

// XMLTagNone is what XMLTag returns where the tag does not occur.
const XMLTagNone = "NO ANSWER FOUND"

// XMLTag is the trimmed content of the last <tag>…</tag>; tag is given with its
// angle brackets.
func XMLTag(text, tag string) string {
	shut := strings.Replace(tag, "<", "</", 1)
	last, found := "", false
	for {
		i := strings.Index(text, tag)
		if i < 0 {
			break
		}
		rest := text[i+len(tag):]
		j := strings.Index(rest, shut)
		if j < 0 {
			break
		}
		last, found, text = rest[:j], true, rest[j+len(shut):]
	}
	if !found {
		return XMLTagNone
	}
	return pytext.Strip(last)
}

// General is general_postprocess: the text up to the first newline, full stop or
// comma, without punctuation and without the words a, an and the.
func General(text string) string {
	if i := strings.IndexAny(text, "\n.,"); i >= 0 {
		text = text[:i]
	}
	text = strings.Map(func(r rune) rune {
		if pytext.IsWord(r) || pytext.IsSpace(r) {
			return r
		}
		return -1
	}, text)
	words := pytext.Fields(text)
	kept := words[:0]
	for _, w := range words {
		if l := strings.ToLower(w); l != "a" && l != "an" && l != "the" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// optionRule is one search of first_option: a pattern in which § stands for a
// captured option letter, ¶ for one that is not captured and ~ for white space;
// must is a literal that every match contains, so that most texts are spared
// the search.
type optionRule struct{ must, pattern string }

// firstOptionRules are the searches in the order they are tried. The tenth
// Chinese one is two that lost the comma between them; neither works alone.
var firstOptionRules = []optionRule{
	{"答案", `答案是?~*§`},
	{"答案", `答案是?~*：~*§`},
	{"答案", `答案是?~*:~*§`},
	{"答案选项", `答案选项应?该?是~*§`},
	{"答案选项", `答案选项应?该?为~*§`},
	{"答案应", `答案应该?是~*§`},
	{"答案应", `答案应该?选~*§`},
	{"答案选项", `答案选项为?~*：~*§`},
	{"答案选项", `答案选项为?~+\(?\*?\*?§\*?\*?\)?`},
	{"答案选项", `答案选项是?~*:~*§`},
	{"答案为", `答案为~*§`},
	{"答案选", `答案选~*§`},
	{"选", `选择?~*§`},
	{"只有", `故选?~*§只有选?项?~?¶~?是?对`},
	{"只有", `只有选?项?~?§~?是?错`},
	{"只有", `只有选?项?~?§~?不?正确`},
	{"只有", `只有选?项?~?§~?错误`},
	{"说法", `说法不?对选?项?的?是~?§`},
	{"说法", `说法不?正确选?项?的?是~?§`},
	{"说法", `说法错误选?项?的?是~?§`},
	{"是正确的", `§~?是正确的`},
	{"是正确答案", `§~?是正确答案`},
	{"选项", `选项~?§~?正确`},
	{"所以答", `所以答~?§`},
	{"所以", `所以~?(¶[.。$]?\z)`},
	{"所有", `所有~?(¶[.。$]?\z)`},
	{"", `[~，：:,]§[。，,.]?\z`},
	{"", `[~，,：:][故即]§[。.]?\z`},
	{"因此", `[~，,：:]因此§[。.]?\z`},
	{"", `[是为。]~?§[。.]?\z`},
	{"因此", `因此~?§[。.]?\z`},
	{"显然", `显然~?§[。.]?\z`},
	{"答案是", `答案是~?([^~]+)(?:。|\z)`},
	{"答案应该是", `答案应该是~?([^~]+)(?:。|\z)`},
	{"答案为", `答案为~?([^~]+)(?:。|\z)`},
	{":", `(?i:ANSWER)~*:~*(?i:§)`},
	{"he answer is", `[Tt]he answer is:?~+\(?§\)?`},
	{"he answer is", `[Tt]he answer is:?~+\(?\*?\*?§\*?\*?\)?`},
	{"he answer is option", `[Tt]he answer is option:?~+\(?§\)?`},
	{"he correct answer is", `[Tt]he correct answer is:?~+\(?§\)?`},
	{"he correct answer is option", `[Tt]he correct answer is option:?~+\(?§\)?`},
	{"he correct answer is", `[Tt]he correct answer is:?.*?boxed\{§\}`},
	{"he correct option is", `[Tt]he correct option is:?.*?boxed\{§\}`},
	{"he correct answer option is", `[Tt]he correct answer option is:?.*?boxed\{§\}`},
	{"he answer to the question is", `[Tt]he answer to the question is:?~+\(?§\)?`},
	{"选项", `\A选项~?§`},
	{"项", `\A§~?选?项`},
	{"", `(~|\A)¶[~。，,：:.$]`},
	{"1", `1.~?(.*?)\z`},
	{"1", `1.~?§[.。$]?\z`},
}

// cushionRules come last when the cushion is on.
var cushionRules = []optionRule{{":", `§:`}, {"", `§`}}

// optionSearch is one compiled search. atEnd says that it can only match within
// the last endWindow bytes.
type optionSearch struct {
	must  string
	re    *regexp.Regexp
	atEnd bool
}

// endWindow holds the longest match of a bounded search that ends with the text.
const endWindow = 64

// optionSearches caches the compiled searches by options and cushion.
var optionSearches sync.Map

func compileOptions(options string, cushion bool) []optionSearch {
	key := options
	if cushion {
		key += "\x00"
	}
	if v, ok := optionSearches.Load(key); ok {
		return v.([]optionSearch)
	}
	var class strings.Builder
	for _, r := range options {
		class.WriteString(regexp.QuoteMeta(string(r)))
	}
	letter := "[" + class.String() + "]"
	// \s in and outside a character class, Unicode-aware as in the original
	const space = `\s\x0b\x1c-\x1f\x85\p{Z}`
	rules := firstOptionRules
	if cushion {
		rules = append(rules[:len(rules):len(rules)], cushionRules...)
	}
	out := make([]optionSearch, len(rules))
	for i, r := range rules {
		p := strings.NewReplacer("[^~]", "[^"+space+"]", "[~", "["+space, "~。", space+"。", "~", "["+space+"]", "§", "("+letter+")", "¶", letter).Replace(r.pattern)
		bounded := strings.HasSuffix(strings.TrimSuffix(r.pattern, ")"), `\z`) && !strings.ContainsAny(r.pattern, "*+")
		out[i] = optionSearch{r.must, regexp.MustCompile("(?s)" + p), bounded}
	}
	optionSearches.Store(key, out)
	return out
}

// FirstOption is first_option_postprocess: about fifty searches in a fixed
// order; of the first match whose capture holds an option letter, the letter
// that comes first in options (not in the text) is the answer.
func FirstOption(text, options string, cushion bool) string {
	if options == "" {
		return ""
	}
	text = pytext.Strip(text)
	end := text
	if cut := len(text) - endWindow; cut > 0 {
		for !utf8.RuneStart(text[cut]) {
			cut++
		}
		end = text[cut:]
	}
	for _, s := range compileOptions(options, cushion) {
		in := text
		if s.atEnd {
			in = end
		}
		if s.must != "" && !strings.Contains(in, s.must) {
			continue
		}
		m := s.re.FindStringSubmatch(in)
		if m == nil {
			continue
		}
		found := m[0]
		if len(m) > 1 && m[1] != "" {
			found = m[1]
		}
		for _, r := range options {
			if strings.ContainsRune(found, r) {
				return string(r)
			}
		}
	}
	return ""
}

// FirstOptionV1 is FirstOption over the last 200 characters.
func FirstOptionV1(text, options string) string {
	r := []rune(text)
	if len(r) > 200 {
		r = r[len(r)-200:]
	}
	return FirstOption(string(r), options, true)
}

// GPQALast is AISBench's GPQA rule: the letter of the last "ANSWER: X" in any
// letter case with nothing but white space before the letter.
func GPQALast(text string) (string, bool) {
	all := labelledAnswers(text, "ABCD")
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1], true
}

// GPQAFirst is OpenCompass's GPQA rule: the same with the first match.
func GPQAFirst(text string) (string, bool) { return LabelledAnswer(text, "ABCD") }

// LabelledAnswer is the letter of the first "ANSWER: X" as written; options are
// matched in any letter case.
func LabelledAnswer(text, options string) (string, bool) {
	all := labelledAnswers(text, options)
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

// labelledAnswers finds (?i)ANSWER\s*:\s*([options]) without a regexp.
func labelledAnswers(text, options string) []string {
	var found []string
	fold := strings.ToUpper(options) + strings.ToLower(options)
	for at := 0; at+6 <= len(text); at++ {
		if text[at]|0x20 != 'a' || !strings.EqualFold(text[at:at+6], "answer") {
			continue
		}
		rest := pytext.StripLeft(text[at+6:])
		if !strings.HasPrefix(rest, ":") {
			continue
		}
		for _, r := range pytext.StripLeft(rest[1:]) {
			if strings.ContainsRune(fold, r) {
				found = append(found, string(r))
			}
			break
		}
	}
	return found
}

// MMLUProEqual is AISBench's 5-shot rule: the trimmed first line equals the
// letter or the text of a reference "X. text". A reference that holds ". " more
// than once can never be matched.
func MMLUProEqual(pred, ref string) bool {
	pred = pytext.Strip(pytext.FirstLine(pytext.Strip(pred)))
	parts := strings.Split(pytext.Strip(ref), ". ")
	if len(parts) != 2 {
		return false
	}
	return pred == parts[0] || pred == parts[1]
}
