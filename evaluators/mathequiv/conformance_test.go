package mathequiv

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// conformanceFile opens a file of the public conformance data, or skips.
func conformanceFile(t *testing.T, name string) *bufio.Scanner {
	t.Helper()
	dir := os.Getenv("AIS_BENCH_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "conformance")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("conformance data not found (%v): set AIS_BENCH_CONFORMANCE to its folder", err)
	}
	t.Cleanup(func() { f.Close() })
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	return s
}

// mathVerifyDiffers lists the golden rows on which this package deliberately
// decides otherwise than math_verify as AISBench calls it, with the reason.
var mathVerifyDiffers = map[string]string{
	"The answer is 5|5":           "text without math delimiters is read too",
	"5|5":                         "text without math delimiters is read too",
	`$5$ or $6$|6`:                "", // both say no
	`\boxed{x<3}|3>x`:             "the same inequality written from the other side",
	`\boxed{2,3}|3,2`:             "a bare enumeration has no order",
	`\boxed{2} and \boxed{3}|2,3`: "boxes joined by 'and' are one enumeration",
	`\boxed{i+1}|1+i`:             "i is the imaginary unit on both sides",
}

func TestGoldenMathVerify(t *testing.T) {
	s := conformanceFile(t, "golden_extract.jsonl")
	rows := 0
	for s.Scan() {
		var r struct {
			Family, Func     string
			Input, Reference any
			Expected         any
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Family != "math" || !strings.Contains(r.Func, "math_verify") {
			continue
		}
		rows++
		input, ref := r.Input.(string), r.Reference.(string)
		answer, _ := Extract(input)
		got, why := Equal(ref, answer)
		want := r.Expected == true
		key := input + "|" + ref
		if reason := mathVerifyDiffers[key]; reason != "" {
			if got == want {
				t.Errorf("%s is listed as deliberately different but agrees", key)
			}
			continue
		}
		if got != want {
			t.Errorf("%s: got %v (extracted %q, %s), math_verify says %v", key, got, answer, why, want)
		}
	}
	if rows == 0 {
		t.Error("no math_verify rows found")
	}
}

// TestSampledResponses scores 400 real replies and compares with the verdicts
// stored beside them.
func TestSampledResponses(t *testing.T) {
	s := conformanceFile(t, filepath.Join("math", "math_sampled_responses.jsonl"))
	n, agree := 0, 0
	for s.Scan() {
		var r struct {
			Gt        string
			Responses []string
			Score     []bool
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		for i, reply := range r.Responses {
			answer, _ := Extract(reply)
			got, why := Equal(r.Gt, answer)
			n++
			if got == r.Score[i] {
				agree++
			} else {
				t.Logf("reference %q, answer %q: %v (%s), stored verdict %v", r.Gt, answer, got, why, r.Score[i])
			}
		}
	}
	t.Logf("%d of %d verdicts agree", agree, n)
	if n == 0 || float64(agree) < 0.98*float64(n) {
		t.Errorf("only %d of %d verdicts agree with the stored ones", agree, n)
	}
}
