package outputs

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// text translates, scrubs and cleans a text for a cell.
func (x *excelReport) text(s string) string { return excelText(x.red.String(x.tr.term(s))) }

// raw is text without translation, for data.
func (x *excelReport) raw(s string) string { return excelText(x.red.String(s)) }

// excelText drops what XML cannot hold and cuts at the cell limit.
func excelText(s string) string {
	clean := true
	for _, r := range s {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f || r == utf8.RuneError || r == 0xfffe || r == 0xffff {
			clean = false
			break
		}
	}
	if !clean {
		s = strings.Map(func(r rune) rune {
			if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f || r == 0xfffe || r == 0xffff {
				return -1
			}
			return r
		}, strings.ToValidUTF8(s, "\ufffd"))
	}
	if len(s) <= excelMaxText {
		return s
	}
	const mark = "… [cut]"
	units := 0
	for i, r := range s {
		n := 1
		if r > 0xffff {
			n = 2
		}
		if units+n > excelMaxText-len(mark) {
			rest := 0
			for _, r := range s[i:] {
				rest++
				if r > 0xffff {
					rest++
				}
			}
			if units+rest <= excelMaxText {
				return s
			}
			return s[:i] + mark
		}
		units += n
	}
	return s
}

func (x *excelReport) style(k excelStyle) int {
	if id, ok := x.styles[k]; ok {
		return id
	}
	st := &excelize.Style{Alignment: &excelize.Alignment{Vertical: "top", WrapText: k.wrap}}
	if k.format != "" {
		f := k.format
		st.CustomNumFmt = &f
	}
	switch {
	case k.title:
		st.Font = &excelize.Font{Bold: true, Size: 14, Family: excelFont}
	case k.header:
		st.Font = &excelize.Font{Bold: true, Color: "FFFFFF", Family: excelFont}
		st.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"305496"}}
		st.Alignment.WrapText = true
	case k.bold:
		st.Font = &excelize.Font{Bold: true, Family: excelFont}
	case k.note:
		st.Font = &excelize.Font{Italic: true, Color: "595959", Family: excelFont}
	}
	if k.grid {
		st.Border = []excelize.Border{{Type: "bottom", Color: "D9D9D9", Style: 1}}
	}
	switch {
	case k.right:
		st.Alignment.Horizontal = "right"
	case k.grid || k.header: // away from the number at the left
		st.Alignment.Horizontal, st.Alignment.Indent = "left", 1
	}
	switch k.mark {
	case MarkGood:
		st.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"C6EFCE"}}
	case MarkBad:
		st.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"FFC7CE"}}
	case MarkWarn:
		st.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"FFEB9C"}}
	}
	id, err := x.f.NewStyle(st)
	if err != nil {
		id = 0 // the default style; values matter more than looks
	}
	x.styles[k] = id
	return id
}

// numberFormat is Excel's format for a cell of a column.
func numberFormat(c Column, cell Cell) string {
	switch cell.Value.(type) {
	case time.Time:
		return "yyyy-mm-dd hh:mm:ss"
	case int64, uint64, float64:
	default:
		return ""
	}
	format := c.Format
	if cell.Format != "" {
		format = cell.Format
	}
	decimals := -1
	if i := strings.LastIndexByte(format, '.'); i >= 0 {
		fmt.Sscanf(format[i+1:], "%d", &decimals)
	}
	switch {
	case c.Kind == KindPercent:
		if decimals < 0 {
			decimals = 2
		}
		return fixed("0", decimals) + "%"
	case decimals >= 0:
		return fixed("#,##0", decimals)
	}
	if v, ok := cell.Value.(float64); ok && c.Kind != KindInt && v != math.Trunc(v) {
		return "#,##0.00##"
	}
	return "#,##0"
}

func fixed(base string, decimals int) string {
	if decimals == 0 {
		return base
	}
	return base + "." + strings.Repeat("0", decimals)
}

// put writes one cell and makes room for it. Strings are written as strings,
// whatever they begin with: a cell never becomes a formula.
func (x *excelReport) put(sheet string, col, row int, v any, st excelStyle) error {
	limit := excelMaxWidth
	if st.header {
		limit = excelHeadWidth
	}
	switch val := v.(type) {
	case nil:
	case string:
		x.widen(sheet, col, row, val, limit)
		st.wrap = st.wrap || float64(width.StringWidth(val)) > x.layout(sheet).widths[col] || strings.Contains(val, "\n") || st.header
	case time.Time:
		x.widen(sheet, col, row, "2026-01-01 00:00:00", limit)
	default:
		shown := fmt.Sprint(val)
		x.widen(sheet, col, row, shown[:min(14, len(shown))], limit)
	}
	return x.putCell(sheet, col, row, v, st)
}

// putCell writes one cell as it is.
func (x *excelReport) putCell(sheet string, col, row int, v any, st excelStyle) error {
	ref, err := excelize.CoordinatesToCellName(col, row)
	if err != nil {
		return err
	}
	switch val := v.(type) {
	case nil:
		if st == (excelStyle{}) {
			return nil
		}
	case string:
		err = x.f.SetCellStr(sheet, ref, val)
	default:
		err = x.f.SetCellValue(sheet, ref, val)
	}
	if err != nil {
		return err
	}
	return x.f.SetCellStyle(sheet, ref, ref, x.style(st))
}

// line writes a text across the sheet without widening its column.
func (x *excelReport) line(sheet, s string, st excelStyle) error {
	ref, err := excelize.CoordinatesToCellName(1, x.next[sheet])
	if err != nil {
		return err
	}
	if err := x.f.SetCellStr(sheet, ref, s); err != nil {
		return err
	}
	if st.note || st.mark != MarkNone {
		st.wrap = true
		l := x.layout(sheet)
		l.blocks = append(l.blocks, textBlock{row: x.next[sheet], col: 1, text: s, fit: true})
	}
	if st.title {
		l := x.layout(sheet)
		l.titles = append(l.titles, x.next[sheet])
	}
	x.next[sheet]++
	return x.f.SetCellStyle(sheet, ref, ref, x.style(st))
}
