package oc

import "strings"

// JudgeLastChar is AISBench's get_a_or_b: the last character of a judge's reply
// if it is A or B, else B, so that "A. because" is B.
func JudgeLastChar(reply string) string {
	if strings.HasSuffix(reply, "A") {
		return "A"
	}
	return "B"
}

// JudgeUnknown is what JudgeFirst returns where neither tag occurs.
const JudgeUnknown = "unknown"

// JudgeFirst is OpenCompass's generic judge rule: the first A or B anywhere, also
// inside words.
func JudgeFirst(reply string) string {
	if i := strings.IndexAny(reply, "AB"); i >= 0 {
		return reply[i : i+1]
	}
	return JudgeUnknown
}

// SimpleQAGrade is OpenCompass's SimpleQA rule: the first A, B or C anywhere,
// also inside words ("CORRECT" is C), else C.
func SimpleQAGrade(reply string) string {
	if i := strings.IndexAny(reply, "ABC"); i >= 0 {
		return reply[i : i+1]
	}
	return "C"
}
