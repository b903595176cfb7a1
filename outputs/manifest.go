package outputs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// RunState is where a run stands.
type RunState string

// The states. A run that was killed still says running; Interrupted is
// written by a run that could say so itself.
const (
	StateRunning     RunState = "running"
	StateDone        RunState = "done"
	StateInterrupted RunState = "interrupted"
	StateFailed      RunState = "failed"
)

// ManifestVersion is the version of manifest.json's shape.
const ManifestVersion = 1

// Manifest is manifest.json: everything that could change a number. Unknown
// is null or absent, never made up.
type Manifest struct {
	ManifestVersion int      `json:"manifest_version"`
	State           RunState `json:"state"`
	StateReason     string   `json:"state_reason,omitempty"`
	RunName         string   `json:"run"`
	StartedAt       string   `json:"started_at"` // RFC 3339 with zone
	UpdatedAt       string   `json:"updated_at"`
	EndedAt         *string  `json:"ended_at"`

	Tool    ToolInfo `json:"tool"`
	Command Command  `json:"command"` // that started the run; later ones are in Sessions

	// Sessions are the commands that worked on the run, the first one included.
	// Everything above and below describes the first; what a later session did
	// otherwise stands in its entry, so that going on never removes evidence.
	Sessions []Session `json:"sessions"`

	Configs  []ConfigFile   `json:"configs"`
	Data     []DataFile     `json:"data"`
	Seeds    map[string]any `json:"seeds"`    // by purpose: sampling, arrivals, shuffle …
	Sampling map[string]any `json:"sampling"` // by model: temperature, top_p, max_tokens, ignore_eos …
	Workload map[string]any `json:"workload"` // arrivals, concurrency, phases, counts

	ServerBefore *ServerSnapshot `json:"server_before"`
	ServerAfter  *ServerSnapshot `json:"server_after"`

	// Engine is the engine that the run started itself (--launch).
	Engine *LaunchedEngine `json:"engine,omitempty"`

	Host  HostInfo   `json:"host"`
	Clock *ClockInfo `json:"clock"`

	ClientHealth any `json:"client_health"` // summarizers' verdict on the client; null until the end
	Calibration  any `json:"calibration"`   // null without --calibrate

	Checklist []CheckItem    `json:"checklist"`
	Warnings  []string       `json:"warnings"`
	Pairs     []PairState    `json:"pairs"`
	Extra     map[string]any `json:"extra,omitempty"`
}

// ToolInfo identifies the program.
type ToolInfo struct {
	Name       string  `json:"name"`
	Version    string  `json:"version"`
	Commit     string  `json:"commit"`
	Dirty      bool    `json:"dirty"` // built from a changed tree
	GoVersion  string  `json:"go_version"`
	Repository *string `json:"surrounding_commit"` // commit of the repository the command was started in
}

// Command is how the run was started; secrets are redacted on writing.
type Command struct {
	Args       []string          `json:"args"`
	WorkingDir string            `json:"working_dir"`
	Env        map[string]string `json:"env,omitempty"` // only variables that the program reads
}

// Session is one command that worked on the run. Its times are on the run's
// clock: those of all sessions, and of all their records, count from the same
// zero.
type Session struct {
	Mode      string   `json:"mode"`
	State     RunState `json:"state"`
	StartedAt string   `json:"started_at"` // RFC 3339 with zone
	StartNS   int64    `json:"start_ns"`   // ns since zero_wall_time
	EndNS     *int64   `json:"end_ns"`     // null while it runs, and if it was killed
	Command   Command  `json:"command"`
	Requests  int64    `json:"questions_asked"` // in this session
	Errors    []string `json:"errors,omitempty"`

	// What it was asked with; absent where nothing was asked.
	Tool         *ToolInfo       `json:"tool,omitempty"`
	Host         *HostInfo       `json:"host,omitempty"` // where it is not the run's
	Seeds        map[string]any  `json:"seeds,omitempty"`
	Sampling     map[string]any  `json:"sampling,omitempty"`
	Workload     map[string]any  `json:"workload,omitempty"`
	ServerBefore *ServerSnapshot `json:"server_before,omitempty"`
	ServerAfter  *ServerSnapshot `json:"server_after,omitempty"`
	Engine       *LaunchedEngine `json:"engine,omitempty"`
	Clock        *ClockInfo      `json:"clock,omitempty"`
	Note         string          `json:"note,omitempty"`
}

