package code

import (
	"regexp"
	"strings"
)

// block is one fenced block of a reply.
type block struct {
	lang   string
	source string
	closed bool
}

// Extract takes the code out of a reply: the last complete fenced block that
// defines entryPoint, else the last complete fenced block in the language, else
// the last complete block, else an unclosed block to the end, else the whole
// reply when it reads as code. lang is a fence tag ("python", "cpp", …);
// entryPoint may be empty. found is false when there is no code. Text before a
// closing </think> is not looked at; line ends become \n.
func Extract(answer, lang, entryPoint string) (source string, found bool) {
	answer = strings.ReplaceAll(answer, "\r\n", "\n")
	if i := strings.LastIndex(answer, "</think>"); i >= 0 {
		answer = answer[i+len("</think>"):]
	}
	blocks := fences(answer)
	inLanguage := func(b block) bool { return tags[b.lang] == lang }
	plain := func(b block) bool { return b.lang == "" }
	other := func(b block) bool { return !inLanguage(b) && !plain(b) }
	closed := func(b block) bool { return b.closed }
	defines := func(b block) bool { return entryPoint != "" && definesName(b.source, lang, entryPoint) }
	for _, want := range [...]func(block) bool{
		func(b block) bool { return closed(b) && !other(b) && defines(b) },
		func(b block) bool { return closed(b) && defines(b) },
		func(b block) bool { return !other(b) && defines(b) },
		func(b block) bool { return closed(b) && inLanguage(b) },
		func(b block) bool { return closed(b) && plain(b) },
		closed,
		func(b block) bool { return true },
	} {
		for i := len(blocks) - 1; i >= 0; i-- {
			if want(blocks[i]) && strings.TrimSpace(blocks[i].source) != "" {
				return blocks[i].source, true
			}
		}
	}
	if len(blocks) > 0 {
		return "", false
	}
	return bare(answer, lang, entryPoint)
}

// tags maps what stands behind a fence to a language.
var tags = map[string]string{
	"python": "python", "py": "python", "python3": "python", "python2": "python", "py3": "python", "pycon": "python",
	"cpp": "cpp", "c++": "cpp", "cc": "cpp", "cxx": "cpp", "c": "cpp", "go": "go", "golang": "go", "java": "java",
	"js": "js", "javascript": "js", "node": "js", "typescript": "js", "ts": "js",
}

// fences lists the fenced blocks of Markdown text. A fence may be indented (in
// a list), in which case its content is moved left as far; three backquotes
// that close on the same line are inline code.
func fences(text string) (all []block) {
	var open *block
	var mark string
	indent := 0
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " \t")
		run := fenceRun(trimmed)
		if open == nil {
			if run == "" || run[0] == '`' && strings.Contains(trimmed[len(run):], "`") {
				continue
			}
			mark, indent = run, len(line)-len(trimmed)
			info := strings.Fields(trimmed[len(run):])
			open = &block{}
			if len(info) > 0 {
				open.lang = strings.ToLower(strings.Trim(info[0], "{}.:,"))
				if i := strings.IndexAny(open.lang, ":,{"); i > 0 { // python:main.py
					open.lang = open.lang[:i]
				}
			}
			lines = nil
			continue
		}
		if run != "" && run[0] == mark[0] && len(run) >= len(mark) && (strings.TrimSpace(trimmed[len(run):]) == "" || !fenceTag(trimmed[len(run):])) {
			open.source, open.closed = dedent(lines, indent), true
			all = append(all, *open)
			open = nil
			continue
		}
		lines = append(lines, line)
	}
	if open != nil {
		open.source = dedent(lines, indent)
		all = append(all, *open)
	}
	return all
}

// fenceTag reports whether what follows backquotes names a language, so that
// they open a block that the one before forgot to close.
func fenceTag(rest string) bool {
	f := strings.Fields(rest)
	return len(f) == 1 && tags[strings.ToLower(f[0])] != ""
}

func fenceRun(s string) string {
	for _, c := range [...]byte{'`', '~'} {
		n := 0
		for n < len(s) && s[n] == c {
			n++
		}
		if n >= 3 {
			return s[:n]
		}
	}
	return ""
}

func dedent(lines []string, n int) string {
	var b strings.Builder
	for _, l := range lines {
		k := 0
		for k < n && k < len(l) && (l[k] == ' ' || l[k] == '\t') {
			k++
		}
		b.WriteString(l[k:])
		b.WriteByte('\n')
	}
	return b.String()
}

// definesName reports whether source defines a function (or method) name.
func definesName(source, lang, name string) bool {
	q := regexp.QuoteMeta(name)
	var pattern string
	switch lang {
	case "python":
		pattern = `(?m)^[ \t]*(?:async[ \t]+)?def[ \t]+` + q + `[ \t]*\(`
	case "go":
		pattern = `(?m)^func(?:[ \t]*\([^)]*\))?[ \t]+` + q + `[ \t]*[\(\[]`
	case "js":
		pattern = `(?m)(?:function\*?[ \t]+` + q + `\b|\b(?:const|let|var)[ \t]+` + q + `[ \t]*=|^[ \t]*` + q + `[ \t]*=[ \t]*(?:async|function|\())`
	default: // C++ and Java: a type, the name, parameters and a body
		pattern = `(?m)^[ \t]*[\w:<>,&*\[\] \t]+[ \t&*>\]]` + q + `[ \t]*\([^;{}]*\)[^;{}]*\{`
	}
	re, err := regexp.Compile(pattern)
	return err == nil && re.MatchString(source)
}

