package simulator

import (
	"strings"
	"unicode/utf8"
)

// The built-in tokenizer. It is deterministic, needs no file, inverts exactly
// for every text (detokenize(tokenize(s)) == s, broken UTF-8 included) and gives
// about one token per 3.5 characters of English. The rules, first match wins, from
// left to right:
//
//  1. <|im_start|> and <|im_end|> are one token each (they frame chat messages);
//  2. a word of the built-in list with or without one blank before it and with
//     or without a capital, where no further letter follows;
//  3. otherwise up to three lower-case letters, or one capital letter, with or without one blank before;
//  4. up to three digits;
//  5. one character above U+007F;
//  6. one byte.
//
// Token ids: 0–255 bytes; then the groups below in order.
const (
	idSpaceUpper = 256                     // " A".." Z"
	idLetters1   = idSpaceUpper + 26       // " a".." z"
	idLetters2   = idLetters1 + 26         // "aa".."zz", then with a blank
	idLetters3   = idLetters2 + 2*26*26    // "aaa".."zzz", then with a blank
	idDigits2    = idLetters3 + 2*26*26*26 // "00".."99"
	idDigits3    = idDigits2 + 100         // "000".."999"
	idImStart    = idDigits3 + 1000        // <|im_start|>
	idImEnd      = idImStart + 1           // <|im_end|>
	idWords      = idImEnd + 1             // four per word: word, " word", Word, " Word"
	idRunes      = 65536                   // + code point
	maxTokenID   = idRunes + utf8.MaxRune + 1
)

const (
	imStart = "<|im_start|>"
	imEnd   = "<|im_end|>"
)

// vocabulary holds the distinct built-in words, wordIndex their positions.
var vocabulary, wordIndex, longestWord = buildVocabulary()

func buildVocabulary() (words []string, index map[string]int32, longest int) {
	index = make(map[string]int32, 1024)
	for _, w := range vocabularyWords {
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			continue
		}
		if _, seen := index[w]; seen {
			continue
		}
		index[w] = int32(len(words))
		words = append(words, w)
		longest = max(longest, len(w))
	}
	return words, index, longest
}

func lower(b byte) bool { return b >= 'a' && b <= 'z' }
func upper(b byte) bool { return b >= 'A' && b <= 'Z' }
func digit(b byte) bool { return b >= '0' && b <= '9' }

// appendTokens appends the token ids of s to ids.
func appendTokens(ids []int32, s string) []int32 {
	for len(s) > 0 {
		id, n := nextToken(s)
		ids = append(ids, id)
		s = s[n:]
	}
	return ids
}

// countTokens is len(appendTokens(nil, s)) without the memory.
func countTokens(s string) int {
	n := 0
	for len(s) > 0 {
		_, size := nextToken(s)
		s = s[size:]
		n++
	}
	return n
}

// nextToken gives the id and the length in bytes of the first token of s.
func nextToken(s string) (int32, int) {
	c := s[0]
	switch {
	case lower(c) || upper(c):
		return letters(s, 0)
	case c == ' ' && len(s) > 1 && (lower(s[1]) || upper(s[1])):
		return letters(s[1:], 1)
	case digit(c):
		switch {
		case len(s) > 2 && digit(s[1]) && digit(s[2]):
			return idDigits3 + int32(c-'0')*100 + int32(s[1]-'0')*10 + int32(s[2]-'0'), 3
		case len(s) > 1 && digit(s[1]):
			return idDigits2 + int32(c-'0')*10 + int32(s[1]-'0'), 2
		}
	case c == '<' && strings.HasPrefix(s, imStart):
		return idImStart, len(imStart)
	case c == '<' && strings.HasPrefix(s, imEnd):
		return idImEnd, len(imEnd)
	case c >= utf8.RuneSelf:
		if r, n := utf8.DecodeRuneInString(s); r != utf8.RuneError || n > 1 {
			return idRunes + r, n
		}
	}
	return int32(c), 1
}

