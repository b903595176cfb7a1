package models

import (
	"strings"
	"testing"

	"ais_bench/models/openai"
	"ais_bench/models/wire"
)

func TestModelsThatAnswer(t *testing.T) {
	scan := func(docs ...string) *wire.Answer {
		a := wire.NewAnswer()
		for _, d := range docs {
			openai.Scan([]byte(d), a)
		}
		return a
	}
	s := &service{}
	for range 3 { // an alias that stays is fine, and so is another model asked for by name
		s.answered.saw("m", scan(`{"model":"org/m-001","choices":[]}`, `{"choices":[]}`).Model)
		s.answered.saw("lora", scan(`{"model":"lora","choices":[]}`).Model)
		s.answered.saw("m", scan(`{"choices":[]}`).Model)
		s.answered.saw("m", scan(`{"model":null,"choices":[]}`).Model)
	}
	if got := s.Answered(); got != nil {
		t.Errorf("%q", got)
	}
	s.answered.saw("m", scan(`{"model":"other \"model\"","choices":[]}`).Model)
	s.answered.saw("m", scan(`{"model":"org/m-001","choices":[]}`).Model)
	s.answered.saw("m", scan(`{"model":"other \"model\"","choices":[]}`).Model)
	if got := strings.Join(s.Answered(), "|"); got != `more than one model answered for m: "org/m-001", "other \"model\""` {
		t.Errorf("%s", got)
	}
	name := scan(`{"model":"` + strings.Repeat("x", 200) + `"}`).Model
	if len(name) != 200 {
		t.Errorf("a long name has %d bytes", len(name))
	}
	known := []byte("org/m-001")
	s.answered.saw("m", known)
	if n := testing.AllocsPerRun(100, func() { s.answered.saw("m", known) }); n != 0 {
		t.Errorf("%v allocations for a name seen before", n)
	}
}
