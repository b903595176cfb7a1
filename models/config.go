package models

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Config describes one model service: where it is, which wire protocol it
// speaks and how it is to be asked. Field names are AISBench's where AISBench
// has one.
//
// Values of api_key, headers and proxy may refer to the environment as
// ${NAME}. They are resolved when a client is made and nowhere else, so a
// Config can be printed; use Redacted for that all the same, because a user may
// have written a key in clear.
type Config struct {
	Abbr        string `yaml:"abbr,omitempty"`        // unique short name; names the output files
	Type        string `yaml:"type,omitempty"`        // wire protocol, one of Types (AISBench's class names are understood)
	Attr        string `yaml:"attr,omitempty"`        // "service"; AISBench's "local" is not supported
	Description string `yaml:"description,omitempty"` // one line for `models list`

	Path  string `yaml:"path,omitempty"`  // tokenizer directory or file
	Model string `yaml:"model,omitempty"` // served model name; "" = the first of /v1/models

	Stream    bool   `yaml:"stream"`
	HostIP    string `yaml:"host_ip,omitempty"` // IPv4, IPv6 or host name
	HostPort  int    `yaml:"host_port,omitempty"`
	URL       string `yaml:"url,omitempty"`        // base URL; wins over host_ip and host_port
	EnableSSL bool   `yaml:"enable_ssl,omitempty"` // https for host_ip:host_port

	APIKey  string            `yaml:"api_key,omitempty"` // sent as a bearer token
	Headers map[string]string `yaml:"headers,omitempty"` // added to every request

	RequestRate  float64    `yaml:"request_rate,omitempty"`  // requests/s; 0 = as fast as the concurrency allows
	UseTimestamp bool       `yaml:"use_timestamp,omitempty"` // arrivals from the data set's time stamps
	TrafficCfg   TrafficCfg `yaml:"traffic_cfg,omitempty"`
	Retry        int        `yaml:"retry,omitempty"`      // attempts after the first failed one (accuracy runs only)
	BatchSize    int        `yaml:"batch_size,omitempty"` // requests in flight at most; 0 = 1

	MaxOutLen         int            `yaml:"max_out_len,omitempty"`       // max_tokens; 0 leaves it to the server
	GenerationKwargs  map[string]any `yaml:"generation_kwargs,omitempty"` // merged into every request body
	PredPostprocessor string         `yaml:"pred_postprocessor,omitempty"`
	ReturnsToolCalls  bool           `yaml:"returns_tool_calls,omitempty"`
	TrustRemoteCode   bool           `yaml:"trust_remote_code,omitempty"` // accepted for AISBench's sake; no model code is ever run
	ChatTemplate      string         `yaml:"chat_template,omitempty"`     // path of a Jinja template for completions protocols; "" = that of the tokenizer at Path
	// SkipChatTemplate joins the turns of a conversation with line ends for
	// completions protocols, whatever template is known.
	SkipChatTemplate bool `yaml:"skip_chat_template,omitempty"`

	Timeouts Timeouts `yaml:"timeouts,omitempty"`
	Insecure bool     `yaml:"insecure,omitempty"` // accept any TLS certificate
	CAFile   string   `yaml:"ca_file,omitempty"`  // PEM file of extra certificate authorities
	Proxy    string   `yaml:"proxy,omitempty"`    // "" = none, "env" = the environment's, or http(s)://host:port

	Sim map[string]any `yaml:"sim,omitempty"` // options of the built-in simulator (sim_* types only)
}

// TrafficCfg shapes the arrivals (AISBench's traffic_cfg).
type TrafficCfg struct {
	Burstiness      float64 `yaml:"burstiness,omitempty"`         // gamma shape; 0 = 1 = Poisson
	RampUpStrategy  string  `yaml:"ramp_up_strategy,omitempty"`   // linear or exponential
	RampUpStartRPS  float64 `yaml:"ramp_up_start_rps,omitempty"`  // requests/s
	RampUpEndRPS    float64 `yaml:"ramp_up_end_rps,omitempty"`    // requests/s
	RampUpDurationS float64 `yaml:"ramp_up_duration_s,omitempty"` // 0 = over the whole run
}

