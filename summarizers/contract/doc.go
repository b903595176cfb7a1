// Package contract decides whether a run keeps an acceptance contract: a file of
// clauses such as perf.ttft.p99_ms <= 2000, each judged PASS, FAIL or
// INCONCLUSIVE from the intervals of its figures (package facts), never from
// their values alone.
//
// A comparison passes when it holds for every value in the intervals, fails when
// it holds for none, and is inconclusive otherwise; arithmetic is interval
// arithmetic, and &&, || and ! follow Kleene's three-valued logic. A figure
// without a value makes its comparison inconclusive: no data is never a pass.
//
// At confidence c a clause that is false is passed with probability at most
// (1−c)/2, and one that is true is failed with probability at most (1−c)/2, if
// the intervals keep their level. Where several estimated figures can lead to
// the same wrong verdict, their intervals are widened so that this holds for the
// clause (Bonferroni; see tree.go).
//
// Parse reads a contract, Contract.Check refuses one that a planned run cannot
// decide, Contract.Judge judges runs.
package contract
