package main

import (
	"errors"
	"fmt"
	"iter"

	"ais_bench/outputs"
	"ais_bench/summarizers/vllm"
)

// otherCount is a line beneath vLLM's table where vLLM would call another number of
// the measured requests successful than this tool does; "" where they agree. What was
// cut off by the user has failed for both.
func otherCount(records iter.Seq2[*outputs.Record, error], r *vllm.Result) (string, error) {
	answered, failed := 0, 0
	for rec, err := range records {
		var damage *outputs.DamageError
		switch {
		case errors.As(err, &damage):
		case err != nil:
			return "", err
		case rec.Phase != outputs.PhaseMeasured && rec.Phase != "":
		case rec.OK():
			answered++
		default:
			failed++
		}
	}
	return countsDiffer(answered, failed, r.Completed, r.Failed), nil
}

func countsDiffer(answered, failed, theirs, theirFailed int) string {
	if answered == theirs && failed == theirFailed {
		return ""
	}
	return fmt.Sprintf("NOTE: the table counts as vLLM does: %d successful, %d failed; by this tool's rules %d succeeded and %d failed (a proper end, a payload and no error in the stream): the run folder has each one's cause",
		theirs, theirFailed, answered, failed)
}
