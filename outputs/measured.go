package outputs

import (
	"errors"
	"iter"
)

// EachMeasured calls do for every record of a measured request: warm-ups, probes and
// what cools down are left out, a damaged record is passed over. It ends at the first
// error of reading.
func EachMeasured(records iter.Seq2[*Record, error], do func(*Record)) error {
	for rec, err := range records {
		var damage *DamageError
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return err
		}
		if rec.Phase == PhaseMeasured || rec.Phase == "" {
			do(rec)
		}
	}
	return nil
}
