package outputs

import (
	"errors"
	"fmt"

	"github.com/xuri/excelize/v2"
)

// sheetColumns are the columns of the Requests sheet, by their names in
// requestColumns. The CSV and the Parquet file have the rest.
var sheetColumns = []string{"sample_id", "repeat", "turn", "attempt", "phase", "status", "http_status", "finish_reason",
	"input_tokens", "output_tokens", "ttft_ms", "tpot_ms", "e2el_ms", "e2el_from_schedule_ms", "client_queue_time_ms", "max_stall_ms", "sent_at_ms"}

// requests streams the Requests sheet and gathers the Errors sheet on the way.
func (x *excelReport) requests() error {
	sheet, err := x.newSheet("Requests")
	if err != nil {
		return err
	}
	x.streamed = sheet
	// A streamed sheet is closed when it is written: its looks come first.
	if err := x.landscape(sheet); err != nil {
		return err
	}
	w, err := x.f.NewStreamWriter(sheet)
	if err != nil {
		return err
	}
	columns := []requestColumn{
		{name: "model", text: func(r *Record) string { return r.Model }},
		{name: "dataset", text: func(r *Record) string { return r.Dataset }},
	}
	for _, name := range sheetColumns {
		for _, c := range requestColumns {
			if c.name == name {
				columns = append(columns, c)
			}
		}
	}
	last, _ := excelize.ColumnNumberToName(len(columns))
	for i, c := range columns {
		wide := 13.0
		if c.text != nil && c.name != "phase" && c.name != "status" {
			wide = 20
		}
		if err := w.SetColWidth(i+1, i+1, wide); err != nil {
			return err
		}
	}
	if err := w.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	header := x.style(excelStyle{header: true})
	whole, decimal := x.style(excelStyle{format: "0"}), x.style(excelStyle{format: "#,##0.000"})
	bad := x.style(excelStyle{mark: MarkBad})
	cells := make([]excelize.Cell, len(columns))
	row := make([]any, len(columns))
	for i, c := range columns {
		row[i] = excelize.Cell{StyleID: header, Value: x.text(c.name)}
	}
	if err := w.SetRow("A1", row, excelize.RowOpts{Height: 2 * excelRowHeight}); err != nil {
		return err
	}
	for i := range row {
		row[i] = &cells[i]
	}
	var total int64
	counts := map[Status]int64{}
	var failed []failedRequest
	n := 1
	for rec, err := range x.d.Records() {
		var damage *DamageError
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return sourceError{err}
		}
		total++
		counts[rec.Status]++
		if !rec.OK() && len(failed) < excelMaxErrors {
			failed = append(failed, failedRequest{rec.Model, rec.Dataset, rec.SampleID, rec.RequestID, excelText(x.red.String(rec.Error)), rec.Status, rec.Attempt, rec.HTTPStatus, rec.Sent})
		}
		if n >= x.maxRows {
			continue
		}
		n++
		for i, c := range columns {
			cells[i] = excelize.Cell{}
			if c.text != nil {
				cells[i].Value = x.raw(c.text(rec))
				if c.name == "status" && !rec.OK() {
					cells[i].StyleID = bad
				}
			} else if v, ok := c.number(rec); ok {
				cells[i].StyleID = decimal
				cells[i].Value = v
				if c.whole {
					cells[i].StyleID, cells[i].Value = whole, int64(v)
				}
			}
		}
		if err := w.SetRow(fmt.Sprintf("A%d", n), row); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := x.f.AutoFilter(sheet, fmt.Sprintf("A1:%s%d", last, max(n, 2)), nil); err != nil {
		return err
	}
	if err := x.repeatHeader(sheet); err != nil {
		return err
	}
	if total > int64(x.maxRows-1) {
		note := fmt.Sprintf("The Requests sheet holds the first %d of %d requests; all of them: %s", x.maxRows-1, total, x.d.RecordsPath)
		if err := x.line(x.sheetName("Summary"), x.text(note), excelStyle{mark: MarkWarn}); err != nil {
			return err
		}
	}
	return x.errorsSheet(total, counts, failed)
}
