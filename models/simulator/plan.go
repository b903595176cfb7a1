package simulator

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
)

// protocol is the wire format of a generation request.
type protocol int

const (
	protoChat protocol = iota
	protoCompletions
	protoGenerate // SGLang
	protoTGI
)

// defaultLimit is the number of output tokens where the request leaves it
// open: the servers' own defaults; 0 means what fits into the model's length.
var defaultLimit = map[protocol]int{protoChat: 0, protoCompletions: 16, protoGenerate: 128, protoTGI: 100}

// plan decides the whole answer to one choice of a request: what is said, how
// long it is and how it ends.
func (s *Server) plan(r *apiRequest, p protocol, in *input, choice int) (outputPlan, error) {
	room := s.cfg.MaxModelLen - len(in.ids)
	limit := defaultLimit[p]
	if m := r.limit(); m != nil {
		limit = *m
	} else if limit == 0 || limit > room {
		limit = room
	}
	if len(in.ids) == 0 {
		return outputPlan{}, badf("prompt", "the prompt must contain at least one token")
	}
	if room < 1 || limit > room {
		return outputPlan{}, badf("max_tokens", "This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the prompt, %d for the completion). Please reduce the length of the prompt or the completion.",
			s.cfg.MaxModelLen, len(in.ids)+limit, len(in.ids), limit)
	}
	stops, err := r.stops()
	if err != nil {
		return outputPlan{}, err
	}
	seed := mix(mix(uint64(s.cfg.Seed), hashString(in.text)), uint64(choice))
	if r.Seed != nil {
		seed = mix(seed, uint64(*r.Seed))
	}
	o := outputPlan{seed: seed, finish: "stop", cut: -1}
	answerTokens := s.say(&o, r, p, in, choice, stops)

	if s.cfg.ReasoningTokens > 0 && (p == protoChat || s.cfg.ReasoningField == "think") {
		if s.cfg.ReasoningField == "think" {
			ids := appendTokens(nil, "<think>\n")
			for i := range s.cfg.ReasoningTokens {
				ids = append(ids, fillerToken(mix(seed, 1), i))
			}
			ids = appendTokens(ids, "\n</think>\n\n")
			answerTokens += len(ids)
			if len(o.ids) == 0 { // filler becomes explicit, so that it follows the thinking
				for i := range answerTokens - len(ids) {
					o.ids = append(o.ids, fillerToken(seed, i))
				}
			}
			o.ids = append(ids, o.ids...)
		} else {
			o.reasoning = s.cfg.ReasoningTokens
			answerTokens += o.reasoning
		}
	}
	o.total = max(answerTokens, r.MinTokens, 1)
	if r.IgnoreEOS && o.tool == nil {
		o.total = limit
		o.finish = "length"
	} else if o.total > limit {
		o.total = limit
		o.finish = "length"
	}
	o.reasoning = min(o.reasoning, o.total)
	if o.given != nil && !o.given.Scored && o.total < answerTokens {
		o.given.Cut = true
	}
	if len(stops) > 0 && o.tool == nil {
		o.cutAtStop(stops, r.MinTokens)
	}
	return o, nil
}

// say fills in the words and returns the number of tokens of the answer proper.
func (s *Server) say(o *outputPlan, r *apiRequest, p protocol, in *input, choice int, stops []string) int {
	if name, schema, ok := r.wantsTool(s.cfg.ToolCalls); ok && p == protoChat {
		o.tool = &toolCall{id: "call_" + hexID(mix(o.seed, 3)), name: name}
		o.ids = appendTokens(nil, string(instanceOf(schema, o.seed)))
		o.finish = "tool_calls"
		return 1 + len(o.ids)
	}
	switch scoring := r.PromptLogprobs != nil || r.Echo && p == protoCompletions; {
	case s.answers == nil:
	case scoring: // asks for no answer
		if q := s.answers.findIn(in.text); q != nil {
			o.given = s.answers.preference(q)
		}
	default:
		if q := s.answers.find(in); q != nil {
			var vary uint64
			if r.Seed != nil {
				vary = uint64(*r.Seed) + 1
			}
			given, text := s.answers.answer(q, mix(vary, uint64(choice)), in.text)
			for _, stop := range stops {
				if strings.Contains(text, stop) && strings.Contains(stop, "\n") {
					text = strings.Join(strings.Fields(text), " ")
				}
			}
			o.given, o.ids = given, appendTokens(nil, text)
			return len(o.ids)
		}
	}
	if f := r.ResponseFormat; f != nil && (f.Type == "json_object" || f.Type == "json_schema") {
		o.ids = appendTokens(nil, string(instanceOf(f.JSONSchema.Schema, o.seed)))
		return len(o.ids)
	}
	z := 0.0
	if s.cfg.OutputLenSigma > 0 {
		z = s.cfg.OutputLenSigma*normal(mix(o.seed, 2)) - s.cfg.OutputLenSigma*s.cfg.OutputLenSigma/2
	}
	return max(1, int(math.Round(float64(s.cfg.OutputLen)*math.Exp(z))))
}

// wantsTool reports whether the answer is to be a tool call, and of which tool.
// tool_choice "required" or a named function demand one; with "auto" it is up
// to the configuration.
func (r *apiRequest) wantsTool(always bool) (name string, schema json.RawMessage, ok bool) {
	if len(r.Tools) == 0 {
		return "", nil, false
	}
	pick := r.Tools[0]
	var word string
	var named struct {
		Function struct{ Name string } `json:"function"`
	}
	switch {
	case len(r.ToolChoice) == 0:
		ok = always
	case json.Unmarshal(r.ToolChoice, &word) == nil:
		ok = word == "required" || word == "auto" && always
	case json.Unmarshal(r.ToolChoice, &named) == nil:
		for _, t := range r.Tools {
			if t.Function.Name == named.Function.Name {
				pick, ok = t, true
			}
		}
	}
	return pick.Function.Name, pick.Function.Parameters, ok
}

// cutAtStop ends the plan at the first stop string that appears in the answer
// after minTokens tokens. As in vLLM the stop string itself is not shown, but its
// tokens count.
func (p *outputPlan) cutAtStop(stops []string, minTokens int) {
	longest := 0
	for _, s := range stops {
		longest = max(longest, len(s))
	}
	var text []byte
	for i := p.reasoning; i < p.total; i++ {
		before := len(text)
		text = appendText(text, p.token(i))
		if i+1 < minTokens {
			continue
		}
		first := max(0, before-longest)
		at, which := -1, ""
		for _, s := range stops {
			if k := bytes.Index(text[first:], []byte(s)); k >= 0 && (at < 0 || first+k < at) {
				at, which = first+k, s
			}
		}
		if at >= 0 {
			if p.given != nil && !p.given.Scored && i < p.reasoning+len(p.ids)-1 {
				p.given.Cut = true
			}
			p.total, p.cut, p.finish, p.stop = i+1, at, "stop", which
			return
		}
	}
}
