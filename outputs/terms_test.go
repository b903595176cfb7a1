package outputs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reportTexts are the fields of this package's types whose literal values are
// fixed texts of reports.
var reportTexts = map[string][]string{
	"Column": {"Name", "Unit"}, "Table": {"Title", "Notes"}, "Section": {"Title", "Notes"}, "Chart": {"Title", "XLabel", "YLabel", "Notes"},
	"Series": {"Name", "YLabel"}, "ChartMark": {"Label"}, "Definition": {"Metric", "Unit", "Text"}, "Headline": {"Name", "Unit", "Note"},
	"Verdict": {"Reason"}, "Cell": {"Note", "Unit"}, "CheckItem": {"Item"}, "ReportData": {"Notes"},
}

// consoleOnly are files whose tables are printed or written as CSV and stand in no
// report.
var consoleOnly = map[string]bool{"profiles.go": true, "limits.go": true, "csv.go": true}

// fixedTexts are the texts that the program's own source puts into reports:
// literals in the fields above (also as formats of Sprintf), what is appended to
// Notes, and text cells given to AddRow.
func fixedTexts(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	found := map[string]string{} // text: where
	fset := token.NewFileSet()
	// text is a text as a term would have it; what is not known here is %s.
	var text func(e ast.Expr) (s string, fixed bool)
	text = func(e ast.Expr) (string, bool) {
		switch x := e.(type) {
		case *ast.BasicLit:
			if x.Kind == token.STRING {
				s, err := strconv.Unquote(x.Value)
				return s, err == nil
			}
		case *ast.CallExpr:
			if callee(x) == "fmt.Sprintf" && len(x.Args) > 0 {
				return text(x.Args[0])
			}
		case *ast.BinaryExpr:
			if x.Op == token.ADD {
				a, okA := text(x.X)
				b, okB := text(x.Y)
				return a + b, okA || okB
			}
		}
		return "%s", false
	}
	var literals func(e ast.Expr)
	literals = func(e ast.Expr) {
		if s, ok := text(e); ok {
			found[s] = fset.Position(e.Pos()).String()
		}
		switch x := e.(type) {
		case *ast.CompositeLit: // []string{"…"}
			if a, ok := x.Type.(*ast.ArrayType); ok && typeName(a.Elt) == "string" {
				for _, e := range x.Elts {
					literals(e)
				}
			}
		}
	}
	var composite func(x *ast.CompositeLit, typ ast.Expr)
	composite = func(x *ast.CompositeLit, typ ast.Expr) {
		if x.Type != nil {
			typ = x.Type
		}
		if a, ok := typ.(*ast.ArrayType); ok {
			for _, e := range x.Elts {
				if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil {
					composite(inner, a.Elt)
				}
			}
			return
		}
		fields := reportTexts[typeName(typ)]
		for i, e := range x.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok { // Definition{"TTFT", "ms", "…"}
				if i < len(fields) {
					literals(e)
				}
				continue
			}
			if key, ok := kv.Key.(*ast.Ident); ok && slices.Contains(fields, key.Name) {
				literals(kv.Value)
			}
		}
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || consoleOnly[d.Name()] {
				return err
			}
			file, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.CompositeLit:
					if x.Type != nil {
						composite(x, x.Type)
					}
				case *ast.CallExpr:
					switch name := callee(x); {
					case name == "item" && len(x.Args) > 2: // of the checklist
						literals(x.Args[2])
					case (strings.HasSuffix(name, ".because") || strings.HasSuffix(name, ".never")) && len(x.Args) > 0: // of contracts
						literals(x.Args[0])
					case name == "warn" && len(x.Args) > 1:
						literals(x.Args[1])
					case strings.HasSuffix(name, ".AddRow"):
						for _, a := range x.Args {
							literals(a)
						}
					case name == "append" && len(x.Args) > 1:
						if s, ok := x.Args[0].(*ast.SelectorExpr); ok && (s.Sel.Name == "Notes" || s.Sel.Name == "Warnings") {
							for _, a := range x.Args[1:] {
								literals(a)
							}
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func callee(c *ast.CallExpr) string { return dotted(c.Fun) }

func dotted(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return dotted(x.X) + "." + x.Sel.Name
	}
	return ""
}

// typeName is a type's name in package outputs, whoever names it.
func typeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		if p, ok := x.X.(*ast.Ident); ok && p.Name == "outputs" {
			return x.Sel.Name
		}
	}
	return ""
}

