package summarizers

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"ais_bench/outputs"
)

// environmentFacts bounds what a server's own description may add to a report;
// the manifest has all of it.
const environmentFacts = 150

// environment is what a run ran in: the servers as they described themselves,
// the client's machine, its clock, versions, sessions and data.
func environment(m *outputs.Manifest) outputs.Section {
	s := outputs.Section{ID: "environment", Title: "Environment", Sheet: "Environment"}
	s.Tables = append(s.Tables, runTable(m))
	if m.ServerBefore != nil || m.ServerAfter != nil {
		s.Tables = append(s.Tables, serverTable("Server", m.ServerBefore, m.ServerAfter))
	}
	if m.Engine != nil {
		s.Tables = append(s.Tables, engineTable(m.Engine))
	}
	for i, ses := range m.Sessions {
		if i > 0 && (ses.ServerBefore != nil || ses.ServerAfter != nil) {
			s.Tables = append(s.Tables, serverTable(fmt.Sprintf("Server in session %d", i+1), ses.ServerBefore, ses.ServerAfter))
		}
	}
	if t := toldTable(m); len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
	s.Tables = append(s.Tables, hostTable(m.Host))
	if m.Clock != nil {
		s.Tables = append(s.Tables, clockTable(m.Clock))
	}
	if len(m.Sessions) > 1 {
		s.Tables = append(s.Tables, sessionsTable(m.Sessions))
	}
	if len(m.Data) > 0 {
		t := outputs.Table{ID: "data_files", Title: "Data files", Columns: []outputs.Column{{Name: "Dataset", Data: true}, {Name: "File", Data: true}, {Name: "Rows", Kind: outputs.KindInt}, {Name: "Bytes", Kind: outputs.KindInt}, {Name: "SHA-256"}}}
		for _, f := range m.Data {
			t.AddRow(f.Dataset, f.Path, f.Rows, f.Bytes, f.SHA256)
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

// facts is a table of names and values.
func facts(id, title string) outputs.Table {
	return outputs.Table{ID: id, Title: title, Columns: []outputs.Column{{Name: "Figure"}, {Name: "Value"}}}
}

// engineTable is the engine that the run started itself.
func engineTable(e *outputs.LaunchedEngine) outputs.Table {
	t := outputs.Table{ID: "engine", Title: "Engine started by the run", Columns: []outputs.Column{{Name: "Figure"}, {Name: "Value", Data: true}}}
	t.AddRow("command", e.Command)
	t.AddRow("program", known(e.Executable))
	t.AddRow("started", e.StartedAt)
	t.AddRow("ready after (s)", e.ReadyAfterS)
	t.AddRow("ended by itself", e.Died)
	for _, k := range sortedNames(e.Versions) {
		t.AddRow("version of "+k, e.Versions[k])
	}
	for _, k := range sortedNames(e.Env) {
		t.AddRow("variable "+k, e.Env[k])
	}
	for _, a := range e.Accelerators {
		t.AddRow("accelerator "+a.Index, a.Name)
	}
	for _, p := range e.OtherProcesses {
		t.AddRow(fmt.Sprintf("also on accelerator %s", p.Accelerator), fmt.Sprintf("%s (%d)", p.Name, p.PID))
	}
	return t
}

func runTable(m *outputs.Manifest) outputs.Table {
	t := facts("run", "Run")
	t.AddRow("state", string(m.State))
	if m.StateReason != "" {
		t.AddRow("reason of the state", m.StateReason)
	}
	t.AddRow("started", m.StartedAt)
	t.AddRow("ended", m.EndedAt)
	t.AddRow("tool", strings.TrimSpace(m.Tool.Name+" "+m.Tool.Version))
	t.AddRow("commit of the tool", known(m.Tool.Commit))
	t.AddRow("built from a changed tree", m.Tool.Dirty)
	t.AddRow("Go version", m.Tool.GoVersion)
	t.AddRow("commit of the surrounding repository", m.Tool.Repository)
	return t
}

// known is a text, or undefined where it is empty.
func known(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// serverTable sets what a server said before the run beside what it said after.
func serverTable(title string, before, after *outputs.ServerSnapshot) outputs.Table {
	t := outputs.Table{ID: "server", Title: title, Columns: []outputs.Column{{Name: "Figure"}, {Name: "Before", Data: true}, {Name: "After", Data: true}}}
	sides := [2]map[string]string{}
	var order []string
	for i, s := range []*outputs.ServerSnapshot{before, after} {
		sides[i] = map[string]string{}
		if s == nil {
			continue
		}
		put := func(k, v string) {
			if v == "" {
				return
			}
			if _, ok := sides[0][k]; !ok && sides[1][k] == "" {
				order = append(order, k)
			}
			sides[i][k] = v
		}
		put("asked at", s.TakenAt)
		put("address", s.URL)
		if s.Engine != nil {
			put("engine", *s.Engine)
		}
		if s.Version != nil {
			put("version", *s.Version)
		}
		flatten("models", plain(s.Models), put)
		flatten("info", plain(s.Info), put)
		for _, k := range sortedNames(s.Metrics) {
			put("metrics: "+k, strconv.FormatFloat(s.Metrics[k], 'g', -1, 64))
		}
		for k, e := range s.Errors {
			put(fmt.Sprintf("could not be asked (%d)", k+1), e)
		}
	}
	for i, k := range order {
		if i == environmentFacts {
			t.Notes = append(t.Notes, fmt.Sprintf("%d more in manifest.json", len(order)-i))
			break
		}
		t.AddRow(k, known(sides[0][k]), known(sides[1][k]))
	}
	return t
}

// flatten names every leaf of a JSON value by its path.
func flatten(path string, v any, put func(k, v string)) {
	switch x := v.(type) {
	case nil:
	case map[string]any:
		for _, k := range sortedNames(x) {
			flatten(path+"."+k, x[k], put)
		}
	case []any:
		if len(x) == 1 {
			flatten(path, x[0], put)
			return
		}
		for i, e := range x {
			flatten(fmt.Sprintf("%s[%d]", path, i), e, put)
		}
	case float64:
		put(path, strconv.FormatFloat(x, 'f', -1, 64))
	default:
		put(path, fmt.Sprint(x))
	}
}

// toldTable is what the user told of the server, and proxies that were used.
func toldTable(m *outputs.Manifest) outputs.Table {
	t := facts("told", "Told by the user, and on the way")
	t.Columns[1].Data = true
	for _, k := range sortedNames(m.Extra) {
		flatten(k, plain(m.Extra[k]), func(k, v string) {
			if len(t.Rows) < environmentFacts {
				t.AddRow(k, v)
			}
		})
	}
	return t
}

func hostTable(h outputs.HostInfo) outputs.Table {
	t := facts("host", "Client machine")
	t.AddRow("operating system", strings.TrimSpace(h.OS+" "+h.Arch))
	t.AddRow("kernel", h.Kernel)
	t.AddRow("processor", h.CPUModel)
	t.AddRow("logical processors usable", fmt.Sprint(h.CPUs))
	t.AddRow("threads running Go code at once", fmt.Sprint(h.GOMAXPROCS))
	if h.MemoryBytes != nil {
		t.AddRow("memory", fmt.Sprintf("%.1f GiB", float64(*h.MemoryBytes)/(1<<30)))
	}
	if h.OpenFiles != nil {
		t.AddRow("open files at most", fmt.Sprint(*h.OpenFiles))
	}
	t.AddRow("host name", known(h.Hostname))
	return t
}

func clockTable(c *outputs.ClockInfo) outputs.Table {
	t := facts("clock", "Clock")
	t.AddRow("zero of the records' times", c.ZeroWall)
	t.AddRow("arrivals stamped by", known(c.StampSource))
	t.AddRow("share stamped by the kernel", fmt.Sprintf("%.2f %%", 100*c.KernelShare))
	us := func(name string, v *int64) {
		if v == nil {
			t.AddRow(name, nil)
			return
		}
		t.AddRow(name, fmt.Sprintf("%.3f µs", float64(*v)/1e3))
	}
	us("drift of the wall clock during the run", c.DriftNS)
	us("smallest difference between two readings", c.Resolution)
	if c.Steps != nil {
		t.AddRow("jumps of the wall clock", fmt.Sprint(*c.Steps))
	}
	if c.Note != "" {
		t.AddRow("note", c.Note)
	}
	return t
}

func sessionsTable(list []outputs.Session) outputs.Table {
	t := outputs.Table{ID: "sessions", Title: "Sessions", Columns: []outputs.Column{{Name: "Session", Kind: outputs.KindInt}, {Name: "Mode"}, {Name: "State"}, {Name: "Started"},
		{Name: "Duration", Unit: "s", Kind: outputs.KindFloat, Format: "%.3f"}, {Name: "Questions asked", Kind: outputs.KindInt}, {Name: "Errors", Data: true}}}
	for i, s := range list {
		var took any
		if s.EndNS != nil {
			took = float64(*s.EndNS-s.StartNS) / 1e9
		}
		t.AddRow(i+1, s.Mode, string(s.State), s.StartedAt, took, s.Requests, known(strings.Join(s.Errors, "; ")))
	}
	return t
}

// manifestOf reads a run's manifest; nil when it has none.
func manifestOf(run *outputs.Run) (*outputs.Manifest, error) {
	m, err := run.ReadManifest()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return m, err
}
