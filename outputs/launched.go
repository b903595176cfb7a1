package outputs

// LaunchedEngine is an inference engine that the run started itself (--launch):
// what was started, in which surroundings, and how it ended.
type LaunchedEngine struct {
	Command    string            `json:"command"` // as given to the shell, placeholders filled in
	Executable string            `json:"executable,omitempty"`
	Env        map[string]string `json:"env"` // the variables that engines read; secrets blanked out
	// Versions are those of the installed packages and of the driver, by name.
	Versions map[string]string `json:"versions"`
	// Accelerators is null where no tool that lists them is installed.
	Accelerators []Accelerator `json:"accelerators"`
	// OtherProcesses were on the accelerators before the engine was started.
	OtherProcesses []AcceleratorProcess `json:"other_processes,omitempty"`
	StartedAt      string               `json:"started_at"` // RFC 3339
	ReadyAfterS    *float64             `json:"ready_after_s"`
	// Died is how the engine ended by itself before it was stopped; null when it did
	// not.
	Died *string `json:"died"`
	Log  string  `json:"log,omitempty"` // relative to the run folder
}

// Accelerator is one GPU or NPU. Memory is in MiB.
type Accelerator struct {
	Index          string   `json:"index"`
	Name           string   `json:"name"`
	ID             string   `json:"id,omitempty"` // uuid or bus id
	MemoryTotalMiB *float64 `json:"memory_total_mib"`
	MemoryUsedMiB  *float64 `json:"memory_used_mib"` // before the engine was started
	Utilization    *float64 `json:"utilization_percent"`
}

// AcceleratorProcess is a process that holds memory of an accelerator.
type AcceleratorProcess struct {
	Accelerator string   `json:"accelerator"` // its index
	PID         int      `json:"pid"`
	Name        string   `json:"name"`
	MemoryMiB   *float64 `json:"memory_mib"`
}
