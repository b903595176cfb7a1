package textmetrics

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol }

func TestPorterStem(t *testing.T) {
	for in, want := range map[string]string{
		"killed": "kill", "running": "run", "runners": "runner", "studies": "studi", "study": "studi", "caresses": "caress", "ponies": "poni", "ties": "tie", "dies": "die", "cats": "cat", "agreed": "agre", "plastered": "plaster", "motoring": "motor", "sing": "sing",
		"conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop", "falling": "fall", "hissing": "hiss", "failing": "fail", "filing": "file", "happy": "happi", "say": "say", "enjoy": "enjoy", "relational": "relat", "conditional": "condit", "valenci": "valenc", "digitizer": "digit",
		"radicalli": "radic", "vietnamization": "vietnam", "operator": "oper", "feudalism": "feudal", "hopefulness": "hope", "formaliti": "formal", "triplicate": "triplic", "electrical": "electr", "goodness": "good", "revival": "reviv", "allowance": "allow", "replacement": "replac", "adjustment": "adjust", "adoption": "adopt", "effective": "effect", "probate": "probat", "rate": "rate", "cease": "ceas", "controll": "control", "roll": "roll", "skies": "sky", "dying": "die", "generalization": "gener", "tied": "tie", "cried": "cri", "biology": "biolog",
	} {
		if got := porterStem(in); got != want {
			t.Errorf("%s → %s, want %s", in, got, want)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		ref, pred string
		em        bool
		f1        float64
	}{{"The Beatles", "beatles", true, 1}, {"Paris.", "paris", true, 1}, {"a cat sat", "the cat", false, 2.0 / 3}, {"x", "", false, 0}, {"über-cool", "Übercool!", true, 1}} {
		if got := ExactMatch(c.ref, c.pred); got != c.em {
			t.Errorf("ExactMatch(%q, %q) = %v", c.ref, c.pred, got)
		}
		if got := TokenF1(c.ref, c.pred).F; !near(got, c.f1, 1e-12) {
			t.Errorf("TokenF1(%q, %q) = %v, want %v", c.ref, c.pred, got, c.f1)
		}
	}
	for _, c := range []struct {
		a, b string
		d    int
	}{{"", "", 0}, {"kitten", "sitting", 3}, {"北京", "南京", 1}, {"abc", "", 3}, {"flaw", "lawn", 2}} {
		if got := EditDistance(c.a, c.b); got != c.d {
			t.Errorf("EditDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.d)
		}
	}
	for _, c := range []struct {
		refs []string
		pred string
		want float64
	}{{[]string{"Harvard"}, "harvard ", 1}, {[]string{"abcd"}, "abcx", 0.75}, {[]string{"abcd"}, "axyz", 0}, {[]string{"no", "abcd"}, "abcd", 1}, {[]string{""}, "", 1}} {
		if got := ANLS(c.refs, c.pred); !near(got, c.want, 1e-12) {
			t.Errorf("ANLS(%q, %q) = %v, want %v", c.refs, c.pred, got, c.want)
		}
	}
}

func TestBLEU(t *testing.T) {
	if got := CorpusBLEU([]string{"a b c d e"}, [][]string{{"a b c d e"}}, Tok13a); !near(got, 100, 1e-9) {
		t.Errorf("identical: %v", got)
	}
	if got := SentenceBLEU("hello", []string{"hello"}, Tok13a); !near(got, 100, 1e-9) {
		t.Errorf("one word with effective order: %v", got)
	}
	if got := strings.Join(bleuTokens(`It's $5,000.50 &quot;now&quot;, e.g. 3-4.`, Tok13a), "|"); got != `It's|$|5,000.50|"|now|"|,|e|.|g|.|3|-|4|.` {
		t.Errorf("13a: %s", got)
	}
	if got := strings.Join(bleuTokens("今天3.5度，A股", TokZh), "|"); got != "今|天|3.5|度|，|A|股" {
		t.Errorf("zh: %s", got)
	}
	// chrF by hand: "abc" against "abd" has 2 of 3 unigrams, 1 of 2 bigrams, 0 of 1 trigram.
	p := (2.0/3 + 1.0/2 + 0) / 3
	if got := ChrF([]string{"abc"}, []string{"abd"}); !near(got, 100*p, 1e-9) {
		t.Errorf("chrF: %v, want %v", got, 100*p)
	}
	if got := ChrF([]string{""}, []string{"abd"}); got != 0 {
		t.Errorf("chrF of nothing: %v", got)
	}
}

// segmented are the golden texts as jieba cuts them, where that is not by
// character.
var segmented = map[string]string{
	"上海今日有雨": "上海 今日 有雨", "上海今天下雨": "上海 今天 下雨", "央行宣布降息": "央行 宣布 降息", "公司发布财报。利润增长": "公司 发布 财报 。 利润 增长", "公司财报显示利润增长": "公司 财报 显示 利润 增长",
	"A股上涨3.5%": "A股 上涨 3.5%", "A股涨3.5%": "A股 涨 3.5%", "会议讨论了预算问题": "会议 讨论 了 预算 问题", "会议讨论预算": "会议 讨论 预算", "今天天气很好": "今天天气 很 好", "今天的天气不错": "今天 的 天气 不错", "央行": "央行",
}

func TestGolden(t *testing.T) {
	dir := os.Getenv("AIS_BENCH_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "conformance")
	}
	f, err := os.Open(filepath.Join(dir, "golden_extract.jsonl"))
	if err != nil {
		t.Skipf("conformance data not found (%v): set AIS_BENCH_CONFORMANCE to its folder", err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<22)
	checked := map[string]int{}
	for s.Scan() {
		var r struct {
			Family, Func               string
			Input, Reference, Expected any
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		text := func(v any) string { s, _ := v.(string); return s }
		cut := func(v any) string {
			if c, ok := segmented[text(v)]; ok {
				return c
			}
			return text(v)
		}
		name := r.Func[strings.LastIndex(r.Func, "/")+1:]
		var got float64
		switch {
		case r.Family == "rouge" && strings.Contains(name, "RougeScorer"):
			x := RougeScore(text(r.Reference), text(r.Input), strings.Contains(name, "use_stemmer=True"))
			for k, v := range map[string]float64{"rouge1": x.R1.F, "rouge2": x.R2.F, "rougeL": x.RL.F, "rougeLsum": x.RLsum.F} {
				if want := r.Expected.(map[string]any)[k].(float64); !near(v, want, 6e-7) {
					t.Errorf("%s(%q, %q).%s = %v, want %v", name, r.Input, r.Reference, k, v, want)
				}
			}
			checked[r.Family]++
			continue
		case r.Family == "rouge" && strings.Contains(name, "JiebaRouge"):
			x := RougeChinese(cut(r.Reference), cut(r.Input))
			for k, v := range map[string]float64{"rouge1": x.R1.F, "rouge2": x.R2.F, "rougeL": x.RL.F} {
				if want := r.Expected.(map[string]any)[k].(float64); !near(100*v, want, 6e-5) {
					t.Errorf("%s(%q, %q).%s = %v, want %v", name, r.Input, r.Reference, k, 100*v, want)
				}
			}
			checked[r.Family]++
			continue
		case strings.Contains(name, "rouge_score (pltrdy") || strings.Contains(name, "rouge_zh_score"):
			got = RougeL(cut(r.Reference), cut(r.Input)).F
		case r.Family == "bleu" && strings.HasPrefix(r.Func, "sacrebleu"):
			tok := Tok13a
			if strings.Contains(r.Func, "tokenize=zh") {
				tok = TokZh
			}
			var preds []string
			for _, p := range r.Input.([]any) {
				preds = append(preds, text(p))
			}
			refs := make([][]string, len(preds))
			for _, stream := range r.Reference.([]any) {
				for i, ref := range stream.([]any) {
					refs[i] = append(refs[i], text(ref))
				}
			}
			got = CorpusBLEU(preds, refs, tok)
		case strings.HasPrefix(name, "metrics.py:qa_f1_score"):
			got = TokenF1(text(r.Reference), text(r.Input)).F
		case strings.HasPrefix(name, "metrics.py:count_score"):
			got = CountScore(text(r.Reference), text(r.Input))
		case strings.HasPrefix(name, "metrics.py:retrieval"):
			got = RetrievalScore(text(r.Reference), text(r.Input))
		case strings.HasPrefix(name, "metrics.py:code_sim_score"):
			got = CodeSimilarity(text(r.Reference), text(r.Input))
		case strings.HasPrefix(name, "metrics.py:classification_score"):
			in := r.Input.(map[string]any)
			var classes []string
			for _, c := range in["all_classes"].([]any) {
				classes = append(classes, text(c))
			}
			got = ClassificationScore(text(r.Reference), text(in["text"]), classes)
		default:
			continue
		}
		checked[r.Family]++
		if want := r.Expected.(float64); !near(got, want, 6e-7) {
			t.Errorf("%s(%v, %v) = %v, want %v", name, r.Input, r.Reference, got, want)
		}
	}
	t.Logf("rows checked: %v", checked)
	if checked["rouge"] < 20 || checked["bleu"] < 5 || checked["longbench"] < 20 {
		t.Errorf("too few rows: %v", checked)
	}
}

func TestHostileTexts(t *testing.T) {
	long := strings.Repeat("a b. ", 100_000)
	RougeScore("a b c", long, true)
	RougeL("a b c d", long)
	CorpusBLEU([]string{long}, [][]string{{"a"}}, Tok13a)
	CodeSimilarity("x", long[:20_000])
	TokenF1("\xff\xfe", "\x00")
	SegmentChinese("\xff北京")
}

func BenchmarkRouge(b *testing.B) {
	ref, pred := strings.Repeat("the quick brown fox jumps over the lazy dog ", 20), strings.Repeat("a quick dog jumps over the lazy brown fox ", 20)
	for b.Loop() {
		RougeScore(ref, pred, true)
	}
}
