package datasets

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"

	"ais_bench/datasets/pyrandom"
)

// Generate makes rows instead of reading them: the long-context suites whose
// questions are hidden in filler text of a wanted length. The source's files, where
// they are at hand, give the filler; else it is the program's own.
type Generate struct {
	Length int   `yaml:"length"`           // tokens of a whole prompt and its answer
	Rows   int   `yaml:"rows"`             // of each sub-set
	Depths int   `yaml:"depths,omitempty"` // number of depths the needle is put at; 0 = random depth
	Seed   int64 `yaml:"seed,omitempty"`   // 0 = the run's
}

// generator makes one row of a task. size is the number of units of filler (or of
// list entries), by which the length is fitted; n is the row's number.
type generator func(g *maker, n, size int) map[string]any

// generators are the tasks by the name of their sub-set.
var generators = func() map[string]generator {
	all := map[string]generator{}
	for _, list := range []map[string]generator{rulerTasks, needleTasks} {
		for name, g := range list {
			all[name] = g
		}
	}
	return all
}()

// maker is what generators draw from.
type maker struct {
	rng    *pyrandom.Rand
	filler []string // sentences
	glue   string   // between them
	depths int
	length int
}

// depth is where row n puts its needle, in [0, 1].
func (m *maker) depth(n int) float64 {
	if m.depths < 2 {
		return m.rng.Random()
	}
	return float64(n%m.depths) / float64(m.depths-1)
}

// text is size sentences of filler with the needles at their depths.
func (m *maker) text(size int, needles []string, depths []float64) string {
	type put struct {
		at     int
		needle string
	}
	puts := make([]put, len(needles))
	for i, needle := range needles {
		puts[i] = put{int(depths[i]*float64(size) + 0.5), needle}
	}
	sort.SliceStable(puts, func(i, j int) bool { return puts[i].at < puts[j].at })
	var b strings.Builder
	for i := 0; i <= size; i++ {
		for len(puts) > 0 && puts[0].at == i {
			if b.Len() > 0 {
				b.WriteString(m.glue)
			}
			b.WriteString(puts[0].needle)
			puts = puts[1:]
		}
		if i < size {
			if b.Len() > 0 {
				b.WriteString(m.glue)
			}
			b.WriteString(m.filler[i%len(m.filler)])
		}
	}
	return b.String()
}

// generate makes the rows of one sub-set.
func (l *loader) generate(cfg Config, sub Subset) error {
	spec := cfg.Generate
	task, ok := generators[sub.Name]
	if !ok {
		return fmt.Errorf("data set %s: no generator makes %q%s", cfg.Abbr, sub.Name, didYouMean(sub.Name, sortedKeys(generators)))
	}
	filler, glue, err := l.filler(sub)
	if err != nil {
		return err
	}
	seed := spec.Seed
	if seed == 0 {
		seed = l.opts.Seed
	}
	count := l.opts.CountTokens
	if count == nil {
		count = estimateTokens
		l.guessed = true
	}
	r, err := l.renderer(cfg, sub)
	if err != nil {
		return err
	}
	make1 := func(n, size int) (Sample, error) {
		// Every row has a generator of its own, so that it does not depend on how
		// many rows were made before it or how long they are.
		m := &maker{rng: pyrandom.NewUint64(contentSeed(fmt.Sprintf("%s/%d/%d/%d", sub.Name, seed, spec.Length, n))),
			filler: filler, glue: glue, depths: spec.Depths, length: spec.Length}
		row := task(m, n, size)
		golds, _ := texts(row["outputs"])
		it := item{fields: row, correct: -1, index: n, where: fmt.Sprintf("row %d", n+1), gold: textOf(row["answer"]), golds: golds}
		return r.sample(it)
	}
	tokens := func(n, size int) (int, error) {
		s, err := make1(n, size)
		return count(s.Prompt.String()) + cfg.MaxOutLen, err
	}
	size, err := fit(spec.Length, func(size int) (int, error) { return tokens(0, size) })
	if err != nil {
		return fmt.Errorf("data set %s: sub-set %s: %w", cfg.Abbr, sub.Name, err)
	}
	rows := spec.Rows
	if l.opts.NumPrompts > 0 {
		rows = min(rows, l.opts.NumPrompts)
	}
	for n := range rows {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		s, err := make1(n, size)
		if err != nil {
			return fmt.Errorf("data set %s: %w", cfg.Abbr, err)
		}
		// The fit is made on the first row; a row that comes out longer gives way.
		for shrunk := size; shrunk > 1 && count(s.Prompt.String())+cfg.MaxOutLen > spec.Length; {
			shrunk -= max(1, shrunk/200)
			if s, err = make1(n, shrunk); err != nil {
				return fmt.Errorf("data set %s: %w", cfg.Abbr, err)
			}
		}
		l.set.Samples = append(l.set.Samples, s)
	}
	return nil
}

