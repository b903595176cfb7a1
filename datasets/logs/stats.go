package logs

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/abadojack/whatlanggo"
	"github.com/mattn/go-runewidth"

	"ais_bench/quantile"
)

// Counter counts the tokens of a text. Called concurrently.
type Counter interface{ Count(text string) int }

// DefaultBounds cut lengths into short (< 128), medium (128 to 1024) and long (> 1024).
var DefaultBounds = Bounds{128, 1024}

// Bounds are two ascending token lengths.
type Bounds struct{ Short, Long int }

// Names of the buckets, in order.
var Buckets = []string{"short", "medium", "long"}

// Bucket is the index into Buckets of a length: below Short, up to and including
// Long, above.
func (b Bounds) Bucket(tokens int) int {
	switch {
	case tokens < b.Short:
		return 0
	case tokens <= b.Long:
		return 1
	}
	return 2
}

// Label describes bucket i in tokens.
func (b Bounds) Label(i int) string {
	return [...]string{fmt.Sprintf("< %d", b.Short), fmt.Sprintf("%d to %d", b.Short, b.Long), fmt.Sprintf("> %d", b.Long)}[i]
}

// ParseBounds reads "128,1024".
func ParseBounds(s string) (Bounds, error) {
	a, c, ok := strings.Cut(s, ",")
	short, errA := strconv.Atoi(strings.TrimSpace(a))
	long, errB := strconv.Atoi(strings.TrimSpace(c))
	if !ok || errA != nil || errB != nil || short < 1 || long < short {
		return Bounds{}, fmt.Errorf("buckets %q: want two ascending token lengths such as 128,1024", s)
	}
	return Bounds{short, long}, nil
}

// Measure sets InputTokens of every entry, on all processors.
func Measure(entries []Entry, tok Counter) {
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(entries))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(entries); i += workers {
				entries[i].InputTokens = tok.Count(entries[i].Prompt())
			}
		})
	}
	wg.Wait()
}

// Dist describes lengths in tokens. Percentiles interpolate linearly.
type Dist struct {
	Count                    int
	Mean, P50, P90, P95, P99 float64
	Min, Max                 int
}

// NewDist describes lengths; the zero Dist for none.
func NewDist(lengths []int) Dist {
	if len(lengths) == 0 {
		return Dist{}
	}
	l := slices.Clone(lengths)
	slices.Sort(l)
	sum := 0.0
	for _, n := range l {
		sum += float64(n)
	}
	p := func(q float64) float64 { return quantile.Linear(l, q) }
	return Dist{len(l), sum / float64(len(l)), p(.5), p(.9), p(.95), p(.99), l[0], l[len(l)-1]}
}

// Stats is what `datasets stats` reports.
type Stats struct {
	Prompts, Answers Dist
	Bounds           Bounds
	Buckets          [3]int
	Languages        []Share // largest first
	Duplicates       int     // prompts that repeat an earlier one word for word
	Bins             []Bin   // prompt lengths in powers of two
}

// Share is a part of the entries.
type Share struct {
	Name  string
	Count int
}

// Bin counts lengths from Low up to but not including 2·Low (0 and 1 for Low 0).
type Bin struct{ Low, High, Count int }

// Describe measures entries. Languages are guessed from each prompt's first 2,000
// bytes; where the guess is unsure the entry counts as "other".
func Describe(entries []Entry, tok Counter, bounds Bounds) Stats {
	Measure(entries, tok)
	s := Stats{Bounds: bounds}
	var prompts, answers []int
	seen := make(map[string]bool, len(entries))
	langs := map[string]int{}
	bins := map[int]int{}
	for i := range entries {
		e := &entries[i]
		text := e.Prompt()
		prompts = append(prompts, e.InputTokens)
		if e.Answer != "" {
			answers = append(answers, tok.Count(e.Answer))
		}
		s.Buckets[bounds.Bucket(e.InputTokens)]++
		if key := strings.TrimSpace(text); seen[key] {
			s.Duplicates++
		} else {
			seen[key] = true
		}
		langs[language(text)]++
		bins[bits.Len(uint(e.InputTokens))]++
	}
	s.Prompts, s.Answers = NewDist(prompts), NewDist(answers)
	for name, n := range langs {
		s.Languages = append(s.Languages, Share{name, n})
	}
	sort.Slice(s.Languages, func(i, j int) bool {
		a, b := s.Languages[i], s.Languages[j]
		return a.Count > b.Count || a.Count == b.Count && a.Name < b.Name
	})
	lo, hi := math.MaxInt, 0
	for b := range bins {
		lo, hi = min(lo, b), max(hi, b)
	}
	for b := lo; b <= hi; b++ {
		s.Bins = append(s.Bins, Bin{(1 << b) >> 1, 1 << b, bins[b]})
	}
	return s
}

