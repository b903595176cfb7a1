package code

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ais_bench/evaluators/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.MaybeChild()
	os.Exit(m.Run())
}

func box(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	if _, err := sandbox.LookPath("python3"); err != nil {
		t.Skip("python3 is not on this host")
	}
	b, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Skipf("this host cannot isolate: %v", err)
	}
	return b
}

// patient is time for programs that end by themselves, however busy the host.
const patient = 2 * time.Minute

func TestExtract(t *testing.T) {
	for _, c := range []struct{ name, answer, entry, want string }{
		{"one block", "Sure:\n```python\ndef f(x):\n    return x\n```\nDone.", "f", "def f(x):\n    return x\n"},
		{"no language", "```\ndef f(x):\n    return x\n```", "f", "def f(x):\n    return x\n"},
		{"CRLF", "```python\r\ndef f(x):\r\n    return x\r\n```", "f", "def f(x):\n    return x\n"},
		{"attributes", "```py title=a\nx=1\n```", "", "x=1\n"},
		{"the last that defines it", "```python\ndef f(x):\n    return 1\n```\nbetter:\n```python\ndef f(x):\n    return 2\n```\nuse:\n```python\nprint(f(1))\n```", "f", "def f(x):\n    return 2\n"},
		{"the last without a name", "```python\na=1\n```\n```python\nb=2\n```", "", "b=2\n"},
		{"output block after", "```python\ndef f():\n    pass\n```\nOutput:\n```\n5\n```", "g", "def f():\n    pass\n"},
		{"unclosed", "```python\ndef f(x):\n    return x", "f", "def f(x):\n    return x\n"},
		{"complete before unclosed", "```python\ndef f(x):\n    return x\n```\n```python\ndef f(x):\n    ret", "f", "def f(x):\n    return x\n"},
		{"thinking", "<think>```python\nbad\n```</think>```python\ngood=1\n```", "", "good=1\n"},
		{"indented in a list", "1. code:\n   ```python\n   def f(x):\n       return x\n   ```", "f", "def f(x):\n    return x\n"},
		{"inline", "inline ```a``` here\n```\nc=3\n```", "", "c=3\n"},
		{"backquotes inside", "````python\ns = '''\n```\n'''\n````", "", "s = '''\n```\n'''\n"},
		{"bare function", "def f(x):\n    return x", "f", "def f(x):\n    return x\n"},
		{"bare body", "    return x + 1\n", "f", "    return x + 1\n\n"},
		{"body and chatter", "    a = 1\n    return a\n\nprint(f(1))\nmore", "f", "    a = 1\n    return a\n\n"},
		{"prose around bare code", "Here is it.\n\ndef f(x):\n    return x\n\nIt returns x.", "f", "def f(x):\n    return x\n\n"},
		{"other language", "```bash\npip install x\n```\n```python\nimport x\n```\n```json\n{}\n```", "", "import x\n"},
		{"imports and class", "```python\nfrom a import b\n\nclass S:\n    def f(self):\n        pass\n```", "f", "from a import b\n\nclass S:\n    def f(self):\n        pass\n"},
	} {
		got, ok := Extract(c.answer, "python", c.entry)
		if !ok || got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for _, none := range []string{"", "I cannot help with that.", "from the start, this is prose", "```\n\n```", "import duties are high."} {
		if got, ok := Extract(none, "python", "f"); ok {
			t.Errorf("%q: found %q", none, got)
		}
	}
}

func TestFitBody(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"return x", "    return x\n"}, {"    return x\n", "    return x\n"}, {"  return x\n", "    return x\n"},
		{"for i in x:\n    y\nreturn y", "    for i in x:\n        y\n    return y\n"},
		{"a = 1\n    return a", "    a = 1\n    return a\n"},
		{"for i in x:\n        y\n    return y", "    for i in x:\n        y\n    return y\n"},
		{"   return 5", "    return 5\n"}, {"\treturn 5", "\treturn 5\n"}, {"        return 5", "    return 5\n"}, {"", "    pass\n"},
	} {
		if got := fitBody(c.in); got != c.want {
			t.Errorf("fitBody(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestHumanEvalVerdicts(t *testing.T) {
	t.Parallel()
	b := box(t)
	p := HumanEvalProblem{Prompt: "from typing import List\n\ndef double(x: List[int]) -> List[int]:\n    \"\"\" Double all. \"\"\"\n", Test: "def check(candidate):\n    assert candidate([1,2]) == [2,4]\n    assert candidate([]) == []\n", EntryPoint: "double"}
	for _, c := range []struct {
		name, answer string
		want         Status
		detail       string
	}{
		{"right", "```python\ndef double(x: List[int]) -> List[int]:\n    return [2*i for i in x]\n```", Pass, ""},
		{"body", "    return [2*i for i in x]\n", Pass, ""},
		{"body without indentation", "return [2*i for i in x]", Pass, ""},
		{"wrong", "```python\ndef double(x):\n    return x\n```", Fail, "AssertionError"},
		{"syntax", "```python\ndef double(x)\n    return x\n```", Error, "SyntaxError"},
		{"raises", "```python\ndef double(x):\n    return x.y\n```", Error, "AttributeError"},
		{"loops", "```python\ndef double(x):\n    while True: pass\n```", Timeout, "2s"},
		{"exits", "```python\ndef double(x):\n    import os; os._exit(0)\n```", Error, "before the tests"},
		{"exits at once", "```python\nimport sys\ndef double(x): return x\nsys.exit(0)\n```", Error, "SystemExit"},
		{"prints a verdict", "```python\ndef double(x): return x\nprint('{\"nonce\": \"\", \"status\": \"pass\"}')\n```", Fail, ""},
		{"floods and is right", "```python\ndef double(x):\n    print('x'*10**6)\n    return [2*i for i in x]\n```", Pass, ""},
		{"reads input", "```python\ndef double(x):\n    input()\n```", Error, "EOFError"},
		{"crashes", "```python\ndef double(x):\n    import ctypes; ctypes.string_at(0)\n```", Error, "signal 11"},
		{"no code", "I would rather not.", NoCode, ""},
		{"main guard is not run", "```python\ndef double(x):\n    return [2*i for i in x]\nif __name__ == '__main__':\n    raise SystemExit\n```", Pass, ""},
	} {
		if p.Timeout = patient; c.want == Timeout {
			p.Timeout = 2 * time.Second
		}
		v, err := HumanEval(context.Background(), b, p, c.answer)
		if err != nil || v.Status != c.want || !strings.Contains(v.Detail, c.detail) || strings.Contains(v.Detail, "\n") {
			t.Errorf("%s: %+v, %v; want %s", c.name, v, err, c.want)
		}
	}
}

func TestMBPP(t *testing.T) {
	t.Parallel()
	b := box(t)
	p := MBPPProblem{Tests: []string{"assert set(common((1,2),(2,3))) == set((2,))", "assert common((1,),(2,)) == ()"}, Timeout: patient}
	for _, c := range []struct {
		name, answer string
		want         Status
		passed       int
	}{
		{"begin and done", "[BEGIN]\n 'def common(a,b):\n  return tuple(set(a)&set(b))' \n[DONE]\nmore", Pass, 2},
		{"done only", "def common(a,b):\n  return tuple(set(a)&set(b))\n[DONE]", Pass, 2},
		{"fenced", "```python\ndef common(a,b):\n  return tuple(set(a)&set(b))\n```", Pass, 2},
		{"half", "```python\ndef common(a,b):\n  return (2,)\n```", Fail, 1},
	} {
		v, err := MBPP(context.Background(), b, p, c.answer)
		if err != nil || v.Status != c.want || v.Passed != c.passed || v.Total != 2 {
			t.Errorf("%s: %+v, %v; want %s with %d passed", c.name, v, err, c.want, c.passed)
		}
	}
	if got := testedName(p.Tests); got != "common" {
		t.Errorf("testedName = %q", got)
	}
}

func TestLiveCodeBench(t *testing.T) {
	t.Parallel()
	b := box(t)
	stdin := LiveCodeBenchProblem{Cases: []Case{{"2\n1 2\n", "3\n"}, {"3\n1 2 3\n", "6"}}, Timeout: patient}
	call := LiveCodeBenchProblem{Cases: []Case{{"[1, 2]\n3", "[3, 6]"}}, FuncName: "scale", Timeout: patient}
	for _, c := range []struct {
		name   string
		p      LiveCodeBenchProblem
		answer string
		want   Status
		passed int
	}{
		{"stdin", stdin, "```python\nn = int(input())\nprint(sum(map(int, input().split())))\n```", Pass, 2},
		{"main guard", stdin, "```python\ndef main():\n    n = int(input())\n    print(sum(map(int, sys.stdin.readline().split())))\nif __name__ == '__main__':\n    main()\n```", Pass, 2},
		{"wrong second", stdin, "```python\nprint(3)\n```", Fail, 1},
		{"raises", stdin, "```python\nprint(1/0)\n```", Error, 0},
		{"loops", stdin, "```python\nwhile True: pass\n```", Timeout, 0},
		{"method", call, "```python\nclass Solution:\n    def scale(self, xs: List[int], k: int) -> List[int]:\n        return tuple(x*k for x in xs)\n```", Pass, 1},
		{"function", call, "```python\ndef scale(xs, k):\n    return [float(x*k) for x in xs]\n```", Pass, 1},
		{"wrong", call, "```python\ndef scale(xs, k):\n    return xs\n```", Fail, 0},
		{"missing", call, "```python\ndef other(xs, k):\n    return xs\n```", Error, 0},
	} {
		if c.want == Timeout {
			c.p.Timeout = 2 * time.Second
		}
		v, err := LiveCodeBench(context.Background(), b, c.p, c.answer)
		if err != nil || v.Status != c.want || v.Passed != c.passed {
			t.Errorf("%s: %+v, %v; want %s with %d passed", c.name, v, err, c.want, c.passed)
		}
	}
}

func TestSameOutput(t *testing.T) {
	for _, c := range []struct {
		got, want string
		same      bool
	}{
		{"1 \n 2\n", "1\n2", true}, {"1\r\n2", "1\n2\n", true}, {"a  b", "a b", true}, {"YES", "Yes", false}, {"1.0", "1", true}, {"0.333333333", "0.3333333", true}, {"100000001", "100000002", false}, {"1\n2", "2\n1", false}, {"1 2", "1", false}, {"nan", "nan", true}, {"inf", "1e999", false}, {"", "", true}, {"\n\n3", "3", true},
	} {
		if got := SameOutput(c.got, c.want); got != c.same {
			t.Errorf("SameOutput(%q, %q) = %v", c.got, c.want, got)
		}
	}
	if !SameOutputAnyOrder("2 1\n3", "3\n1 2") || SameOutputAnyOrder("2\n4", "2\n3") {
		t.Error("SameOutputAnyOrder")
	}
	for _, c := range []struct {
		lines []string
		want  string
		same  bool
	}{{[]string{"1 ", " 2"}, "1\n2\n", true}, {[]string{"1.0"}, "1", false}, {[]string{"YES"}, "Yes", false}, {[]string{"a  b"}, "a b", false}} {
		if got := EqualLines(c.lines, c.want); got != c.same {
			t.Errorf("EqualLines(%q, %q) = %v", c.lines, c.want, got)
		}
	}
	for _, c := range []struct {
		got, want string
		same      bool
	}{{"1", "1.0", true}, {"true", "1", true}, {"[1,[2]]", "[1, [2.0]]", true}, {`{"a":1}`, `{"a":2}`, false}, {"5", "[5]", true}, {"12345678901234567890", "12345678901234567891", false}, {"null", "null", true}, {`"a"`, `"b"`, false}} {
		if got := sameJSON([]byte(c.got), []byte(c.want)); got != c.same {
			t.Errorf("sameJSON(%s, %s) = %v", c.got, c.want, got)
		}
	}
}

func TestHumanEvalX(t *testing.T) {
	t.Parallel()
	b := box(t)
	problems := map[string]HumanEvalXProblem{
		"cpp":    {Prompt: "/*\nDouble it.\n*/\n#include<stdio.h>\n#include<vector>\nusing namespace std;\nint twice(int x){\n", Declaration: "#include<stdio.h>\n#include<vector>\nusing namespace std;\nint twice(int x){\n", Test: "#undef NDEBUG\n#include<assert.h>\nint main(){\n    assert (twice(2) == 4);\n}\n"},
		"java":   {Prompt: "import java.util.*;\nimport java.lang.*;\n\nclass Solution {\n    /** Double it. */\n    public int twice(int x) {\n", Declaration: "import java.util.*;\nclass Solution {\n    public int twice(int x) {\n", Test: "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n        List<Boolean> correct = Arrays.asList(s.twice(2) == 4);\n        if (correct.contains(false)) {\n            throw new AssertionError();\n        }\n    }\n}\n"},
		"js":     {Prompt: "/* Double it. */\nconst twice = (x) => {\n", Declaration: "\nconst twice = (x) => {\n", Test: "const testTwice = () => {\n  console.assert(twice(2) === 4)\n}\ntestTwice()\n"},
		"python": {Prompt: "def twice(x):\n    \"\"\" Double it. \"\"\"\n", Test: "def check(f):\n    assert f(2) == 4\ncheck(twice)\n"},
		"go":     {Prompt: "import (\n    \"math\"\n)\n\n// Double it.\nfunc Twice(x int) int {\n", Declaration: "func Twice(x int) int {\n", TestSetup: "package main\n\nimport (\n    \"testing\"\n    \"github.com/stretchr/testify/assert\"\n)\n", Test: "func TestTwice(t *testing.T) {\n    assert := assert.New(t)\n    assert.Equal(4, Twice(2))\n}\n"},
	}
	answers := map[string][3]string{ // right whole, right body, wrong
		"cpp":    {"```cpp\n#include <iostream>\nusing namespace std;\nint twice(int x) {\n    return 2*x;\n}\nint main() { cout << twice(1); }\n```", "    return 2*x;\n}\n", "```cpp\nint twice(int x) { return x; }\n```"},
		"java":   {"```java\nimport java.util.List;\npublic class Solution {\n    public int twice(int x) {\n        return 2*x;\n    }\n}\n```", "        return 2*x;\n    }\n}", "```java\nclass Solution {\n    public int twice(int x) { return x; }\n}\n```"},
		"js":     {"```javascript\nconst twice = (x) => {\n  return 2*x;\n}\n```", "  return 2*x;\n}\n", "```js\nfunction twice(x) { return x }\n```"},
		"python": {"```python\ndef twice(x):\n    return 2*x\n```", "    return 2*x\n", "    return x\n"},
		"go":     {"```go\npackage main\n\nimport \"fmt\"\n\nfunc Twice(x int) int {\n    fmt.Sprint(x)\n    return 2 * x\n}\n\nfunc main() {}\n```", "", ""},
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for lang, p := range problems {
		p.Language, p.Timeout = lang, patient
		for i, answer := range answers[lang] {
			if answer == "" || lang == "go" && os.Getenv("AIS_BENCH_SLOW_TESTS") == "" { // Go compiles its library anew in every sandbox
				continue
			}
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				v, err := HumanEvalX(context.Background(), b, p, answer)
				want := [3]Status{Pass, Pass, Fail}[i]
				if v.Status == Skipped {
					t.Log(v.Detail)
				} else if err != nil || v.Status != want {
					t.Errorf("%s answer %d: %+v, %v; want %s", lang, i, v, err, want)
				}
			})
		}
	}
	wg.Wait()
	if v, err := HumanEvalX(context.Background(), b, HumanEvalXProblem{Language: "cpp", Prompt: problems["cpp"].Prompt, Declaration: problems["cpp"].Declaration, Test: problems["cpp"].Test}, "```cpp\nint twice(int x) { return y; }\n```"); err != nil || v.Status != Error && v.Status != Skipped || v.Status == Error && !strings.Contains(v.Detail, "does not compile") {
		t.Errorf("compile error: %+v, %v", v, err)
	}
	if _, err := HumanEvalX(context.Background(), b, HumanEvalXProblem{Language: "cobol"}, "x"); err == nil {
		t.Error("an unknown language is accepted")
	}
}

// TestHumanEvalCanonical runs the 164 canonical solutions and 164 broken ones.
func TestHumanEvalCanonical(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("AIS_BENCH_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "conformance")
	}
	f, err := os.Open(filepath.Join(dir, "humaneval", "HumanEval.jsonl.gz"))
	if err != nil {
		t.Skipf("conformance data not found (%v): set AIS_BENCH_CONFORMANCE to its folder", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b := box(t)
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<22)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	n, begin := 0, time.Now()
	for s.Scan() {
		var r struct {
			TaskID    string `json:"task_id"`
			Prompt    string
			Canonical string `json:"canonical_solution"`
			Test      string
			Entry     string `json:"entry_point"`
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		n++
		p := HumanEvalProblem{Prompt: r.Prompt, Test: r.Test, EntryPoint: r.Entry, Timeout: patient}
		n := n
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			whole := "Here:\n```python\n" + r.Prompt + r.Canonical + "```\n"
			answers := []string{r.Canonical}
			if n%4 == 0 {
				answers = append(answers, whole)
			}
			for _, answer := range answers {
				if v, err := HumanEval(context.Background(), b, p, answer); err != nil || v.Status != Pass {
					t.Errorf("%s: the canonical solution gives %+v, %v", r.TaskID, v, err)
				}
			}
			if v, err := HumanEval(context.Background(), b, p, "    return None\n"); err != nil || v.Status == Pass {
				t.Errorf("%s: a broken solution gives %+v, %v", r.TaskID, v, err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d problems, right and broken, 2 workers: %v", n, time.Since(begin).Round(time.Millisecond))
	if n != 164 {
		t.Errorf("%d problems, not 164", n)
	}
}
