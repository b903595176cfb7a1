package facts

import (
	"fmt"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/registry"
)

// known are the values that a group with open keys may be asked for though no
// request of the run had them: a share of 0 of these is a figure, one of a word that
// nobody says is a slip of the pen that would always pass.
var known = map[string][]string{
	// OpenAI's, then those that vLLM, SGLang, TGI, Anthropic and Gemini use beside
	// them; none is an answer that named no reason.
	"finish_reasons": {"stop", "length", "tool_calls", "content_filter", "function_call", "error", "abort", "repetition", "eos_token", "stop_sequence",
		"end_turn", "max_tokens", "model_length", "max_length", "sensitive", "insufficient_system_resource", "network_error", "blocklist", "prohibited_content", "spii", "malformed_function_call", "other", "tool_use", "refusal", "pause_turn", "safety", "recitation", "cancelled", "timeout", "none"},
	"token_sources": {string(outputs.TokensUsage), string(outputs.TokensServerTokenize), string(outputs.TokensLocalTokenizer), string(outputs.TokensUnknown),
		string(outputs.TokensImpossible), string(outputs.TokensImpossible.CountedBy(outputs.TokensServerTokenize)), string(outputs.TokensImpossible.CountedBy(outputs.TokensLocalTokenizer))},
}

// choicesOf are the values of a group that are known or were seen in the runs.
func (p *perf) choicesOf(group string) []string {
	out := slices.Clone(known[group])
	for _, m := range p.runs {
		for name := range m.flat {
			if rest, ok := strings.CutPrefix(name, group+"."); ok {
				if value, ok := strings.CutSuffix(rest, ".share"); ok {
					out = append(out, value)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// chosen reports whether a value of a group can be asked for.
func (p *perf) chosen(group, value string) bool {
	return slices.Contains(p.choicesOf(group), value)
}

func (p *perf) unknownChoice(rest Path) error {
	values := p.choicesOf(rest[0])
	if near := registry.Nearest(rest[1], values); near != "" {
		return &UnknownError{p.prefix.with(rest...).String(), fmt.Sprintf("; did you mean %s?", p.prefix.with(rest[0], near, rest[2]))}
	}
	return &UnknownError{p.prefix.with(rest...).String(), fmt.Sprintf(": no request had it, and it is none of %s", strings.Join(values, ", "))}
}

func (p *perf) unknownStatus(rest Path) error {
	var all []string
	for _, status := range outputs.Statuses {
		all = append(all, string(status))
	}
	hint := ": it is none of " + strings.Join(all, ", ")
	if near := registry.Nearest(rest[2], all); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", p.prefix.with("requests", "by_status", near))
	}
	return &UnknownError{p.prefix.with(rest...).String(), hint}
}
