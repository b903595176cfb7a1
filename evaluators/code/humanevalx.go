package code

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"ais_bench/evaluators/sandbox"
)

// compileFailed is the exit status by which a script says that the program did
// not compile.
const compileFailed = 97

// target is how one language of HumanEval-X is built and run.
type target struct {
	tools []string // that must be on the host
	build func(p HumanEvalXProblem, source string) map[string]string
	run   string // shell script, in the directory of the files
	large bool   // the runtime reserves more addresses than it uses
	extra time.Duration
}

var targets = map[string]target{
	"python": {tools: []string{"python3"}},
	"cpp": {
		tools: []string{"g++"}, build: buildCPP, extra: 60 * time.Second,
		run: "g++ -std=c++17 -O1 -w main.cpp -o main $(grep -q openssl main.cpp && echo -lcrypto -lssl) 2>errors || { head -c 2000 errors >&2; exit 97; }; ./main",
	},
	"go": {
		tools: []string{"go"}, build: buildGo, large: true, extra: 180 * time.Second,
		run: "export GOCACHE=/tmp/cache GOPATH=/tmp/go GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOTELEMETRY=off CGO_ENABLED=0; go test -vet=off -c -o main.test . >errors 2>&1 || { grep -v '^#' errors | head -c 2000 >&2; exit 97; }; ./main.test",
	},
	"java": {
		tools: []string{"javac", "java"}, build: buildJava, large: true, extra: 60 * time.Second,
		run: "javac -nowarn -encoding UTF-8 Main.java 2>errors || { head -c 2000 errors >&2; exit 97; }; java -Xmx512m -Xss64m -XX:+UseSerialGC -XX:-UsePerfData Main",
	},
	"js": {tools: []string{"node"}, build: buildJS, large: true, extra: 10 * time.Second, run: "node --check main.js 2>errors || { head -c 2000 errors >&2; exit 97; }; node main.js"},
}

// aliases are other names of the languages.
var aliases = map[string]string{"c++": "cpp", "golang": "go", "javascript": "js", "py": "python", "python3": "python"}

// HumanEvalX judges one answer to a HumanEval-X problem. A language whose
// toolchain is not on this host gives Skipped, which is no judgement.
func HumanEvalX(ctx context.Context, box Runner, p HumanEvalXProblem, answer string) (Verdict, error) {
	lang := strings.ToLower(p.Language)
	if a, ok := aliases[lang]; ok {
		lang = a
	}
	t, ok := targets[lang]
	if !ok {
		return Verdict{}, fmt.Errorf("code: HumanEval-X has no language %q; it has python, cpp, go, java and js", p.Language)
	}
	for _, tool := range t.tools {
		if _, err := sandbox.LookPath(tool); err != nil {
			return Verdict{Status: Skipped, Detail: fmt.Sprintf("%s is not on this host: install it to judge %s answers", tool, lang)}, nil
		}
	}
	if p.EntryPoint == "" {
		p.EntryPoint = declaredName(p.Declaration+"\n"+p.Prompt, lang)
	}
	source, ok := Extract(answer, lang, p.EntryPoint)
	if !ok {
		return Verdict{Status: NoCode, Detail: "the reply holds no " + lang + " code"}, nil
	}
	wall := p.Timeout
	if wall <= 0 {
		wall = 10 * time.Second
	}
	if lang == "python" {
		program := joinPython(p.Prompt, source, p.EntryPoint)
		v, _, err := runJob(ctx, box, job{Source: program, Steps: []string{p.Test}}, wall, 0)
		v.Code = source
		return v, err
	}
	r, err := box.Run(ctx, sandbox.Program{
		Argv: []string{"sh", "-c", t.run}, Files: t.build(p, source), Wall: wall + t.extra, LargeAddressSpace: t.large,
	})
	if err != nil {
		return Verdict{}, fmt.Errorf("code: %w", err)
	}
	v := Verdict{Code: source, Total: 1}
	switch {
	case r.TimedOut || r.OOM:
		v.Status, v.Detail = ending(r, wall+t.extra)
	case r.Exit == compileFailed:
		v.Status, v.Detail = Error, "does not compile: "+compilerMessage(r.Stderr)
	case r.Exit == 0 && r.Signal == 0:
		v.Status, v.Passed = Pass, 1
	case r.Signal == 6 || r.Exit == 134 || strings.Contains(r.Stderr+r.Stdout, "AssertionError") || strings.Contains(r.Stdout, "--- FAIL") || strings.Contains(r.Stderr, "ssertion"):
		v.Status, v.Detail = Fail, assertionMessage(r)
	default:
		v.Status, v.Detail = ending(r, wall+t.extra)
	}
	return v, nil
}

