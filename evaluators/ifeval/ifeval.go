// Package ifeval checks whether a reply follows verifiable instructions: the
// 25 of IFEval (Zhou et al., 2023) and the 58 of IFBench (Pyatkin et al., 2025),
// strictly and loosely, and the four published accuracies. Rules that the original leaves to libraries are done by the same
// family of algorithm: Punkt for sentences, Treebank words for capital words; the
// language of a text is decided by its script and, for Latin scripts, by
// trigrams, so that the same reply always gets the same verdict.
package ifeval

// Result is the judgement of one reply against its instructions, in order.
type Result struct {
	Strict []bool
	Loose  []bool
}

// Accuracies are the four published metrics, each in [0,1].
type Accuracies struct {
	PromptStrict, InstStrict, PromptLoose, InstLoose float64
	Prompts, Instructions                            int
}
