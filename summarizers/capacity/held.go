package capacity

// Rejudge makes a search's conclusions anew from the runs of its candidates: an
// answer that was stored says which loads were tried, never how they came out.
func (c *Curve) Rejudge(a *Capacity, s *SLO) {
	a.Highest, a.Above, a.AboveState = nil, nil, ""
	for i := range a.Tried {
		t := &a.Tried[i]
		t.State = Undecided
		if l := c.At(t.Value); l != nil {
			t.State = s.Judge(l).State
		}
		switch v := t.Value; {
		case t.State == Holds:
			if a.Highest == nil || v > *a.Highest {
				a.Highest = &v
			}
		case a.Above == nil || v < *a.Above:
			a.Above, a.AboveState = &v, t.State
		}
	}
	if a.Highest == nil {
		a.Recommended = nil
		return
	}
	if a.Recommended != nil {
		v := c.Axis.RecommendedLoad(*a.Highest, a.Headroom)
		a.Recommended = &v
	}
}

// Held is between which loads the highest that holds a condition lies, as far as
// the runs of the candidates show it at a level of confidence. What holds at a
// load is taken to hold below it, as by the search.
type Held struct {
	Holds     *float64  // the highest candidate shown to hold, of those below Fails; nil = none is
	Fails     *float64  // the lowest shown to fail; nil = none is
	Undecided []float64 // between the two, ascending
	Single    []float64 // measured once, which decides nothing at any confidence
}

// Held judges candidates at a level of confidence. Unlike a search that was told
// to decide by single runs it takes those for undecided.
func (c *Curve) Held(s *SLO, candidates []float64, level float64) Held {
	var h Held
	states := map[float64]Truth{}
	for _, v := range candidates {
		states[v] = Undecided
		l := c.At(v)
		switch {
		case l == nil:
		case len(l.Runs) < 2:
			h.Single = append(h.Single, v)
		default:
			states[v] = s.JudgeAt(l, level).State
		}
		if v := v; states[v] == Fails && (h.Fails == nil || v < *h.Fails) {
			h.Fails = &v
		}
	}
	for v, state := range states {
		if state == Holds && (h.Fails == nil || v < *h.Fails) && (h.Holds == nil || v > *h.Holds) {
			h.Holds = &v
		}
	}
	for _, l := range c.Levels { // in order
		state, tried := states[l.Value]
		if tried && state == Undecided && (h.Holds == nil || l.Value > *h.Holds) && (h.Fails == nil || l.Value < *h.Fails) {
			h.Undecided = append(h.Undecided, l.Value)
		}
	}
	return h
}
