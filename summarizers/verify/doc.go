// Package verify checks a run folder against itself, offline: that the files are
// those the manifest gives hashes of, that no record is torn or missing, and that
// every number in performances/*.json and *.csv, results/*.json and the summary
// is what the records and answers give, and that the verdict of an acceptance
// contract is what the contract in the folder gives.
//
// The order of trust is: the manifest's hashes vouch for records, answers and
// configurations; records vouch for performance figures and for the answers'
// texts; answers and data vouch for verdicts and scores; all of them for tables.
// Nothing vouches for the manifest: its own hash is part of the report and has to
// be kept elsewhere.
//
// Everything that was looked at is a Finding, what was not looked at included.
package verify
