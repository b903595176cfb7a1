package evaluators

import (
	"strings"

	"ais_bench/evaluators/oc"
)

// mgsmScorers grade grade-school problems in eleven languages.
var mgsmScorers = []entry{
	{"mgsm", "1", "the number behind the last answer cue of the item's language (or another explicit marker), else the last number; read and compared as gsm8k does, digits of any script", nil,
		func(m meta, _ *options) (Scorer, error) {
			r := numberRule(m)
			plain := r.extract
			r.extract = func(text string, it Item) (string, bool) {
				if cue := oc.MGSMCue(language(it)); cue != "" {
					if i := strings.LastIndex(text, cue); i >= 0 {
						at := skipMarkup(text, i+len(cue))
						if strings.HasPrefix(text[at:], ":") {
							at++
						}
						if n, ok := numberAfter(text, at); ok {
							return n.String(), true
						}
					}
				}
				return plain(text, it)
			}
			return r, nil
		}},
	{"oc/mgsm", "1", "AISBench's and simple-evals' rule: behind the last answer cue of the item's language, commas removed, the last number without sign; equal strings", nil,
		func(m meta, _ *options) (Scorer, error) {
			return rule{meta: m, clean: oc.NonReasoning, lax: true,
				extract: func(text string, it Item) (string, bool) {
					s := oc.MGSM(text, language(it))
					return s, s != ""
				},
				equal: func(got string, it Item) bool {
					return anyReference(it, func(ref string) bool { return got == ref })
				}}, nil
		}},
}

// language is the item's language code: column lang or language, else the part
// of the sub-set behind its last "_" or "-".
func language(it Item) string {
	for _, key := range []string{"lang", "language"} {
		if s := it.fieldText(key); s != "" {
			return strings.ToLower(s)
		}
	}
	s := it.Subset
	if i := strings.LastIndexAny(s, "_-"); i >= 0 {
		s = s[i+1:]
	}
	return strings.ToLower(s)
}
