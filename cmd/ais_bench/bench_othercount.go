package main

import (
	"fmt"

	"ais_bench/summarizers/vllm"
	"ais_bench/tasks"
)

// otherCount is a line beneath vLLM's table where vLLM would call another number of
// requests successful than this tool does; "" where they agree.
func otherCount(out *tasks.Outcome, r *vllm.Result) string {
	answered, failed := 0, 0
	for _, t := range out.Tasks {
		if t.Inference != nil {
			answered, failed = answered+t.Inference.Answered, failed+t.Inference.Failed
		}
	}
	return countsDiffer(answered, failed, r.Completed, r.Failed)
}

func countsDiffer(answered, failed, theirs, theirFailed int) string {
	if answered == theirs && failed == theirFailed {
		return ""
	}
	return fmt.Sprintf("NOTE: the table counts as vLLM does: %d successful, %d failed; by this tool's rules %d succeeded and %d failed (a proper end, a payload and no error in the stream): the run folder has each one's cause",
		theirs, theirFailed, answered, failed)
}
