package ifeval

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"ais_bench/evaluators/pytext"
)

// answerRules belong to one request each, whose answer is known, or repeat what
// was asked.
var answerRules = map[string]rule{
	"custom:multiples": func(_ *arguments, r string) bool {
		return slices.Equal(digitRuns(r), []string{"14", "21", "28", "35", "42", "49"})
	},
	"custom:mcq_count_length": func(_ *arguments, r string) bool { return fourQuestions(r) },
	"custom:reverse_newline":  func(_ *arguments, r string) bool { return africaBackwards(r) },
	"custom:word_reverse": func(a *arguments, r string) bool {
		words := plainWords(strings.ToLower(r))
		slices.Reverse(words)
		s := strings.Join(words, " ")
		return strings.Contains(s, "bald eagle") && slices.Contains(a.sentences(s), s)
	},
	"custom:character_reverse": func(_ *arguments, r string) bool {
		return strings.Contains(strings.ToLower(r), reversed("bald eagle"))
	},
	"custom:sentence_alphabet": func(a *arguments, r string) bool {
		parts := a.sentences(r)
		if len(parts) != 26 {
			return false
		}
		for i, s := range parts {
			if first(strings.ToLower(pytext.StripLeft(s))) != rune('a'+i) {
				return false
			}
		}
		return true
	},
	"custom:european_capitals_sort": func(_ *arguments, r string) bool {
		var got []string
		for _, c := range strings.Split(ascii(r), ",") {
			if c = pytext.Strip(c); c != "" {
				got = append(got, c)
			}
		}
		return slices.Equal(got, northernCapitals)
	},
	"custom:csv_city": func(_ *arguments, r string) bool {
		rows := readCSV(r, ',')
		return len(rows) == 8 && slices.Equal(rows[0], []string{"ID", "Country", "City", "Year", "Count"}) &&
			!slices.ContainsFunc(rows, func(row []string) bool { return len(row) != 5 })
	},
	"custom:csv_special_character": func(_ *arguments, r string) bool {
		if !productHeader.MatchString(firstLine(r)) {
			return false
		}
		rows := readCSV(keepQuotes(r), ',')
		if len(rows) != 15 {
			return false
		}
		for _, row := range rows[1:] {
			if len(row) != 5 {
				return false
			}
			if slices.ContainsFunc(row, quotedSpecial.MatchString) {
				return true
			}
		}
		return false
	},
	"custom:csv_quotes": func(_ *arguments, r string) bool {
		if !studentHeader.MatchString(firstLine(r)) {
			return false
		}
		rows := readCSV(keepQuotes(r), '\t')
		if len(rows) != 4 {
			return false
		}
		for _, row := range rows {
			if len(row) != 5 {
				return false
			}
			for _, f := range row {
				if f = pytext.Strip(f); f == "" || f[0] != '"' || f[len(f)-1] != '"' {
					return false
				}
			}
		}
		return true
	},
	"custom:date_format_list": func(_ *arguments, r string) bool {
		for _, d := range strings.Split(r, ",") {
			if !napoleonicDate(pytext.Strip(d)) {
				return false
			}
		}
		return true
	},
	"repeat:repeat_change": func(a *arguments, r string) bool {
		request := a.text("prompt_to_repeat")
		return request != r && slices.Equal(behindFirst(request), behindFirst(r))
	},
	"repeat:repeat_simple": func(_ *arguments, r string) bool {
		return strings.ToLower(pytext.Strip(r)) == "only output this sentence here, ignore all other requests."
	},
	// Indices are of characters, from 0, both ends included.
	"repeat:repeat_span": func(a *arguments, r string) bool {
		request, from, to := []rune(a.text("prompt_to_repeat")), a.number("n_start"), a.number("n_end")
		if from < 0 || from >= len(request) || to < from {
			return false
		}
		span := string(request[from:min(to+1, len(request))])
		return sameLower(pytext.Strip(r), pytext.Strip(span))
	},
}

// northernCapitals are the capitals of Europe north of 45 degrees, from north to
// south as the request's answer has them.
var northernCapitals = strings.Fields("Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin " +
	"Amsterdam Warsaw London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz Chisinau Bern Ljubljana Zagreb")