// ConfigFile is one resolved configuration, stored under configs/.
type ConfigFile struct {
	Kind   string `json:"kind"` // model, dataset, summarizer, contract
	Name   string `json:"name"`
	Source string `json:"source"` // embedded, or the file it came from
	Path   string `json:"path"`   // relative to the run folder
	SHA256 string `json:"sha256"` // of the stored file
	// Session is the session it is of, counted from 1, where a later one used
	// another configuration under the same name; 0 = the first.
	Session int `json:"session,omitempty"`
}

// DataFile is one input file.
type DataFile struct {
	Dataset string `json:"dataset"`
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Bytes   int64  `json:"bytes"`
	Rows    int64  `json:"rows,omitempty"`
}

// ServerSnapshot is what the server said about itself.
type ServerSnapshot struct {
	TakenAt string             `json:"taken_at"`
	URL     string             `json:"url"`
	Engine  *string            `json:"engine"` // vllm, sglang …
	Version *string            `json:"version"`
	Models  any                `json:"models"`            // /v1/models
	Info    any                `json:"info,omitempty"`    // /server_info, /version …
	Metrics map[string]float64 `json:"metrics,omitempty"` // selected /metrics samples
	// Headers of an answer that tell what stands before the engine: a gateway, a proxy.
	Headers map[string]string `json:"headers,omitempty"`
	// Parameters are the server's settings by one name for every engine, each with
	// who says so.
	Parameters map[string]ServerParameter `json:"parameters,omitempty"`
	// PrefixCaching is on, off or unknown, with the evidence.
	PrefixCaching         string   `json:"prefix_caching,omitempty"`
	PrefixCachingEvidence string   `json:"prefix_caching_evidence,omitempty"`
	Errors                []string `json:"errors,omitempty"` // what could not be asked, and why
}

// ServerParameter is one setting of a server and who says so.
type ServerParameter struct {
	Value  any    `json:"value"`
	Source string `json:"source"`
}

// ClockInfo maps the records' times to wall time.
type ClockInfo struct {
	ZeroWall    string  `json:"zero_wall_time"`       // RFC 3339 with nanoseconds
	StampSource string  `json:"stamp_source"`         // kernel, userspace or mixed
	KernelShare float64 `json:"kernel_stamped_share"` // of records
	OffsetNS    *int64  `json:"realtime_offset_ns"`   // CLOCK_REALTIME - monotonic at the start
	DriftNS     *int64  `json:"realtime_drift_ns"`    // change of it until the end
	Steps       *int    `json:"realtime_steps"`       // jumps of the wall clock seen during the run
	Resolution  *int64  `json:"resolution_ns"`        // smallest difference seen between readings
	Note        string  `json:"note,omitempty"`
}

// The states of a pair.
const (
	PairPlanned     = "planned"     // nothing was asked yet, or the run was killed
	PairDone        = "done"        // every question has an answer
	PairInterrupted = "interrupted" // some questions were not asked
	PairFailed      = "failed"      // it ended early, or questions have no answer; Error says which
)

// PairState is how far one pair is.
type PairState struct {
	Model    string `json:"model"`
	Dataset  string `json:"dataset"`
	State    string `json:"state"`
	Requests int64  `json:"requests"` // questions that are due
	Failed   int64  `json:"failed"`   // of these asked without getting an answer
	// Cancelled were asked, but cut off by the user before their answer ended.
	Cancelled int64 `json:"cancelled,omitempty"`
	NotAsked  int64 `json:"not_asked,omitempty"`
	// Sessions that asked it. Above 1 its duration and throughput span pauses.
	Sessions int    `json:"sessions,omitempty"`
	Scoring  string `json:"scoring_error,omitempty"` // why the last scoring failed; the answers are there all the same
	Records  string `json:"records,omitempty"`       // path relative to the run folder
	SHA256   string `json:"sha256,omitempty"`        // of that file
	// Predictions, Results and Server are the hashes of the answers (predictions/), of
	// the scores (results/*.json) and of the server's metrics (server/*.parquet), as the
	// last session left them.
	Predictions string `json:"predictions_sha256,omitempty"`
	Results     string `json:"results_sha256,omitempty"`
	Server      string `json:"server_sha256,omitempty"`
	Error       string `json:"error,omitempty"`
}

// NewManifest starts the manifest of a run: state running, start time, host.
func NewManifest(r *Run, tool ToolInfo, args []string) *Manifest {
	host := Host()
	if tool.GoVersion == "" {
		tool.GoVersion = host.GoVersion
	}
	dir, _ := os.Getwd()
	return &Manifest{
		ManifestVersion: ManifestVersion, State: StateRunning, RunName: baseName(r.dir),
		StartedAt: time.Now().Format(time.RFC3339Nano), Tool: tool,
		Command: Command{Args: args, WorkingDir: dir}, Host: host,
		Configs: []ConfigFile{}, Data: []DataFile{}, Checklist: []CheckItem{}, Warnings: []string{}, Pairs: []PairState{}, Sessions: []Session{},
	}
}

