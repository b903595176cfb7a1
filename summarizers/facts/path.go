package facts

import (
	"regexp"
	"strconv"
	"strings"
)

// Path is a name in parts: perf["m/d"].ttft.p99_ms is
// {"perf", "m/d", "ttft", "p99_ms"}.
type Path []string

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// String writes parts that are no identifiers in brackets, and names of data sets.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case !identifier.MatchString(s), i > 0 && p[i-1] == "accuracy":
			b.WriteString("[" + strconv.Quote(s) + "]")
		case i > 0:
			b.WriteString("." + s)
		default:
			b.WriteString(s)
		}
	}
	return b.String()
}

func (p Path) with(more ...string) Path { return append(p[:len(p):len(p)], more...) }