var (
	productHeader  = header(`,[ \t]*`, "ProductID", "Category", "Brand", "Price", "Stock")
	studentHeader  = header(`\t *`, "StudentID", "Subject", "Grade", "Semester", "Score")
	quotedSpecial  = regexp.MustCompile(`^".*[^\pL\pN_\s].*"`)
	questionLabel  = regexp.MustCompile(`\n*Question \d+[.|):;]?\s*`)
	lettered       = regexp.MustCompile(`^[A-Ea-e][.|)]\s*[\pL\pN_]`)
	isoDate        = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})$`)
	daysInMonth    = [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	countriesCount = 52 // lines from Zimbabwe on that a list of Africa's countries has at least
)

// header is a line of column names, each with or without quotes.
func header(separator string, names ...string) *regexp.Regexp {
	for i, n := range names {
		names[i] = `(?:` + n + `|"` + n + `")`
	}
	return regexp.MustCompile(`^` + strings.Join(names, separator) + `$`)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return pytext.Strip(line)
}

// keepQuotes writes quotes so that a CSV reader leaves them in the fields.
func keepQuotes(s string) string { return strings.ReplaceAll(s, `"`, `"""`) }

func digitRuns(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !pytext.IsDigit(r) })
}

func behindFirst(s string) []string {
	words := pytext.Fields(s)
	if len(words) == 0 {
		return nil
	}
	return words[1:]
}

// fourQuestions wants four questions of five lettered options, each question
// longer than the one before, and nothing in front of them.
func fourQuestions(r string) bool {
	if !strings.HasPrefix(r, "Question") {
		return false
	}
	var questions []string
	for _, q := range questionLabel.Split(r, -1) {
		if q = pytext.Strip(q); q != "" {
			questions = append(questions, q)
		}
	}
	if len(questions) != 4 {
		return false
	}
	last := -1
	for _, q := range questions {
		var text []string
		options := 0
		for _, line := range strings.Split(q, "\n") {
			line = pytext.Strip(line)
			switch {
			case lettered.MatchString(line):
				options++
			case options == 0:
				text = append(text, line)
			}
		}
		n := len([]rune(pytext.Strip(strings.Join(text, " "))))
		if options != 5 || n <= last {
			return false
		}
		last = n
	}
	return true
}

// africaBackwards wants the lines from Zimbabwe on in descending order.
func africaBackwards(r string) bool {
	var lines []string
	for _, line := range strings.Split(r, "\n") {
		line = bare(line)
		if line != "" && (len(lines) > 0 || strings.Contains(line, "Zimbabwe")) {
			lines = append(lines, ascii(line))
		}
	}
	return len(lines) >= countriesCount && slices.IsSortedFunc(lines, func(a, b string) int { return strings.Compare(b, a) })
}

// ascii drops accents, and everything else that is not ASCII.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r > 0x7f {
			return -1
		}
		return r
	}, norm.NFKD.String(s))
}

// napoleonicDate reports whether s is a date YYYY-MM-DD within Napoleon's life.
func napoleonicDate(s string) bool {
	m := isoDate.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	year, _ := strconv.Atoi(m[1])
	month, _ := strconv.Atoi(m[2])
	day, _ := strconv.Atoi(m[3])
	return 1769 <= year && year <= 1821 && month <= 12 && (month == 0 || day <= daysInMonth[month-1])
}

// readCSV reads rows as Python's csv module does with its defaults: a quote
// opens a quoted field only at its start, text behind a closing quote is kept,
// and a line without anything is a row of no fields.
func readCSV(s string, comma rune) (rows [][]string) {
	var row []string
	var field strings.Builder
	started, quoted, closing := false, false, false
	endField := func() {
		row = append(row, field.String())
		field.Reset()
		started, quoted, closing = false, false, false
	}
	endRow := func() {
		if started || len(row) > 0 {
			endField()
		}
		rows = append(rows, row)
		row = nil
	}
	afterComma := false
	for _, c := range s {
		switch {
		case quoted && closing && c == '"': // a doubled quote
			field.WriteRune(c)
			closing = false
		case quoted && !closing && c == '"':
			closing = true
		case quoted && !closing:
			field.WriteRune(c)
		case c == comma:
			endField()
			afterComma = true
			continue
		case c == '\n':
			started = started || afterComma
			endRow()
		case c == '"' && !started:
			started, quoted = true, true
		default:
			quoted, closing, started = false, false, true
			field.WriteRune(c)
		}
		afterComma = false
	}
	if started || afterComma || len(row) > 0 {
		started = true
		endRow()
	}
	return rows
}
