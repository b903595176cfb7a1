package evalscope

import (
	"regexp"
	"strings"
)

var (
	fenced     = regexp.MustCompile("(?s)```[^\n]*\n(.*?)\n\\s*```")
	openFence  = regexp.MustCompile("(?s)```[^\n]*\n(.*)")
	definition = regexp.MustCompile(`(?m)(?:^(?:import|from|#)[^\n]+\n)*^(?:def|class) [^\n]+\n(?:\s+[^\n]+\n)+`)
)

// FirstCode is extract_code_from_freeform_completion for Python with
// first_block_only: the first complete block, else an unclosed one, else the
// first definition in the text; without the main guard and example usage. kind
// is fenced, incomplete_fenced, heuristic or empty.
func FirstCode(text string) (source, kind string) {
	kind = "empty"
	if m := fenced.FindStringSubmatch(text); m != nil {
		source, kind = m[1], "fenced"
	} else if m := openFence.FindStringSubmatch(text); m != nil {
		source, kind = m[1], "incomplete_fenced"
	} else {
		var lines []string
		for _, l := range strings.Split(text, "\n") {
			if strings.TrimSpace(l) != "" {
				lines = append(lines, l)
			}
		}
		if m := definition.FindString(strings.Join(lines, "\n") + "\n"); m != "" {
			source, kind = m, "heuristic"
		}
	}
	source = strings.ReplaceAll(source, "\r", "")
	for _, end := range []string{`if __name__ == "__main__":`, "# Example usage"} {
		if before, _, found := strings.Cut(source, end); found {
			source = strings.TrimSpace(before)
		}
	}
	return source, kind
}
