package registry

import (
	"fmt"
	"io"
	"reflect"
	"sort"
	"strings"
)

var errEOF = io.EOF

// DidYouMean is `; did you mean "x"?` for the candidate nearest to name, or ""
// when none is near enough to be helpful. Every message about an unknown name,
// key or flag ends with it.
func DidYouMean(name string, candidates []string) string {
	if n := Nearest(name, candidates); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}

// Nearest is the candidate with the smallest edit distance to name, "" when
// even that one differs in more than half of its letters.
func Nearest(name string, candidates []string) string {
	best, bestD := "", 1<<30
	sorted := append([]string(nil), candidates...)
	sort.Strings(sorted)
	lower := strings.ToLower(name)
	for _, c := range sorted {
		d := editDistance(lower, strings.ToLower(c))
		if strings.HasPrefix(strings.ToLower(c), lower) && d > 3 {
			d = 3 // an abbreviation is a near miss however long the rest is
		}
		if d < bestD {
			best, bestD = c, d
		}
	}
	if best == "" || bestD > max(3, len(name)/2) {
		return ""
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of
// neighbours (optimal string alignment): a swap is the commonest typing error.
func editDistance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	d := make([][]int, len(ra)+1)
	for i := range d {
		d[i] = make([]int, len(rb)+1)
		d[i][0] = i
	}
	for j := range rb {
		d[0][j+1] = j + 1
	}
	for i, x := range ra {
		for j, y := range rb {
			cost := 1
			if x == y {
				cost = 0
			}
			d[i+1][j+1] = min(d[i][j+1]+1, d[i+1][j]+1, d[i][j]+cost)
			if i > 0 && j > 0 && x == rb[j-1] && ra[i-1] == y {
				d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
			}
		}
	}
	return d[len(ra)][len(rb)]
}

// fieldNames collects the YAML keys of a struct and of the structs below it.
func fieldNames(v any) []string {
	var names []string
	seen := map[reflect.Type]bool{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				continue
			}
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if key == "" {
				key = strings.ToLower(f.Name)
			}
			if key != "-" {
				names = append(names, key)
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeOf(v))
	return names
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "\n", " ")), " ")
}
