package logs

import (
	"regexp"
	"strings"
)

// Redaction is what Redact replaces a kind of secret by.
const (
	RedactedEmail = "[EMAIL]"
	RedactedPhone = "[PHONE]"
	RedactedCard  = "[CARD]"
	RedactedKey   = "[KEY]"
)

// rule is one kind of secret: a pattern, and what must hold beyond it.
type rule struct {
	re   *regexp.Regexp
	with string
	// group is the part to replace; 0 = the whole match.
	group int
	// alone: no digit may touch the match.
	alone bool
	ok    func(match string) bool
}

// rules in order: keys first, because a key may hold what looks like a number;
// cards before phones, because both are long numbers and only a card has a check
// digit.
var rules = []rule{
	{re: regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), with: RedactedKey},
	{re: regexp.MustCompile(`\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}`), with: RedactedKey},
	{re: regexp.MustCompile(`\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|hf|xox[abprs])[-_][A-Za-z0-9_-]{16,}`), with: RedactedKey},
	{re: regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`), with: RedactedKey},
	{re: regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}`), with: RedactedKey},
	{re: regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), with: RedactedKey},
	{re: regexp.MustCompile(`(?i)\bbearer\s+([A-Za-z0-9._~+/-]{16,}=*)`), with: RedactedKey, group: 1},
	{re: regexp.MustCompile(`(?i)\bauthorization\\?["']?\s*[:=]\s*\\?["']?basic\s+([A-Za-z0-9+/]{6,}=*)`), with: RedactedKey, group: 1},
	// The name may have a prefix (DB_PASSWORD, aws_secret_access_key, clientSecret), the quotes backslashes (JSON in JSON).
	{re: regexp.MustCompile(`(?i)(?:api[_-]?key|access[_-]?key(?:[_-]?id)?|secret(?:[_-]?key)?|(?:api|auth|access|refresh|session|bot|hf|github|gitlab|id)[_-]?token|password|passwd|pwd)\\?["']?\s*[:=]\s*\\?["']?([^\s"',;}&\\]{6,})`), with: RedactedKey, group: 1,
		ok: func(m string) bool { return !strings.HasPrefix(m, "[") && !strings.HasPrefix(m, "$") }},
	{re: regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`), with: RedactedEmail},
	{re: regexp.MustCompile(`\d(?:[ -]?\d){12,18}`), with: RedactedCard, alone: true, ok: luhn},
	{re: regexp.MustCompile(`\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,4}`), with: RedactedPhone, alone: true,
		ok: func(m string) bool { n := digits(m); return n >= 8 && n <= 15 }},
	{re: regexp.MustCompile(`\(\d{3}\) ?\d{3}[ .-]\d{4}`), with: RedactedPhone, alone: true},
	{re: regexp.MustCompile(`\d{3}[ .-]\d{3}[ .-]\d{4}`), with: RedactedPhone, alone: true},
	{re: regexp.MustCompile(`1[3-9]\d[ -]?\d{4}[ -]?\d{4}`), with: RedactedPhone, alone: true}, // mainland China, mobile
	{re: regexp.MustCompile(`0\d{2,4}[ /-]\d{6,8}`), with: RedactedPhone, alone: true},         // landlines with an area code
	{re: regexp.MustCompile(`0\d{2,4} \d{3,4} \d{3,4}`), with: RedactedPhone, alone: true},
}

func digits(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// luhn checks the check digit that every payment card number ends in.
func luhn(s string) bool {
	sum, double := 0, false
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		d := int(s[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		double = !double
	}
	return sum%10 == 0 && strings.Trim(s, "0 -") != ""
}

// Redact replaces e-mail addresses, phone numbers, payment card numbers (with a
// valid check digit) and credentials (private keys, tokens of known shapes, values
// of api_key=, DB_PASSWORD=, "client_secret": and the like), and adds to found, by replacement, how many.
// It knows shapes, not meanings: names, addresses and numbers written out in words
// stay.
func Redact(text string, found map[string]int) string {
	for _, r := range rules {
		matches := r.re.FindAllStringSubmatchIndex(text, -1)
		if matches == nil {
			continue
		}
		var b strings.Builder
		done := 0
		for _, m := range matches {
			start, end := m[2*r.group], m[2*r.group+1]
			if r.alone && (start > 0 && isDigit(text[start-1]) || end < len(text) && isDigit(text[end])) {
				continue
			}
			if r.ok != nil && !r.ok(text[start:end]) {
				continue
			}
			b.WriteString(text[done:start])
			b.WriteString(r.with)
			done = end
			found[r.with]++
		}
		b.WriteString(text[done:])
		text = b.String()
	}
	return text
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// Redact does the same to all texts of an entry.
func (e *Entry) Redact(found map[string]int) {
	for i := range e.Turns {
		e.Turns[i].Text = Redact(e.Turns[i].Text, found)
	}
	e.Answer = Redact(e.Answer, found)
}