func language(text string) string {
	if len(text) > 2000 {
		text = strings.ToValidUTF8(text[:2000], "")
	}
	info := whatlanggo.Detect(text)
	if !info.IsReliable() && info.Confidence < 0.5 {
		if info.Script == nil {
			return "other"
		}
		if name := whatlanggo.Scripts[info.Script]; name != "Latin" {
			return "other (" + name + ")"
		}
		return "other"
	}
	return info.Lang.String()
}

// Write prints s for a terminal of the given width in columns.
func (s Stats) Write(w io.Writer, width int) error {
	var b strings.Builder
	row := func(name string, d Dist) {
		fmt.Fprintf(&b, "%-8s %9d %10.1f %8.0f %8.0f %8.0f %8.0f %8d %8d\n", name, d.Count, d.Mean, d.P50, d.P90, d.P95, d.P99, d.Min, d.Max)
	}
	fmt.Fprintf(&b, "%-8s %9s %10s %8s %8s %8s %8s %8s %8s\n", "tokens", "count", "mean", "p50", "p90", "p95", "p99", "min", "max")
	row("prompt", s.Prompts)
	if s.Answers.Count > 0 {
		row("answer", s.Answers)
	}
	n := max(1, s.Prompts.Count)
	b.WriteString("\nbuckets\n")
	for i, name := range Buckets {
		fmt.Fprintf(&b, "  %-8s %-14s %9d  %5.1f %%\n", name, s.Bounds.Label(i), s.Buckets[i], 100*float64(s.Buckets[i])/float64(n))
	}
	b.WriteString("\nlanguages\n")
	for i, l := range s.Languages {
		if i == 10 {
			rest := 0
			for _, l := range s.Languages[i:] {
				rest += l.Count
			}
			l = Share{fmt.Sprintf("%d more", len(s.Languages)-i), rest}
			fmt.Fprintf(&b, "  %s %9d  %5.1f %%\n", runewidth.FillRight(l.Name, 23), l.Count, 100*float64(l.Count)/float64(n))
			break
		}
		fmt.Fprintf(&b, "  %s %9d  %5.1f %%\n", runewidth.FillRight(l.Name, 23), l.Count, 100*float64(l.Count)/float64(n))
	}
	fmt.Fprintf(&b, "\nduplicates  %d of %d prompts repeat an earlier one (%.1f %%)\n", s.Duplicates, s.Prompts.Count, 100*float64(s.Duplicates)/float64(n))
	b.WriteString("\nprompt lengths\n")
	most := 1
	for _, bin := range s.Bins {
		most = max(most, bin.Count)
	}
	room := max(10, width-34)
	for _, bin := range s.Bins {
		fmt.Fprintf(&b, "  %8d – %-8d %9d %s\n", bin.Low, max(bin.Low, bin.High-1), bin.Count, bar(float64(bin.Count)/float64(most)*float64(room)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// bar is a bar of the given length in columns, to an eighth.
func bar(columns float64) string {
	whole := int(columns)
	eighth := int((columns - float64(whole)) * 8)
	s := strings.Repeat("█", whole)
	if eighth > 0 {
		s += string([]rune(" ▏▎▍▌▋▊▉")[eighth])
	}
	if s == "" && columns > 0 {
		s = "▏"
	}
	return s
}
