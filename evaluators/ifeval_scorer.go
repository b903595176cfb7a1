package evaluators

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"ais_bench/evaluators/ifeval"
)

// ifevalScorers check verifiable instructions.
var ifevalScorers = []entry{
	{"ifeval", "1", "the share of prompts all of whose instructions are followed, strictly (columns instruction_id_list, kwargs); parts prompt_strict, prompt_loose, inst_strict, inst_loose; the set's metrics count instructions, as published", nil,
		func(m meta, _ *options) (Scorer, error) { return instructionScorer{m, false}, nil }},
	{"ifbench", "1", "as ifeval, over IFBench's 58 instructions too; the score is the loose one, as IFBench reports (words:start_verb and words:odd_even_syllables by rules instead of a tagger and a dictionary)", nil,
		func(m meta, _ *options) (Scorer, error) { return instructionScorer{m, true}, nil }},
}

type instructionScorer struct {
	meta
	loose bool
}

func (s instructionScorer) Score(_ context.Context, a Answer, it Item) (Verdict, error) {
	ids, ok := asStrings(it.Fields["instruction_id_list"])
	if !ok || len(ids) == 0 {
		return Verdict{}, fmt.Errorf("scorer %s: item %s has no column instruction_id_list", s.id, it.ID)
	}
	kwargs, err := instructionArguments(it.Fields["kwargs"], len(ids))
	if err != nil {
		return Verdict{}, fmt.Errorf("scorer %s: item %s: %w", s.id, it.ID, err)
	}
	for i, id := range ids {
		if id == "count:person_names" { // the names to choose from stand in the prompt
			prompt, _ := it.Fields["prompt"].(string)
			kwargs[i] = maps.Clone(kwargs[i])
			if kwargs[i] == nil {
				kwargs[i] = map[string]any{}
			}
			kwargs[i][ifeval.NamesKey] = prompt
		}
	}
	text, v, done := gradable(a, nil)
	if done {
		v.Extracted = instructionBits(ifeval.Result{Strict: make([]bool, len(ids)), Loose: make([]bool, len(ids))})
		return v, nil
	}
	r, err := ifeval.Evaluate(ids, kwargs, text)
	if err != nil {
		return Verdict{}, fmt.Errorf("scorer %s: item %s: %w", s.id, it.ID, err)
	}
	if len(r.Strict) != len(ids) || len(r.Loose) != len(ids) {
		return Verdict{}, fmt.Errorf("scorer %s: item %s: %d instructions gave %d verdicts", s.id, it.ID, len(ids), len(r.Strict))
	}
	strict, strictAll := followed(r.Strict)
	loose, looseAll := followed(r.Loose)
	out := Verdict{Outcome: Wrong, Extracted: instructionBits(r), Score: strictAll,
		Parts: map[string]float64{"prompt_strict": strictAll, "prompt_loose": looseAll, "inst_strict": strict, "inst_loose": loose}}
	if s.loose {
		out.Score = looseAll
	}
	if out.Score == 1 {
		out.Outcome = Right
	}
	var missed []string
	for i, ok := range r.Strict {
		if !ok {
			missed = append(missed, ids[i])
		}
	}
	if len(missed) > 0 {
		out.Detail = "not followed: " + strings.Join(missed, ", ")
	}
	return out, nil
}

// followed is the share of instructions followed, and 1 when all are.
func followed(list []bool) (share, all float64) {
	n := 0
	for _, ok := range list {
		if ok {
			n++
		}
	}
	share = float64(n) / float64(len(list))
	if n == len(list) {
		all = 1
	}
	return share, all
}

// instructionBits writes a result as "strict 101 loose 111", from which
// Aggregate counts instructions.
func instructionBits(r ifeval.Result) string {
	bits := func(l []bool) string {
		b := make([]byte, len(l))
		for i, ok := range l {
			b[i] = '0'
			if ok {
				b[i] = '1'
			}
		}
		return string(b)
	}
	return "strict " + bits(r.Strict) + " loose " + bits(r.Loose)
}

func readBits(s string) (r ifeval.Result, ok bool) {
	f := strings.Fields(s)
	if len(f) != 4 || len(f[1]) != len(f[3]) {
		return r, false
	}
	for i := range f[1] {
		r.Strict = append(r.Strict, f[1][i] == '1')
		r.Loose = append(r.Loose, f[3][i] == '1')
	}
	return r, true
}

// Aggregate gives the four published accuracies under OpenCompass's names.
func (s instructionScorer) Aggregate(scored []Scored) map[string]float64 {
	var results []ifeval.Result
	for _, v := range scored {
		if r, ok := readBits(v.Verdict.Extracted); ok {
			results = append(results, r)
		}
	}
	a := ifeval.Accuracy(results)
	return map[string]float64{
		"Prompt-level-strict-accuracy": a.PromptStrict, "Inst-level-strict-accuracy": a.InstStrict,
		"Prompt-level-loose-accuracy": a.PromptLoose, "Inst-level-loose-accuracy": a.InstLoose,
	}
}

// instructionArguments reads column kwargs: one object per instruction, or JSON
// in a string.
func instructionArguments(v any, n int) ([]map[string]any, error) {
	if s, ok := v.(string); ok {
		var decoded any
		if err := json.Unmarshal([]byte(s), &decoded); err != nil {
			return nil, fmt.Errorf("column kwargs is not JSON: %w", err)
		}
		v = decoded
	}
	out := make([]map[string]any, n)
	switch list := v.(type) {
	case nil:
	case []map[string]any:
		copy(out, list)
	case []any:
		if len(list) != n {
			return nil, fmt.Errorf("column kwargs has %d entries for %d instructions", len(list), n)
		}
		for i, e := range list {
			if s, ok := e.(string); ok {
				var m map[string]any
				if err := json.Unmarshal([]byte(s), &m); err != nil {
					return nil, fmt.Errorf("column kwargs, entry %d: %w", i, err)
				}
				e = m
			}
			m, ok := e.(map[string]any)
			if !ok && e != nil {
				return nil, fmt.Errorf("column kwargs, entry %d is not an object", i)
			}
			out[i] = m
		}
	default:
		return nil, fmt.Errorf("column kwargs is not a list")
	}
	return out, nil
}
