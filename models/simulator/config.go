package simulator

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"ais_bench/registry"
)

// Config holds every knob of a Server. A zero field means its default, given in
// brackets; negative values are errors unless a comment says otherwise.
type Config struct {
	// Identity and access.
	ServedModelNames []string      // names accepted in "model"; the first one is the id [sim]
	APIKey           string        // when set, requests without "Authorization: Bearer <key>" get 401 []
	RootPath         string        // everything lies below this path and nothing beside it, as behind a gateway (/api) []
	Flavor           string        // whose metric names /metrics speaks: vllm or sglang [vllm]
	NoDevMode        bool          // what vLLM serves only in its development mode (/server_info, cache resets) is not there [false]
	Seed             int64         // seed of everything random [0]
	MaxModelLen      int           // longest prompt + output in tokens [131072]
	KeepAlive        time.Duration // idle time after which a connection is closed, as uvicorn does; < 0 never [5s]

	// Engine: how batching and memory behave (see engine.go).
	MaxNumSeqs           int  // sequences running at once [256]
	MaxNumBatchedTokens  int  // tokens of one step, prefill chunks included [8192]
	NumGPUBlocks         int  // KV blocks [32768]
	BlockSize            int  // tokens a KV block [16]
	DisablePrefixCaching bool // no reuse of KV blocks between requests [false]

	// Step time (see steptime.go): base + prefill·a + decode·b + context·c, all times TimeScale.
	// Preset fills the four costs that are zero; explicit values win.
	Preset        string        // fast, instant, h100-8b, h100-70b-tp8 or a100-8b [fast]
	StepBase      time.Duration // cost of a step [preset]
	PrefillCost   time.Duration // per prefilled token [preset]
	DecodeCost    time.Duration // per decoding sequence [preset]
	ContextCost   time.Duration // per 1,000 tokens of context held by decoding sequences [preset]
	TimeScale     float64       // multiplies every duration of the latency model [1]
	LatencyTail   string        // multiplies each step (engine) or gap (paced): lognormal:SIGMA or pareto:ALPHA, mean 1 []
	LatencyDrift  float64       // relative slowing per minute of run time: 0.1 is +10 % a minute; may be negative [0]
	PositionDrift float64       // relative slowing per 1,000 output tokens of a stream, paced mode only [0]

	// Paced mode: with TokensPerSecond > 0 every stream has its own absolute schedule
	// (arrival + TTFT + i/rate) and the engine is not used.
	TokensPerSecond float64       // tokens per second of each stream [0 = engine]
	TTFT            time.Duration // time to first token in paced mode [50ms]
	TimerQuantum    time.Duration // chunks due within this time may share a wake-up [500µs]
	Workers         int           // goroutines that write chunks [half the CPUs, at least 1]

	// What is said.
	OutputLen       int       // mean output tokens where nothing else decides it [128]
	OutputLenSigma  float64   // sigma of the lognormal around OutputLen; < 0 means constant [0.4]
	Answers         string    // file (jsonl, json, csv; .gz) of questions and gold answers []
	AnswersData     []byte    // the same as bytes, JSON lines; wins over Answers []
	Accuracy        float64   // share of questions answered right; < 0 means 0 [1]
	AnswerTemplate  string    // text of an answer; {answer}, {solution} and {letter} are replaced [by kind of row]
	VaryByRepeat    bool      // decide anew for the k-th time a question is asked (for pass@k) [false]
	AnswersLog      io.Writer // one JSON line per answer given: request id, question id, right []
	ReasoningTokens int       // tokens of reasoning before the answer [0]
	ReasoningField  string    // reasoning_content, reasoning, or think (tags inside the content) [reasoning_content]
	ToolCalls       bool      // answer with a tool call whenever the request offers tools [only when tool_choice demands it]

	// Shape of the stream (see writer.go).
	Shape Shape

	// Faults by rate (see faults.go); the X-Sim-Fault request header adds one to a single request.
	Faults         []Fault
	RetryAfter     time.Duration // the Retry-After of 429 and 503 faults [1s]
	NoHeaderFaults bool          // ignore the X-Sim-Fault header [false]

	// Truth receives the time of every chunk written; nil records nothing.
	Truth TruthSink

	// Log receives one line per unusual event (a worker that fell behind, a refused connection); nil discards.
	Log io.Writer
}

// Shape says how tokens are packed into events and events into writes. The
// zero Shape is vLLM's: a role-only first delta together with the first
// token, one token an event, one event a write, usage where asked for.
type Shape struct {
	TokensPerChunk int    // tokens of one event (speculative decoding, token holding parsers) [1]
	EventsPerWrite int    // events coalesced into one write call, as a buffering proxy does [1]
	RoleDelta      string // first-token, accept (as soon as the request is accepted) or none [first-token]
	Usage          string // auto (as stream_options asks), last, every or none [auto]
	OneByteWrites  bool   // every byte in a write call of its own
	CRLF           bool   // lines end in \r\n
	NoSpace        bool   // data:{...} without a blank after the colon
	Comments       int    // a ": keep-alive" comment before every N-th event [0 = none]
	NoDone         bool   // no data: [DONE] at the end of OpenAI streams
}

