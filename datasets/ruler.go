package datasets

import (
	"fmt"
	"sort"
	"strings"

	"ais_bench/datasets/pyrandom"
)

// rulerTasks are RULER's synthetic tasks: needles in a haystack, chains of
// variables, and the most frequent words of a list. Its two question-answering
// tasks need other data sets and are not among them. Rules after Hsieh et al.
// 2024; the texts are our own, with the published form of the needle.
var rulerTasks = map[string]generator{
	"niah_single_1":   niah(niahSpec{values: "numbers"}),
	"niah_single_2":   niah(niahSpec{values: "numbers"}),
	"niah_single_3":   niah(niahSpec{values: "uuids"}),
	"niah_multikey_1": niah(niahSpec{values: "numbers", others: 3}),
	"niah_multikey_2": niah(niahSpec{values: "numbers", allNeedles: true}),
	"niah_multikey_3": niah(niahSpec{values: "uuids", uuidKeys: true, allNeedles: true}),
	"niah_multivalue": niah(niahSpec{values: "numbers", perKey: 4}),
	"niah_multiquery": niah(niahSpec{values: "numbers", asked: 4}),
	"vt":              variableTracking,
	"cwe":             commonWords,
	"fwe":             frequentWords,
}

// repeatedFiller are the sub-sets whose haystack is one passage over and over.
var repeatedFiller = []string{"niah_single_1", "vt"}

// niahSpec is one needle task.
type niahSpec struct {
	values     string // numbers or uuids
	uuidKeys   bool
	others     int  // needles with other keys, to mislead
	perKey     int  // values of the key; 0 = 1
	asked      int  // keys asked for; 0 = 1
	allNeedles bool // the haystack is made of other needles
}

func niah(spec niahSpec) generator {
	kind := strings.TrimSuffix(spec.values, "s")
	return func(m *maker, n, size int) map[string]any {
		used := map[string]bool{}
		key := func() string {
			for {
				k := uuid(m.rng)
				if !spec.uuidKeys {
					k = adjectives[m.rng.Below(len(adjectives))] + "-" + nouns[m.rng.Below(len(nouns))]
				}
				// The word lists give some thousand pairs; a haystack made of
				// needles may need more of them.
				if used[k] && len(used) > len(adjectives)*len(nouns)/2 && !spec.uuidKeys {
					k += fmt.Sprintf("-%d", len(used))
				}
				if !used[k] {
					used[k] = true
					return k
				}
			}
		}
		value := func() string {
			if spec.values == "uuids" {
				return uuid(m.rng)
			}
			return fmt.Sprint(m.rng.Int(1000000, 9999999))
		}
		needle := func(k, v string) string {
			return fmt.Sprintf("One of the special magic %s for %s is: %s.", spec.values, k, v)
		}
		var asked, golds, needles []string
		for range max(spec.asked, 1) {
			k := key()
			asked = append(asked, k)
			for range max(spec.perKey, 1) {
				v := value()
				golds = append(golds, v)
				needles = append(needles, needle(k, v))
			}
		}
		for range spec.others {
			needles = append(needles, needle(key(), value()))
		}
		depths := make([]float64, len(needles))
		for i := range depths {
			depths[i] = m.rng.Random()
		}
		if len(needles) == 1 {
			depths[0] = m.depth(n)
		}
		if spec.allNeedles {
			hay := *m
			hay.filler = make([]string, size)
			for i := range hay.filler {
				hay.filler[i] = needle(key(), value())
			}
			m = &hay
		}
		what, verb := kind, "is"
		if len(golds) > 1 {
			what, verb = spec.values, "are all"
		}
		names := asked[0]
		if len(asked) > 1 {
			names = strings.Join(asked[:len(asked)-1], ", ") + " and " + asked[len(asked)-1]
		}
		return map[string]any{
			"intro":    fmt.Sprintf("Some special magic %s are hidden in the text below. Remember them; you will be asked for them afterwards.", spec.values),
			"context":  m.text(size, needles, depths),
			"question": fmt.Sprintf("What %s the special magic %s for %s mentioned in the text above?", verb, what, names),
			"answer":   golds[0], "outputs": anyList(golds), "length": int64(m.length), "depth": depths[0],
		}
	}
}

