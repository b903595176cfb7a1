package oc

import (
	"regexp"
	"strings"

	"ais_bench/evaluators/pytext"
)

var fencedBlock = regexp.MustCompile("(?s)```[\\p{L}\\p{N}_]*\n(.*?)```")

// HumanEvalFirst is humaneval_postprocess_v2: the first fenced block whose
// opening fence holds nothing but a word, else the text as it is.
func HumanEvalFirst(text string) string {
	if m := fencedBlock.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return text
}

// HumanEvalLast is humaneval_postprocess_v3: the last such block.
func HumanEvalLast(text string) string {
	all := fencedBlock.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return text
	}
	return all[len(all)-1][1]
}

// HumanEvalBody is humaneval_internal_v2_postprocess: the indented lines of a
// completion up to a blank gap, a fence or the first line that is not indented.
func HumanEvalBody(text string) string {
	if strings.HasPrefix(text, "   ") && !strings.HasPrefix(text, "    ") {
		text = " " + text
	}
	text, _, _ = strings.Cut(text, "\n\n\n")
	text, _, _ = strings.Cut(text, "\n```")
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		if line != "" && line[0] != ' ' {
			break
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// HumanEvalBodyV1 is humaneval_internal_v1_postprocess: the first fenced block if
// any, without blank lines, imports and the def line, re-indented to four
// blanks, up to the first line that is indented less. (The original also tries
// to evaluate the reply as a Python literal; that is not done here.)
func HumanEvalBodyV1(text string) string {
	text = firstFence(strings.TrimLeft(text, "\n"))
	if t := pytext.Strip(text); strings.HasPrefix(t, "from") || strings.HasPrefix(t, "import") {
		if def := strings.Index(text, "def"); def >= 0 {
			if _, behind, ok := strings.Cut(text[def:], "\n"); ok {
				text = behind
			}
		}
	}
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if line != "" {
			lines = append(lines, line)
		}
	}
	text = strings.Join(lines, "\n")
	if strings.HasPrefix(pytext.Strip(text), "def") {
		_, text, _ = strings.Cut(text, "\n")
	}
	if strings.HasPrefix(text, " ") {
		text = "    " + pytext.StripLeft(text)
	} else {
		lines = strings.Split(text, "\n")
		for i := range lines {
			lines[i] = "    " + lines[i]
		}
		text = strings.Join(lines, "\n")
	}
	lines = strings.Split(text, "\n")
	least := -1
	for i, line := range lines {
		t := pytext.Strip(line)
		if t == "" || strings.ContainsRune("'\"#", rune(t[0])) {
			continue
		}
		indent := len(pytext.StripRight(line)) - len(t)
		if least >= 0 && indent < least {
			return strings.Join(lines[:i], "\n")
		}
		if least < 0 {
			least = indent
		}
	}
	return text
}

// firstFence is what stands between the first pair of fences, without the line
// of the opening one; a text without fences stays.
func firstFence(text string) string {
	_, rest, ok := strings.Cut(text, "```")
	if !ok {
		return text
	}
	block, _, closed := strings.Cut(rest, "```")
	if !closed {
		return block
	}
	if _, body, hasLine := strings.Cut(block, "\n"); hasLine && !strings.HasPrefix(block, "\n") {
		return body
	}
	return block
}

// mbppSearches are the searches of MBPPEvaluator in order, each as what stands
// before and behind the captured program; ~ is white space.
var mbppSearches = []struct {
	open, shut string
}{
	{`\[BEGIN\]~*'`, `'~*\[DONE\]`}, {`BEGIN~*'`, `'~*\[DONE\]`}, {`\[BEGIN\]~*'`, `'~*DONE`}, {`BEGIN~*'`, `'~*DONE`},
	{`\[BEGIN\]~*'`, `~*\[DONE\]`}, {`BEGIN~*'`, `~*\[DONE\]`}, {`\[BEGIN\]~*'`, `~*DONE`}, {`BEGIN~*'`, `~*DONE`},
	{`\[BEGIN\]~*`, `~*\[DONE\]`}, {`BEGIN~*`, `~*\[DONE\]`}, {`\[BEGIN\]~*`, `~*DONE`}, {`BEGIN~*`, `~*DONE`},
	{"```python~*", "~*```"}, {"```~*", "~*```"}, {"```python~*", `~*\n?\z`}, {"```~*", `~*\n?\z`}, {``, "~*```"},
	{`\[BEGIN\]~*'`, ``}, {`\[BEGIN\]`, ``}, {`'`, `'~*\[DONE\]`},
}

var (
	mbppPatterns = func() []*regexp.Regexp {
		out := make([]*regexp.Regexp, len(mbppSearches))
		for i, s := range mbppSearches {
			out[i] = regexp.MustCompile("(?s)" + strings.ReplaceAll(s.open+"(.*)"+s.shut, "~", `[\s\x0b\p{Z}]`))
		}
		return out
	}()
	mbppDone = regexp.MustCompile(`'?[\s\x0b\p{Z}]*\[?DONE\]?`)
)

// MBPP is MBPPEvaluator's extraction: the capture of the first of twenty greedy
// searches that matches, cut at the first fence and at DONE.
func MBPP(text string) string {
	for _, re := range mbppPatterns {
		if m := re.FindStringSubmatch(text); m != nil {
			text = m[1]
			break
		}
	}
	text, _, _ = strings.Cut(text, "```")
	if m := mbppDone.FindStringIndex(text); m != nil {
		text = text[:m[0]]
	}
	return pytext.Strip(strings.ReplaceAll(text, `\_`, "_"))
}

var (
	hereLine  = regexp.MustCompile(`Here.*?\n`)
	quoteDone = regexp.MustCompile(`(?:'[\s\x0b\p{Z}]*|)(?:\[DONE\]|DONE)`)
	beginMark = regexp.MustCompile(`(?:\[BEGIN\]|BEGIN)(?:'[\s\x0b\p{Z}]*|)`)
)

// MBPPV2 is MBPPEvaluator2's extraction (WizardCoder): the first fenced block,
// cut at "# Test" and DONE, from behind BEGIN.
func MBPPV2(text string) string {
	if strings.Contains(text, "```") {
		text = firstFence(text)
	} else if m := hereLine.FindStringIndex(text); m != nil {
		text = text[:m[0]] + text[m[1]:]
	}
	for _, t := range []string{"# Test", "#Test", "#test", "# test"} {
		text, _, _ = strings.Cut(text, t)
	}
	text = pytext.Strip(text)
	if m := quoteDone.FindStringIndex(text); m != nil {
		text = text[:m[0]]
	}
	if m := beginMark.FindStringIndex(text); m != nil {
		text = text[m[1]:]
	}
	return strings.TrimPrefix(pytext.Strip(text), "'")
}

// fenceLines are the indexes of the lines that hold a fence.
func fenceLines(lines []string) []int {
	var at []int
	for i, l := range lines {
		if strings.Contains(l, "```") {
			at = append(at, i)
		}
	}
	return at
}

// LiveCodeFirst is extract_code_generation: the lines between the first two
// lines with a fence, "" when there are fewer than two.
func LiveCodeFirst(text string) string {
	lines := strings.Split(text, "\n")
	at := fenceLines(lines)
	if len(at) < 2 {
		return ""
	}
	return strings.Join(lines[at[0]+1:at[1]], "\n")
}

// LiveCodeLast is extract_code_generation_v2: between the last two.
func LiveCodeLast(text string) string {
	lines := strings.Split(text, "\n")
	at := fenceLines(lines)
	if len(at) < 2 {
		return ""
	}
	return strings.Join(lines[at[len(at)-2]+1:at[len(at)-1]], "\n")
}

var pythonTag = regexp.MustCompile(`(?s)\[PYTHON\](.*?)\[/PYTHON\]`)

// LiveCodeExecution is extract_code_execution: the value behind "==", of the
// last [PYTHON] block if there is one.
func LiveCodeExecution(text string, cot bool) string {
	if all := pythonTag.FindAllStringSubmatch(text, -1); len(all) > 0 {
		text = all[len(all)-1][1]
	}
	if parts := strings.Split(text, "[ANSWER]"); cot && len(parts) > 1 {
		text = pytext.Strip(parts[1])
	}
	if parts := strings.Split(text, "=="); len(parts) > 1 {
		text = pytext.Strip(parts[1])
	}
	if before, _, ok := strings.Cut(text, "[/ANSWER]"); ok {
		return pytext.Strip(before)
	}
	return pytext.Strip(pytext.FirstLine(text))
}

// LiveCodeTestOutput is extract_test_output_code: the last line that starts with
// assert, else the lines of the first (python) fence pair.
func LiveCodeTestOutput(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "assert") {
			return lines[i]
		}
	}
	at := fenceLines(lines)
	for i, l := range lines {
		if !strings.Contains(l, "```python") && !strings.Contains(l, "```Python") {
			continue
		}
		kept := []int{i}
		for _, j := range at {
			if j > i {
				kept = append(kept, j)
			}
		}
		at = kept
		break
	}
	if len(at) < 2 {
		return ""
	}
	return strings.Join(lines[at[0]+1:at[1]], "\n")
}

// LiveCodeCompare is custom_compare_: the output lines joined, as they are or
// each trimmed, equal the truth but for blanks at the ends.
func LiveCodeCompare(output []string, truth string) bool {
	truth = pytext.Strip(truth)
	if pytext.Strip(strings.Join(output, "\n")) == truth {
		return true
	}
	trimmed := make([]string, len(output))
	for i, l := range output {
		trimmed[i] = pytext.Strip(l)
	}
	return pytext.Strip(strings.Join(trimmed, "\n")) == truth
}
