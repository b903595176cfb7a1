package outputs

import (
	"bufio"
	"encoding/csv"
	"io"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// TextOptions says how WriteText draws.
type TextOptions struct {
	// Color colours marks and verdicts with ANSI escapes. The caller decides:
	// only on a terminal and only without NO_COLOR (see ColorAllowed).
	Color bool
	// MaxWidth cuts longer cells with "…"; 0 = 60 columns.
	MaxWidth int
}

// ColorAllowed applies the NO_COLOR convention (any non-empty value forbids
// colour): getenv is os.Getenv, terminal says whether the output is one.
func ColorAllowed(getenv func(string) string, terminal bool) bool {
	return terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// width counts terminal columns: CJK and emoji take two. Ambiguous-width
// characters take one, whatever the locale, so that output is reproducible.
var width = func() *runewidth.Condition {
	c := runewidth.NewCondition()
	c.EastAsianWidth = false
	return c
}()

const (
	ansiGreen  = "\x1b[32m"
	ansiRed    = "\x1b[31m"
	ansiYellow = "\x1b[33m"
	ansiBold   = "\x1b[1m"
	ansiReset  = "\x1b[0m"
)

// WriteText draws the table for a console: title, aligned columns between
// rules, notes. Wide characters are measured, control characters removed.
func (t *Table) WriteText(w io.Writer, o TextOptions) error {
	if err := t.Check(); err != nil {
		return err
	}
	limit := o.MaxWidth
	if limit <= 0 {
		limit = 60
	}
	n := len(t.Columns)
	widths := make([]int, n)
	head := make([]string, n)
	for i, c := range t.Columns {
		head[i] = width.Truncate(oneLine(c.Label()), limit, "…")
		widths[i] = width.StringWidth(head[i])
	}
	texts := make([][][]string, len(t.Rows)) // by row and column, in lines
	for r, row := range t.Rows {
		texts[r] = make([][]string, n)
		for i, c := range t.Columns {
			s := oneLine(c.text(t.cell(row, i)))
			lines := []string{s}
			if c.Wrap {
				lines = wrapText(s, limit)
			}
			for k := range lines {
				if !c.Whole {
					lines[k] = width.Truncate(lines[k], limit, "…")
				}
				widths[i] = max(widths[i], width.StringWidth(lines[k]))
			}
			texts[r][i] = lines
		}
	}
	b := bufio.NewWriter(w)
	rule := func(left, mid, right string) {
		b.WriteString(left)
		for i, x := range widths {
			if i > 0 {
				b.WriteString(mid)
			}
			b.WriteString(strings.Repeat("─", x+2))
		}
		b.WriteString(right)
		b.WriteByte('\n')
	}
	put := func(s string, i int, right bool, colour string) {
		pad := strings.Repeat(" ", widths[i]-width.StringWidth(s))
		b.WriteByte(' ')
		if right {
			b.WriteString(pad)
		}
		if colour != "" {
			b.WriteString(colour + s + ansiReset)
		} else {
			b.WriteString(s)
		}
		if !right {
			b.WriteString(pad)
		}
		b.WriteByte(' ')
	}
	if t.Title != "" {
		if o.Color {
			b.WriteString(ansiBold + oneLine(t.Title) + ansiReset + "\n")
		} else {
			b.WriteString(oneLine(t.Title) + "\n")
		}
	}
	if n > 0 && (len(t.Rows) > 0 || len(t.Notes) == 0) { // notes say why there are no rows; a head tells nothing then
		rule("┌", "┬", "┐")
		b.WriteString("│")
		for i, c := range t.Columns {
			put(head[i], i, c.Kind.Numeric(), "")
			b.WriteString("│")
		}
		b.WriteByte('\n')
		rule("├", "┼", "┤")
		for r, row := range t.Rows {
			height := 1
			for _, lines := range texts[r] {
				height = max(height, len(lines))
			}
			for k := range height {
				b.WriteString("│")
				for i, c := range t.Columns {
					cell := t.cell(row, i)
					colour, s := "", ""
					if o.Color {
						colour = markColour(c, cell)
					}
					if k < len(texts[r][i]) {
						s = texts[r][i][k]
					}
					put(s, i, rightAligned(c, cell), colour)
					b.WriteString("│")
				}
				b.WriteByte('\n')
			}
		}
		rule("└", "┴", "┘")
	}
	for _, note := range t.Notes {
		b.WriteString("  " + oneLine(note) + "\n")
	}
	return b.Flush()
}

// wrapText breaks a text into lines of at most limit columns, between words
// where it can and between wide characters where it must.
func wrapText(s string, limit int) []string {
	var lines []string
	line, used := "", 0
	for word := range strings.SplitSeq(s, " ") {
		w := width.StringWidth(word)
		switch {
		case line == "":
		case used+1+w <= limit:
			line, used = line+" "+word, used+1+w
			continue
		default:
			lines = append(lines, line)
		}
		for w > limit {
			head := width.Truncate(word, limit, "")
			if head == "" {
				break
			}
			lines, word = append(lines, head), word[len(head):]
			w = width.StringWidth(word)
		}
		line, used = word, w
	}
	return append(lines, line)
}

func rightAligned(c Column, cell Cell) bool {
	if c.Kind.Numeric() {
		return true
	}
	switch cell.Value.(type) {
	case float64, int64, uint64:
		return true
	}
	return false
}

// markOf is the cell's mark; a verdict column marks itself.
func markOf(c Column, cell Cell) Mark {
	if cell.Mark != MarkNone || c.Kind != KindVerdict {
		return cell.Mark
	}
	s, _ := cell.Value.(string)
	switch strings.ToUpper(s) {
	case "PASS", "OK", "YES", "RIGHT":
		return MarkGood
	case "FAIL", "NO", "WRONG":
		return MarkBad
	case "INCONCLUSIVE", "UNKNOWN", "PARTLY", "UNPARSABLE":
		return MarkWarn
	}
	return MarkNone
}

func markColour(c Column, cell Cell) string {
	switch markOf(c, cell) {
	case MarkGood:
		return ansiGreen
	case MarkBad:
		return ansiRed
	case MarkWarn:
		return ansiYellow
	}
	return ""
}

// oneLine makes text safe for one line of a terminal: line breaks and tabs
// become spaces, other control characters (escape sequences of a hostile
// model's answer) and invisible direction overrides are removed.
func oneLine(s string) string {
	clean := true
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, s)
}

// WriteMarkdown writes the table as GitHub-flavoured Markdown, title as a
// third-level heading. Pipes, angle brackets and line breaks are escaped.
func (t *Table) WriteMarkdown(w io.Writer) error {
	if err := t.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	if t.Title != "" {
		b.WriteString("### " + markdownText(t.Title) + "\n\n")
	}
	if len(t.Columns) > 0 {
		b.WriteString("|")
		for _, c := range t.Columns {
			b.WriteString(" " + markdownText(c.Label()) + " |")
		}
		b.WriteString("\n|")
		for _, c := range t.Columns {
			if c.Kind.Numeric() {
				b.WriteString(" ---: |")
			} else {
				b.WriteString(" --- |")
			}
		}
		b.WriteByte('\n')
		for _, row := range t.Rows {
			b.WriteByte('|')
			for i, c := range t.Columns {
				b.WriteString(" " + markdownText(c.text(t.cell(row, i))) + " |")
			}
			b.WriteByte('\n')
		}
	}
	for i, note := range t.Notes {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- " + markdownText(note) + "\n")
	}
	b.WriteByte('\n')
	return b.Flush()
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`)

func markdownText(s string) string { return markdownEscapes.Replace(oneLine(s)) }

// WriteCSV writes heading and rows with numbers as plain numbers at full
// precision. Text that a spreadsheet would run as a formula is guarded.
func (t *Table) WriteCSV(w io.Writer) error {
	if err := t.Check(); err != nil {
		return err
	}
	c := csv.NewWriter(w)
	line := make([]string, len(t.Columns))
	for i, col := range t.Columns {
		line[i] = GuardCSV(col.Label())
	}
	if err := c.Write(line); err != nil {
		return err
	}
	for _, row := range t.Rows {
		for i := range t.Columns {
			cell := t.cell(row, i)
			line[i] = exact(cell)
			if _, ok := cell.Value.(string); ok {
				line[i] = GuardCSV(line[i])
			}
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// GuardCSV prefixes text that spreadsheets would evaluate (first character
// = + - @, tab or carriage return) with an apostrophe, as OWASP recommends.
// Numbers in text are left alone: "-1.5" is not a formula.
func GuardCSV(s string) string {
	if s == "" {
		return s
	}
	switch s[0] {
	case '=', '@', '\t', '\r':
		return "'" + s
	case '+', '-':
		if !plainNumber(s) {
			return "'" + s
		}
	}
	return s
}

func plainNumber(s string) bool {
	digits := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits = true
		case (c == '+' || c == '-') && i == 0, c == '.':
		default:
			return false
		}
	}
	return digits || s == "-"
}
