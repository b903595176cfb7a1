package tokenizer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Server is the part of a model server that tokenizes: vLLM's and SGLang's
// POST /tokenize and /detokenize. Implementations are called concurrently.
type Server interface {
	Tokenize(ctx context.Context, text string, addSpecial bool) ([]int, error)
	Detokenize(ctx context.Context, ids []int) (string, error)
}

// Remote is a tokenizer that lives in a server. It has the methods of Tokenizer;
// as those return no error, the first failure is kept (Err), after which every
// answer is empty: check Err after a batch of calls.
//
// A server does not say how large its vocabulary is or which ids are special.
// Remote knows the ids that a sample of ordinary text consists of; VocabSize is one
// more than the largest of them and SpecialIDs are all others below, so prompts
// are made of known ordinary tokens alone.
type Remote struct {
	ctx     context.Context
	server  Server
	ids     []int // known ordinary ids, ascending
	special []int
	added   int

	mu  sync.Mutex
	err error
}

// NewRemote asks the server for a first text; ctx bounds all later calls too.
func NewRemote(ctx context.Context, server Server) (*Remote, error) {
	r := &Remote{ctx: ctx, server: server}
	plain, err := server.Tokenize(ctx, vocabularySample, false)
	if err != nil {
		return nil, fmt.Errorf("tokenize on the server: %w", err)
	}
	if len(plain) == 0 {
		return nil, errors.New("tokenize on the server: no tokens for an English text")
	}
	with, err := server.Tokenize(ctx, vocabularySample, true)
	if err != nil {
		return nil, fmt.Errorf("tokenize on the server: %w", err)
	}
	r.added = max(0, len(with)-len(plain))
	slices.Sort(plain)
	r.ids = slices.Compact(plain)
	next := 0
	for _, id := range r.ids {
		for ; next < id; next++ {
			r.special = append(r.special, next)
		}
		next = id + 1
	}
	return r, nil
}

// vocabularySample is ordinary text of many different words.
const vocabularySample = `The harbour was quiet before sunrise, and the first boats left without a sound. A baker opened his window;
the smell of bread ran down the street, past the school, the bridge and the old railway station. Someone wrote a letter about winter,
another counted coins, a third argued with a neighbour over the price of apples, maps, copper wire and second-hand books.
Engineers measured the river every morning at seven: depth, speed, temperature, colour. Their numbers filled green folders,
which nobody read until the flood. Then everybody wanted to know whether water remembers where it has been, why glass bends light,
how bees find home, what makes iron rust, and when the next train would arrive. Children drew planets, whales, castles and engines;
teachers explained fractions, verbs, volcanoes, kingdoms, music, gravity and the history of paper. In the evening people cooked rice,
beans, soup, fish or noodles, listened to the radio, repaired chairs, watered gardens and talked about tomorrow's weather.
Doctors, farmers, lawyers, drivers, singers, painters, students and clerks all asked the same question in different words:
does this service answer quickly enough, is the answer right, and what happens if ten thousand others ask at once?`

func (r *Remote) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// Err is the first failure, nil while there was none.
func (r *Remote) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Encode gives the server's ids of text; nil after a failure.
func (r *Remote) Encode(text string, addSpecial bool) []int {
	if text == "" && !addSpecial || r.Err() != nil {
		return nil
	}
	ids, err := r.server.Tokenize(r.ctx, text, addSpecial)
	if err != nil {
		r.fail(fmt.Errorf("tokenize on the server: %w", err))
		return nil
	}
	return ids
}

// Decode gives the server's text of ids. Servers write special tokens out, so
// skipSpecial has no effect beyond what the ids already leave out.
func (r *Remote) Decode(ids []int, _ bool) string {
	if len(ids) == 0 || r.Err() != nil {
		return ""
	}
	text, err := r.server.Detokenize(r.ctx, ids)
	if err != nil {
		r.fail(fmt.Errorf("detokenize on the server: %w", err))
		return ""
	}
	return text
}

// Count is the server's count of text without special tokens.
func (r *Remote) Count(text string) int { return len(r.Encode(text, false)) }

// VocabSize is one more than the largest known ordinary id.
func (r *Remote) VocabSize() int { return r.ids[len(r.ids)-1] + 1 }

// SpecialIDs are the ids below VocabSize that are not known to be ordinary.
func (r *Remote) SpecialIDs() []int { return r.special }

// AddedByDefault is the number of special tokens the server adds to any text.
func (r *Remote) AddedByDefault() int { return r.added }
