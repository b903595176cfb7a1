// Package check looks at a service before a run, from the name in the URL to the
// tokens it counts, and says of each thing whether it is right, why not, and what
// to do.
//
// The steps go up the layers: address, proxy, DNS, TCP, TLS, the first HTTP
// answer, key, path, model, the four ways of asking, usage, the limits asked for,
// tokens, and last this machine's own clock and files. A step whose ground is
// missing is skipped with the name of what it waits for, so that the first line
// that says fail is the cause and not a consequence.
//
// A step is a function that adds lines; what later steps need it leaves in the
// run. Causes have stable names (the constants Cause…) for programs, and a text
// with a remedy for people.
package check

import (
	"context"
	"os"
	"strings"
	"time"

	"ais_bench/datasets/tokenizer"
	"ais_bench/models"
	"ais_bench/models/transport"
)

// Status is what a line says.
type Status string

// The statuses. Skip is a thing that was not looked at, because its ground is
// missing or because it does not apply.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
	Skip Status = "skip"
)

// Line is one thing that was looked at.
type Line struct {
	Check  string `json:"check"` // of Checks
	Status Status `json:"status"`
	Cause  string `json:"cause,omitempty"` // one of Cause…, "" where all is well
	Found  string `json:"found"`           // what was seen
	Remedy string `json:"remedy,omitempty"`
}

// Report is all that was seen of one service.
type Report struct {
	Model   string `json:"model"` // name of the configuration
	Type    string `json:"type"`
	URL     string `json:"url"`     // where requests go
	Reached bool   `json:"reached"` // some HTTP answer came from there
	Lines   []Line `json:"lines"`
}

// Count is how many lines have the status.
func (r *Report) Count(s Status) int {
	n := 0
	for i := range r.Lines {
		if r.Lines[i].Status == s {
			n++
		}
	}
	return n
}

// Failed are the names of the lines that failed.
func (r *Report) Failed() []string {
	var names []string
	for _, l := range r.Lines {
		if l.Status == Fail {
			names = append(names, l.Check)
		}
	}
	return names
}

// Options is what a check needs beside the service.
type Options struct {
	Config models.Config
	Name   string // of the configuration
	// StepTimeout bounds every single question; 0 = 30 s. Config's own time-outs hold,
	// too, where they are shorter.
	StepTimeout time.Duration
	// Tokenizer is a folder, a file or a hub id; "" = the configuration's path, else
	// the served model's name in the local hub cache.
	Tokenizer string
	// Concurrency is how many requests the run will have in flight; 0 = the
	// configuration's batch_size.
	Concurrency int
	// Progress is told of each line as soon as it is known; nil drops it.
	Progress func(Line)

	// The surroundings, replaced in tests; nil = this machine's.
	Getenv      func(string) string
	Exists      func(path string) bool
	ReadFile    func(path string) ([]byte, error)
	FileLimit   func() (soft, hard uint64, err error)
	ResolveHost func(ctx context.Context, host string) ([]string, error)
	// noticeable is how long a stream that comes in one piece has taken when something
	// held it back; 0 = 200 ms.
	noticeable time.Duration
}

// Checks are the names of the lines in their order.
var Checks = []string{"address", "proxy", "dns", "tcp", "tls", "answer", "auth", "path", "model", "chat", "chat-stream", "completions",
	"completions-stream", "request", "usage", "max-tokens", "ignore-eos", "tokenizer", "server", "clock", "files"}

// run is a check under way: what the steps have found so far.
type run struct {
	Options
	report *Report
	probe  *models.Probe
	client models.Client
	ep     models.Endpoint
	clock  *transport.Clock
	began  time.Time

	blocked  string             // name of the line without which nothing more can be asked, "" = none
	first    *models.Reply      // the answer to the list of models
	served   []models.ModelInfo // nil when the server does not list them
	model    string             // the name that requests carry
	keyFails bool               // the list of models refused the key
	answers  map[string]*models.Result
	tok      tokenizer.Resolved
}

