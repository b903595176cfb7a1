package outputs

import (
	"fmt"
	"slices"
	"strings"
)

// errorsSheet writes counts by status and the failed requests.
func (x *excelReport) errorsSheet(total int64, counts map[Status]int64, failed []failedRequest) error {
	sheet, err := x.newSheet("Errors")
	if err != nil {
		return err
	}
	order := append([]Status(nil), Statuses...)
	for s := range counts {
		if !slices.Contains(Statuses, s) {
			order = append(order, s)
		}
	}
	slices.Sort(order[len(Statuses):])
	// The counts stand at the right of the list, so that its heading can be
	// frozen and filtered.
	const right = 11
	for i, h := range []string{"Status", "Requests", "Share"} {
		if err := x.put(sheet, right+i, 1, x.text(h), excelStyle{header: true}); err != nil {
			return err
		}
	}
	row := 1
	for _, s := range order {
		n := counts[s]
		if n == 0 {
			continue
		}
		row++
		mark := MarkBad
		if s == StatusOK {
			mark = MarkGood
		}
		for i, p := range []struct {
			v  any
			st excelStyle
		}{{x.text(string(s)), excelStyle{mark: mark}}, {n, excelStyle{format: "#,##0"}}, {float64(n) / float64(total), excelStyle{format: "0.00%"}}} {
			if err := x.put(sheet, right+i, row, p.v, p.st); err != nil {
				return err
			}
		}
	}
	list := Table{Columns: []Column{{Name: "Model", Data: true}, {Name: "Dataset", Data: true}, {Name: "Sample", Data: true}, {Name: "Attempt", Kind: KindInt},
		{Name: "Status"}, {Name: "HTTP status", Kind: KindInt}, {Name: "Sent at", Unit: "ms", Kind: KindFloat, Format: "%.3f"}, {Name: "Request id", Data: true}, {Name: "Error", Data: true}}}
	for _, r := range failed {
		var sent, http any
		if r.sent != Never {
			sent = float64(r.sent) / 1e6
		}
		if r.http != 0 {
			http = r.http
		}
		list.AddRow(r.model, r.dataset, r.sample, r.attempt, string(r.status), http, sent, r.request, strings.ReplaceAll(r.text, "\n", " "))
	}
	bad := total - counts[StatusOK]
	if int64(len(failed)) < bad {
		list.Notes = append(list.Notes, fmt.Sprintf("%d of %d failed requests are listed; all of them: %s", len(failed), bad, x.d.RecordsPath))
	}
	top, bottom, err := x.table(sheet, &list)
	if err != nil {
		return err
	}
	return x.freeze(sheet, top, bottom, len(list.Columns))
}

// failedRequest is what the Errors sheet keeps of a record.
type failedRequest struct {
	model, dataset, sample, request, text string
	status                                Status
	attempt, http                         int32
	sent                                  int64
}
