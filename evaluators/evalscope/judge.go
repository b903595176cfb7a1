package evalscope

import (
	"encoding/json"
	"slices"
)

// ParseError is what JudgeVerdict returns for a reply that breaks the contract.
const ParseError = "PARSE_ERROR"

// JudgeVerdict is the judge contract: exactly one JSON object in the reply, whose
// key verdict is one of grades.
func JudgeVerdict(reply string, grades ...string) string {
	objects := jsonObjects(reply)
	if len(objects) != 1 {
		return ParseError
	}
	var v struct {
		Verdict *string `json:"verdict"`
	}
	if json.Unmarshal([]byte(objects[0]), &v) != nil || v.Verdict == nil || !slices.Contains(grades, *v.Verdict) {
		return ParseError
	}
	return *v.Verdict
}

// jsonObjects are the top-level brace-balanced pieces of a text.
func jsonObjects(s string) []string {
	var found []string
	depth, start := 0, 0
	quoted, escaped := false, false
	for i := range len(s) {
		c := s[i]
		switch {
		case quoted && escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			if depth == 0 {
				start = i
			}
			depth++
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				found = append(found, s[start:i+1])
			}
		}
	}
	return found
}
