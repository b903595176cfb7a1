// Package compare says whether runs may be compared, and what differs when they
// may.
//
// An Input is a run folder, or a result that `vllm bench serve` or SGLang's
// bench_serving saved. Inputs of one configuration make a Side; the first Side is
// the base. Compare pairs the models and data sets of the sides and gives, for each
// pair and each further side,
//
//   - the differences of the conditions (data, lengths, seed, sampling, load, prefix
//     cache, engine, client …), each with what it means for a comparison of
//     performance and for one of accuracy: Invalid, Caution or Info,
//   - the change of every headline figure with its interval and a Verdict that knows
//     which direction is better,
//   - for accuracy the questions whose answers turned right or wrong, with McNemar's
//     test,
//
// and over all sides the repeatability of runs of one configuration.
//
// Figures and their intervals are those of package facts: a contract that refers
// to compare.baseline.ttft.p99_ms.change is judged by the same numbers. Changes is
// the whole list for programs.
package compare