// letters handles s, which begins with a letter; blank is 1 when a blank precedes it.
func letters(s string, blank int) (int32, int) {
	n := 1
	// No further than decides: a run of letters without an end must not be
	// scanned again for each of its tokens.
	for n < len(s) && n <= longestWord && lower(s[n]) {
		n++
	}
	if n <= longestWord && (n == len(s) || !upper(s[n])) {
		var key [16]byte
		copy(key[:], s[:n])
		capital := int32(0)
		if upper(key[0]) {
			key[0] += 'a' - 'A'
			capital = 2
		}
		if w, ok := wordIndex[string(key[:n])]; ok {
			return idWords + 4*w + capital + int32(blank), n + blank
		}
	}
	if upper(s[0]) {
		if blank == 1 {
			return idSpaceUpper + int32(s[0]-'A'), 2
		}
		return int32(s[0]), 1
	}
	a := int32(s[0] - 'a')
	switch {
	case n >= 3:
		return idLetters3 + int32(blank)*26*26*26 + (a*26+int32(s[1]-'a'))*26 + int32(s[2]-'a'), 3 + blank
	case n == 2:
		return idLetters2 + int32(blank)*26*26 + a*26 + int32(s[1]-'a'), 2 + blank
	case blank == 1:
		return idLetters1 + a, 2
	}
	return int32(s[0]), 1
}

// appendText appends the text of one token to dst. An id outside the
// vocabulary, as a client that draws random ids may send, reads as U+FFFD.
func appendText(dst []byte, id int32) []byte {
	switch {
	case id < 0 || id >= maxTokenID:
		return append(dst, "\uFFFD"...)
	case id < idSpaceUpper:
		return append(dst, byte(id))
	case id < idLetters1:
		return append(dst, ' ', 'A'+byte(id-idSpaceUpper))
	case id < idLetters2:
		return append(dst, ' ', 'a'+byte(id-idLetters1))
	case id < idLetters3:
		id -= idLetters2
		if id >= 26*26 {
			dst, id = append(dst, ' '), id-26*26
		}
		return append(dst, 'a'+byte(id/26), 'a'+byte(id%26))
	case id < idDigits2:
		id -= idLetters3
		if id >= 26*26*26 {
			dst, id = append(dst, ' '), id-26*26*26
		}
		return append(dst, 'a'+byte(id/676), 'a'+byte(id/26%26), 'a'+byte(id%26))
	case id < idDigits3:
		id -= idDigits2
		return append(dst, '0'+byte(id/10), '0'+byte(id%10))
	case id < idImStart:
		id -= idDigits3
		return append(dst, '0'+byte(id/100), '0'+byte(id/10%10), '0'+byte(id%10))
	case id == idImStart:
		return append(dst, imStart...)
	case id == idImEnd:
		return append(dst, imEnd...)
	case id >= idRunes:
		return utf8.AppendRune(dst, id-idRunes)
	}
	id -= idWords
	if int(id/4) >= len(vocabulary) {
		return append(dst, "\uFFFD"...)
	}
	w := vocabulary[id/4]
	if id&1 != 0 {
		dst = append(dst, ' ')
	}
	n := len(dst)
	dst = append(dst, w...)
	if id&2 != 0 {
		dst[n] -= 'a' - 'A'
	}
	return dst
}

// detokenize is the inverse of appendTokens.
func detokenize(ids []int32) string {
	var b []byte
	for _, id := range ids {
		b = appendText(b, id)
	}
	return string(b)
}

// fillerToken is the i-th token of the endless filler text of a seed: words of
// the vocabulary, every one exactly one token, the first one with a capital.
func fillerToken(seed uint64, i int) int32 {
	h := mix(seed, uint64(i))
	id := idWords + 4*int32(h%uint64(len(vocabulary)))
	if i == 0 {
		return id + 2
	}
	return id + 1
}
