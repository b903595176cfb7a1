package outputs

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile is what a model could answer to attack whoever reads the report.
const hostile = `</script><script>window.pwned=1</script><img src=x onerror="window.pwned=2"><!--<script>` + "\u2028\u2029" + `{{.Data}}'"` + "`${alert(1)}"

// simulatedRecords are n requests of a service with at most c in flight.
func simulatedRecords(n, c int) func() iter.Seq2[*Record, error] {
	return func() iter.Seq2[*Record, error] {
		return func(yield func(*Record, error) bool) {
			rng := rand.New(rand.NewPCG(7, 7))
			lanes := make([]int64, c)
			for i := range n {
				k := 0
				for j, free := range lanes {
					if free < lanes[k] {
						k = j
					}
				}
				sent := lanes[k]
				in, out := 50+rng.Int32N(2000), 8+rng.Int32N(60)
				r := &Record{Model: "m", Dataset: "d", SampleID: fmt.Sprint(i), Phase: PhaseMeasured, RequestID: fmt.Sprint("r", i),
					Scheduled: sent, Sent: sent, Connected: sent, FirstByte: sent + 1e6, Stream: true, Status: StatusOK, HTTPStatus: 200, FinishReason: "stop",
					InputTokens: in, OutputTokens: out, ReasoningTokens: UnknownTokens, CachedTokens: UnknownTokens, TokenSource: TokensUsage}
				at := int64(20e6) + int64(in)*50_000 + rng.Int64N(30e6)
				for p := range out {
					r.ChunkAt = append(r.ChunkAt, at)
					at += 15e6 + int64(p)*100_000 + rng.Int64N(5e6)
				}
				r.FirstToken, r.FirstEvent, r.FirstAnswerToken = sent+r.ChunkAt[0], sent+r.ChunkAt[0], sent+r.ChunkAt[0]
				r.LastToken = sent + r.ChunkAt[len(r.ChunkAt)-1]
				r.End = r.LastToken + 1e5
				if i%97 == 96 {
					r.Status, r.FirstToken, r.LastToken, r.ChunkAt, r.HTTPStatus, r.OutputTokens = StatusHTTP5xx, Never, Never, nil, 500, UnknownTokens
					r.Error = hostile
					r.End = sent + 300e6
				}
				lanes[k] = r.End + 1e6
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

func demoHTML(n int) *ReportData {
	d := demoReport()
	d.Title = "vllm_api_general_chat on gsm8k"
	d.Records = simulatedRecords(n, 32)
	x := []float64{1, 2, 4, 8}
	d.Sections = append(d.Sections, Section{ID: "sweep", Title: "Sweep", Sheet: "Sweep", Charts: []Chart{{ID: "sweep", Title: "Throughput and P99 TTFT against concurrency", XLabel: "Concurrency", YLabel: "token/s", Excel: true,
		Series: []Series{{Name: "Output Token Throughput", X: x, Y: []float64{100, 190, 320, 330}}, {Name: "TTFT P99", X: x, Y: []float64{50, 55, 60, 240}, Right: true, YLabel: "ms"}}, Marks: []ChartMark{{4, "knee"}}}}})
	d.Samples = func(yield func(*Sample, error) bool) {
		outcomes := []string{"right", "right", "right", "wrong", "right", "unparsable", "right", "empty", "right", "failed"}
		for i := range 300 {
			tokens, e2e := int32(i%97), float64(i%50)*10
			if !yield(&Sample{Model: "m", Dataset: "gsm8k", ID: fmt.Sprint(i), Prompt: fmt.Sprintf("Question %d: 小明有几个苹果？", i), Answer: hostile + fmt.Sprint(i), Extracted: fmt.Sprint(i), Gold: fmt.Sprint(i + i%3), Outcome: outcomes[i%10], Tokens: &tokens, E2Ems: &e2e}, nil) {
				return
			}
		}
	}
	return d
}

var dataBlock = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

func TestHTMLIsOneClosedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	d := demoHTML(500)
	d.Title = hostile
	d.Notes = []string{hostile}
	if err := WriteHTML(path, d, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for _, never := range []string{"<img", "onerror=\"", "<script>window", "unsafe-inline", "unsafe-eval", "<link", "<iframe", "@import", "url("} {
		body := dataBlock.ReplaceAllString(page, "")
		if strings.Contains(body, never) {
			t.Errorf("the page outside its data holds %q", never)
		}
	}
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("%d script elements, want the data and the program", n)
	}
	if m := regexp.MustCompile(`https?://[^"'\s<]+`).FindAllString(dataBlock.ReplaceAllString(page, ""), -1); len(m) > 0 {
		t.Errorf("the page names network addresses: %v", m)
	}
	for kind, text := range map[string]string{"script-src": reportScript, "style-src": reportStyle} {
		// The hash in the policy must be of the bytes that are in the page.
		if !strings.Contains(strings.NewReplacer("&#43;", "+", "&#39;", "'").Replace(page), kind+" '"+cspHash(text)+"'") || !strings.Contains(page, text) {
			t.Errorf("%s does not allow the element in the page", kind)
		}
	}
	m := dataBlock.FindStringSubmatch(page)
	if m == nil {
		t.Fatal("no data block")
	}
	if strings.ContainsAny(m[1], "<>\u2028\u2029") {
		t.Error("markup characters are not escaped in the data")
	}
	var plain struct {
		Title    string `json:"title"`
		Timeline struct {
			Total               int
			Shown, Lanes        int
			Sent, End, Lane     string
			UnitNS              int64 `json:"unit_ns"`
			Statuses            []string
			First, Status, Note string
		} `json:"timeline"`
		Samples struct {
			Total int
			List  []Sample
		} `json:"samples"`
	}
	if err := json.Unmarshal([]byte(m[1]), &plain); err != nil {
		t.Fatal(err)
	}
	if plain.Title != hostile {
		t.Errorf("title came back as %q", plain.Title)
	}
	if plain.Timeline.Total != 500 || plain.Timeline.Shown != 500 || plain.Timeline.Lanes != 32 {
		t.Errorf("timeline: %d of %d in %d lanes", plain.Timeline.Shown, plain.Timeline.Total, plain.Timeline.Lanes)
	}
	sent, _ := base64.StdEncoding.DecodeString(plain.Timeline.Sent)
	if len(sent) != 4*500 || binary.LittleEndian.Uint32(sent) != 0 {
		t.Errorf("sent times: %d bytes", len(sent))
	}
	if plain.Samples.Total != 300 || len(plain.Samples.List) != 300 || plain.Samples.List[0].Outcome == "right" {
		t.Errorf("samples: %d of %d, first %s; those that are not right come first", len(plain.Samples.List), plain.Samples.Total, plain.Samples.List[0].Outcome)
	}
}

func TestSamplesAreBounded(t *testing.T) {
	d := &ReportData{MaxSamples: 50, Samples: func(yield func(*Sample, error) bool) {
		for i := range 1000 {
			s := &Sample{ID: fmt.Sprint(i), Outcome: "right", Answer: strings.Repeat("长", 20_000)}
			if i%100 == 99 {
				s.Outcome = "wrong"
			}
			if !yield(s, nil) {
				return
			}
		}
	}}
	h, err := gatherSamples(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h.Total != 1000 || h.Counts["wrong"] != 10 || len(h.List) != 50 {
		t.Fatalf("%d of %d kept, counts %v", len(h.List), h.Total, h.Counts)
	}
	for i, s := range h.List {
		if (s.Outcome == "wrong") != (i < 10) || len(s.Answer) > sampleText+40 || !strings.HasSuffix(s.Answer, "bytes cut]") {
			t.Fatalf("sample %d: %s with %d bytes", i, s.Outcome, len(s.Answer))
		}
	}
}

// The charts agree with what the records say.
func TestRecordCharts(t *testing.T) {
	c, err := gatherRecords(simulatedRecords(2000, 16)())
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]Chart{}
	for _, ch := range c.charts() {
		byID[ch.ID] = ch
		for _, s := range ch.Series {
			if len(s.X) != len(s.Y) {
				t.Errorf("%s/%s: %d x and %d y", ch.ID, s.Name, len(s.X), len(s.Y))
			}
		}
	}
	for _, id := range []string{"cdf-ttft", "cdf-e2el", "cdf-tpot", "throughput", "requests", "concurrency", "ttft-input", "itl-position"} {
		if _, ok := byID[id]; !ok {
			t.Errorf("no chart %s", id)
		}
	}
	integral := func(s Series) float64 {
		sum := 0.0
		for _, y := range s.Y {
			sum += y
		}
		return sum * (s.X[1] - s.X[0])
	}
	tokens, ok, bad := 0.0, 0, 0
	for r := range simulatedRecords(2000, 16)() {
		if r.OK() {
			ok++
			tokens += float64(r.OutputTokens)
		} else {
			bad++
		}
	}
	if got := integral(byID["throughput"].Series[0]); math.Abs(got-tokens) > 0.01*tokens {
		t.Errorf("the throughput chart holds %.0f tokens, the records %.0f", got, tokens)
	}
	if got := integral(byID["requests"].Series[1]); math.Abs(got-float64(ok)) > 0.01*float64(ok) {
		t.Errorf("the chart holds %.1f successes, the records %d", got, ok)
	}
	if got := integral(byID["requests"].Series[2]); math.Abs(got-float64(bad)) > 1 {
		t.Errorf("the chart holds %.1f failures, the records %d", got, bad)
	}
	peak := 0.0
	for _, y := range byID["concurrency"].Series[1].Y {
		peak = max(peak, y)
	}
	if peak != 16 {
		t.Errorf("peak concurrency %v, want 16", peak)
	}
	if got := c.line.pack(); got != 16 {
		t.Errorf("%d lanes for 16 in flight", got)
	}
	itl := byID["itl-position"].Series[0]
	if itl.Y[len(itl.Y)-5] <= itl.Y[0] {
		t.Error("a service that slows down with the position does not show")
	}
}

func TestTimeBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		var b timeBins
		sum := 0.0
		for range 500 {
			b.add(rng.Int64N(1e13)-5e12, 1)
			sum++
		}
		total := 0.0
		for _, v := range b.bins {
			total += v
		}
		if total != sum || len(b.bins) > maxBins {
			t.Fatalf("%v of %v values in %d bins", total, sum, len(b.bins))
		}
	}
	// Slightly early values must not coarsen the bins.
	var b timeBins
	for i := range 100 {
		b.add(int64(1e9)-int64(i)*5e6, 1)
	}
	if b.width != binStart {
		t.Errorf("bins grew to %d ns", b.width)
	}
}

func TestLogHistogramQuantile(t *testing.T) {
	var h logHistogram
	for i := range 10_000 {
		h.add(float64(i+1) / 10)
	}
	for _, q := range []float64{0.01, 0.5, 0.99} {
		if got, want := h.quantile(q), 1000*q; got < want || got > want*1.021 {
			t.Errorf("quantile %v is %v, want within 2 %% above %v", q, got, want)
		}
	}
}

func TestTimelineThinning(t *testing.T) {
	l := timelineSample{stride: 1}
	const n = timelineMax*3 + 17
	for i := range n {
		l.add(&Record{Sent: int64(i) * 1000, FirstToken: Never, End: int64(i)*1000 + 500, Status: StatusOK})
	}
	h := l.encode()
	if h.Total != n || h.Shown >= timelineMax || h.Shown < timelineMax/2 || h.Lanes != 1 {
		t.Errorf("%d of %d shown in %d lanes", h.Shown, h.Total, h.Lanes)
	}
}

// hostileTexts are what a model, a server or a data file could hold to break the
// page: control characters, broken UTF-8, bidirectional overrides, markup in any
// disguise, and very much of it.
var hostileTexts = func() map[string]string {
	controls := ""
	for c := range 0x20 {
		controls += string(rune(c))
	}
	return map[string]string{
		"controls":  controls + "\x7f\u0085\ufeff\ufffe\uffff",
		"utf8":      "broken \xff\xfe\xc3( \xed\xa0\x80 \xf4\x90\x80\x80 end",
		"bidi":      "\u202etxt.exe\u2066\u2069\u200b",
		"script":    hostile + "</SCRIPT\t\n bar></script/x>" + "]]><![CDATA[" + "&lt;script&gt;&#60;script&#62;",
		"json":      `"}],"terms":{"x":"y"},"a":["\u003c/script\u003e` + "\\",
		"prototype": "__proto__",
		"template":  "{{.Data}}{{template \"x\"}}<%= 1 %>${1}",
		"huge":      strings.Repeat("</script>\u2028長\x00", 1<<20),
	}
}()

func TestHostileTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	d := demoHTML(50)
	table := Table{Title: "hostile", Columns: []Column{{Name: "__proto__"}, {Name: "text"}}}
	var names []string
	for name := range hostileTexts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		table.AddRow(name, hostileTexts[name])
		d.Notes = append(d.Notes, cutText(hostileTexts[name], 4000))
		d.Headlines = append(d.Headlines, Headline{Name: cutText(hostileTexts[name], 100), Value: cutText(hostileTexts[name], 100)})
	}
	d.Sections = append(d.Sections, Section{ID: "</script><script>", Title: hostile, Tables: []Table{table}, Charts: []Chart{{ID: `"><script>`, Title: hostile, XLabel: hostile, YLabel: hostile,
		Series: []Series{{Name: hostile, X: []float64{1, 2}, Y: []float64{1, 2}}}, Marks: []ChartMark{{1, hostile}}}}})
	d.Samples = func(yield func(*Sample, error) bool) {
		for _, name := range names {
			s := hostileTexts[name]
			if !yield(&Sample{Model: s, Dataset: s, ID: name, Subset: s, Prompt: s, Reasoning: s, Answer: s, Extracted: s, Gold: s, Outcome: "wrong", Detail: s, Finish: s}, nil) {
				return
			}
		}
	}
	if err := WriteHTML(path, d, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > 6<<20 {
		t.Errorf("huge texts make a page of %d bytes", len(raw))
	}
	if !utf8.Valid(raw) {
		t.Error("the page is not UTF-8")
	}
	for i, c := range string(raw) {
		if c < 0x20 && c != '\n' && c != '\t' {
			t.Fatalf("control character %q at byte %d", c, i)
		}
	}
	if n := strings.Count(string(raw), "<script"); n != 2 {
		t.Errorf("%d script elements, want the data and the program", n)
	}
	m := dataBlock.FindStringSubmatch(string(raw))
	var page struct {
		Terms   map[string]string
		Samples struct{ List []Sample }
	}
	if err := json.Unmarshal([]byte(m[1]), &page); err != nil {
		t.Fatal(err)
	}
	if page.Terms["x"] != "" {
		t.Error("a text became part of the structure")
	}

	b := startBrowser(t)
	b.open(path)
	if got := b.text(`String(window.pwned) + document.querySelectorAll("img, iframe, object, main script, [onerror]").length`); got != "undefined0" {
		t.Errorf("something of a hostile text is alive: %s", got)
	}
	for _, name := range []string{"controls", "bidi", "script", "json", "prototype", "template"} {
		want := hostileTexts[name]
		b.eval(`{ const s = document.querySelector("input[type=search]"); s.value = ""; s.dispatchEvent(new Event("input")); [...document.querySelectorAll("#samples-table tr.sample")].find(r => [...r.children].some(c => c.textContent === "`+name+`")).querySelector("button").click(); }`, nil)
		var same bool
		b.eval(`[...document.querySelectorAll(".detail pre")].filter(p => p.textContent === `+string(quoteJSON(want))+`).length >= 5`, &same)
		if !same {
			t.Errorf("%s is not shown literally: %q", name, b.text(`document.querySelector(".detail pre").textContent`))
		}
	}
	if len(b.errors) > 0 {
		t.Errorf("the page reported: %v", b.errors)
	}
}
