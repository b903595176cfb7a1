package tokenizer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The texts are prose, Chinese and code, repeated with a running number so that
// the piece cache meets new words as it does in life.
func benchText(b *testing.B, kind string) string {
	b.Helper()
	if dir := os.Getenv("AIS_BENCH_TEXTS"); dir != "" {
		data, err := os.ReadFile(filepath.Join(dir, kind+".txt"))
		if err != nil {
			b.Fatal(err)
		}
		return string(data)
	}
	switch kind {
	case "en":
		return strings.Repeat(vocabularySample+"\n", 200)
	case "zh":
		return strings.Repeat("港口在日出之前很安静，第一批船无声地离开。面包师打开窗户，香味沿着街道飘过学校、大桥和旧火车站。工程师每天早上七点测量河水的深度、速度、温度和颜色。", 800)
	}
	data, err := os.ReadFile("bpe.go")
	if err != nil {
		b.Fatal(err)
	}
	return strings.Repeat(string(data), 30)
}

// BenchmarkEncode gives MB/s on one goroutine in chunks of 2 KB, the size of a
// typical prompt, for every tokenizer in $AIS_BENCH_TOKENIZERS.
func BenchmarkEncode(b *testing.B) {
	models := tokenizersDir(b)
	for _, name := range recorded {
		if _, err := os.Stat(filepath.Join(models, name)); err != nil {
			continue
		}
		tok, err := Load(filepath.Join(models, name))
		if err != nil {
			b.Fatal(err)
		}
		for _, kind := range []string{"en", "zh", "code"} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				var chunks []string
				for text := strings.ToValidUTF8(benchText(b, kind), ""); text != ""; {
					n := min(2048, len(text))
					for n < len(text) && text[n]&0xC0 == 0x80 {
						n++
					}
					chunks = append(chunks, text[:n])
					text = text[n:]
				}
				i, total := 0, int64(0)
				for b.Loop() {
					tok.Count(chunks[i%len(chunks)])
					total += int64(len(chunks[i%len(chunks)]))
					i++
				}
				b.SetBytes(total / int64(i))
			})
		}
	}
}

// BenchmarkOneLetter is 1 MB of one letter, the worst case of a merge loop.
func BenchmarkOneLetter(b *testing.B) {
	for _, name := range []string{"testdata/bytelevel_bpe.json", "testdata/spm_bpe.json", "testdata/unigram.json"} {
		tok, err := Load(name)
		if err != nil {
			b.Fatal(err)
		}
		text := strings.Repeat("a", 1<<20)
		b.Run(filepath.Base(name), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tok.Count(text)
			}
		})
	}
	if models := os.Getenv("AIS_BENCH_TOKENIZERS"); models != "" {
		for _, name := range recorded {
			tok, err := Load(filepath.Join(models, name))
			if err != nil {
				continue
			}
			text := strings.Repeat("a", 1<<20)
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					tok.Count(text)
				}
			})
		}
	}
}
