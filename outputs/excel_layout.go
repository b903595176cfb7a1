package outputs

import (
	"math"
	"strings"

	"github.com/xuri/excelize/v2"
)

const (
	excelMinWidth  = 9   // of a column, in characters
	excelMaxWidth  = 60  // longer texts are wrapped
	excelHeadWidth = 20  // headings of narrow columns are wrapped from here on
	excelRowHeight = 15  // points of a row with one line
	excelMaxHeight = 400 // the format ends at 409
	// excelLineWidth is how wide a note may run across a sheet.
	excelLineWidth = 110
)

// layout is what is known of a sheet's looks; it is applied when everything is
// written, because widths depend on all cells and heights on the widths.
type layout struct {
	widths map[int]float64
	blocks []textBlock
	titles []int // rows of large letters
	page   int   // row the last page break stands before
	done   bool  // arranged
}

// textBlock is a text that may need several lines.
type textBlock struct {
	row, col, last int // last > col: the cells from col to last are one
	text           string
	fit            bool // last is found by the widths: the text runs across the sheet
}

func (x *excelReport) layout(sheet string) *layout {
	l := x.layouts[sheet]
	if l == nil {
		l = &layout{widths: map[int]float64{}}
		x.layouts[sheet] = l
	}
	return l
}

// widen makes room for a text in its column and notes texts that will be wrapped.
func (x *excelReport) widen(sheet string, col, row int, s string, limit int) {
	l := x.layout(sheet)
	w := 0
	for line := range strings.SplitSeq(s, "\n") {
		w = max(w, width.StringWidth(line))
	}
	l.widths[col] = max(l.widths[col], float64(min(w, limit)))
	if w > limit || strings.Contains(s, "\n") {
		l.blocks = append(l.blocks, textBlock{row: row, col: col, last: col, text: s})
	}
}

// columnWidth is the width a column gets.
func (l *layout) columnWidth(col int) float64 {
	w, ok := l.widths[col]
	if !ok {
		return excelMinWidth
	}
	return min(max(w+2, excelMinWidth), excelMaxWidth+2)
}

// arrange sets widths and heights of the sheets written so far and makes all
// print well.
func (x *excelReport) arrange() error {
	for sheet, l := range x.layouts {
		if l.done {
			continue
		}
		l.done = true
		for c := range l.widths {
			name, _ := excelize.ColumnNumberToName(c)
			if err := x.f.SetColWidth(sheet, name, name, l.columnWidth(c)); err != nil {
				return err
			}
		}
		heights := map[int]float64{}
		for _, b := range l.blocks {
			room := 0.0
			if b.fit {
				need := float64(width.StringWidth(b.text))
				for b.last = b.col; ; b.last++ {
					room += l.columnWidth(b.last)
					if room >= min(need*1.15+2, excelLineWidth) {
						break
					}
				}
			} else {
				for c := b.col; c <= b.last; c++ {
					room += l.columnWidth(c)
				}
			}
			if b.last > b.col {
				from, _ := excelize.CoordinatesToCellName(b.col, b.row)
				to, _ := excelize.CoordinatesToCellName(b.last, b.row)
				if err := x.f.MergeCell(sheet, from, to); err != nil {
					return err
				}
			}
			heights[b.row] = max(heights[b.row], float64(linesIn(b.text, room-1))*excelRowHeight)
		}
		for _, row := range l.titles {
			heights[row] = max(heights[row], 1.4*excelRowHeight)
		}
		for row, h := range heights {
			if h > excelRowHeight {
				if err := x.f.SetRowHeight(sheet, row, min(h, excelMaxHeight)); err != nil {
					return err
				}
			}
		}
	}
	return x.printable()
}

// linesIn estimates the lines of a wrapped text: programs break at words, and
// letters differ in width, so a tenth is added.
func linesIn(s string, room float64) int {
	n := 0
	for line := range strings.SplitSeq(s, "\n") {
		n += max(1, int(math.Ceil(float64(width.StringWidth(line))*1.1/max(room, 1))))
	}
	return n
}

// printable makes every sheet print in landscape, as wide as the page.
func (x *excelReport) printable() error {
	for _, sheet := range x.f.GetSheetList() {
		if sheet == x.streamed {
			continue // already written
		}
		if err := x.landscape(sheet); err != nil {
			return err
		}
	}
	return nil
}

func (x *excelReport) landscape(sheet string) error {
	landscape, paper, one, any, yes := "landscape", 9, 1, 0, true // paper 9 is A4
	if err := x.f.SetPageLayout(sheet, &excelize.PageLayoutOptions{Orientation: &landscape, Size: &paper, FitToWidth: &one, FitToHeight: &any}); err != nil {
		return err
	}
	narrow, foot := 0.4, "&L"+strings.ReplaceAll(x.raw(x.d.RunName), "&", "&&")+"&C&A&R&P / &N"
	if err := x.f.SetPageMargins(sheet, &excelize.PageLayoutMarginsOptions{Left: &narrow, Right: &narrow, Top: &narrow}); err != nil {
		return err
	}
	if len(foot) < 200 {
		if err := x.f.SetHeaderFooter(sheet, &excelize.HeaderFooterOptions{OddFooter: foot}); err != nil {
			return err
		}
	}
	return x.f.SetSheetProps(sheet, &excelize.SheetPropsOptions{FitToPage: &yes})
}

// repeatHeader prints a row at the top of every page of a sheet.
func (x *excelReport) repeatHeader(sheet string) error {
	return x.f.SetDefinedName(&excelize.DefinedName{Name: "_xlnm.Print_Titles", Scope: sheet, RefersTo: "'" + strings.ReplaceAll(sheet, "'", "''") + "'!$1:$1"})
}
