package evaluators

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"ais_bench/evaluators/sandbox"
)

// TestMain lets the sandbox start its child as a copy of the test binary.
func TestMain(m *testing.M) {
	sandbox.MaybeChild()
	os.Exit(m.Run())
}

func TestProgramScorersRunInTheSandbox(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 on this host")
	}
	if err := sandbox.Probe(); err != nil {
		t.Skipf("no sandbox on this host: %v", err)
	}
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	human := map[string]any{"prompt": "def add(a, b):\n    \"\"\"Sum.\"\"\"\n", "test": "def check(f):\n    assert f(1, 2) == 3\n    assert f(-1, 1) == 0\n", "entry_point": "add"}
	mbpp := map[string]any{"test_list": []any{"assert add(1, 2) == 3"}}
	stdin := map[string]any{"public_test_cases": `[{"input": "1 2\n", "output": "3\n", "testtype": "stdin"}]`, "private_test_cases": []any{map[string]any{"input": "4 5\n", "output": "9"}}, "metadata": "{}"}
	for _, c := range []struct {
		id, text string
		fields   map[string]any
		want     Outcome
	}{
		{"humaneval", "Here it is:\n```python\ndef add(a, b):\n    return a + b\n```", human, Right},
		{"humaneval", "    return a + b\n", human, Right},
		{"humaneval", "```python\ndef add(a, b):\n    return a - b\n```", human, Wrong},
		{"oc/humaneval", "```python\ndef add(a, b):\n    return a + b\n```\n```python\nbroken(\n```", human, Right},
		{"oc/humaneval_last", "```python\ndef add(a, b):\n    return a + b\n```\n```python\nbroken(\n```", human, Wrong},
		{"lmeval/humaneval_instruct", "    return a + b\n```\nDone.", human, Right},
		{"mbpp", "```python\ndef add(a, b):\n    return a + b\n```", mbpp, Right},
		{"oc/mbpp", "'def add(a, b):\n    return a + b'\n[DONE]", mbpp, Right},
		{"oc/mbpp", "[BEGIN]\ndef add(a, b):\n    return a * b\n[DONE]", mbpp, Wrong},
		{"livecodebench", "```python\na, b = map(int, input().split())\nprint(a + b)\n```", stdin, Right},
		{"oc/livecodebench", "```python\na, b = map(int, input().split())\nprint(a - b)\n```", stdin, Wrong},
		{"oc/livecodebench", "print(1)", stdin, Unparsable},
		{"humaneval", "I would rather not.", human, Unparsable},
	} {
		s := mustNew(t, c.id, map[string]any{"sandbox": box})
		if v := score(t, s, c.text, Item{ID: "1", Fields: c.fields}); v.Outcome != c.want {
			t.Errorf("%s on %q: %s (%s), want %s", c.id, c.text, v.Outcome, v.Detail, c.want)
		}
	}
	s := mustNew(t, "mbpp", map[string]any{"sandbox": box})
	if _, err := s.Score(t.Context(), Answer{Text: "x = 1"}, Item{ID: "7"}); err == nil || !strings.Contains(err.Error(), "item 7 has no column test_list") {
		t.Errorf("an item without tests: %v", err)
	}
}