// uuid is a random UUID of version 4.
func uuid(rng *pyrandom.Rand) string {
	a, b := rng.Bits(64), rng.Bits(64)
	a = a&^0xf000 | 0x4000
	b = b&^(0xc0<<56) | 0x80<<56
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&0xffffffffffff)
}

// variableTracking hides a chain of assignments of four hops.
func variableTracking(m *maker, _, size int) map[string]any {
	const hops = 4
	seen := map[string]bool{}
	var names []string
	for len(names) <= hops {
		var b [5]byte
		for i := range b {
			b[i] = byte('A' + m.rng.Below(26))
		}
		if name := string(b[:]); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	value := m.rng.Int(10000, 99999)
	needles := []string{fmt.Sprintf("VAR %s = %d.", names[0], value)}
	for i := 1; i <= hops; i++ {
		needles = append(needles, fmt.Sprintf("VAR %s = VAR %s.", names[i], names[i-1]))
	}
	depths := make([]float64, len(needles))
	for i := range depths {
		depths[i] = m.rng.Random()
	}
	sort.Float64s(depths) // the chain is read in order
	return map[string]any{
		"intro":    "Follow the chain of variable assignments hidden in the text below.",
		"context":  m.text(size, needles, depths),
		"question": fmt.Sprintf("Which variables have the value %d in the text above? Name all %d of them.", value, hops+1),
		"answer":   names[0], "outputs": anyList(names), "length": int64(m.length),
	}
}

// commonWords lists words of which ten occur thirty times and the others three
// times.
func commonWords(m *maker, _, size int) map[string]any {
	const common, often, seldom = 10, 30, 3
	words := distinctWords(m.rng, common+size)
	var list []string
	for i, w := range words {
		times := seldom
		if i < common {
			times = often
		}
		for range times {
			list = append(list, w)
		}
	}
	m.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	var b strings.Builder
	for i, w := range list {
		fmt.Fprintf(&b, "%d. %s ", i+1, w)
	}
	return map[string]any{
		"intro":    "Below is a numbered list of words. Some occur much more often than the others; find them.",
		"context":  strings.TrimSpace(b.String()),
		"question": fmt.Sprintf("Which are the %d most common words of the list above?", common),
		"answer":   words[0], "outputs": anyList(words[:common]), "length": int64(m.length),
	}
}

// frequentWords writes coded words whose frequencies fall like 1/rank², between
// rows of dots.
func frequentWords(m *maker, _, size int) map[string]any {
	const asked, kinds = 3, 60
	words := distinctWords(m.rng, kinds)
	total := 0.0
	for i := range words {
		total += 1 / float64((i+1)*(i+1))
	}
	var list []string
	n := size * 10
	for i, w := range words {
		times := max(1, int(float64(n)/float64((i+1)*(i+1))/total))
		if i < asked { // the asked ones must differ from the rest by more than rounding
			times += kinds - i
		}
		for range times {
			list = append(list, w)
		}
	}
	m.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return map[string]any{
		"intro":    "Read the coded text below and keep count of how often each coded word occurs. Leave the dots out of account.",
		"context":  strings.Join(list, " ... "),
		"question": fmt.Sprintf("Which are the %d most frequent coded words in the text above?", asked),
		"answer":   words[0], "outputs": anyList(words[:asked]), "length": int64(m.length),
	}
}

// distinctWords are count made-up words, none of which is inside another, so that
// naming one cannot count for two.
func distinctWords(rng *pyrandom.Rand, count int) []string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	seen := map[string]bool{}
	out := make([]string, 0, count)
	for len(out) < count {
		var b [8]byte
		for i := range b {
			set := consonants
			if i%2 == 1 {
				set = vowels
			}
			b[i] = set[rng.Below(len(set))]
		}
		if w := string(b[:]); !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
