package simulator

import "sync/atomic"

// sequence is one answer in the making: one choice of one call.
type sequence struct {
	call  *call
	index int // choice index
	plan  outputPlan

	promptLen int
	cached    atomic.Int32 // prompt tokens found in the prefix cache on first admission
	hashes    []uint64     // of the full blocks of the prompt
	tail      []int32      // prompt tokens after the last full block

	// Owned by the scheduler (engine) or by the pacing worker.
	blocks      []int32
	hashed      int    // blocks published so far
	lastHash    uint64 // chained hash up to the last full block's end
	computed    int    // tokens whose KV is in memory
	produced    int    // output tokens sampled
	preemptions int
	cacheTried  bool
	arrival     int64 // mono ns of arrival, admission to the batch, first and last token
	admitted    int64
	firstAt     int64
	lastAt      int64
	due         int64 // paced: when the next token is due
	firstDue    int64

	// Owned by the writer of the call's chunks.
	ready    int    // tokens produced as far as the writer knows
	sent     int    // tokens put into events
	shown    int    // bytes of answer text sent, for plans that are cut
	total    []byte // escaped text so far, for protocols that repeat it
	finished bool

	gone  atomic.Bool // the client went away or the call failed
	ended atomic.Bool // counted as finished
}

// length is the number of tokens the sequence has: prompt and sampled.
func (s *sequence) length() int { return s.promptLen + s.produced }

// tokenAt is the token at a position of prompt and output; within the prompt
// only positions after its last full block are known.
func (s *sequence) tokenAt(i int) int32 {
	if i < s.promptLen {
		return s.tail[i-(s.promptLen-len(s.tail))]
	}
	return s.plan.token(i - s.promptLen)
}

// outputPlan is the whole answer, decided when the request arrives: first
// reasoning tokens of filler, then ids, then filler up to total.
type outputPlan struct {
	ids       []int32
	seed      uint64
	total     int // tokens in all
	reasoning int // of these, leading tokens of reasoning
	finish    string
	stop      string // the stop string that ended it
	cut       int    // bytes of answer text shown; −1 shows all
	tool      *toolCall
	given     *givenAnswer
}

// toolCall is a planned tool call; the first token of the plan carries its
// name, the others its arguments.
type toolCall struct {
	id, name string
}

// token is the i-th token. A tool call's first token is its name and has no id of its own.
func (p *outputPlan) token(i int) int32 {
	if i < p.reasoning {
		return fillerToken(mix(p.seed, 1), i)
	}
	i -= p.reasoning
	if p.tool != nil {
		i--
	}
	if i < 0 {
		return idImStart
	}
	if i < len(p.ids) {
		return p.ids[i]
	}
	if len(p.ids) > 0 {
		return fillerToken(p.seed, i+1) // continues a text: no capital
	}
	return fillerToken(p.seed, i)
}

// answerText is the text of the answer proper (no reasoning, no tool name).
func (p *outputPlan) answerText() []byte {
	start := p.reasoning
	if p.tool != nil {
		start++
	}
	var b []byte
	for i := start; i < p.total; i++ {
		b = appendText(b, p.token(i))
	}
	if p.cut >= 0 && len(b) > p.cut {
		b = b[:p.cut]
	}
	return b
}

// reasoningText is the text of the reasoning.
func (p *outputPlan) reasoningText() []byte {
	var b []byte
	for i := range min(p.reasoning, p.total) {
		b = appendText(b, p.token(i))
	}
	return b
}
