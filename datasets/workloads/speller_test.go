package workloads

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"ais_bench/datasets/tokenizer"
)

// pieceTokenizer is a small tokenizer that behaves like a real one where it
// matters here: neighbouring tokens merge when their text is encoded again
// (longest match inside words), it has special tokens that are not text, one of
// them is put before a text, and ids that are bytes of unfinished characters.
type pieceTokenizer struct {
	pieces  []string
	byPiece map[string]int
	longest int
}

func newPieceTokenizer() *pieceTokenizer {
	t := &pieceTokenizer{byPiece: map[string]int{}}
	add := func(p string) {
		if _, ok := t.byPiece[p]; !ok {
			t.byPiece[p] = len(t.pieces)
			t.pieces = append(t.pieces, p)
			t.longest = max(t.longest, len(p))
		}
	}
	add("<s>")
	add("</s>")
	for b := range 256 {
		add(string([]byte{byte(b)}))
	}
	parts := []string{"a", "be", "cor", "du", "en", "fi", "gra", "ing", "lo", "mi", "na", "or", "pe", "qui", "ra", "st", "ter", "un", "ver", "ly"}
	for _, p := range parts {
		add(p)
		add(" " + p)
		for _, q := range parts {
			add(p + q)
			add(" " + p + q)
		}
	}
	for _, p := range []string{"é", " é", "水", "火山", " über", ".\n", "\n\n", ", ", "  "} {
		add(p)
	}
	return t
}

func (t *pieceTokenizer) VocabSize() int      { return len(t.pieces) }
func (t *pieceTokenizer) SpecialIDs() []int   { return []int{0, 1} }
func (t *pieceTokenizer) AddedByDefault() int { return 1 }
func (t *pieceTokenizer) Count(s string) int  { return len(t.Encode(s, false)) }

func (t *pieceTokenizer) Encode(text string, addSpecial bool) []int {
	var ids []int
	if addSpecial {
		ids = append(ids, 0)
	}
	for len(text) > 0 {
		n := min(t.longest, len(text))
		for ; n > 1; n-- {
			// A token never goes on over a blank inside it, so words are independent.
			if p := text[:n]; !strings.Contains(p[1:], " ") || strings.TrimSpace(p) == "" || p == ", " {
				if _, ok := t.byPiece[p]; ok {
					break
				}
			}
		}
		ids = append(ids, t.byPiece[text[:n]])
		text = text[n:]
	}
	return ids
}

func (t *pieceTokenizer) Decode(ids []int, skipSpecial bool) string {
	var b strings.Builder
	for _, id := range ids {
		if id > 1 || !skipSpecial {
			b.WriteString(t.pieces[id])
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// realTokenizer is the one in $AIS_BENCH_TOKENIZER, if any.
func realTokenizer(tb testing.TB) Tokenizer {
	dir := os.Getenv("AIS_BENCH_TOKENIZER")
	if dir == "" {
		tb.Skip("AIS_BENCH_TOKENIZER names no folder with a tokenizer.json")
	}
	tok, err := tokenizer.Load(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return tok
}

func TestPiecesHaveTheExactLength(t *testing.T) {
	toks := map[string]Tokenizer{"pieces": newPieceTokenizer()}
	if os.Getenv("AIS_BENCH_TOKENIZER") != "" {
		toks["real"] = realTokenizer(t)
	}
	for name, tok := range toks {
		t.Run(name, func(t *testing.T) {
			sp, err := newSpeller(t.Context(), tok, 4096, 1)
			if err != nil {
				t.Fatal(err)
			}
			cfg := &Config{Seed: 3, CacheBust: "run 7"}
			r := stream(3, 0)
			for _, prefix := range []int{0, 40, 700} {
				opening := sp.opening(cfg, r, prefix)
				fast, miss := 0, 0
				for i := range 150 {
					start, n := r.IntN(len(sp.ids)), 1+r.IntN(4096)
					if i%3 == 0 {
						n = 1 + r.IntN(30)
					}
					if p, ok := sp.fastPiece(opening, start, n); ok {
						fast++
						if got := tok.Count(p.text); got != p.tokens || p.tokens != opening.tokens+n {
							t.Errorf("cut from the ring: want %d+%d tokens, said %d, are %d", opening.tokens, n, p.tokens, got)
						}
						if !strings.HasPrefix(p.text, opening.text) {
							t.Errorf("text does not begin with its opening")
						}
					}
					p := sp.piece(opening, start, n, r)
					if got := tok.Count(p.text); got != p.tokens {
						t.Errorf("said %d tokens, are %d", p.tokens, got)
					}
					if p.tokens != opening.tokens+n {
						miss++
					}
				}
				t.Logf("opening %d: %d of 150 cut from the ring, %d of another length", opening.tokens, fast, miss)
				if fast < 100 {
					t.Errorf("only %d of 150 could be cut from the ring", fast)
				}
				if miss > 3 {
					t.Errorf("%d of 150 have another length", miss)
				}
			}
		})
	}
}

// BenchmarkRandom makes random prompts of 8,192 tokens; prompts/s and tokens/s
// are reported.
func BenchmarkRandom(b *testing.B) {
	tok := realTokenizer(b)
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				cfg := Defaults("random")
				cfg.NumPrompts, cfg.InputLen, cfg.Tokenizer = n, 8192, tok
				w, err := New("random", cfg)
				if err != nil {
					b.Fatal(err)
				}
				from := time.Now()
				s, err := w.Samples(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				exact := 0
				for i := range s {
					if s[i].Fields[FieldInputLen] == 8192 {
						exact++
					}
				}
				b.ReportMetric(float64(n)/time.Since(from).Seconds(), "prompts/s")
				b.ReportMetric(float64(exact)/float64(n), "exact")
			}
		})
	}
}
