// Package mathequiv decides whether two mathematical answers are the same
// answer, and finds the answer in a model's reply.
//
// Equal reads both sides as LaTeX (or plain text), parses them into a small
// syntax tree and compares them by the strictest means that applies:
//
//  1. text answers (choice letters, words, clock times) as text;
//  2. collections by their kind: tuples and open or closed intervals in order,
//     sets and bare lists without order, unions and matrices part by part;
//  3. equations and inequalities up to the side on which a term is written;
//  4. expressions as rational functions with exact coefficients, in which
//     roots, pi, e, i and function values are generators with their relations
//     (so sqrt(12) is 2 sqrt(3) and 1/sqrt(2) is sqrt(2)/2 without rounding);
//  5. what that form cannot hold, by an identity test: both sides are evaluated
//     with 320-bit floats at several fixed pseudo-random points.
//
// Units, currency signs, degrees, percent signs, thousands separators, mixed
// numbers and "x=" in front of a value are understood rather than deleted. What
// is NOT accepted: a rounded decimal for an exact value (0.333 for 1/3), a
// different order in a tuple, an open end for a closed one, 0.5 for 50 (only 50%
// is both, because data sets write it either way).
//
// Both functions are pure, deterministic, safe for concurrent use, and bounded
// in time and memory whatever the input: numbers that would take more than a few
// thousand digits are compared by structure or by logarithm, never expanded.
package mathequiv

// Version changes whenever a pair of answers may be judged differently.
const Version = "1"
