package main

import (
	"fmt"
	"iter"

	"ais_bench/outputs"
	"ais_bench/summarizers/vllm"
)

// unknownInput is how many of the measured requests that succeeded have no count of
// prompt tokens, of how many: vLLM's sums take them as 0.
func unknownInput(records iter.Seq2[*outputs.Record, error]) (unknown, of int, err error) {
	err = outputs.EachMeasured(records, func(rec *outputs.Record) {
		if !rec.OK() {
			return
		}
		of++
		if rec.InputTokens == outputs.UnknownTokens {
			unknown++
		}
	})
	return unknown, of, err
}

// inputNote is a line beneath a table of such sums; "" where all is known.
func inputNote(unknown, of int) string {
	if unknown == 0 {
		return ""
	}
	return fmt.Sprintf("NOTE: the prompt tokens of %d of %d requests are unknown (the server's usage does not say them, or says no number that counts); in the sums above they are 0, so input and total figures are too low", unknown, of)
}

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
