// Package strict computes profile strict, the default, from records: New, Add
// every Record, Result. It follows the rules of measurement in docs/metrics.md:
// first token is the first event with a payload, TPOT divides by tokens and is
// undefined below two, failures stand beside every figure, undefined is null.
//
// Memory is bounded: distributions are histograms exact to 1 µs, and what is
// kept per request is a few words, so 250,000 requests of 4,096 tokens take
// some tens of megabytes. The order of records does not matter.
package strict
