package compare

import (
	"slices"
	"strings"

	"ais_bench/outputs"
)

// remedies say what to do about a difference that makes a comparison invalid, by
// its subject, or by what stands before ": " in it.
var remedies = map[string]string{
	"client-bound":    "repeat the run marked yes from a quieter client: nothing else on its machine, more cores, or a lower load",
	"cached share":    "measure both with --cache cold",
	"prefix caching":  "start both servers with the same setting, or measure both with --cache cold",
	"input tokens":    "ask both the same prompts: same data set, lengths and seed",
	"output tokens":   "force the answers' length in both with --ignore-eos, or ask both for the same --random-output-len or max_tokens",
	"data set":        "ask both the same data set",
	"prompts":         "ask both the same questions with the same template",
	"prompt template": "ask both the same questions with the same template",
	"concurrency":     "run both with the same --max-concurrency or --batch-size",
	"request rate":    "run both with the same --request-rate",
	"arrivals":        "run both with the same arrival process (--burstiness, --ramp-up-strategy, --seed)",
	"pressure":        "run both with or without --pressure",
	"stages":          "run both with the same stages",
	"think time":      "run both with the same think time",
	"stream":          "run both streamed, or neither",
	"sampling":        "send both the same sampling parameters",
	"LoRA modules":    "ask both for the same adapters",
	"failed":          "find out why requests failed, and repeat",
	"sessions":        "measure in one go: a new run instead of --reuse",
	"server changed":  "repeat the run on one server that nobody restarts",
	"scorer":          "score the stored answers of both again with one version: ais_bench --mode eval --reuse RUN",
	"scored metric":   "score both by the same metric",
}

func remedyOf(subject string) string {
	subject, _, _ = strings.Cut(subject, " within ")
	if r, ok := remedies[subject]; ok {
		return r
	}
	group, _, _ := strings.Cut(subject, ": ")
	return remedies[group]
}

// cause is one subject that keeps figures from being compared.
type cause struct {
	text    string // the first difference of it
	remedy  string // "" = none, or said already
	further int    // comparisons besides that differ in it, as the other loads of a sweep do
}

// WhyNot says in one line what cannot be compared, because of which differences,
// and what to do about each, once; "" where everything can be. What is judged all
// the same is named, too.
func (r *Result) WhyNot() string {
	causes := map[string][]*cause{} // by what
	var whats []string
	judged := false // the other of performance and accuracy
	of := map[string]*cause{}
	told := map[string]bool{} // remedies
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		note := func(what string, severity func(Difference) Severity) {
			if !slices.Contains(whats, what) {
				whats = append(whats, what)
			}
			seen := map[*cause]bool{} // in this comparison
			for _, d := range c.Differences {
				if severity(d) != Invalid {
					continue
				}
				key := what + ": " + d.Subject
				if k := of[key]; k != nil {
					if text := d.reason(); !seen[k] && text != k.text {
						k.further++
					}
					seen[k] = true
					continue
				}
				k := &cause{text: d.reason(), remedy: remedyOf(d.Subject)}
				if told[what+k.remedy] {
					k.remedy = ""
				}
				told[what+k.remedy] = true
				of[key], seen[k] = k, true
				causes[what] = append(causes[what], k)
			}
		}
		if p := c.Performance; p != nil && !p.Comparable {
			note(OnlyPerformance, func(d Difference) Severity { return d.Performance })
			judged = judged || c.Accuracy != nil && c.Accuracy.Comparable
		}
		if a := c.Accuracy; a != nil && !a.Comparable {
			note(OnlyAccuracy, func(d Difference) Severity { return d.Accuracy })
			judged = judged || c.Performance != nil && c.Performance.Comparable
		}
	}
	if len(whats) == 0 {
		return ""
	}
	var parts []string
	for _, what := range whats {
		var texts []string
		for _, k := range causes[what] {
			text := k.text
			if k.further > 0 {
				text += " and likewise in " + outputs.Counted(k.further, "further comparison")
			}
			if k.remedy != "" {
				text += ": " + k.remedy
			}
			texts = append(texts, text)
		}
		parts = append(parts, what+", because of "+strings.Join(texts, "; "))
	}
	line := strings.Join(parts, "; and ")
	if judged && len(whats) == 1 {
		other := OnlyAccuracy
		if whats[0] == OnlyAccuracy {
			other = OnlyPerformance
		}
		line += ". The " + other + " is judged above; --only " + other + " asks for it alone"
	}
	return line
}