var (
	pythonStart = regexp.MustCompile(`^(?:def|class|import|from|async def|@)\b|^@`)
	pythonTop   = regexp.MustCompile(`^(?:(?:def|class|import|from|async|if|elif|else|for|while|try|except|finally|with|return|assert|pass|global|del|raise|yield|print)\b|[@#)\]}"']|[A-Za-z_][\w.]*\s*(?:\(|=|\[|\+=|-=|:\s*\w+\s*=))`)
)

// bare finds code in a reply without fences.
func bare(answer, lang, entryPoint string) (string, bool) {
	if strings.TrimSpace(answer) == "" {
		return "", false
	}
	if lang != "python" {
		if strings.ContainsAny(answer, "{;") {
			return answer, true
		}
		return "", false
	}
	lines := strings.Split(answer, "\n")
	first := 0
	for first < len(lines) && strings.TrimSpace(lines[first]) == "" {
		first++
	}
	if isBodyLine(lines[first]) { // the continuation of a function
		return strings.Join(takeBody(lines[first:]), "\n") + "\n", true
	}
	for i, l := range lines {
		if !pythonStart.MatchString(l) || !isTopLine(l) {
			continue
		}
		end := i
		for end < len(lines) && (strings.TrimSpace(lines[end]) == "" || lines[end][0] == ' ' || lines[end][0] == '\t' || isTopLine(lines[end])) {
			end++
		}
		return strings.Join(lines[i:end], "\n") + "\n", true
	}
	if isTopLine(lines[first]) { // a script without definitions
		return answer, true
	}
	return "", false
}

var fromImport = regexp.MustCompile(`^from\s+[\w.]+\s+import\s|^import\s+[\w.]+(?:\s+as\s+\w+)?(?:\s*[,;#]|\s*$)`)

// isTopLine tells a statement at the top level of a script from prose.
func isTopLine(l string) bool {
	if strings.HasPrefix(l, "from ") || strings.HasPrefix(l, "import ") {
		return fromImport.MatchString(l)
	}
	return pythonTop.MatchString(l)
}

// isBodyLine tells a line of a function's body from prose.
func isBodyLine(l string) bool {
	return l != "" && (l[0] == ' ' || l[0] == '\t') || l == "return" || strings.HasPrefix(l, "return ")
}

// takeBody keeps a function's body and the definitions after it, and drops what
// a completion model goes on to write: prose, tests, calls.
func takeBody(lines []string) []string {
	end := 0
	inBody := true
	for end < len(lines) {
		l := lines[end]
		indented := l != "" && (l[0] == ' ' || l[0] == '\t')
		if !indented && strings.TrimSpace(l) != "" && end > 0 {
			inBody = false
		}
		if !inBody && !indented && strings.TrimSpace(l) != "" && !pythonStart.MatchString(l) && !strings.HasPrefix(l, ")") {
			break
		}
		end++
	}
	return lines[:end]
}

// joinPython makes a program of a function's stub and what a model wrote: a
// whole definition is put behind the stub (whose imports and helpers it may
// need), a body is indented to fit into it.
func joinPython(prompt, source, entryPoint string) string {
	if definesName(source, "python", entryPoint) {
		return prompt + "\n" + source
	}
	return strings.TrimRight(prompt, " \t") + fitBody(source)
}

// fitBody indents a body by four columns, whatever it came with: none, an
// indentation of its own, or one that a stripped first line has lost.
func fitBody(source string) string {
	lines := strings.Split(strings.TrimRight(source, " \t\n"), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return "    pass\n"
	}
	width := func(l string) int { return len(l) - len(strings.TrimLeft(l, " \t")) }
	first := width(lines[0])
	least, second := -1, -1
	for _, l := range lines[1:] {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if second < 0 {
			second = width(l)
		}
		if least < 0 || width(l) < least {
			least = width(l)
		}
	}
	shift := 4 - first
	onlyFirst := false
	switch {
	case first > 0 && strings.HasPrefix(lines[0], "\t"):
		shift = 0
	case first < 4 && least >= 4:
		opens := strings.HasSuffix(strings.TrimSpace(lines[0]), ":")
		onlyFirst = !opens || second >= 8 || first > 0
	}
	var b strings.Builder
	for i, l := range lines {
		switch {
		case strings.TrimSpace(l) == "":
		case onlyFirst && i > 0 || shift == 0:
			b.WriteString(l)
		case shift > 0:
			if !(first > 0 && width(l) == 0) { // a top-level definition after the body stays there
				b.WriteString(strings.Repeat(" ", shift))
			}
			b.WriteString(l)
		default:
			b.WriteString(l[min(-shift, width(l)):])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
