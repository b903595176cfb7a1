package compare

import (
	"fmt"
	"hash/fnv"
	"iter"
	"slices"

	"ais_bench/outputs"
	"ais_bench/quantile"
)

// scan is what the conditions need of the records of one pair.
type scan struct {
	prompts  map[string]uint64 // hash of the prompt by question
	in, out  []int32           // of successful requests
	asked    int64             // Σ of the limits of answers
	limited  int64             // answers with a limit
	requests int64
	failed   int64
	cached   int64 // prompt tokens from the cache, of those who told
	ofPrompt int64 // prompt tokens of those
	sources  map[outputs.TokenSource]int64
	kernel   int64
	stream   int64
	answered int64

	timed []timed // successful requests; nil where there are too many to pair
	gaps  int     // between the chunks of all of them
}

// question names a question within a pair; its repeats have the same prompt.
func question(sample, session string, turn int32) string {
	if session == "" && turn == 0 {
		return sample
	}
	return fmt.Sprintf("%s\x00%s\x00%d", sample, session, turn)
}

func hashed(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

func scanRecords(records iter.Seq2[*outputs.Record, error]) (*scan, error) {
	s := &scan{prompts: map[string]uint64{}, sources: map[outputs.TokenSource]int64{}}
	retried := map[string]bool{} // requests that failed before and may have been tried again
	if err := outputs.EachMeasured(records, func(r *outputs.Record) {
		if r.Cancelled() { // by the user: it did not fail
			return
		}
		key := fmt.Sprintf("%s\x00%d", question(r.SampleID, r.SessionID, r.Turn), r.Repeat)
		if !retried[key] || r.Attempt == 0 {
			s.requests++
			if !r.OK() {
				s.failed++
				retried[key] = true
			}
		} else if r.OK() {
			s.failed-- // the second attempt answered
			delete(retried, key)
		}
		if r.PromptSHA256 != "" {
			s.prompts[question(r.SampleID, r.SessionID, r.Turn)] = hashed(r.PromptSHA256)
		}
		if r.Stream {
			s.stream++
		}
		if !r.OK() {
			return
		}
		s.answered++
		s.keep(r, key)
		if r.KernelStamp {
			s.kernel++
		}
		if r.InputTokens != outputs.UnknownTokens {
			s.in = append(s.in, r.InputTokens)
			if r.CachedTokens != outputs.UnknownTokens {
				s.cached += int64(r.CachedTokens)
				s.ofPrompt += int64(r.InputTokens)
			}
		}
		if r.OutputTokens != outputs.UnknownTokens {
			s.out = append(s.out, r.OutputTokens)
		}
		if r.MaxTokens > 0 {
			s.limited++
			s.asked += int64(r.MaxTokens)
		}
		s.sources[r.TokenSource]++
	}); err != nil {
		return nil, err
	}
	slices.Sort(s.in)
	slices.Sort(s.out)
	return s, nil
}

// lengths are mean, median and p95 of sorted counts.
func lengths(sorted []int32) condition {
	if len(sorted) == 0 {
		return condition{unknown: true}
	}
	sum := 0.0
	for _, n := range sorted {
		sum += float64(n)
	}
	mean, median, p95 := sum/float64(len(sorted)), quantile.Linear(sorted, 0.5), quantile.Linear(sorted, 0.95)
	return condition{text: fmt.Sprintf("mean %.1f, median %.0f, P95 %.0f", mean, median, p95), numbers: []float64{mean, median, p95}}
}

// promptDifference compares what was asked, question by question.
func promptDifference(base, other *scan) (Difference, bool) {
	d := Difference{Subject: "prompts"}
	if base == nil || other == nil || len(base.prompts) == 0 || len(other.prompts) == 0 {
		d.Base, d.Other = told(base), told(other)
		d.Performance, d.Accuracy, d.Why = Caution, Caution, "whether the same was asked is not known: there are no hashes of the prompts"
		return d, true
	}
	same, changed := 0, 0
	for q, h := range other.prompts {
		if g, ok := base.prompts[q]; ok && g == h {
			same++
		} else if ok {
			changed++
		}
	}
	if same == len(base.prompts) && same == len(other.prompts) {
		return d, false
	}
	d.Base, d.Other = fmt.Sprintf("%d questions", len(base.prompts)), fmt.Sprintf("%d questions, %d asked alike", len(other.prompts), same)
	d.Performance, d.Accuracy = Caution, Caution
	switch {
	case same == 0:
		d.Accuracy = Invalid
		d.Why = "nothing was asked alike; for performance the lengths decide, see below"
	case changed > 0:
		d.Why = fmt.Sprintf("%d questions were put differently; accuracy is compared over those asked alike", changed)
	default:
		d.Why = "one run asked more than the other; accuracy is compared over the questions of both"
	}
	return d, true
}

func told(s *scan) string {
	if s == nil || len(s.prompts) == 0 {
		return notTold
	}
	return fmt.Sprintf("%d questions", len(s.prompts))
}
