// Package server tells the server's side of a run: whether the requests arrived,
// how the client's times compare with the server's own, how long the engine ran at
// its limits and what that means, and whether the prefix cache was in the
// state that was asked for.
//
// Everything is computed from the run folder: the samples of server/*.parquet and
// the records. Nothing is guessed: what a server does not tell is null, and
// what is inferred says so. docs/server.md has the rules.
package server
