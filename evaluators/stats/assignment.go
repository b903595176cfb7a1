package stats

import "math"

// BestAssignment is the one-to-one assignment of rows to columns with the
// largest sum (the Hungarian algorithm, O(n³)): the score of each row's column,
// 0 for a row that has none.
func BestAssignment(scores [][]float64) []float64 {
	rows := len(scores)
	if rows == 0 {
		return nil
	}
	cols := len(scores[0])
	n := max(rows, cols)
	cost := func(i, j int) float64 {
		if i < rows && j < cols {
			return -scores[i][j]
		}
		return 0
	}
	// potentials u, v; match[j] is the row assigned to column j (1-based)
	u, v := make([]float64, n+1), make([]float64, n+1)
	match, way := make([]int, n+1), make([]int, n+1)
	for i := 1; i <= n; i++ {
		match[0] = i
		j0 := 0
		least := make([]float64, n+1)
		used := make([]bool, n+1)
		for j := range least {
			least[j] = math.Inf(1)
		}
		for {
			used[j0] = true
			i0, delta, j1 := match[j0], math.Inf(1), 0
			for j := 1; j <= n; j++ {
				if used[j] {
					continue
				}
				if c := cost(i0-1, j-1) - u[i0] - v[j]; c < least[j] {
					least[j], way[j] = c, j0
				}
				if least[j] < delta {
					delta, j1 = least[j], j
				}
			}
			for j := 0; j <= n; j++ {
				if used[j] {
					u[match[j]] += delta
					v[j] -= delta
				} else {
					least[j] -= delta
				}
			}
			j0 = j1
			if match[j0] == 0 {
				break
			}
		}
		for j0 != 0 {
			j1 := way[j0]
			match[j0] = match[j1]
			j0 = j1
		}
	}
	out := make([]float64, rows)
	for j := 1; j <= n; j++ {
		if i := match[j]; i >= 1 && i <= rows && j <= cols {
			out[i-1] = scores[i-1][j-1]
		}
	}
	return out
}
