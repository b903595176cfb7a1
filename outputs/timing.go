package outputs

// The per-request durations of profile strict, in nanoseconds. Each returns
// false where an event it needs did not happen: undefined is never 0.

// between is to - from where both happened.
func between(from, to int64) (int64, bool) {
	if from == Never || to == Never {
		return 0, false
	}
	return to - from, true
}

// TTFT is the time from the send to the first event with a payload.
// Undefined for requests that were not streamed: their first token is hidden.
func (r *Record) TTFT() (int64, bool) {
	if !r.Stream {
		return 0, false
	}
	return between(r.Sent, r.FirstToken)
}

// TTFAT is the time from the send to the first answer token (after thinking).
func (r *Record) TTFAT() (int64, bool) {
	if !r.Stream {
		return 0, false
	}
	return between(r.Sent, r.FirstAnswerToken)
}

// E2EL is the time from the send to the last event with a payload.
func (r *Record) E2EL() (int64, bool) { return between(r.Sent, r.LastToken) }

// ScheduledE2EL is E2EL from the scheduled time: what a user feels, the
// client's own queue included (coordinated omission).
func (r *Record) ScheduledE2EL() (int64, bool) { return between(r.Scheduled, r.LastToken) }

// ClientQueueTime is the time from the scheduled time to the send: the wait for
// a free slot below the concurrency cap, which is the service's slowness, and
// the client's own lag, which the manifest's schedule_lag_ms has apart.
func (r *Record) ClientQueueTime() (int64, bool) { return between(r.Scheduled, r.Sent) }

// TPOT is (E2EL - TTFT) / (output tokens - 1), in fractional nanoseconds;
// undefined below two output tokens.
func (r *Record) TPOT() (float64, bool) {
	if r.OutputTokens < 2 || !r.Stream {
		return 0, false
	}
	d, ok := between(r.FirstToken, r.LastToken)
	return float64(d) / float64(r.OutputTokens-1), ok
}

// MaxStall is the longest gap between two payload events of the stream.
func (r *Record) MaxStall() (int64, bool) {
	if len(r.ChunkAt) < 2 {
		return 0, false
	}
	gap := int64(0)
	for i := 1; i < len(r.ChunkAt); i++ {
		gap = max(gap, r.ChunkAt[i]-r.ChunkAt[i-1])
	}
	return gap, true
}
