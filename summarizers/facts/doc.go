// Package facts gives every figure of one or several runs a name, a unit, the
// number of values behind it and an interval: what acceptance contracts and
// comparisons talk about. The names are those of the JSON files:
//
//	success_rate                            share of the requests that succeeded
//	perf.ttft.p99_ms                        performances/*.json, one model and data set
//	perf["model/dataset"].ttft.p99_ms       the same where a run has several
//	accuracy["gsm8k"].value                 results/*.json
//	client.cpu_share                        client_health of the manifest
//	server.arrival.stray_requests           server/*.json
//	manifest.server_before.version          manifest.json
//	compare.baseline.ttft.p99_ms.change     against another run
//	sweep.search.highest                    of a sweep, after sweep.json
//	sweep.points["8"].ttft.p99_ms           of the runs of one load
//
// Several runs are repeats of one configuration and are pooled: shares and
// percentiles over the requests of all, accuracies with the repeats of a
// question kept together, means and rates by run.
//
// A figure is one of: a share, a percentile, a mean, a rate (each with an
// interval at any level), something observed (a count, a maximum: certain of
// these runs, no estimate of anything else), or a text. What is undefined has
// no value and says why.
package facts
