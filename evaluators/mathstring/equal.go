package mathstring

import "strings"

// OCEqual is OpenCompass's and AISBench's is_equiv: the stripped strings are
// equal, or are after OCNormalize, or the raw strings are after OCNormalize.
// strip is StripHendrycks (version v1) or StripV2 (version v2).
func OCEqual(a, b string, strip func(string) (string, bool)) bool {
	sa, okA := strip(a)
	sb, okB := strip(b)
	if okA && okB && (sa == sb || OCNormalize(sa) == OCNormalize(sb)) {
		return true
	}
	return OCNormalize(a) == OCNormalize(b) || a == b
}

// LMEqual is lm-evaluation-harness's is_equiv.
func LMEqual(a, b string) bool {
	sa, okA := StripHendrycks(a)
	sb, okB := StripHendrycks(b)
	if !okA || !okB {
		return a == b
	}
	return sa == sb
}

// LMAnswer is the extraction of hendrycks_math: what stands between the first
// and the last "$" of a reply, the whole reply when there are fewer than two. A
// right "$\boxed{12}$" becomes "\boxed{12}" and compares unequal to "12".
func LMAnswer(text string) string {
	first, last := strings.IndexByte(text, '$'), strings.LastIndexByte(text, '$')
	if first == last {
		return text
	}
	return text[first+1 : last]
}

// LMHendrycks is process_results of hendrycks_math against a worked solution.
func LMHendrycks(text, solution string) bool {
	gold, ok := LMBoxed(solution)
	return ok && LMEqual(LMAnswer(text), gold)
}

// LMAimeAnswer is the extraction of the aime tasks: LMAnswer, overridden by a
// boxed answer.
func LMAimeAnswer(text string) string {
	if s, ok := LMBoxed(text); ok {
		return s
	}
	return LMAnswer(text)
}
