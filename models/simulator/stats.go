package simulator

// Stats are a server's counters since it started. GET /sim/stats gives the
// same as JSON.
type Stats struct {
	Requests    int64 `json:"requests"`    // generation requests accepted for reading, faulty and refused ones included
	Completed   int64 `json:"completed"`   // answered to the end
	Aborted     int64 `json:"aborted"`     // the client went away first
	Refused     int64 `json:"refused"`     // 4xx for a reason of the client's
	Faulted     int64 `json:"faulted"`     // suffered an injected fault
	Connections int64 `json:"connections"` // accepted since the start
	Open        int64 `json:"open"`        // connections open now

	PromptTokens     int64 `json:"prompt_tokens"`     // of completed answers
	CachedTokens     int64 `json:"cached_tokens"`     // prompt tokens found in the prefix cache
	GenerationTokens int64 `json:"generation_tokens"` // tokens produced
	Chunks           int64 `json:"chunks"`            // events written
	Writes           int64 `json:"writes"`            // write calls

	Running     int64 `json:"running"`     // sequences in the batch now
	Waiting     int64 `json:"waiting"`     // sequences in the queue now
	Preemptions int64 `json:"preemptions"` // sequences thrown out for want of KV blocks
	Steps       int64 `json:"steps"`       // engine steps
	MaxLateNS   int64 `json:"max_late_ns"` // furthest the engine or a pacing worker fell behind its schedule

	// Answers count completed answers to known questions. A request that was
	// sent again counts again; Questions* count each question once, by its last answer.
	// A prompt that is scored (prompt_logprobs) counts as an answer that gives the likeliest label.
	AnswersRight   int64 `json:"answers_right"`
	AnswersWrong   int64 `json:"answers_wrong"`
	AnswersCut     int64 `json:"answers_cut"` // the token limit ended the answer before its result
	QuestionsRight int64 `json:"questions_right"`
	QuestionsAsked int64 `json:"questions_asked"`
	Unknown        int64 `json:"unknown_questions"` // completed answers to prompts without a known question
}
