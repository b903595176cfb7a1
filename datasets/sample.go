package datasets

// Turn is one message of a rendered prompt. Roles are system, user, assistant.
type Turn struct {
	Role, Text string
}

// Prompt is a rendered question: a plain string (the *_str configurations), or
// a list of turns (the *_chat_prompt ones). Exactly one is set.
type Prompt struct {
	Text  string
	Turns []Turn
	// TokenIDs is set by workloads that send token ids to a completions endpoint.
	TokenIDs []int
}

// Sample is one question of a data set, ready to be asked and scored.
type Sample struct {
	ID     string // stable within the data set: the row number, or the source's own id
	Subset string // sub-set it belongs to (subject, language, category); "" when none
	Prompt Prompt
	// Choices are the candidate texts of a PPL sample, in label order; each is a
	// whole prompt. Nil for generation.
	Choices []Prompt
	Labels  []string // labels of Choices

	Gold  string   // reference answer as the scorer expects it
	Golds []string // further accepted references; includes Gold when set
	// Fields holds the source row's columns by name, for scorers that need more
	// than Gold (tests, options, instruction ids), and for the details table.
	Fields map[string]any

	MaxTokens int            // output cap of this sample; 0 = the model's
	Params    map[string]any // extra request parameters of this sample (stop, ignore_eos …)
	ArriveNS  int64          // arrival time of a trace, ns after its start; < 0 = none
	SessionID string         // conversation; "" for single-turn
	// FollowUps are the later turns of a conversation, asked one after the other:
	// each when the one before has been answered, with that answer in its history.
	FollowUps []FollowUp
	Headers   map[string]string // extra request headers of this sample (a routing key …)
}

// Key is the sample's stable id across sub-sets: "Subset/ID", or ID alone without
// a sub-set. Records carry it as their SampleID, so that whatever is looked up by a
// record's SampleID is kept under it.
func (s *Sample) Key() string {
	if s.Subset == "" {
		return s.ID
	}
	return s.Subset + "/" + s.ID
}

// FollowUp is a turn of a conversation after the first.
type FollowUp struct {
	Text string // what the user says
	// Reply stands in the history for the model's answer to the turn before; nil =
	// the model's own.
	Reply     *string
	MaxTokens int   // output cap of this turn; 0 = the sample's
	DelayNS   int64 // time between the answer before and this turn: the user reads and types
	// Alone sends the turn without what was said before.
	Alone bool
}
