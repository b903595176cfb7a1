package evalscope

import (
	"regexp"
	"strings"
)

var answerCue = regexp.MustCompile(`ANSWER:\s*(.*)`)

// TriviaQA is the TriviaQA adapter's extraction: the line behind the last
// "ANSWER:", else the whole text.
func TriviaQA(text string) string {
	all := answerCue.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return strings.TrimSpace(text)
	}
	return strings.TrimSpace(all[len(all)-1][1])
}

// TriviaQAEqual is its comparison: a non-empty prediction is right when it is a
// substring of all aliases written one after another without a separator.
func TriviaQAEqual(pred string, aliases []string) bool {
	return pred != "" && strings.Contains(strings.Join(aliases, ""), pred)
}
