package outputs

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// browser drives a headless Chromium over its debugging pipe (two file
// descriptors, messages end with NUL), so that no library is needed. One process
// serves all tests; each has a context of its own, so that what a page remembers
// does not reach the next test.
type browser struct {
	t       *testing.T
	session string
	errors  []string // exceptions and policy violations the page reported
}

// chromium is the process, started by the first test that needs it.
var chromium struct {
	started bool
	reason  string // why there is none
	out     *os.File
	in      *bufio.Reader
	id      int
	stop    func()
}

// launch starts Chromium, or says why it cannot.
func launch() (reason string) {
	var bin string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			bin = p
			break
		}
	}
	if bin == "" {
		return "no Chromium in PATH; the page is checked without a browser only"
	}
	ours, theirs, err := pipes()
	if err != nil {
		return err.Error()
	}
	profile, err := os.MkdirTemp("", "ais_bench_browser")
	if err != nil {
		return err.Error()
	}
	cmd := exec.Command(bin, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--user-data-dir="+profile, "--no-first-run", "--hide-scrollbars", "about:blank")
	cmd.ExtraFiles = theirs[:]
	cmd.Env = append(os.Environ(), "TMPDIR="+profile) // what it leaves there goes with it
	if err := cmd.Start(); err != nil {
		os.RemoveAll(profile)
		return "Chromium does not start: " + err.Error()
	}
	theirs[0].Close()
	theirs[1].Close()
	chromium.out, chromium.in = ours[0], bufio.NewReader(ours[1])
	// A browser that hangs must not hang the tests.
	dead := time.AfterFunc(8*time.Minute, func() { cmd.Process.Kill() })
	chromium.stop = func() {
		dead.Stop()
		// Asked to close, it ends its children too, who would still write to the folder.
		chromium.out.Write(append([]byte(`{"id":0,"method":"Browser.close"}`), 0))
		kill := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		kill.Stop()
		ours[0].Close()
		ours[1].Close()
		os.RemoveAll(profile)
	}
	return ""
}

func startBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("no browser in short tests")
	}
	if !chromium.started {
		chromium.started, chromium.reason = true, launch()
	}
	if chromium.reason != "" {
		t.Skip(chromium.reason)
	}
	b := &browser{t: t}
	var context struct{ BrowserContextID string }
	b.call("Target.createBrowserContext", nil, &context)
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	t.Cleanup(func() {
		b.session = ""
		b.call("Target.disposeBrowserContext", map[string]any{"browserContextId": context.BrowserContextID}, nil)
	})
	b.call("Runtime.enable", nil, nil)
	b.call("Log.enable", nil, nil)
	b.call("Page.enable", nil, nil)
	return b
}

func pipes() (ours, theirs [2]*os.File, err error) {
	if theirs[0], ours[0], err = os.Pipe(); err != nil {
		return
	}
	ours[1], theirs[1], err = os.Pipe()
	return
}