// Run looks at everything. It does not fail: what cannot be looked at is a line.
// An error is a configuration that cannot be used at all.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.StepTimeout <= 0 {
		o.StepTimeout = 30 * time.Second
	}
	if t := time.Duration(o.Config.Timeouts.Total); t > 0 { // --timeout bounds a request, whoever sends it
		o.StepTimeout = min(o.StepTimeout, t)
	}
	if o.noticeable <= 0 {
		o.noticeable = 200 * time.Millisecond
	}
	if o.Concurrency <= 0 {
		o.Concurrency = max(o.Config.BatchSize, 1)
	}
	o.defaults()
	o.Config.Timeouts = bounded(o.Config.Timeouts, o.StepTimeout)
	r := &run{Options: o, report: &Report{Model: o.Name, Type: o.Config.Type, Lines: []Line{}}, began: time.Now(), answers: map[string]*models.Result{}}
	var err error
	if r.ep, err = o.Config.Endpoint(); err != nil {
		return nil, err
	}
	if r.probe, err = models.NewProbe(o.Config); err != nil {
		return nil, err
	}
	defer r.probe.Close()
	r.clock = r.probe.Clock()
	origin, _ := splitOrigin(r.ep.Server)
	r.report.URL = origin + r.probe.Path()
	defer func() {
		if r.client != nil {
			r.client.Close()
		}
	}()
	for _, step := range []func(context.Context){r.address, r.proxy, r.dns, r.tcp, r.tls, r.answer, r.auth, r.path, r.modelName, r.ways, r.usage,
		r.maxTokens, r.ignoreEOS, r.tokens, r.server, r.clocks, r.files} {
		if ctx.Err() != nil {
			return r.report, ctx.Err()
		}
		step(ctx)
	}
	return r.report, ctx.Err()
}

func (o *Options) defaults() {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Exists == nil {
		o.Exists = func(path string) bool { _, err := os.Stat(path); return err == nil }
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	if o.FileLimit == nil {
		o.FileLimit = transport.RaiseFileLimit
	}
	if o.ResolveHost == nil {
		o.ResolveHost = resolveHost
	}
	if o.Progress == nil {
		o.Progress = func(Line) {}
	}
}

// bounded tightens time-outs that are looser than one step may take.
func bounded(t models.Timeouts, limit time.Duration) models.Timeouts {
	for _, d := range []*models.Duration{&t.Connect, &t.FirstToken, &t.Idle, &t.Total} {
		if *d == 0 || time.Duration(*d) > limit {
			*d = models.Duration(limit)
		}
	}
	return t
}

func (r *run) add(l Line) {
	r.report.Lines = append(r.report.Lines, l)
	r.Progress(l)
}

func (r *run) ok(check, found string) { r.add(Line{Check: check, Status: OK, Found: found}) }

func (r *run) warn(check, cause, found, remedy string) {
	r.add(Line{Check: check, Status: Warn, Cause: cause, Found: found, Remedy: remedy})
}

// fail adds a line that ends the way up when block is set: the steps above are
// skipped.
func (r *run) fail(check, cause, found, remedy string, block bool) {
	r.add(Line{Check: check, Status: Fail, Cause: cause, Found: found, Remedy: remedy})
	if block && r.blocked == "" {
		r.blocked = check
	}
}

func (r *run) skip(check, found string) { r.add(Line{Check: check, Status: Skip, Found: found}) }

// skipped adds a line for a check whose ground is missing and reports whether it
// did.
func (r *run) skipped(check string) bool {
	if r.blocked == "" {
		return false
	}
	r.skip(check, "not looked at: "+r.blocked+" failed")
	return true
}

// splitOrigin takes scheme://host[:port][/prefix] apart.
func splitOrigin(server string) (origin, prefix string) {
	i := strings.Index(server, "://")
	if j := strings.IndexByte(server[i+3:], '/'); j >= 0 {
		return server[:i+3+j], server[i+3+j:]
	}
	return server, ""
}
