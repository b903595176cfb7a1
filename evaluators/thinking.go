package evaluators

import (
	"strings"
)

// StripThinking removes what a reasoning model thought aloud and returns what
// it answered, trimmed.
//
// Balanced <think>…</think> blocks go with everything nested in them, whatever
// the letter case and attributes of the tags; so do <thinking>, <thought> and
// <reasoning> blocks. A closing tag without an opening one ends a thought whose opening
// tag was part of the prompt: everything up to the last such tag goes. An
// opening tag that is never closed starts a thought that was cut: everything
// after it goes, because grading a half-finished thought rewards guessing.
func StripThinking(text string) string { return strings.TrimSpace(stripThoughts(text)) }

// stripThoughts is StripThinking without trimming, for code, whose indentation
// means something.
func stripThoughts(text string) string {
	text = canonicalThinking(text)
	if !strings.Contains(text, "<") {
		return text
	}
	var kept strings.Builder
	depth, from := 0, 0
	for at := 0; at < len(text); {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			break
		}
		at += i
		end, closing, ok := thinkTag(text[at:])
		if !ok || at > 0 && text[at-1] == '`' || strings.HasPrefix(text[at+end:], "`") { // `<think>` is a word about tags
			at++
			continue
		}
		if closing {
			if depth == 0 {
				kept.Reset() // the prompt opened this thought; all so far was part of it
			} else {
				depth--
			}
			if depth == 0 {
				from = at + end
			}
		} else {
			if depth == 0 {
				kept.WriteString(text[from:at])
			}
			depth++
		}
		at += end
	}
	if depth == 0 {
		kept.WriteString(text[from:])
	}
	return kept.String()
}

// canonicalThinking rewrites the other ways models mark thoughts: the brackets
// ◁think▷ and [THINK], the tokens <|begin_of_thought|>, and channels, of which
// only the final one is an answer.
func canonicalThinking(text string) string {
	const final = "<|channel|>final<|message|>"
	if i := strings.LastIndex(text, final); i >= 0 {
		text = strings.TrimSuffix(strings.TrimSpace(text[i+len(final):]), "<|return|>")
	}
	for _, pair := range [][2]string{{"◁think▷", "◁/think▷"}, {"[THINK]", "[/THINK]"}, {"<|begin_of_thought|>", "<|end_of_thought|>"}} {
		if strings.Contains(text, pair[0]) || strings.Contains(text, pair[1]) {
			text = strings.NewReplacer(pair[0], "<think>", pair[1], "</think>").Replace(text)
		}
	}
	return text
}

// thinkNames are the tags reasoning models are known to wrap thoughts in.
var thinkNames = []string{"thinking", "think", "thought", "reasoning"}

// thinkTag reads a thinking tag at the start of s: its length and whether it
// closes a thought.
func thinkTag(s string) (length int, closing, ok bool) {
	rest := s[1:]
	if strings.HasPrefix(rest, "/") {
		closing, rest = true, rest[1:]
	}
	for _, name := range thinkNames {
		if len(rest) <= len(name) || !strings.EqualFold(rest[:len(name)], name) {
			continue
		}
		after := rest[len(name):]
		if after[0] != '>' && after[0] != ' ' && after[0] != '\t' && after[0] != '\n' {
			continue
		}
		gt := strings.IndexByte(after, '>')
		if gt < 0 || gt > 256 || strings.IndexByte(after[:gt], '<') >= 0 {
			continue
		}
		return len(s) - len(after) + gt + 1, closing, true
	}
	return 0, false, false
}
