package evaluators

import (
	"os/exec"
	"strings"
	"testing"
)

func TestExternalGrader(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh on this host")
	}
	sh := func(script string) Scorer {
		return mustNew(t, "external", map[string]any{"command": []string{"sh", "-c", script}})
	}
	it := Item{ID: "7", Gold: "x"}
	for script, want := range map[string]Outcome{
		`grep -q '"gold":"x"' && echo '{"right": true, "extracted": "x"}'`: Right,
		`cat >/dev/null; echo '{"right": false}'`:                          Wrong,
		`cat >/dev/null; echo '{"right": null}'`:                           Unparsable,
		`cat >/dev/null; echo '{"score": 0.5}'`:                            Wrong,
		`cat >/dev/null; echo '{"score": 1}'`:                              Right,
	} {
		if v := score(t, sh(script), "answer", it); v.Outcome != want {
			t.Errorf("%s: %s, want %s", script, v.Outcome, want)
		}
	}
	for script, want := range map[string]string{
		`echo broken >&2; exit 3`:             "broken",
		`cat >/dev/null; echo maybe`:          "no verdict",
		`cat >/dev/null; echo '{"score": 7}'`: "outside [0,1]",
	} {
		_, err := sh(script).Score(t.Context(), Answer{Text: "answer"}, it)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "item 7") {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
	if _, err := New("external", map[string]any{"command": "no-such-program-here"}); err == nil {
		t.Error("a missing program is accepted")
	}
}
