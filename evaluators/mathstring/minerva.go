package mathstring

import (
	"regexp"
	"strings"

	"ais_bench/evaluators/pytext"
)

// deletions and substitutions of Minerva's normalisation (Lewkowycz et al. 2022,
// appendix D), in order.
var (
	minervaSubstitutions = [][2]string{
		{"an ", ""}, {"a ", ""}, {".$", "$"}, {`\$`, ""}, {`\ `, ""}, {" ", ""}, {"mbox", "text"},
		{`,\text{and}`, ","}, {`\text{and}`, ","}, {`\text{m}`, `\text{}`},
	}
	minervaDeletions = []string{
		"square", "ways", "integers", "dollars", "mph", "inches", "ft", "hours", "km", "units", `\ldots`, "sue",
		"points", "feet", "minutes", "digits", "cents", "degrees", "cm", "gm", "pounds", "meters", "meals", "edges",
		"students", "childrentickets", "multiples", `\text{s}`, `\text{.}`, "\\text{\ns}", `\text{}^2`, `\text{}^3`,
		"\\text{\n}", `\text{}`, `\mathrm{th}`, `^\circ`, `^{\circ}`, `\;`, `,\!`, "{,}", `"`, `\dots`,
	}

	textParens  = regexp.MustCompile(`\\text\{\((.*?)\)\}`)
	textUnwrap  = regexp.MustCompile(`\\text\{(.*?)\}`)
	boldUnwrap  = regexp.MustCompile(`\\textbf\{(.*?)\}`)
	overUnwrap  = regexp.MustCompile(`\\overline\{(.*?)\}`)
	boxUnwrap   = regexp.MustCompile(`\\boxed\{(.*)\}`)
	finalIs     = regexp.MustCompile(`finalansweris(.*)`)
	answerIs    = regexp.MustCompile(`answer?is:?(.*)`)
	boxInner    = regexp.MustCompile(`oxed\{(.*?)\}`)
	dollarInner = regexp.MustCompile(`\$(.*?)\$`)
	dollarOnly  = regexp.MustCompile(`(.*?)(\$)(.*?)(\$)(.*)`)
	shortFrac   = regexp.MustCompile(`(frac)([^{])(.)`)
	shortSqrt   = regexp.MustCompile(`(sqrt)([^{])`)
)

// OCNormalize is normalize_final_answer of OpenCompass and AISBench.
func OCNormalize(s string) string {
	for _, sub := range minervaSubstitutions {
		s = strings.ReplaceAll(s, sub[0], sub[1])
	}
	s = strings.ReplaceAll(s, `\le`, "<")
	for _, d := range minervaDeletions {
		s = strings.ReplaceAll(s, d, "")
	}
	s = strings.NewReplacer("\n", "", "\r", "", "\f", "").Replace(s)
	s = textParens.ReplaceAllString(s, "$1")
	s = unwrap(s)
	for _, re := range []*regexp.Regexp{finalIs, answerIs, boxInner, dollarInner} {
		if all := re.FindAllStringSubmatch(s, -1); len(all) > 0 {
			s = all[len(all)-1][1]
		}
	}
	s = pytext.Strip(s)
	if strings.Contains(s, "rac") && !strings.Contains(s, `\frac`) {
		s = strings.ReplaceAll(s, "rac", `\frac`)
	}
	return shorthand(s)
}

// MinervaNormalize is lm-evaluation-harness's normalize_final_answer: it looks
// behind the last "=" first and keeps only what stands between dollar signs.
func MinervaNormalize(s string) string {
	if i := strings.LastIndexByte(s, '='); i >= 0 {
		s = s[i+1:]
	}
	for _, sub := range minervaSubstitutions {
		s = strings.ReplaceAll(s, sub[0], sub[1])
	}
	for _, d := range minervaDeletions {
		s = strings.ReplaceAll(s, d, "")
	}
	s = dollarOnly.ReplaceAllString(s, "$$$3$$")
	return shorthand(unwrap(s))
}

func unwrap(s string) string {
	for _, re := range []*regexp.Regexp{textUnwrap, boldUnwrap, overUnwrap, boxUnwrap} {
		s = re.ReplaceAllString(s, "$1")
	}
	return s
}

// shorthand braces \fracab and \sqrta, deletes dollar signs and the commas of a
// number.
func shorthand(s string) string {
	s = shortFrac.ReplaceAllString(s, "frac{$2}{$3}")
	s = shortSqrt.ReplaceAllString(s, "sqrt{$2}")
	s = strings.ReplaceAll(s, "$", "")
	if bare := strings.ReplaceAll(s, ",", ""); bare != "" && strings.IndexFunc(bare, func(r rune) bool { return !pytext.IsDigit(r) }) < 0 {
		s = bare
	}
	return s
}

var hopeCorrect = regexp.MustCompile(`Final Answer: The final answer is(.*?). I hope it is correct.`)

// MinervaNone is what MinervaAnswer returns where the phrase is missing.
const MinervaNone = "[invalidanswer]"

// MinervaAnswer is get_unnormalized_answer: what stands between "Final Answer:
// The final answer is" and ". I hope it is correct.".
func MinervaAnswer(text string) string {
	m := hopeCorrect.FindStringSubmatch(text + "I hope it is correct.")
	if m == nil {
		return MinervaNone
	}
	return pytext.Strip(m[1])
}

// OCPostprocess is math_postprocess: of the pieces between full stops, the first
// with "final answer", else the first of all, through OCNormalize.
func OCPostprocess(text string) string { return ocPieces(text, "final answer") }

// OCPostprocessV2 is math_postprocess_v2: the boxed answer if there is one, else
// the first piece with "final answer" or "answer is", else the first piece.
func OCPostprocessV2(text string) string {
	if s, ok := OCBoxed(text); ok && s != "" {
		return s
	}
	return ocPieces(text, "final answer", "answer is")
}

func ocPieces(text string, cues ...string) string {
	pieces := strings.Split(text, ".")
	for _, p := range pieces {
		low := strings.ToLower(p)
		for _, cue := range cues {
			if strings.Contains(low, cue) {
				return OCNormalize(p)
			}
		}
	}
	return OCNormalize(pieces[0])
}

var answerLine = regexp.MustCompile(`(?i)ANSWER[\s\p{Z}]*:[\s\p{Z}]*([^\n]+)`)

// OCAnswerLine is extract_answer: the rest of the line behind the first
// "Answer:" in any letter case, "" when there is none.
func OCAnswerLine(text string) string {
	m := answerLine.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

// DapoNone is what DapoMinerva returns without an answer line.
const DapoNone = "[INVALID]"

// DapoMinerva is DAPO's extraction in mode minerva: the line behind the last
// "Answer:", normalised.
func DapoMinerva(text string) string {
	all := answerLine.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return DapoNone
	}
	return MinervaNormalize(all[len(all)-1][1])
}

// DapoBox is DAPO's strict-box extraction: the last box within the last 100
// characters.
func DapoBox(text string) string {
	r := []rune(text)
	if len(r) > 100 {
		r = r[len(r)-100:]
	}
	box, ok := LastBoxedString(string(r))
	if !ok || !strings.HasPrefix(box, `\boxed{`) {
		return ""
	}
	return box[len(`\boxed{`) : len(box)-1]
}
