package oc

import (
	"regexp"
	"strings"
)

// mgsmCues are the answer cues by language code.
var mgsmCues = map[string]string{
	"en": "Answer", "zh": "答案", "de": "Antwort", "fr": "Réponse", "es": "Respuesta", "ja": "答え",
	"ru": "Ответ", "sw": "Jibu", "bn": "উত্তর", "te": "సమాధానం", "th": "คำตอบ",
}

// MGSMCue is the answer cue of a language, "" for unknown ones.
func MGSMCue(lang string) string { return mgsmCues[lang] }

var mgsmNumber = regexp.MustCompile(`\p{Nd}+\.?\p{Nd}*`)

// MGSM is mgsm_postprocess: the last number behind the last answer cue, commas
// removed, a final dot dropped; "" without cue or number.
func MGSM(text, lang string) string {
	cue := mgsmCues[lang]
	i := strings.LastIndex(text, cue)
	if cue == "" || i < 0 {
		return ""
	}
	all := mgsmNumber.FindAllString(strings.ReplaceAll(text[i+len(cue):], ",", ""), -1)
	if len(all) == 0 {
		return ""
	}
	return strings.TrimRight(all[len(all)-1], ".")
}
