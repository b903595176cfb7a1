package datasets

import (
	"fmt"
	"strings"
)

// needleTasks are the tasks of NeedleBench: one needle found, many needles found,
// and a chain of needles reasoned over, in English and Chinese, and the Ancestral
// Trace Challenge. The rules are the published ones; needles and names are ours.
var needleTasks = func() map[string]generator {
	tasks := map[string]generator{}
	for _, lang := range []string{"en", "zh"} {
		tasks["single-"+lang] = singleNeedle(lang)
		tasks["multi_retrieval-"+lang] = manyNeedles(lang)
		for hops := 2; hops <= 5; hops++ {
			tasks[fmt.Sprintf("multi_reasoning_%dneedle-%s", hops, lang)] = kinship(lang, hops, true)
		}
	}
	for hops := 2; hops <= 512; hops *= 2 {
		tasks[fmt.Sprintf("atc_%dneedle-en", hops)] = kinship("en", hops, false)
	}
	return tasks
}()

// hiddenFact is a needle: a sentence with its keyword, and how to ask for it.
func hiddenFact(m *maker, lang string, place string) (sentence, keyword, question string) {
	word := strings.ToUpper(distinctWords(m.rng, 1)[0][:6])
	if lang == "zh" {
		return fmt.Sprintf("%s里藏着的口令是%s。", place, word), word, fmt.Sprintf("%s里藏着的口令是什么？", place)
	}
	return fmt.Sprintf("The password hidden in the %s is %s.", place, word), word, fmt.Sprintf("What is the password hidden in the %s?", place)
}

func (m *maker) place(lang string, i int) string {
	if lang == "zh" {
		return chinesePlaces[i%len(chinesePlaces)]
	}
	return nouns[i%len(nouns)]
}

func singleNeedle(lang string) generator {
	return func(m *maker, n, size int) map[string]any {
		sentence, keyword, question := hiddenFact(m, lang, m.place(lang, m.rng.Below(1000)))
		depth := m.depth(n)
		return map[string]any{
			"context": m.text(size, []string{sentence}, []float64{depth}), "question": question,
			"answer": sentence + "*" + keyword, "depth": depth, "length": int64(m.length),
		}
	}
}

// manyNeedles asks for ten facts at ten even depths at once.
func manyNeedles(lang string) generator {
	const count = 10
	return func(m *maker, _, size int) map[string]any {
		var sentences, keywords, questions, at []string
		var depths []float64
		start := m.rng.Below(1000)
		for i := range count {
			s, k, q := hiddenFact(m, lang, m.place(lang, start+i))
			d := float64(i) / (count - 1)
			sentences, keywords, questions = append(sentences, s), append(keywords, k), append(questions, q)
			depths, at = append(depths, d), append(at, fmt.Sprint(int(d*100+0.5)))
		}
		return map[string]any{
			"context": m.text(size, sentences, depths), "question": strings.Join(questions, "\n"),
			"answer": strings.Join(keywords, "*") + "#" + strings.Join(at, "*"), "length": int64(m.length),
		}
	}
}

// kinship hides hops statements that lead from one person to the eldest relative;
// without a haystack they are the whole text, in random order.
func kinship(lang string, hops int, haystack bool) generator {
	return func(m *maker, _, size int) map[string]any {
		names := people(m, lang, hops+1)
		var needles []string
		for i := range hops {
			relation := relations[lang][m.rng.Below(len(relations[lang]))]
			needles = append(needles, fmt.Sprintf(relation, names[i+1], names[i]))
		}
		m.rng.Shuffle(len(needles), func(i, j int) { needles[i], needles[j] = needles[j], needles[i] })
		depths := make([]float64, len(needles))
		for i := range depths {
			depths[i] = m.rng.Random()
		}
		context := strings.Join(needles, m.glue)
		if haystack {
			context = m.text(size, needles, depths)
		}
		question := fmt.Sprintf("By the statements above, who is the eldest relative that %s can be traced back to? Put the name into \\boxed{}.", names[0])
		if lang == "zh" {
			question = fmt.Sprintf("根据上文，%s能追溯到的最年长的亲属是谁？请把姓名写在 \\boxed{} 中。", names[0])
		}
		return map[string]any{"context": context, "question": question, "answer": names[hops], "length": int64(m.length)}
	}
}

// people are count different names.
func people(m *maker, lang string, count int) []string {
	given, family := givenNames[lang], familyNames[lang]
	order := m.rng.Sample(len(given)*len(family), count)
	names := make([]string, count)
	for i, k := range order {
		if lang == "zh" {
			names[i] = family[k%len(family)] + given[k/len(family)]
		} else {
			names[i] = given[k/len(family)] + " " + family[k%len(family)]
		}
	}
	return names
}
