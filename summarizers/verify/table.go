package verify

import (
	"encoding/csv"
	"errors"
	"slices"
	"strings"
)

// grid is a table read from CSV.
type grid struct {
	head []string
	rows [][]string
}

func table(s section) (grid, error) {
	r := csv.NewReader(strings.NewReader(strings.Join(s.lines, "\n")))
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err != nil {
		return grid{}, err
	}
	if len(all) == 0 {
		return grid{}, errors.New("no heading")
	}
	return grid{all[0], all[1:]}, nil
}

// find is the row that is about the same thing: at the same place if that has the
// same name, else the first of that name.
func (g grid) find(row []string, at int) []string {
	same := func(other []string) bool { return len(other) > 0 && len(row) > 0 && other[0] == row[0] }
	if at < len(g.rows) && same(g.rows[at]) {
		return g.rows[at]
	}
	if i := slices.IndexFunc(g.rows, same); i >= 0 {
		return g.rows[i]
	}
	return nil
}
