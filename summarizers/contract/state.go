package contract

// State is a verdict.
type State string

// The verdicts.
const (
	Pass         State = "PASS"
	Fail         State = "FAIL"
	Inconclusive State = "INCONCLUSIVE"
)

// Kleene's connectives with INCONCLUSIVE as the third value.

func and(a, b State) State {
	switch {
	case a == Fail || b == Fail:
		return Fail
	case a == Pass && b == Pass:
		return Pass
	}
	return Inconclusive
}

func not(a State) State {
	switch a {
	case Pass:
		return Fail
	case Fail:
		return Pass
	}
	return Inconclusive
}

func or(a, b State) State { return not(and(not(a), not(b))) }

// possible is which decided verdicts can come out.
type possible struct{ pass, fail bool }

func (a possible) and(b possible) possible { return possible{a.pass && b.pass, a.fail || b.fail} }
func (a possible) or(b possible) possible  { return possible{a.pass || b.pass, a.fail && b.fail} }
func (a possible) not() possible           { return possible{a.fail, a.pass} }
