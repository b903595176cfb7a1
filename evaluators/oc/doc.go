// Package oc reproduces the extraction and comparison rules of OpenCompass and
// AISBench, faults included, as functions of text. Where the two projects
// differ the functions say which one they follow. They serve the scorers named
// oc/…, whose purpose is to be comparable with scores measured by those tools;
// the rules to trust are the plain ones of package evaluators.
package oc