// withDefaults fills zero fields and checks the rest. Every error names the
// field by its command-line flag.
func (c Config) withDefaults() (Config, error) {
	setStrings(&c.ServedModelNames, "sim")
	setString(&c.Flavor, "vllm")
	setInt(&c.MaxModelLen, 131072)
	setDuration(&c.KeepAlive, 5*time.Second)
	setInt(&c.MaxNumSeqs, 256)
	setInt(&c.MaxNumBatchedTokens, 8192)
	setInt(&c.NumGPUBlocks, 32768)
	setInt(&c.BlockSize, 16)
	setString(&c.Preset, "fast")
	setFloat(&c.TimeScale, 1)
	setDuration(&c.TTFT, 50*time.Millisecond)
	setDuration(&c.TimerQuantum, 500*time.Microsecond)
	setInt(&c.Workers, max(1, runtime.GOMAXPROCS(0)/2))
	setInt(&c.OutputLen, 128)
	setFloat(&c.OutputLenSigma, 0.4)
	setFloat(&c.Accuracy, 1)
	setString(&c.ReasoningField, "reasoning_content")
	setDuration(&c.RetryAfter, time.Second)
	setInt(&c.Shape.TokensPerChunk, 1)
	setInt(&c.Shape.EventsPerWrite, 1)
	setString(&c.Shape.RoleDelta, "first-token")
	setString(&c.Shape.Usage, "auto")
	if c.RootPath = strings.Trim(c.RootPath, "/"); c.RootPath != "" {
		c.RootPath = "/" + c.RootPath
	}
	c.Accuracy = max(c.Accuracy, 0)
	c.OutputLenSigma = max(c.OutputLenSigma, 0)

	p, ok := presets[c.Preset]
	if !ok {
		return c, fmt.Errorf("--preset %q is not known%s; it is one of %s", c.Preset, registry.DidYouMean(c.Preset, PresetNames()), strings.Join(PresetNames(), ", "))
	}
	setDuration(&c.StepBase, p.base)
	setDuration(&c.PrefillCost, p.prefill)
	setDuration(&c.DecodeCost, p.decode)
	setDuration(&c.ContextCost, p.context)

	for _, f := range []struct {
		flag string
		v    float64
	}{
		{"--max-model-len", float64(c.MaxModelLen)}, {"--max-num-seqs", float64(c.MaxNumSeqs)},
		{"--max-num-batched-tokens", float64(c.MaxNumBatchedTokens)}, {"--num-gpu-blocks", float64(c.NumGPUBlocks)},
		{"--block-size", float64(c.BlockSize)}, {"--step-base", float64(c.StepBase)}, {"--prefill-cost", float64(c.PrefillCost)},
		{"--decode-cost", float64(c.DecodeCost)}, {"--context-cost", float64(c.ContextCost)}, {"--time-scale", c.TimeScale},
		{"--tokens-per-second", c.TokensPerSecond}, {"--ttft", float64(c.TTFT)}, {"--timer-quantum", float64(c.TimerQuantum)},
		{"--workers", float64(c.Workers)}, {"--output-len", float64(c.OutputLen)}, {"--reasoning-tokens", float64(c.ReasoningTokens)},
		{"--retry-after", float64(c.RetryAfter)}, {"--tokens-per-chunk", float64(c.Shape.TokensPerChunk)},
		{"--events-per-write", float64(c.Shape.EventsPerWrite)}, {"--comments", float64(c.Shape.Comments)},
	} {
		if f.v < 0 || math.IsNaN(f.v) || math.IsInf(f.v, 0) {
			return c, fmt.Errorf("%s must not be negative or infinite", f.flag)
		}
	}
	if c.Accuracy > 1 || math.IsNaN(c.Accuracy) {
		return c, fmt.Errorf("--accuracy %v must lie between 0 and 1", c.Accuracy)
	}
	for _, f := range []struct {
		flag, v string
		allowed []string
	}{
		{"--metrics-flavor", c.Flavor, []string{"vllm", "sglang"}},
		{"--reasoning-field", c.ReasoningField, []string{"reasoning_content", "reasoning", "think"}},
		{"--role-delta", c.Shape.RoleDelta, []string{"first-token", "accept", "none"}},
		{"--usage", c.Shape.Usage, []string{"auto", "last", "every", "none"}},
	} {
		if !slices.Contains(f.allowed, f.v) {
			return c, fmt.Errorf("%s %q must be one of %s", f.flag, f.v, strings.Join(f.allowed, ", "))
		}
	}
	if c.TokensPerSecond > 1e6 {
		return c, fmt.Errorf("--tokens-per-second %v is beyond one a microsecond", c.TokensPerSecond)
	}
	if c.TokensPerSecond == 0 { // a sequence that does not fit into an empty cache would wait for ever
		c.MaxModelLen = min(c.MaxModelLen, c.NumGPUBlocks*c.BlockSize)
	}
	if slices.Contains(c.ServedModelNames, "") {
		return c, fmt.Errorf("--served-model-name must not be empty")
	}
	return c, nil
}

func setString(p *string, v string) {
	if *p == "" {
		*p = v
	}
}

func setStrings(p *[]string, v string) {
	if len(*p) == 0 {
		*p = []string{v}
	}
}

func setInt(p *int, v int) {
	if *p == 0 {
		*p = v
	}
}

func setFloat(p *float64, v float64) {
	if *p == 0 {
		*p = v
	}
}

func setDuration(p *time.Duration, v time.Duration) {
	if *p == 0 {
		*p = v
	}
}
