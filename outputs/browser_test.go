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
// descriptors, messages end with NUL), so that no library is needed.
type browser struct {
	t       *testing.T
	out     *os.File
	in      *bufio.Reader
	id      int
	session string
	errors  []string // exceptions and policy violations the page reported
}

func startBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("no browser in short tests")
	}
	var bin string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			bin = p
			break
		}
	}
	if bin == "" {
		t.Skip("no Chromium in PATH; the page is checked without a browser only")
	}
	ours, theirs, err := pipes()
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: the browser's children may still write while it is removed.
	profile, err := os.MkdirTemp("", "ais_bench_browser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(profile) })
	cmd := exec.Command(bin, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--user-data-dir="+profile, "--no-first-run", "--hide-scrollbars", "about:blank")
	cmd.ExtraFiles = theirs[:]
	if err := cmd.Start(); err != nil {
		t.Skip("Chromium does not start: ", err)
	}
	theirs[0].Close()
	theirs[1].Close()
	b := &browser{t: t, out: ours[0], in: bufio.NewReader(ours[1])}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		ours[0].Close()
		ours[1].Close()
	})
	dead := time.AfterFunc(60*time.Second, func() { cmd.Process.Kill() })
	t.Cleanup(func() { dead.Stop() })
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
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
	b.id++
	msg := map[string]any{"id": b.id, "method": method}
	if params != nil {
		msg["params"] = params
	}
	if b.session != "" {
		msg["sessionId"] = b.session
	}
	raw, _ := json.Marshal(msg)
	if _, err := b.out.Write(append(raw, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		raw, err := b.in.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: the browser went away: %v", method, err)
		}
		var m struct {
			ID     int
			Method string
			Result json.RawMessage
			Error  json.RawMessage
			Params json.RawMessage
		}
		if err := json.Unmarshal(raw[:len(raw)-1], &m); err != nil {
			b.t.Fatal(err)
		}
		if m.Method == "Runtime.exceptionThrown" || m.Method == "Log.entryAdded" && strings.Contains(string(m.Params), `"error"`) {
			b.errors = append(b.errors, string(m.Params))
		}
		if m.ID != b.id {
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
	b.eval(`new Promise(done => { const look = () => document.documentElement?.dataset.ready ? done(1) : setTimeout(look, 20); look(); })`, nil)
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
	is("charts", `String(document.querySelectorAll("main canvas").length)`, "10")
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
