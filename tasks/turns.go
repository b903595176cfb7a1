package tasks

import (
	"context"
	"maps"
	"sync"
	"time"

	"ais_bench/datasets"
	"ais_bench/tasks/load"
)

// sessionHeader carries a conversation's id, by which routers in front of several
// engines send all its turns to the one that has its prefix.
const sessionHeader = "X-Session-ID"

// conversation asks the turns of a sample one after the other. The first turn is due when the schedule says; every later one
// when the answer before it has ended and the user's DelayNS is over. Its
// request holds what was said so far, with the model's own answers (their text
// alone, as chat clients do it; not their reasoning) or, where a turn has a Reply,
// that. All turns share the slot: a conversation counts as one below the
// concurrency cap and has at most one request in flight. It ends with the first
// turn that fails, because what would follow has no history.
func (in *inference) conversation(ctx context.Context, q question, s load.Slot, round int) end {
	var writing sync.WaitGroup // beside the next turn
	defer writing.Wait()
	sample := *q.sample
	history := append([]datasets.Turn(nil), sample.Prompt.Turns...)
	if len(history) == 0 {
		history = []datasets.Turn{{Role: "user", Text: sample.Prompt.Text}}
	}
	if sample.SessionID != "" {
		sample.Headers = maps.Clone(sample.Headers)
		if sample.Headers == nil {
			sample.Headers = map[string]string{}
		}
		if sample.Headers[sessionHeader] == "" {
			sample.Headers[sessionHeader] = sample.SessionID
		}
	}
	ask := q
	ask.sample = &sample
	prompt := history
	for turn := 0; ; turn++ {
		rec, write := in.exchange(ctx, ask, s, round, turn, newRequest(in.svc.cfg, in.set.Config, &sample, datasets.Prompt{Turns: prompt}))
		writing.Go(write)
		if !rec.OK() || turn == len(q.sample.FollowUps) {
			return endOf(rec)
		}
		next := &q.sample.FollowUps[turn]
		s.Scheduled = rec.End + next.DelayNS
		if wait := s.Scheduled - in.clock.Now(); next.DelayNS > 0 && wait > 0 && !in.pause(ctx, time.Duration(wait)) {
			return cancelled
		}
		if stopped(in.stop) || ctx.Err() != nil {
			return cancelled
		}
		reply := rec.Text
		if next.Reply != nil {
			reply = *next.Reply
		}
		say := datasets.Turn{Role: "user", Text: next.Text}
		history = append(history, datasets.Turn{Role: "assistant", Text: reply}, say)
		prompt = history
		if next.Alone {
			prompt = []datasets.Turn{say}
		}
		if sample.MaxTokens = q.sample.MaxTokens; next.MaxTokens > 0 {
			sample.MaxTokens = next.MaxTokens
		}
	}
}

// lastTurn is the number of a sample's last turn: the one whose answer completes it.
func lastTurn(s *datasets.Sample) int32 { return int32(len(s.FollowUps)) }

// requestsOf is how many requests a run of n questions sends; 0 when it is not
// known, as in a run for a time.
func requestsOf(todo []question, n int) int {
	if n != len(todo) {
		return n
	}
	for _, q := range todo {
		n += len(q.sample.FollowUps)
	}
	return n
}