// fit is the largest size whose row has at most length tokens.
func fit(length int, tokens func(size int) (int, error)) (int, error) {
	least, err := tokens(1)
	if err != nil {
		return 0, err
	}
	if least > length {
		return 0, fmt.Errorf("the question alone has %d tokens with its answer; it does not fit into %d", least, length)
	}
	low, high := 1, 2
	for {
		n, err := tokens(high)
		if err != nil {
			return 0, err
		}
		if n > length {
			break
		}
		low, high = high, high*2
		if high > 1<<24 {
			return low, nil
		}
	}
	for high-low > 1 {
		mid := (low + high) / 2
		n, err := tokens(mid)
		if err != nil {
			return 0, err
		}
		if n > length {
			high = mid
		} else {
			low = mid
		}
	}
	return low, nil
}

// filler is the text a sub-set hides its needles in: that of the source's files,
// else the program's own.
func (l *loader) filler(sub Subset) (sentences []string, glue string, err error) {
	language := "en"
	if strings.HasSuffix(sub.Name, "-zh") {
		language = "zh"
	}
	glue = " "
	if language == "zh" {
		glue = ""
	}
	own := ownFiller[language]
	if slices.Contains(repeatedFiller, sub.Name) {
		return own[:1], glue, nil
	}
	f := l.find.split(language, sub)
	if f == nil {
		l.ownText = true
		return own, glue, nil
	}
	err = l.read(f, Subset{}, func(it item) error {
		sentences = append(sentences, sentencesOf(textOf(it.fields["text"]), language)...)
		return nil
	})
	if err == nil && len(sentences) == 0 {
		err = fmt.Errorf("data set %s: no text in %s", l.cfg.Abbr, strings.Join(f.paths, ", "))
	}
	return sentences, glue, err
}

// sentencesOf cuts filler where a needle may stand: behind the end of a sentence.
func sentencesOf(text, language string) []string {
	var out []string
	start := 0
	runes := []rune(text)
	for i, r := range runes {
		end := strings.ContainsRune("。！？", r)
		if language == "en" {
			end = strings.ContainsRune(".!?", r) && (i+1 == len(runes) || unicode.IsSpace(runes[i+1]))
		}
		if end || r == '\n' {
			if s := strings.TrimSpace(string(runes[start : i+1])); s != "" {
				out = append(out, s)
			}
			start = i + 1
		}
	}
	if s := strings.TrimSpace(string(runes[start:])); s != "" {
		out = append(out, s)
	}
	return out
}

// estimateTokens guesses a text's length in tokens where no tokenizer is at hand:
// about 4.5 letters or blanks, two digits or marks, or 1.4 Han characters a token,
// which is what present tokenizers do to such text, rounded to the careful side.
func estimateTokens(s string) int {
	letters, marks, wide := 0, 0, 0
	for _, r := range s {
		switch {
		case r > 0x2e80:
			wide++
		case unicode.IsLetter(r) || r == ' ':
			letters++
		default:
			marks++
		}
	}
	return int(float64(letters)/4.5+float64(marks)/2+float64(wide)/1.4) + 1
}