func compilerMessage(s string) string {
	for _, l := range strings.Split(s, "\n") {
		if strings.Contains(l, "error") || strings.Contains(l, "Error") || strings.Contains(l, ".go:") {
			return lastLine(l)
		}
	}
	return lastLine(s)
}

func assertionMessage(r sandbox.Result) string {
	for _, l := range strings.Split(r.Stderr+"\n"+r.Stdout, "\n") {
		if strings.Contains(l, "ssertion") || strings.Contains(l, "not equal") {
			return lastLine(l)
		}
	}
	return "a test failed"
}

var declared = map[string]*regexp.Regexp{
	"python": regexp.MustCompile(`(?m)^def\s+(\w+)\s*\(`),
	"go":     regexp.MustCompile(`(?m)^func\s+(\w+)\s*\(`),
	"js":     regexp.MustCompile(`(?m)^\s*(?:const|let|var)\s+(\w+)\s*=|^function\s+(\w+)`),
	"cpp":    regexp.MustCompile(`(?m)^[\w:<>,&* ]+[ &*>](\w+)\s*\([^;]*\)\s*\{`),
	"java":   regexp.MustCompile(`(?m)^\s*(?:public|private|protected|static|\s)+[\w<>\[\], ]+\s(\w+)\s*\([^;]*\)\s*(?:throws \w+\s*)?\{`),
}

// declaredName is the last function a stub declares: the one to complete.
func declaredName(stub, lang string) string {
	all := declared[lang].FindAllStringSubmatch(stub, -1)
	if len(all) == 0 {
		return ""
	}
	for _, g := range slices.Backward(all[len(all)-1][1:]) {
		if g != "" {
			return g
		}
	}
	return ""
}

// whole reports whether source is more than a body.
func whole(p HumanEvalXProblem, source, lang string) bool {
	return p.EntryPoint != "" && definesName(source, lang, p.EntryPoint)
}

var cppHead = regexp.MustCompile(`(?m)^\s*(?:#include.*|using namespace .*;)$`)

func buildCPP(p HumanEvalXProblem, source string) map[string]string {
	var b strings.Builder
	b.WriteString("#include <bits/stdc++.h>\n")
	if whole(p, source, "cpp") {
		for _, l := range cppHead.FindAllString(p.Declaration+"\n"+p.Prompt, -1) {
			b.WriteString(strings.TrimSpace(l) + "\n")
		}
		b.WriteString(cutMain(source))
	} else {
		b.WriteString(p.Prompt + closeBody(p.Prompt, source))
	}
	b.WriteString("\n#undef NDEBUG\n#include <cassert>\n" + p.Test)
	return map[string]string{"main.cpp": b.String()}
}

var cppMain = regexp.MustCompile(`(?m)^(?:int|void|auto)\s+main\s*\(`)

// cutMain drops a model's own main, which would clash with the test's.
func cutMain(source string) string {
	if m := cppMain.FindStringIndex(source); m != nil {
		return source[:m[0]]
	}
	return source
}

// closeBody adds the closing brace that a body continues without.
func closeBody(stub, body string) string {
	text := stub + body
	for open := strings.Count(text, "{") - strings.Count(text, "}"); open > 0; open-- {
		body += "\n}"
	}
	return body
}