// Timeouts bound the phases of one request; 0 = no bound. Each has its own
// class of failure.
type Timeouts struct {
	Connect    Duration `yaml:"connect,omitempty"`     // name look-up, TCP and TLS hand-shake
	FirstToken Duration `yaml:"first_token,omitempty"` // from sent to the first payload event (streams)
	Idle       Duration `yaml:"idle,omitempty"`        // between two events once the first token is there
	Total      Duration `yaml:"total,omitempty"`       // from sent to the end
}

// Duration is a time span in YAML: a Go duration ("1m30s") or a number of seconds.
type Duration time.Duration

// MarshalYAML writes the Go form.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// UnmarshalYAML reads either form.
func (d *Duration) UnmarshalYAML(unmarshal func(any) error) error {
	var v any
	if err := unmarshal(&v); err != nil {
		return err
	}
	parsed, err := ParseDuration(fmt.Sprint(v))
	*d = parsed
	return err
}

// ParseDuration reads a Go duration ("1m30s") or a number of seconds ("90").
func ParseDuration(s string) (Duration, error) {
	s = strings.TrimSpace(s)
	if d, err := time.ParseDuration(s); err == nil {
		if d < 0 {
			return 0, fmt.Errorf("duration %q is negative; use 0 for no limit", s)
		}
		return Duration(d), nil
	}
	var sec float64
	if n, err := fmt.Sscanf(s, "%g", &sec); n != 1 || err != nil || strings.TrimLeft(s, "0123456789.eE+-") != "" ||
		math.IsNaN(sec) || sec < 0 || sec > 1e9 {
		return 0, fmt.Errorf("duration %q is neither a number of seconds nor like 1m30s", s)
	}
	return Duration(sec * float64(time.Second)), nil
}

// Protocol is a wire protocol a client can speak.
type Protocol string

// The wire protocols.
const (
	Chat        Protocol = "chat"        // POST {root}/v1/chat/completions
	Completions Protocol = "completions" // POST {root}/v1/completions
	Generate    Protocol = "generate"    // POST {root}/generate (SGLang's native one)
	TGI         Protocol = "tgi"         // POST {root}/generate_stream (Text Generation Inference's own)
	Embeddings  Protocol = "embeddings"  // POST {root}/v1/embeddings: numbers, no text, no stream
	Rerank      Protocol = "rerank"      // POST {root}/v1/rerank: the same
)

// Types maps each value of Config.Type to its protocol. AISBench's class names
// stand beside ours so that its configurations translate word by word.
var Types = map[string]Protocol{
	"openai_chat":         Chat,
	"openai_completions":  Completions,
	"sglang_generate":     Generate,
	"tgi_generate_stream": TGI,
	"openai_embeddings":   Embeddings,
	"openai_rerank":       Rerank,
	"sim_chat":            Chat,
	"sim_completions":     Completions,
	"VLLMCustomAPIChat":   Chat,
	"VLLMCustomAPI":       Completions,
	"VLLMCustomAPIStream": Completions,

	"VLLMCustomAPIChatStream":    Chat,
	"VllmMultiturnAPIChatStream": Chat,
	"VLLMFunctionCallAPIChat":    Chat,
}

// Protocol is the wire protocol of the configured type, "" when unknown.
func (c Config) Protocol() Protocol { return Types[c.Type] }

// Generates reports whether answers are generated text: embeddings and rankings are
// numbers, of which no output tokens are counted.
func (c Config) Generates() bool {
	p := c.Protocol()
	return p != Embeddings && p != Rerank
}

// Simulated reports whether the caller has to start the built-in simulator and
// put its address into URL before making a client.
func (c Config) Simulated() bool { return strings.HasPrefix(c.Type, "sim_") }
