package datasets

import (
	"context"
	"testing"
)

func BenchmarkLoadMMLUPro(b *testing.B) {
	path := "../../shared/conformance/mmlu_pro/Qwen1.5-72B-Chat.jsonl.gz"
	r, err := OpenRegistry("")
	if err != nil {
		b.Fatal(err)
	}
	e, err := r.Get("mmlu_pro_gen_0_shot_str")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for range b.N {
		s, err := e.Value.Load(context.Background(), LoadOptions{Path: path})
		if err != nil {
			b.Skip(err)
		}
		if len(s.Samples) != 12032 {
			b.Fatal(len(s.Samples))
		}
	}
}

func BenchmarkOpenRegistry(b *testing.B) {
	for range b.N {
		if _, err := OpenRegistry(""); err != nil {
			b.Fatal(err)
		}
	}
}
