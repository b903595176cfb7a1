// Package textmetrics holds the metrics that compare free text with reference
// texts: ROUGE, BLEU, chrF, token F1, exact match, ANLS, edit distance and code
// similarity. Every score is in [0,1] unless its comment says otherwise; every
// function says whose published implementation it agrees with.
package textmetrics
