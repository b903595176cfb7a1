package workloads

import (
	"fmt"
	"sort"
)

// notes collects what a workload left out and why, for its Notes.
type notes struct{ left map[string][]int }

func (n *notes) reset() { n.left = map[string][]int{} }

// skip notes that a row of the file was left out.
func (n *notes) skip(row int, why string) { n.left[why] = append(n.left[why], row) }

// Notes is one line a reason, with the number of rows and the first of them.
func (n *notes) Notes() []string {
	var lines []string
	for why, rows := range n.left {
		sort.Ints(rows)
		list := ""
		for i, r := range rows {
			if i == 5 {
				list += ", …"
				break
			}
			if i > 0 {
				list += ", "
			}
			list += fmt.Sprint(r)
		}
		if len(rows) == 1 {
			lines = append(lines, fmt.Sprintf("left out 1 row (row %s): %s", list, why))
		} else {
			lines = append(lines, fmt.Sprintf("left out %d rows (rows %s): %s", len(rows), list, why))
		}
	}
	sort.Strings(lines)
	return lines
}