// english reports whether a text needs a translation: it has a word in it that
// is not an abbreviation, a unit, a name in code or a value to fill in.
func english(s string) bool {
	s = verb.ReplaceAllString(s, " ")
	s = regexp.MustCompile("`[^`]*`|\\S*[_/=]\\S*|--[a-z-]+").ReplaceAllString(s, " ")
	for _, w := range regexp.MustCompile(`[A-Za-z][A-Za-z.-]*`).FindAllString(s, -1) {
		w = strings.Trim(w, ".-")
		if len(w) > 1 && strings.ToUpper(w) != w && !symbols[w] {
			return true
		}
	}
	return false
}

// symbols are words that stay as they are in Chinese.
var symbols = map[string]bool{"ms": true, "token": true, "vllm": true, "aisbench": true, "strict": true, "gsm8k": true, "pp": true, "xx": true}

// Every fixed text that the source puts into a report has a Chinese one.
func TestEveryTextHasChinese(t *testing.T) {
	texts := fixedTexts(t, ".", "../summarizers")
	if len(texts) < 150 {
		t.Fatalf("only %d texts found: the search is broken", len(texts))
	}
	known := map[string]bool{}
	plain := func(s string) string { return strings.ReplaceAll(strings.TrimLeft(s, " "), "%v", "%s") }
	for s := range terms() {
		known[plain(s)] = true
	}
	for _, s := range slices.Sorted(maps.Keys(texts)) {
		if !known[plain(s)] && english(s) {
			t.Errorf("%s: no Chinese for %q; add it to a terms_*.go", texts[s], s)
		}
	}
}

// Terms with verbs are found again in what fmt makes of them.
func TestTranslator(t *testing.T) {
	tr := newTranslator(&ReportData{Lang: "zh", Translations: map[string]string{"own %d": "自有 {1}"}})
	for in, want := range map[string]string{
		"Accuracy":                          "精度",
		"  finish_reason stop":              "  结束原因 stop",
		"own 3":                             "自有 3",
		"7 of 300 requests failed":          "300 个请求中 7 个失败",
		"Performance Parameters: m-1 on d":  "性能参数：m-1 / d",
		"latencies of m × d":                "m × d 的时延",
		"95 % CI 76.90 to 85.64 %, n 300":   "95 % 置信区间 76.90 至 85.64 %，n 300",
		"no stable stage: nothing is known": "没有稳定阶段：nothing is known",
		"cpu_share is 0.97 of the available cores (threshold 0.9): nothing is sent or read during a pause": "CPU 占比 cpu_share 为 0.97 （占可用核）（阈值 0.9）：停顿期间既不发送也不读取",
		"He goes on to say it":                     "He goes on to say it",      // no sentence of a model matches "%v on %v"
		"1 of 3 deciding clauses failed: Accuracy": "3 个决定性条款中 1 个未通过：Accuracy", // a clause's own name
		"it can never pass: x of 300 values has no closed interval at confidence 95 %, 368 are needed": "永远不可能通过：300 个值的 x 在置信度 95 % 下没有闭区间，需要 368 个",
		"knee, client suspect":                  "拐点，客户端可疑",
		"on: enable_x=true, /server_info":       "开启：enable_x=true, /server_info",
		"no progress; 7 of 300 requests failed": "no progress；300 个请求中 7 个失败",
		"the client may have been the bottleneck of m × d: goroutine_wait_p99_ms is 3 ms (threshold 2): runnable goroutines waited this long for a core; see Client health before trusting tail latencies": "m × d 可能受限于客户端：协程等核 P99 goroutine_wait_p99_ms 为 3 ms（阈值 2）：可运行的协程等待处理器核这么久；采信尾部时延之前请看“客户端健康状况”",
		"the client was the bottleneck of m × d: its figures describe this machine as much as the service (see Client health)":                                                                             "m × d 受限于客户端：这些数字同样反映本机，而不仅是服务（见“客户端健康状况”）",
		"": "",
	} {
		if got := tr.term(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := newTranslator(&ReportData{}).term("Accuracy"); got != "Accuracy" {
		t.Errorf("an English report says %q", got)
	}
	seen := map[string]string{}
	for _, list := range termLists {
		for k, v := range list {
			if had, ok := seen[k]; ok && had != v {
				t.Errorf("%q is translated as %q and as %q", k, had, v)
			}
			seen[k] = v
			verbs := 0
			for _, x := range verb.FindAllString(k, -1) {
				if x != "%%" {
					verbs++
				}
			}
			for _, ref := range placeholder.FindAllStringSubmatch(v, -1) {
				if n, _ := strconv.Atoi(ref[1]); n < 1 || n > verbs {
					t.Errorf("%q → %q names value %d of %d", k, v, n, verbs)
				}
			}
		}
	}
}
