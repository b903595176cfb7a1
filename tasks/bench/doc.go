// Package bench is the service benchmark: one model, one workload, one run, as
// `vllm bench serve`, `throughput` and `latency` do it.
//
// Prepare turns Options into a Session: it resolves the backend and the
// address, finds the model's name and its tokenizer, and makes the requests.
// Nothing but small questions (/v1/models, /tokenize) is sent by then.
// Session.Run hands the requests to the same engine that carries out every other
// run, so what is left is a normal run folder; every figure is computed from its
// records afterwards.
package bench
