package facts

import (
	"fmt"
	"math"

	"ais_bench/evaluators"
	"ais_bench/outputs"
)

// dueQuestions is how many questions of a pair were asked by its manifest.
type dueQuestions struct {
	asked int64
	// exact: in one session, none of them cut off. A resumed pair may hold a question
	// twice, a question asked in turns has several requests.
	exact bool
}

// dueOf keeps what the records have to hold. A run for a length of time asks as
// many as it gets to.
func (s *Set) dueOf(run *outputs.Run, m *outputs.Manifest) {
	for _, p := range m.Pairs {
		load, _ := m.Workload[p.Model+" × "+p.Dataset].(map[string]any)
		if seconds, _ := load["duration_s"].(float64); seconds > 0 || load["pressure"] == true {
			continue
		}
		if s.due == nil {
			s.due = map[*outputs.Run]map[outputs.Pair]dueQuestions{}
		}
		if s.due[run] == nil {
			s.due[run] = map[outputs.Pair]dueQuestions{}
		}
		s.due[run][outputs.Pair{Model: p.Model, Dataset: p.Dataset}] = dueQuestions{p.Requests - p.NotAsked, p.Sessions <= 1 && p.Cancelled == 0}
	}
}

// counted finds records that are not as many as the manifest says were asked.
func (s *Set) counted(run *outputs.Run, pair outputs.Pair, m *measured) {
	due, ok := s.due[run][pair]
	if !ok {
		return
	}
	r := m.result.Requests
	if r.Attempts < due.asked || due.exact && !m.turns && r.Total != due.asked {
		s.problem(run, fmt.Sprintf("its manifest says that %d questions of %s were asked, its records hold %d", due.asked, pairKey(pair), r.Total))
	}
}

// contradiction is what in a summary does not go together; "" where all does.
func contradiction(s *evaluators.Summary) string {
	if sum := s.Right + s.Wrong + s.Unparsable + s.Empty + s.Failed; sum != s.N {
		return fmt.Sprintf("n is %d, its outcomes are %d together", s.N, sum)
	}
	if s.Accuracy == nil || s.N == 0 {
		return ""
	}
	share := float64(s.Right) / float64(s.N)
	switch { // a graded answer that is not fully right may have a part of its mark
	case s.Graded && (*s.Accuracy < share-1e-9 || *s.Accuracy > 1+1e-9),
		!s.Graded && math.Abs(*s.Accuracy-share) > 1e-9:
		return fmt.Sprintf("%d of %d right, and an accuracy of %g", s.Right, s.N, *s.Accuracy)
	}
	return ""
}