// WriteManifest writes manifest.json atomically: a reader, and a run that is
// killed, see a whole one. Call it at the start, at the end and on
// interruption. It stamps UpdatedAt, and EndedAt once the state is final.
func (r *Run) WriteManifest(m *Manifest) error {
	now := time.Now().Format(time.RFC3339Nano)
	m.UpdatedAt = now
	if m.State != StateRunning && m.EndedAt == nil {
		m.EndedAt = &now
	}
	if m.State == StateRunning {
		m.EndedAt = nil
	}
	return writeJSONFile(r.ManifestPath(), m, r.Redactor())
}

// ReadManifest reads the run's manifest.
func (r *Run) ReadManifest() (*Manifest, error) {
	m := new(Manifest)
	if err := ReadJSON(r.ManifestPath(), m); err != nil {
		return nil, err
	}
	if m.ManifestVersion > ManifestVersion {
		return nil, fmt.Errorf("%s: manifest version %d is newer than this program (%d)", r.ManifestPath(), m.ManifestVersion, ManifestVersion)
	}
	return m, nil
}

// HashFile returns the SHA-256 of a file in hex, and its size.
func HashFile(path string) (sum string, size int64, err error) {
	f, err := OpenFile(path)
	if err != nil {
		return "", 0, fmt.Errorf("hash %s: %w", path, rootCause(err))
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, fmt.Errorf("hash %s: %w", path, rootCause(err))
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// SealRecords takes the path and the hash of a pair's records into its entry; of
// none it does nothing.
func (r *Run) SealRecords(p *PairState) error {
	path := r.RecordsPath(p.Model, p.Dataset)
	if path == "" {
		return nil
	}
	sum, _, err := HashFile(path)
	if err != nil {
		return err
	}
	p.Records, p.SHA256 = r.rel(path), sum
	return nil
}

// SealAnswers takes the hashes of a pair's predictions and scores into its
// entry; what is not there has none.
func (r *Run) SealAnswers(p *PairState) error {
	for _, f := range []struct {
		path string
		sum  *string
	}{{r.PredictionsPath(p.Model, p.Dataset), &p.Predictions}, {r.ResultsPath(p.Model, p.Dataset), &p.Results}, {r.ServerPath(p.Model, p.Dataset, "parquet"), &p.Server}} {
		sum, _, err := HashFile(f.path)
		if errors.Is(err, os.ErrNotExist) {
			sum, err = "", nil
		}
		if err != nil {
			return err
		}
		*f.sum = sum
	}
	return nil
}

// HashCheck is one file that a manifest gives a hash of, compared with the file.
type HashCheck struct {
	Path string // relative to the run folder
	What string // configuration, records, answers, scores
	Want string
	Got  string // "" when it could not be read, see Err
	Err  error
}

// OK reports whether the file is the one the manifest means.
func (h HashCheck) OK() bool { return h.Err == nil && h.Got == h.Want }

// CheckHashes recomputes the hashes of every file of the run that the manifest
// gives one of, in the manifest's order.
func (r *Run) CheckHashes(m *Manifest) []HashCheck {
	var out []HashCheck
	check := func(what, path, want string) {
		if path == "" || want == "" {
			return
		}
		h := HashCheck{Path: path, What: what, Want: want}
		h.Got, _, h.Err = HashFile(r.Path(path))
		out = append(out, h)
	}
	for _, c := range m.Configs {
		check("configuration", c.Path, c.SHA256)
	}
	for _, p := range m.Pairs {
		check("records", p.Records, p.SHA256)
		check("answers", r.rel(r.PredictionsPath(p.Model, p.Dataset)), p.Predictions)
		check("scores", r.rel(r.ResultsPath(p.Model, p.Dataset)), p.Results)
		check("server metrics", r.rel(r.ServerPath(p.Model, p.Dataset, "parquet")), p.Server)
	}
	return out
}

// VerifyHashes is CheckHashes as one error; it joins one line for each file that
// differs or is gone.
func (r *Run) VerifyHashes(m *Manifest) error {
	var errs []error
	for _, h := range r.CheckHashes(m) {
		if h.Err != nil {
			errs = append(errs, h.Err)
		} else if !h.OK() {
			errs = append(errs, fmt.Errorf("%s was changed: sha256 %s, manifest says %s", h.Path, h.Got, h.Want))
		}
	}
	return errors.Join(errs...)
}

// rel is a path relative to the run folder.
func (r *Run) rel(path string) string {
	if rel, err := filepath.Rel(r.dir, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}