func (b *browser) call(method string, params any, result any) {
	b.t.Helper()
	chromium.id++
	msg := map[string]any{"id": chromium.id, "method": method}
	if params != nil {
		msg["params"] = params
	}
	if b.session != "" {
		msg["sessionId"] = b.session
	}
	raw, _ := json.Marshal(msg)
	if _, err := chromium.out.Write(append(raw, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		raw, err := chromium.in.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: the browser went away: %v", method, err)
		}
		var m struct {
			ID        int
			SessionID string
			Method    string
			Result    json.RawMessage
			Error     json.RawMessage
			Params    json.RawMessage
		}
		if err := json.Unmarshal(raw[:len(raw)-1], &m); err != nil {
			b.t.Fatal(err)
		}
		if m.SessionID == b.session && (m.Method == "Runtime.exceptionThrown" || m.Method == "Log.entryAdded" && strings.Contains(string(m.Params), `"error"`)) {
			b.errors = append(b.errors, string(m.Params))
		}
		if m.ID != chromium.id {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// eval runs a script in the page and decodes its value.
func (b *browser) eval(script string, into any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", script, r.ExceptionDetails)
	}
	if into != nil {
		if err := json.Unmarshal(r.Result.Value, into); err != nil {
			b.t.Fatalf("%s: %v in %s", script, err, r.Result.Value)
		}
	}
}

func (b *browser) text(script string) string {
	b.t.Helper()
	var s string
	b.eval(script, &s)
	return s
}

func (b *browser) open(path string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	b.wait(`document.documentElement?.dataset.ready`)
}

func TestHTMLInABrowser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	if err := WriteHTML(path, demoHTML(3000), nil); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	b.open(path)
	is := func(what, script, want string) {
		t.Helper()
		if got := b.text(script); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	is("verdict", `document.querySelector("#verdict strong").textContent`, "FAIL")
	is("charts", `String(document.querySelectorAll("main canvas").length)`, "11")
	is("every chart is painted", `String([...document.querySelectorAll("main canvas")].every(c => { const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) n++; return n > 500; }))`, "true")

	rows := `[...document.querySelectorAll("#samples-table tbody tr.sample td:nth-child(3)")].map(e => e.textContent)`
	is("wrong answers first", rows+`[0]`, "wrong")
	b.eval(`document.querySelector('[data-outcome="unparsable"]').click()`, nil)
	is("filter by outcome", `[...new Set(`+rows+`)].join()`, "unparsable")
	is("count", `document.getElementById("samples-count").textContent`, "30 of 300 shown")
	b.eval(`document.querySelector('[data-outcome=""]').click()`, nil)
	b.eval(`{ const s = document.querySelector('input[type=search]'); s.value = "question 123:"; s.dispatchEvent(new Event("input")); }`, nil)
	is("search", `document.getElementById("samples-count").textContent`, "1 of 300 shown")
	b.eval(`document.querySelector("tr.sample").click()`, nil)
	want, _ := json.Marshal(hostile + "123")
	var same bool
	b.eval(`[...document.querySelectorAll(".detail pre")].some(p => p.textContent === `+string(want)+`)`, &same)
	if !same {
		t.Error("the answer is not shown literally")
	}
	is("nothing of a model ran", `String(window.pwned) + document.querySelectorAll("img, iframe, object, main script").length`, "undefined0")

	b.eval(`document.querySelector("#s-perf ~ .panel th:nth-child(3) button").click()`, nil)
	is("tables sort", `document.querySelector("#s-perf ~ .panel tbody td").textContent`, "首字延迟 TTFT")
	is("light or dark", `(() => { const a = document.documentElement.dataset.theme; document.getElementById("theme").click(); return String(a !== document.documentElement.dataset.theme); })()`, "true")
	b.eval(`document.getElementById("lang").click()`, nil)
	is("Chinese verdict", `document.querySelector("#verdict strong").textContent`, "未通过")
	is("Chinese chart", `document.querySelector("#chart-concurrency h3").textContent`, "在途请求数随时间变化")
	is("language of the page", `document.documentElement.lang`, "zh-CN")

	// The policy holds: neither inline code nor requests get through.
	is("injected code is refused", `(() => { const s = document.createElement("script"); s.textContent = "window.injected = 1"; document.body.append(s); return String(window.injected); })()`, "undefined")
	var refused string
	b.eval(`fetch("data:text/plain,x").then(() => "sent", () => "refused")`, &refused)
	if refused != "refused" {
		t.Error("the page can make requests")
	}
	for _, e := range b.errors {
		if !strings.Contains(e, "Content Security Policy") { // the two attempts above
			t.Errorf("the page reported: %s", e)
		}
	}
	b.errors = nil
	b.open(path)
	if len(b.errors) > 0 {
		t.Errorf("an untouched page reports: %v", b.errors)
	}
}

// point is the middle of an element, scrolled into view.
func (b *browser) point(selector string) (x, y float64) {
	b.t.Helper()
	var p struct{ X, Y float64 }
	b.eval(`(() => { const e = document.querySelector(`+string(quoteJSON(selector))+`); e.scrollIntoView({ block: "center" }); const r = e.getBoundingClientRect(); return { X: r.left + r.width / 2, Y: r.top + r.height / 2 }; })()`, &p)
	return p.X, p.Y
}

// mouse sends a real event of the pointer: pressed, moved, released, wheel.
func (b *browser) mouse(kind string, x, y float64, more map[string]any) {
	b.t.Helper()
	e := map[string]any{"type": kind, "x": x, "y": y}
	if kind == "mousePressed" || kind == "mouseReleased" {
		e["button"], e["clickCount"] = "left", 1
	}
	for k, v := range more {
		e[k] = v
	}
	b.call("Input.dispatchMouseEvent", e, nil)
}

// wait waits until a condition holds in the page; events of the page come after
// the call that causes them.
func (b *browser) wait(condition string) {
	b.t.Helper()
	b.eval(`new Promise(done => { const look = () => `+condition+` ? done(1) : setTimeout(look, 20); look(); })`, nil)
}

func (b *browser) click(selector string) {
	b.t.Helper()
	x, y := b.point(selector)
	b.mouse("mousePressed", x, y, nil)
	b.mouse("mouseReleased", x, y, nil)
}

func (b *browser) key(name string) {
	b.t.Helper()
	code := map[string]int{"ArrowRight": 39, "ArrowLeft": 37, "Escape": 27, "Enter": 13, "Tab": 9, "+": 187, "0": 48}[name]
	e := map[string]any{"type": "keyDown", "key": name, "windowsVirtualKeyCode": code}
	if name == "Enter" {
		e["text"] = "\r"
	}
	b.call("Input.dispatchKeyEvent", e, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "windowsVirtualKeyCode": code}, nil)
}

// A reader with a mouse: hovers over a chart, zooms it and the timeline, sorts
// and filters the samples, changes theme and language.
func TestPageByMouse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	if err := WriteHTML(path, demoHTML(2000), nil); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	b.open(path)
	is := func(what, script, want string) {
		t.Helper()
		if got := b.text(script); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	holds := func(what, script string) { t.Helper(); is(what, "String(!!("+script+"))", "true") }

	// Chart: what it reads out follows the pointer; drag zooms, double-click resets.
	const chart = "#chart-cdf-ttft canvas"
	x, y := b.point(chart)
	b.mouse("mouseMoved", x, y, nil)
	holds("the pointer reads a value", `!document.getElementById("tip").hidden && /TTFT: [\d.]+  @ [\d.]+/.test(document.getElementById("tip").textContent)`)
	b.eval(`window.before = document.querySelector("`+chart+`").toDataURL()`, nil)
	b.mouse("mousePressed", x-80, y, nil)
	b.mouse("mouseMoved", x+80, y, map[string]any{"buttons": 1})
	b.mouse("mouseReleased", x+80, y, nil)
	holds("dragging zooms", `document.querySelector("`+chart+`").toDataURL() !== window.before && !document.querySelector("#chart-cdf-ttft .chart-head button").hidden`)
	b.click("#chart-cdf-ttft .chart-head button")
	b.mouse("mouseMoved", 5, 5, nil)
	holds("reset shows all again", `document.querySelector("`+chart+`").toDataURL() === window.before`)
	b.click("#chart-requests .legend button")
	is("a series can be hidden", `document.querySelector("#chart-requests .legend button").getAttribute("aria-pressed")`, "false")
	b.click("#chart-sweep details summary")
	b.wait(`document.querySelector("#chart-sweep details tbody td")`)
	is("the numbers of a chart", `[...document.querySelectorAll("#chart-sweep tbody tr:first-child td")].map(e => e.textContent).join("|")`, "Output Token Throughput|1|100")

	// Timeline: wheel zooms around the pointer, drag moves, buttons and double-click reset.
	const line = "#chart-timeline canvas"
	x, y = b.point(line)
	b.mouse("mouseWheel", x, y, map[string]any{"deltaX": 0, "deltaY": -240})
	var view []float64
	read := func() { b.eval(`document.querySelector("`+line+`").dataset.view.split(" ").map(Number)`, &view) }
	b.wait(`document.querySelector("` + line + `").dataset.view`)
	read()
	if view[0] <= 0 || view[1]-view[0] <= 0 || view[3]-view[2] >= 32 {
		t.Errorf("after the wheel the timeline shows %v", view)
	}
	from := view[0]
	b.mouse("mousePressed", x, y, nil)
	b.mouse("mouseMoved", x-60, y, map[string]any{"buttons": 1})
	b.mouse("mouseReleased", x-60, y, nil)
	read()
	if view[0] <= from {
		t.Errorf("dragging to the left shows what is earlier: %v", view)
	}
	b.mouse("mouseMoved", x+3, y, nil)
	holds("a request reads out", `/sent: .*\n(first token: .*\n)?end: /.test(document.getElementById("tip").textContent)`)
	b.click("#chart-timeline .tools button:last-child")
	read()
	if view[0] != 0 || view[2] != 0 || view[3] != 32 {
		t.Errorf("after the reset the timeline shows %v", view)
	}

	// Samples: wrong ones only, by tokens, opened.
	b.click(`[data-outcome="wrong"]`)
	is("only wrong ones", `[...new Set([...document.querySelectorAll("#samples-table tr.sample")].map(e => e.children[2].textContent))].join()`, "wrong")
	b.click("#samples-table th:nth-child(7) button")
	is("sorted downwards", `document.querySelector("#samples-table th:nth-child(7)").getAttribute("aria-sort")`, "descending")
	holds("by output tokens", `(() => { const v = [...document.querySelectorAll("#samples-table tr.sample")].map(e => +e.children[6].textContent); return v.length === 30 && v.every((x, i) => i === 0 || v[i-1] >= x); })()`)
	b.click("#samples-table th:nth-child(7) button")
	is("and upwards", `document.querySelector("#samples-table th:nth-child(7)").getAttribute("aria-sort")`, "ascending")
	b.click("#samples-table tr.sample td:nth-child(4)")
	is("prompt, answer, extraction and gold", `[...document.querySelectorAll(".detail h4")].map(e => e.textContent).join()`, "Prompt,Answer,Extracted,Gold")

	// Theme and language, and both again after the page is opened anew.
	before := b.text(`document.documentElement.dataset.theme`)
	b.click("#theme")
	after := b.text(`document.documentElement.dataset.theme`)
	b.click("#lang")
	is("language", `document.documentElement.lang`, "zh-CN")
	is("the filter stays", `document.querySelector('[data-outcome="wrong"]').getAttribute("aria-pressed")`, "true")
	b.open(path)
	is("the theme is remembered", `document.documentElement.dataset.theme`, after)
	is("the language is remembered", `document.documentElement.lang`, "zh-CN")
	if before == after {
		t.Errorf("the theme stays %s", before)
	}
	if len(b.errors) > 0 {
		t.Errorf("the page reported: %v", b.errors)
	}
}

// A reader with a keyboard and a screen reader: everything that can be operated
// is reached by Tab and has a name; charts and timeline obey keys.
func TestPageByKeyboard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	if err := WriteHTML(path, demoHTML(500), nil); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	b.open(path)
	var nameless []string
	b.eval(`[...document.querySelectorAll("button, a, input, select, summary, canvas, [tabindex]")].filter(e => {
		const name = e.getAttribute("aria-label") || e.textContent.trim() || e.title;
		return !name || e.tabIndex < 0;
	}).map(e => e.outerHTML.slice(0, 120))`, &nameless)
	if len(nameless) > 0 {
		t.Errorf("not operable by keyboard, or without a name: %q", nameless)
	}
	var ids []string
	b.eval(`(() => { const n = {}; document.querySelectorAll("[id]").forEach(e => n[e.id] = (n[e.id] || 0) + 1); return Object.keys(n).filter(k => n[k] > 1); })()`, &ids)
	if len(ids) > 0 {
		t.Errorf("ids given twice: %q", ids)
	}
	b.eval(`document.querySelector("#chart-sweep canvas").focus()`, nil)
	b.key("ArrowRight")
	b.key("ArrowRight")
	if got := b.text(`document.getElementById("tip").textContent`); !strings.Contains(got, "Output Token Throughput: 190  @ 2") {
		t.Errorf("the second point of a chart reads %q", got)
	}
	if label := b.text(`document.querySelector("#chart-sweep canvas").getAttribute("aria-label")`); !strings.Contains(label, "100 – 330") || !strings.Contains(label, "knee @ 4") {
		t.Errorf("a chart is announced as %q", label)
	}
	b.key("Escape")
	if b.text(`String(document.getElementById("tip").hidden)`) != "true" {
		t.Error("Escape does not hide what a chart reads out")
	}
	b.eval(`document.querySelector("#chart-timeline canvas").focus()`, nil)
	b.key("+")
	b.key("ArrowRight")
	var view []float64
	b.eval(`document.querySelector("#chart-timeline canvas").dataset.view.split(" ").map(Number)`, &view)
	if view[0] <= 0 || view[3]-view[2] != 16 {
		t.Errorf("after + and → the timeline shows %v", view)
	}
	b.key("0")
	b.eval(`document.querySelector("#chart-timeline canvas").dataset.view.split(" ").map(Number)`, &view)
	if view[0] != 0 || view[3] != 32 {
		t.Errorf("after 0 the timeline shows %v", view)
	}
	b.eval(`document.querySelector("#samples-table tr.sample button").focus()`, nil)
	b.key("Enter")
	if b.text(`String(document.querySelectorAll(".detail").length) + document.activeElement.getAttribute("aria-expanded")`) != "1true" {
		t.Error("Enter does not open a sample, or its button loses the focus")
	}
	b.key("Enter")
	if b.text(`String(document.querySelectorAll(".detail").length) + document.activeElement.getAttribute("aria-expanded")`) != "0false" {
		t.Error("Enter does not close it again")
	}
	for _, e := range b.errors {
		t.Errorf("the page reported: %s", e)
	}
}

