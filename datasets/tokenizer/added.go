package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is an entry of added_tokens: a string that is one token wherever it
// occurs, before any splitting.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only where no word character touches it
	LStrip     bool   `json:"lstrip"`      // swallow white space to its left
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"` // look for it in normalized text
	Special    bool   `json:"special"`
}

// addedTokens holds the two sets: raw is matched on the text as given,
// normalized on what the normalizer made of the rest.
type addedTokens struct {
	list            []addedToken
	byContent       map[string]int
	raw, normalized cutter
}

func (a *addedTokens) build(normalize normalizer) {
	a.byContent = make(map[string]int, len(a.list))
	for i := range a.list {
		tok := &a.list[i]
		a.byContent[tok.Content] = tok.ID
		if tok.Normalized {
			content := tok.Content
			if normalize != nil {
				content = normalize(content)
			}
			a.normalized.add(content, tok)
		} else {
			a.raw.add(tok.Content, tok)
		}
	}
}

// cutter finds added tokens, leftmost first and the longest of those. It is a
// trie over bytes whose root is an array, so text without the first byte of any
// token is passed over at one look a byte. The zero cutter finds nothing.
type cutter struct {
	root  [256]int32 // node after the first byte; 0 = none
	edges map[uint64]int32
	end   []*addedToken // node → token that ends there
}

func (c *cutter) add(content string, tok *addedToken) {
	if content == "" {
		return
	}
	if c.edges == nil {
		c.edges, c.end = map[uint64]int32{}, make([]*addedToken, 1)
	}
	node := c.root[content[0]]
	if node == 0 {
		node = c.newNode()
		c.root[content[0]] = node
	}
	for i := 1; i < len(content); i++ {
		key := uint64(node)<<8 | uint64(content[i])
		next, ok := c.edges[key]
		if !ok {
			next = c.newNode()
			c.edges[key] = next
		}
		node = next
	}
	c.end[node] = tok
}

func (c *cutter) newNode() int32 {
	c.end = append(c.end, nil)
	return int32(len(c.end) - 1)
}

// match is the longest token at the start of s, nil when none.
func (c *cutter) match(s string) (tok *addedToken, length int) {
	node := c.root[s[0]]
	for i := 1; node != 0; i++ {
		if c.end[node] != nil {
			tok, length = c.end[node], i
		}
		if i >= len(s) {
			break
		}
		node = c.edges[uint64(node)<<8|uint64(s[i])]
	}
	return tok, length
}

// cut calls emit for every part of text in order: an added token's id, or -1 and
// the text between. atStart tells that a text part begins at offset 0.
func (c *cutter) cut(text string, emit func(part string, id int, atStart bool)) {
	done := 0 // everything before it has been emitted
	if c.edges != nil {
		for i := 0; i < len(text); {
			if c.root[text[i]] == 0 {
				i++
				continue
			}
			tok, n := c.match(text[i:])
			if tok == nil {
				i++
				continue
			}
			start, stop := i, i+n
			i = stop
			if tok.SingleWord && (wordBefore(text[:start]) || wordAfter(text[stop:])) {
				continue
			}
			if start < done { // swallowed by the token before, which strips to its right
				continue
			}
			if tok.LStrip {
				start = max(done, len(strings.TrimRightFunc(text[:start], unicode.IsSpace)))
			}
			if tok.RStrip {
				stop = len(text) - len(strings.TrimLeftFunc(text[stop:], unicode.IsSpace))
			}
			if start > done {
				emit(text[done:start], -1, done == 0)
			}
			emit("", tok.ID, false)
			done = stop
		}
	}
	if done < len(text) {
		emit(text[done:], -1, done == 0)
	}
}

func wordBefore(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && isWord(r)
}

func wordAfter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && isWord(r)
}

// isWord is \w of a Unicode regular expression (UTS 18, annex C).
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}
