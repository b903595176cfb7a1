package evaluators

// Result is how right the answers of one model to one data set are: the
// contents of results/<model>/<dataset>.json, from which every accuracy table
// is made.
type Result struct {
	Model   string `json:"model"`
	Dataset string `json:"dataset"`
	Mode    string `json:"mode"`    // gen or ppl
	Version string `json:"version"` // first six hex digits of the hash of all prompts
	Scorer  string `json:"scorer"`
	// ScorerVersion is the version of the rule; scores of different versions are
	// not comparable.
	ScorerVersion string           `json:"scorer_version"`
	Metric        string           `json:"metric"` // accuracy, or score for graded metrics
	Overall       Summary          `json:"overall"`
	Subsets       []SubsetResult   `json:"subsets,omitempty"`
	Groups        []GroupResult    `json:"groups,omitempty"`
	References    []ReferenceScore `json:"reference_scores,omitempty"`
}

// SubsetResult is the score of one sub-set.
type SubsetResult struct {
	Name    string  `json:"name"` // as in tables
	Subset  string  `json:"subset"`
	Summary Summary `json:"summary"`
}

// GroupResult is one number over several sub-sets; Metric is one of GroupKinds.
type GroupResult struct {
	Name   string  `json:"name"`
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	N      int     `json:"n"`
	// StdErr is the standard error of Value from its members'; null where a member
	// has none, and for metrics that are no weighted sum.
	StdErr *float64 `json:"stderr"`
}

// ReferenceScore is a published score of a model on the data set.
type ReferenceScore struct {
	Model  string  `json:"model"`
	Metric string  `json:"metric,omitempty"`
	Score  float64 `json:"score"`
	Source string  `json:"source"`
}
