package tasks

import (
	"fmt"
	"strings"

	"ais_bench/registry"
)

// Mode says which stages a run goes through. The names are AISBench's.
type Mode string

// The modes.
const (
	ModeAll        Mode = "all"         // infer, evaluate, accuracy and performance summary from one run
	ModeInfer      Mode = "infer"       // only ask
	ModeEval       Mode = "eval"        // score stored answers (with --reuse)
	ModeViz        Mode = "viz"         // print and write the summary of stored results again (with --reuse)
	ModePerf       Mode = "perf"        // ask under load, no retries, performance summary
	ModePerfViz    Mode = "perf_viz"    // recompute performance from stored records (with --reuse)
	ModeJudge      Mode = "judge"       // score stored answers of judged data sets (with --reuse)
	ModeInferJudge Mode = "infer_judge" // ask, then judge
)

// Modes lists them in the order of the documentation.
var Modes = []Mode{ModeAll, ModeInfer, ModeEval, ModeViz, ModePerf, ModePerfViz, ModeJudge, ModeInferJudge}

// ParseMode reads a mode's name.
func ParseMode(s string) (Mode, error) {
	var names []string
	for _, m := range Modes {
		if string(m) == s {
			return m, nil
		}
		names = append(names, string(m))
	}
	return "", fmt.Errorf("unknown mode %q%s; one of %s", s, registry.DidYouMean(s, names), strings.Join(names, ", "))
}

func (m Mode) infers() bool {
	return m == ModeAll || m == ModeInfer || m == ModePerf || m == ModeInferJudge
}

func (m Mode) evaluates() bool {
	return m == ModeAll || m == ModeEval || m == ModeJudge || m == ModeInferJudge
}

// NeedsReuse reports whether the mode works on an earlier run only.
func (m Mode) NeedsReuse() bool {
	return m == ModeEval || m == ModeViz || m == ModePerfViz || m == ModeJudge
}
