package bench

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"ais_bench/datasets/workloads"
	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/tasks"
	"ais_bench/tasks/load"
)

// Options is everything a benchmark can be told, whatever the flags are called.
type Options struct {
	// The service.
	Backend         string // of BackendNames
	BaseURL         string // with or without path prefix and version; wins over Host and Port
	Host            string // "" = 127.0.0.1
	Port            int    // 0 = the backend's default
	Endpoint        string // path; "" = the backend's
	Model           string // model id; "" = the first of /v1/models
	ServedModelName string // what requests name; "" = Model
	// AnyModel takes the one model that is served where Model is a folder or
	// another name for it (throughput and latency, whose --model is what an engine
	// would load).
	AnyModel bool
	Headers  map[string]string
	APIKey   string // "${OPENAI_API_KEY}" or a key
	Insecure bool
	CAFile   string
	Proxy    string // "" = none, env, or http(s)://host:port
	Timeouts models.Timeouts
	Stream   bool
	Body     map[string]any // sampling parameters and whatever else every body gets

	// The tokenizer.
	Tokenizer        string // folder, file or hub id; "" = the model's
	TokenizerMode    string // of tokenizer.Resolve
	SkipChatTemplate bool   // completions endpoints get conversations without the model's template
	ChatTemplate     string // Jinja file; "" = the tokenizer's

	// What is asked.
	Dataset   string           // workload, or a data set of the registry
	Workload  workloads.Config // Tokenizer, ChatTemplate, Seed and IgnoreEOS are filled in by Prepare
	ConfigDir string           // the user's own data set configurations; "" = none
	IgnoreEOS Choice

	LoRAModules    []string
	LoRAAssignment string  // random (default), round-robin or skewed
	LoRAAlpha      float64 // of skewed
	TokenizePrompt bool    // send token ids in place of the prompts' text

	// The load.
	RequestRate    float64 // requests/s; 0 or +Inf = all at once
	Burstiness     float64 // gamma shape; 0 = 1
	MaxConcurrency int     // 0 = no bound
	RampUp         string  // "", linear or exponential
	RampStart      float64
	RampEnd        float64
	SelfTimed      Choice  // arrivals from the workload's time stamps
	ReplaySpeed    float64 // how much faster than recorded; 0 = 1
	Batch          int     // > 0: in rounds of so many (latency)
	NumWarmups     int
	ReadyTimeout   time.Duration // how long to wait for a server that is coming up
	ProbeRate      float64       // side requests/s; 0 = none
	FlushCache     bool          // empty the server's prefix cache before the measured phase
	SpecDecode     bool          // speculative-decoding counters of the server before and after
	Profile        bool          // POST /start_profile and /stop_profile around the measured phase

	// PrefixRounds > 0 asks the same requests cold and warm, so many times.
	PrefixRounds int

	tasks.ServerOptions // how the server is watched, and the state of its cache

	// The run.
	Seed            int64
	RequestIDPrefix string
	WorkDir         string
	RunDir          string // folder of the run, which must not exist; "" = a new one below WorkDir
	NoStorePrompts  bool
	Drain           time.Duration
	Tool            outputs.ToolInfo
	Args            []string
	Attached        []tasks.Attachment // stored with the run
	Observer        tasks.Observer
	Stop            <-chan struct{}
	Cut             <-chan struct{} // tasks.Options.Cut
}

// Choice is yes, no, or left to the rule.
type Choice int

// The choices.
const (
	Auto Choice = iota
	Yes
	No
)

// check finds what cannot be meant before anything is sent.
func (o *Options) check() error {
	switch {
	case math.IsNaN(o.RequestRate) || o.RequestRate < 0:
		return fmt.Errorf("--request-rate %g: give a rate above 0, or inf", o.RequestRate)
	case math.IsNaN(o.Burstiness) || o.Burstiness < 0:
		return fmt.Errorf("--burstiness %g: give a number above 0 (1 = Poisson, below 1 = burstier, inf = constant gaps)", o.Burstiness)
	case o.MaxConcurrency < 0 || o.MaxConcurrency > maxConcurrency:
		return fmt.Errorf("--max-concurrency %d: give 1 to %d", o.MaxConcurrency, maxConcurrency)
	case o.NumWarmups < 0 || o.NumWarmups > workloads.MaxRequests:
		return fmt.Errorf("--num-warmups %d: give 0 to %d", o.NumWarmups, workloads.MaxRequests)
	case !(o.ReplaySpeed >= 0) || math.IsInf(o.ReplaySpeed, 1):
		return fmt.Errorf("--replay-speed %g: give a number above 0", o.ReplaySpeed)
	case o.ProbeRate < 0 || math.IsNaN(o.ProbeRate) || math.IsInf(o.ProbeRate, 0):
		return fmt.Errorf("--probe-request-rate %g: give a rate of 0 (none) or more", o.ProbeRate)
	case o.ProbeRate > 0 && 1/o.ProbeRate > load.MaxSpan.Seconds():
		return fmt.Errorf("--probe-request-rate %g: the next side request would be sent after %.3g days; at most %.0f can be planned: raise it, or leave it out", o.ProbeRate, 1/o.ProbeRate/86400, load.MaxSpan.Hours()/24)
	case o.RampUp == "" && (o.RampStart != 0 || o.RampEnd != 0):
		return errors.New("--ramp-up-start-rps and --ramp-up-end-rps need --ramp-up-strategy linear or exponential")
	case o.RampUp != "" && o.RequestRate != 0 && !math.IsInf(o.RequestRate, 1):
		return errors.New("--request-rate and --ramp-up-strategy exclude each other: the ramp sets the rate")
	case o.RampUp != "" && (o.RampStart < 0 || o.RampEnd <= 0 || o.RampStart > o.RampEnd):
		return fmt.Errorf("--ramp-up-start-rps %g and --ramp-up-end-rps %g: both are needed, with 0 ≤ start ≤ end and end above 0", o.RampStart, o.RampEnd)
	case o.RampUp == "exponential" && o.RampStart == 0:
		return errors.New("--ramp-up-start-rps 0: an exponential ramp cannot start at 0")
	case o.RampUp != "" && o.RampUp != "linear" && o.RampUp != "exponential":
		return fmt.Errorf("--ramp-up-strategy %q: give linear or exponential", o.RampUp)
	}
	if len(o.LoRAModules) == 0 && o.LoRAAssignment != "" && o.LoRAAssignment != workloads.LoRARandom {
		return errors.New("--lora-assignment needs --lora-modules")
	}
	for k := range o.Headers {
		if strings.TrimSpace(k) == "" {
			return errors.New("--header: a header has no name; write NAME=VALUE")
		}
	}
	return nil
}

// maxConcurrency is the largest bound on requests in flight a model
// configuration takes.
const maxConcurrency = 100000
