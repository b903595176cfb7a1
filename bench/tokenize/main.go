// Command tokenize times the tokenizer and the random workload for bench/tokenizer.sh.
//
//	tokenize encode DIR FILE SECONDS          MB/s over FILE in chunks of 2 KB, one goroutine
//	tokenize generate DIR PROMPTS TOKENS SEED a random workload: seconds, and how many prompts have the length
//
// Either prints one JSON object. The hash is of all ids, so that two tokenizers
// can be seen to agree.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"ais_bench/datasets/tokenizer"
	"ais_bench/datasets/workloads"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tokenize:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "encode":
		return encode(args[1], args[2], args[3])
	case len(args) == 5 && args[0] == "generate":
		return generate(args[1], args[2], args[3], args[4])
	}
	return fmt.Errorf("give encode DIR FILE SECONDS, or generate DIR PROMPTS TOKENS SEED")
}

// chunks cuts text every 2 KB, at the end of a character.
func chunks(text []byte) [][]byte {
	var out [][]byte
	for len(text) > 0 {
		n := min(2048, len(text))
		for n < len(text) && text[n]&0xC0 == 0x80 {
			n++
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

func encode(dir, file, seconds string) error {
	limit, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	began := time.Now()
	tok, err := tokenizer.Load(dir)
	if err != nil {
		return err
	}
	load := time.Since(began)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	parts := chunks(text)
	sum, tokens := sha256.New(), 0
	var word [4]byte
	for _, c := range parts {
		for _, id := range tok.Encode(string(c), false) {
			binary.LittleEndian.PutUint32(word[:], uint32(id))
			sum.Write(word[:])
			tokens++
		}
	}
	bytes, i := 0, 0
	began = time.Now()
	for ; time.Since(began).Seconds() < limit; i++ {
		c := parts[i%len(parts)]
		tok.Encode(string(c), false)
		bytes += len(c)
	}
	took := time.Since(began).Seconds()
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"mb_per_s": float64(bytes) / 1e6 / took, "load_s": load.Seconds(), "bytes": len(text), "tokens": tokens,
		"ids": fmt.Sprintf("%x", sum.Sum(nil))})
}

func generate(dir, prompts, tokens, seed string) error {
	var n [3]int
	for i, s := range []string{prompts, tokens, seed} {
		v, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		n[i] = v
	}
	began := time.Now()
	tok, err := tokenizer.Load(dir)
	if err != nil {
		return err
	}
	load := time.Since(began)
	cfg := workloads.Defaults("random")
	cfg.Tokenizer, cfg.NumPrompts, cfg.InputLen, cfg.Seed = tok, n[0], n[1], uint64(n[2])
	began = time.Now()
	w, err := workloads.New("random", cfg)
	if err != nil {
		return err
	}
	samples, err := w.Samples(context.Background())
	if err != nil {
		return err
	}
	took := time.Since(began)
	bytes, exact, checked := 0, 0, 0
	for i := range samples {
		bytes += len(samples[i].Prompt.Text)
	}
	for i := 0; i < len(samples); i += max(len(samples)/500, 1) { // what the tokenizer counts, not what was noted
		checked++
		if tok.Count(samples[i].Prompt.Text)+tok.AddedByDefault() == n[1] {
			exact++
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"seconds": took.Seconds(), "load_s": load.Seconds(), "prompts": len(samples), "bytes": bytes,
		"checked": checked, "exact": exact, "cpus": runtime.GOMAXPROCS(0)})
}