var (
	goImportBlock = regexp.MustCompile(`(?ms)^import\s*\(\s*(.*?)^\s*\)`)
	goImportLine  = regexp.MustCompile(`(?m)^import\s+(?:(\w+|\.|_)\s+)?("[^"]+")`)
	goPackage     = regexp.MustCompile(`(?m)^package\s+\w+`)
	goSpec        = regexp.MustCompile(`(?m)^\s*(?:(\w+|\.|_)\s+)?("[^"]+")`)
)

// goImports takes package clause and imports out of Go source.
func goImports(source string) (imports []string, rest string) {
	for _, m := range goImportBlock.FindAllStringSubmatch(source, -1) {
		for _, s := range goSpec.FindAllStringSubmatch(m[1], -1) {
			imports = append(imports, strings.TrimSpace(s[1]+" "+s[2]))
		}
	}
	rest = goImportBlock.ReplaceAllString(source, "")
	for _, s := range goImportLine.FindAllStringSubmatch(rest, -1) {
		imports = append(imports, strings.TrimSpace(s[1]+" "+s[2]))
	}
	rest = goImportLine.ReplaceAllString(rest, "")
	return imports, goPackage.ReplaceAllString(rest, "")
}

// buildGo puts the solution and the tests into one package, each with the
// imports it uses, and beside them the few assertions the tests take from
// testify, which is not fetched.
func buildGo(p HumanEvalXProblem, source string) map[string]string {
	file := func(sources ...string) string {
		var all []string
		var body strings.Builder
		for _, s := range sources {
			imports, rest := goImports(s)
			all = append(all, imports...)
			body.WriteString(rest + "\n")
		}
		slices.Sort(all)
		all = slices.Compact(all)
		text := body.String()
		var b strings.Builder
		b.WriteString("package main\n\nimport (\n")
		for _, spec := range all {
			path := strings.Trim(spec[strings.IndexByte(spec, '"'):], `"`)
			name := path[strings.LastIndexByte(path, '/')+1:]
			if alias, _, ok := strings.Cut(spec, " "); ok {
				name = alias
			}
			if name == "_" || name == "." || regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\.`).MatchString(text) {
				b.WriteString("\t" + spec + "\n")
			}
		}
		b.WriteString(")\n\n" + text)
		return b.String()
	}
	solution := p.Prompt + closeBody(p.Prompt, source)
	imports, _ := goImports(p.Prompt + "\n" + p.TestSetup)
	if whole(p, source, "go") {
		solution = "import (\n\t" + strings.Join(imports, "\n\t") + "\n)\n" + cutGoMain(source)
	}
	test := p.TestSetup + "\n" + p.Test
	if !strings.Contains(test, `"testing"`) {
		test = "import \"testing\"\n" + test
	}
	return map[string]string{
		"go.mod":                   "module humanevalx\n\ngo 1.18\n\nrequire github.com/stretchr/testify v1.8.0\n\nreplace github.com/stretchr/testify => ./testify\n",
		"solution.go":              file(solution),
		"main_test.go":             file(test),
		"testify/go.mod":           "module github.com/stretchr/testify\n\ngo 1.18\n",
		"testify/assert/assert.go": goAssert,
	}
}

var goMain = regexp.MustCompile(`(?m)^func main\(\)`)

func cutGoMain(source string) string {
	if m := goMain.FindStringIndex(source); m != nil {
		return source[:m[0]]
	}
	return source
}

// goAssert offers the assertions of testify/assert that HumanEval-X's tests
// use, as methods of New(t) and as functions.
const goAssert = `package assert

import (
	"bytes"
	"math"
	"reflect"
)

type TestingT interface {
	Errorf(format string, args ...interface{})
}

type Assertions struct{ t TestingT }

func New(t TestingT) *Assertions { return &Assertions{t} }

func same(a, b interface{}) bool {
	x, ok1 := a.([]byte)
	y, ok2 := b.([]byte)
	if ok1 && ok2 {
		return bytes.Equal(x, y)
	}
	return reflect.DeepEqual(a, b)
}

func number(v interface{}) float64 {
	r := reflect.ValueOf(v)
	switch {
	case r.CanInt():
		return float64(r.Int())
	case r.CanUint():
		return float64(r.Uint())
	case r.CanFloat():
		return r.Float()
	}
	return math.NaN()
}

func isNil(v interface{}) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Ptr, reflect.Slice:
		return r.IsNil()
	}
	return false
}

func check(t TestingT, ok bool, format string, args ...interface{}) bool {
	if !ok {
		t.Errorf(format, args...)
	}
	return ok
}

func Equal(t TestingT, want, got interface{}, _ ...interface{}) bool {
	return check(t, same(want, got), "not equal: expected %#v, got %#v", want, got)
}
func NotEqual(t TestingT, a, b interface{}, _ ...interface{}) bool {
	return check(t, !same(a, b), "not different: %#v", a)
}
func True(t TestingT, v bool, _ ...interface{}) bool  { return check(t, v, "not equal: expected true") }
func False(t TestingT, v bool, _ ...interface{}) bool { return check(t, !v, "not equal: expected false") }
func Nil(t TestingT, v interface{}, _ ...interface{}) bool {
	return check(t, isNil(v), "not equal: expected nil, got %#v", v)
}
func NotNil(t TestingT, v interface{}, _ ...interface{}) bool {
	return check(t, !isNil(v), "not equal: expected a value, got nil")
}
func InDelta(t TestingT, want, got interface{}, delta float64, _ ...interface{}) bool {
	d := math.Abs(number(want) - number(got))
	return check(t, d <= delta, "not equal: expected %v within %v, got %v", want, delta, got)
}

func (a *Assertions) Equal(want, got interface{}, m ...interface{}) bool { return Equal(a.t, want, got) }
func (a *Assertions) NotEqual(x, y interface{}, m ...interface{}) bool   { return NotEqual(a.t, x, y) }
func (a *Assertions) True(v bool, m ...interface{}) bool                 { return True(a.t, v) }
func (a *Assertions) False(v bool, m ...interface{}) bool                { return False(a.t, v) }
func (a *Assertions) Nil(v interface{}, m ...interface{}) bool           { return Nil(a.t, v) }
func (a *Assertions) NotNil(v interface{}, m ...interface{}) bool        { return NotNil(a.t, v) }
func (a *Assertions) InDelta(want, got interface{}, delta float64, m ...interface{}) bool {
	return InDelta(a.t, want, got, delta)
}
`

var javaImport = regexp.MustCompile(`(?m)^\s*import\s+(?:static\s+)?[\w.*]+;`)

// buildJava gathers the imports on top and puts the solution's class before the
// test's Main.
func buildJava(p HumanEvalXProblem, source string) map[string]string {
	solution := source
	switch {
	case regexp.MustCompile(`\bclass\s+Solution\b`).MatchString(source):
	case whole(p, source, "java"):
		solution = "class Solution {\n" + source + "\n}\n"
	default:
		solution = p.Prompt + closeBody(p.Prompt, source)
	}
	solution = strings.ReplaceAll(solution, "public class Solution", "class Solution")
	if m := regexp.MustCompile(`(?m)^(?:public\s+)?class\s+Main\b`).FindStringIndex(solution); m != nil {
		solution = solution[:m[0]] // the model's own tests
	}
	text := solution + "\n" + p.Test
	imports := javaImport.FindAllString(p.Prompt+"\n"+text, -1)
	for i := range imports {
		imports[i] = strings.TrimSpace(imports[i])
	}
	imports = append(imports, "import java.util.*;", "import java.util.stream.*;")
	slices.Sort(imports)
	return map[string]string{"Main.java": strings.Join(slices.Compact(imports), "\n") + "\n" + javaImport.ReplaceAllString(text, "")}
}

// buildJS makes failed console.assert calls, which only print, fail the run.
func buildJS(p HumanEvalXProblem, source string) map[string]string {
	solution := source
	if !whole(p, source, "js") {
		solution = p.Prompt + closeBody(p.Prompt, source)
	}
	const assert = "console.assert = (ok, ...m) => { if (!ok) throw new Error('Assertion failed ' + m.join(' ')) };\n"
	return map[string]string{"main.js": solution + "\n" + assert + p.Test}
}
