package transport

// StampSource says where arrival times come from.
type StampSource string

// The sources of arrival times, best first.
const (
	StampKernel StampSource = "kernel" // SO_TIMESTAMPNS: when the segment reached the host
	StampRead   StampSource = "read"   // when the connection's Read returned, before any parsing
)

// ClockReport says how far arrival times can be trusted.
//
// Kernel stamps are on the wall clock. OffsetNS = wall − monotonic translates
// them; only a step of the wall clock (never a slew, which moves both clocks
// alike) changes it. It is checked at every read.
type ClockReport struct {
	StampSource   StampSource `json:"stamp_source"` // of most reads; read when there were none
	KernelReads   int64       `json:"kernel_reads"` // reads stamped by the kernel
	OtherReads    int64       `json:"other_reads"`  // reads stamped at Read
	OffsetStartNS int64       `json:"offset_start_ns"`
	OffsetEndNS   int64       `json:"offset_end_ns"`
	Steps         int64       `json:"steps"` // steps of the wall clock by more than 200 µs
	LargestStepNS int64       `json:"largest_step_ns"`
	Rejected      int64       `json:"rejected"` // kernel stamps that could not be true and were replaced by the read's
	// ReadDelay*: how long data lay in the socket before the client read it
	// (read − kernel stamp); what a client without kernel stamps would have
	// added to every time. Upper bounds of the histogram's buckets, 0 without kernel stamps.
	ReadDelayP50NS int64 `json:"read_delay_p50_ns"`
	ReadDelayP99NS int64 `json:"read_delay_p99_ns"`
	ReadDelayMaxNS int64 `json:"read_delay_max_ns"`
}
