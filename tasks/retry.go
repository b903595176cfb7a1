package tasks

import (
	"time"

	"ais_bench/models"
	"ais_bench/outputs"
)

// backoff is how long to wait before attempt n+1 (n counts from 0): what the
// server asked for (Retry-After), else 0.5 s · 2^n up to 30 s. There is no
// jitter: requests of one run fail spread over time already, and a run must be
// repeatable.
func backoff(n int, res *models.Result) time.Duration {
	if res.RetryAfter > 0 {
		return min(time.Duration(res.RetryAfter), 5*time.Minute)
	}
	return min(500*time.Millisecond<<min(n, 10), 30*time.Second)
}

// retryable reports whether asking again can help. A request the server
// understood and refused (4xx) fails the same way again.
func retryable(s outputs.Status) bool {
	switch s {
	case outputs.StatusOK, outputs.StatusHTTP4xx, outputs.StatusCancelled:
		return false
	}
	return true
}
