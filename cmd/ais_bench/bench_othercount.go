package main

import (
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
	err := outputs.EachMeasured(records, func(rec *outputs.Record) {
		if rec.OK() {
			answered++
		} else {
			failed++
		}
	})
	if err != nil {
		return "", err
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