// Nothing English is left in what a Chinese page shows or announces, data and
// abbreviations aside.
func TestPageIsChinese(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	d := demoHTML(300)
	d.Lang = "zh"
	d.Title, d.Tool, d.Samples = "m on d", "", func(yield func(*Sample, error) bool) {
		for _, o := range []string{"right", "wrong", "unparsable", "empty", "failed"} {
			if !yield(&Sample{Model: "m", Dataset: "d", ID: "1", Outcome: o, Prompt: "1", Answer: "2", Extracted: "2", Gold: "3", Finish: "x", Reasoning: "r", Detail: "d"}, nil) {
				return
			}
		}
	}
	d.Verdict, d.Headlines, d.Checklist, d.Help = &Verdict{State: "INCONCLUSIVE"}, nil, nil, nil
	d.Sections = []Section{{ID: "perf", Title: "Performance"}}
	d.Config = nil
	if err := WriteHTML(path, d, nil); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	b.open(path)
	b.eval(`document.querySelectorAll("details").forEach(d => { d.open = true; }); document.querySelector("tr.sample button").click()`, nil)
	b.wait(`[...document.querySelectorAll("details")].every(d => d.querySelector("tbody"))`)
	var texts []string
	b.eval(`(() => {
		const out = new Set();
		const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, n => n.parentElement.closest("script, style, noscript, #lang") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
		while (walk.nextNode()) out.add(walk.currentNode.textContent.trim());
		document.querySelectorAll("[aria-label], [title], [placeholder]").forEach(e => { for (const a of ["aria-label", "title", "placeholder"]) out.add(e.getAttribute(a) || ""); });
		return [...out];
	})()`, &texts)
	if len(texts) < 100 {
		t.Fatalf("only %d texts", len(texts))
	}
	for _, s := range texts {
		if english(s) {
			t.Errorf("the Chinese page says %q", s)
		}
	}
}

