package metrics

// Result is the strict profile of one set of records. Its JSON keys are stable:
// contracts address them (ttft.p99_ms). Undefined is null.
type Result struct {
	Profile string `json:"profile"` // strict
	Model   string `json:"model"`
	Dataset string `json:"dataset"`

	Requests Requests `json:"requests"`

	// DurationS is from the first scheduled request to the end of the last one,
	// failed ones included.
	DurationS            *float64 `json:"duration_s"`
	RequestThroughput    *float64 `json:"request_throughput"` // successful requests/s
	InputThroughput      *float64 `json:"input_throughput"`   // tokens/s of successful requests with a known count
	OutputThroughput     *float64 `json:"output_throughput"`
	TotalTokenThroughput *float64 `json:"total_token_throughput"`
	// PeakOutputThroughput is the most output tokens in any window of 1 s (on a
	// grid of 10 ms), tokens counted, not chunks; failed requests' tokens too. Undefined for a run
	// shorter than the window.
	PeakOutputThroughput *float64 `json:"peak_output_throughput"`
	TotalInputTokens     *int64   `json:"total_input_tokens"`
	TotalOutputTokens    *int64   `json:"total_output_tokens"`
	CachedTokens         *int64   `json:"cached_tokens"`
	ReasoningTokens      *int64   `json:"reasoning_tokens"`
	AvgConcurrency       *float64 `json:"avg_concurrency"` // ∫ in flight dt / duration
	MaxConcurrency       *int64   `json:"max_concurrency"` // event sweep, an end before a start of the same instant
	RequestGoodput       *float64 `json:"request_goodput"` // requests/s that kept all SLOs; null without SLOs
	GoodputShare         *float64 `json:"goodput_share"`   // of all requests

	Attainment []Attainment `json:"slo_attainment"`

	E2EL                   Stat `json:"e2el"`
	TTFT                   Stat `json:"ttft"`
	TTFAT                  Stat `json:"ttfat"` // only requests that reasoned
	TPOT                   Stat `json:"tpot"`
	ITL                    Stat `json:"itl"`           // per chunk gap
	ITLPerToken            Stat `json:"itl_per_token"` // where the tokens of chunks are known
	E2ELScheduled          Stat `json:"e2el_scheduled"`
	TTFTScheduled          Stat `json:"ttft_scheduled"`
	ClientQueueTime        Stat `json:"client_queue_time"` // sent − scheduled, failed requests too
	ConnectTime            Stat `json:"connect_time"`      // only new connections
	MaxStall               Stat `json:"max_stall"`
	InputTokens            Stat `json:"input_tokens"`
	OutputTokens           Stat `json:"output_tokens"`
	OutputTokenThroughput  Stat `json:"output_token_throughput"`
	PrefillTokenThroughput Stat `json:"prefill_token_throughput"`

	FinishReasons map[string]Share `json:"finish_reasons"` // of successful requests; "none" where there was none
	TokenSources  map[string]Share `json:"token_sources"`  // of successful requests
	// StoppedEarlyShare is the share of successful requests with a known length
	// limit that ended by themselves below it.
	StoppedEarlyShare *float64 `json:"stopped_early_share"`
	ZeroITLShare      *float64 `json:"zero_itl_share"`     // gaps of 0: chunks that arrived together
	CoalescedShare    *float64 `json:"coalesced_share"`    // events that shared their read with an earlier one
	TokensPerChunk    *float64 `json:"tokens_per_chunk"`   // mean over successful streams
	KernelStampShare  *float64 `json:"kernel_stamp_share"` // of requests with a response
	ReusedShare       *float64 `json:"reused_share"`       // requests on a reused connection
	StreamShare       *float64 `json:"stream_share"`       // requests asked as a stream
	ITLTokensKnown    *float64 `json:"itl_tokens_known"`   // share of gaps whose tokens are known
	ByLength          []Bucket `json:"by_input_length"`    // requests by input tokens
	ITLByPosition     []Place  `json:"itl_by_position"`    // does it slow down late in long answers?
	Series            Series   `json:"time_series"`
	Stable            Stable   `json:"stable_stage"`
}

// Requests counts requests and what became of them.
type Requests struct {
	Total   int64 `json:"total"` // requests, a retried one counted once
	Success int64 `json:"success"`
	Failed  int64 `json:"failed"`
	// Cancelled were cut off by the user: they did not fail, and are no part of Total.
	Cancelled int64 `json:"cancelled"`
	Attempts  int64 `json:"attempts"` // rows of the records file
	Retries   int64 `json:"retries"`
	Resends   int64 `json:"resends"` // by the transport, because a reused connection was stale
	// FailedShare is failed/total.
	FailedShare *float64         `json:"failed_share"`
	ByStatus    map[string]int64 `json:"by_status"` // attempts
}

// Share is a count and its part of the whole.
type Share struct {
	N     int64   `json:"n"`
	Share float64 `json:"share"`
}

// Bucket is the figures of the requests of one range of input tokens.
type Bucket struct {
	Name         string `json:"name"`
	MinTokens    int    `json:"min_tokens"`
	MaxTokens    *int   `json:"max_tokens"` // inclusive; null = no bound
	Requests     int64  `json:"requests"`
	Success      int64  `json:"success"`
	TTFT         Stat   `json:"ttft"`
	TPOT         Stat   `json:"tpot"`
	E2EL         Stat   `json:"e2el"`
	OutputTokens Stat   `json:"output_tokens"`
}

// Place is the gaps before output tokens From…To of their answers.
type Place struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	ITL  Stat  `json:"itl"`
}

// Series are figures per step of time from the first scheduled request.
type Series struct {
	StepS        float64    `json:"step_s"`
	Arrivals     []int64    `json:"arrivals"` // sent
	Completions  []int64    `json:"completions"`
	InFlight     []int64    `json:"in_flight"` // the most at once within the step
	OutputTokens []int64    `json:"output_tokens"`
	TTFTMeanMS   []*float64 `json:"ttft_mean_ms"` // by the time of the first token
}

// Stable is the robust stable stage: the longest window during which the number
// of requests in flight never falls below 95 % of its peak. Tokens are counted
// when they arrived (to 10 ms), requests when they ended, so that counts and
// window coincide.
type Stable struct {
	Exists  bool   `json:"exists"`
	Reason  string `json:"reason"`  // why there is none; ""
	Warning string `json:"warning"` // why it says little; ""

	StartS               *float64 `json:"start_s"` // since the first scheduled request
	EndS                 *float64 `json:"end_s"`
	DurationS            *float64 `json:"duration_s"`
	ShareOfRun           *float64 `json:"share_of_run"`
	PeakConcurrency      *int64   `json:"peak_concurrency"`
	MinConcurrency       *int64   `json:"min_concurrency"` // ⌈0.95·peak⌉
	AvgConcurrency       *float64 `json:"avg_concurrency"`
	Completed            *int64   `json:"completed"`              // successful requests that ended inside
	RequestThroughput    *float64 `json:"request_throughput"`     // completed / duration
	OutputThroughput     *float64 `json:"output_throughput"`      // tokens by their own time / duration
	InputThroughput      *float64 `json:"input_throughput"`       // of requests whose first token lies inside
	TotalTokenThroughput *float64 `json:"total_token_throughput"` // both
}
