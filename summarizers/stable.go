package summarizers

import (
	"errors"
	"fmt"

	"ais_bench/outputs"
	"ais_bench/summarizers/aisbench"
)

// ConfiguredConcurrency is the batch_size a pair ran with, as the manifest has
// it; 0 when it does not say. m may be nil.
func ConfiguredConcurrency(m *outputs.Manifest, p outputs.Pair) int {
	if m == nil {
		return 0
	}
	// tasks names a pair so in the manifest.
	w, _ := m.Workload[p.Model+" × "+p.Dataset].(map[string]any)
	n, _ := w["batch_size"].(float64)
	return int(n)
}

// stableTables are AISBench's tables of its stable stage (summarizer
// stable_stage). Where that tool would find no stable stage there is one table
// without rows that says why.
func stableTables(run *outputs.Run, p outputs.Pair, m *outputs.Manifest) ([]outputs.Table, error) {
	r, err := aisbench.Compute(run.Records(p.Model, p.Dataset), aisbench.Options{Stable: true, MaxConcurrency: ConfiguredConcurrency(m, p)})
	var tables []outputs.Table
	switch {
	case errors.Is(err, aisbench.ErrNoStableStage), errors.Is(err, aisbench.ErrAllFailed), errors.Is(err, aisbench.ErrNoConcurrency):
		tables = (&aisbench.Result{StatsList: aisbench.DefaultStats}).Tables()[:1]
		tables[0].Notes = append(tables[0].Notes, err.Error())
	case err != nil:
		return nil, fmt.Errorf("AISBench's stable stage of %s on %s: %w", p.Model, p.Dataset, err)
	default:
		tables = r.Tables()
		tables[0].Notes = append(tables[0].Notes, fmt.Sprintf("AISBench's window begins %.3f s after the first request; requests that start in it count in full, however long they last. "+
			"The column \"Stable stage\" of the table before has windows and counts that coincide.", r.StableStart))
	}
	for i := range tables {
		tables[i].ID += "_stable"
		tables[i].Title += " of AISBench's stable stage"
	}
	return tables, nil
}