// With 100,000 requests a frame of the timeline must be drawn from pixels, not
// from one call a request. Time is not asserted; the number of canvas calls is.
func TestTimelineLevelOfDetail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	d := demoHTML(0)
	d.Samples = nil
	d.Records = simulatedRecords(100_000, 500)
	if err := WriteHTML(path, d, nil); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	b.open(path)
	var calls int
	b.eval(`new Promise(done => {
		const proto = CanvasRenderingContext2D.prototype; let n = 0;
		for (const k of ["fillRect", "stroke", "fill", "putImageData", "fillText"]) { const f = proto[k]; proto[k] = function (...a) { n++; return f.apply(this, a); }; }
		const c = document.querySelector("#chart-timeline canvas"), r = c.getBoundingClientRect();
		c.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, clientX: r.left + 200, clientY: r.top + 100, cancelable: true }));
		requestAnimationFrame(() => requestAnimationFrame(() => done(n)));
	})`, &calls)
	if calls == 0 || calls > 200 {
		t.Errorf("one frame took %d canvas calls", calls)
	}
	var ms float64 // for the log only
	b.eval(`(() => { const c = document.querySelector("#chart-timeline button"), t0 = performance.now(); let n = 0; c.click(); return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - t0)))); })()`, &ms)
	t.Logf("full view of 100,000 requests: %.0f ms until painted", ms)
}
