package tokenizer

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/buger/jsonparser"
)

// listing is a vocabulary in file order.
type listing struct {
	tokens []string
	ids    []int32
}

func (l listing) each(f func(int, string)) {
	for i, tok := range l.tokens {
		f(int(l.ids[i]), tok)
	}
}

// parseVocab reads {"token": id, …}; key turns a token into its map key and
// drops it with false.
func parseVocab(raw []byte, key func(string) (string, bool)) (map[string]int32, listing, error) {
	n := bytes.Count(raw, []byte(",")) + 1
	n = min(n, len(raw)/5+1)
	vocab := make(map[string]int32, n)
	l := listing{make([]string, 0, n), make([]int32, 0, n)}
	err := jsonparser.ObjectEach(raw, func(k, value []byte, kind jsonparser.ValueType, _ int) error {
		tok := string(k)
		id, err := jsonparser.ParseInt(value)
		if err == nil {
			err = checkID(tok, int(id))
		}
		if err != nil {
			return fmt.Errorf("token %q: %w", tok, err)
		}
		l.tokens, l.ids = append(l.tokens, tok), append(l.ids, int32(id))
		if key != nil {
			var ok bool
			if tok, ok = key(tok); !ok {
				return nil
			}
		}
		vocab[tok] = int32(id)
		return nil
	})
	if err == nil {
		err = l.unique()
	}
	if err != nil {
		return nil, l, fmt.Errorf("model vocab: %w", err)
	}
	return vocab, l, nil
}

// unique refuses a vocabulary in which two tokens have one id.
func (l listing) unique() error {
	ids := slices.Clone(l.ids)
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] != ids[i-1] {
			continue
		}
		first := slices.Index(l.ids, ids[i])
		second := first + 1 + slices.Index(l.ids[first+1:], ids[i])
		return fmt.Errorf("tokens %q and %q have the same id %d", l.tokens[first], l.tokens[second], ids[i])
	}
	return nil
}

// maxID bounds ids: a wrong file must not ask for a table of gigabytes.
const maxID = 1 << 24

func checkID(token string, id int) error {
	if id < 0 || id > maxID {
		return fmt.Errorf("token %q has id %d, which is not between 0 and %d", token, id, maxID)
	}
	return nil
}
