package outputs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// The states of a checklist item. Partly: some of it is recorded, and the
// evidence says what is missing. NotApplicable: the run needs none, and the
// evidence says why.
const (
	CheckYes    = "yes"
	CheckPartly = "partly"
	CheckNo     = "no"
	CheckNA     = "n/a"
)

// The items of the reproducibility checklist, in its order.
const (
	ItemServerParameters = "server parameters recorded"
	ItemClientParameters = "client parameters recorded"
	ItemSeed             = "seed fixed"
	ItemSampling         = "sampling fixed"
	ItemOutputLength     = "output length forced"
	ItemTailPercentiles  = "P95/P99 recorded"
	ItemTimeStamps       = "results time-stamped"
	ItemPrefixCaching    = "prefix caching stated"
	ItemToolCommit       = "commit of the tool"
	ItemRepositoryCommit = "commit of the surrounding repository"
)

// Checklist is the reproducibility checklist of a run: every item with its
// evidence, or with what is missing and how to supply it. It is derived from
// the manifest and from the files in the folder alone, so any report can be
// given it again; it claims nothing that a reader could not look up. m may be
// nil: a folder without a manifest shows nothing but its records.
func (r *Run) Checklist(m *Manifest) []CheckItem {
	if m == nil {
		m = &Manifest{}
	}
	perf := r.performanceFacts()
	return []CheckItem{
		serverItem(m),
		r.clientItem(m),
		seedItem(m),
		samplingItem(m),
		lengthItem(m, perf),
		r.tailItem(m, perf),
		timeItem(m),
		cachingItem(m),
		toolItem(m),
		repositoryItem(m),
	}
}

func item(name, state, format string, args ...any) CheckItem {
	return CheckItem{Item: name, State: state, Evidence: fmt.Sprintf(format, args...)}
}

func serverItem(m *Manifest) CheckItem {
	f := m.Server()
	who := strings.TrimSpace(f.Engine + " " + f.Version)
	if who == "" {
		who = "the server"
	}
	switch {
	case len(f.Parameters) > 0:
		return item(ItemServerParameters, CheckYes, "%d settings of %s from %s, in server_before of manifest.json", len(f.Parameters), who, strings.Join(f.ParameterSources, ", "))
	case m.Engine != nil:
		return item(ItemServerParameters, CheckYes, "the command this run started it with, in engine of manifest.json")
	case f.Told["command"] != "":
		return item(ItemServerParameters, CheckYes, "the command it was started with, told by the user, in server_meta of manifest.json")
	case len(f.Told) > 0:
		return item(ItemServerParameters, CheckPartly, "%s, told by the user, in server_meta of manifest.json; %s itself tells no settings (--server-command FILE records the whole command)",
			strings.Join(slices.Sorted(maps.Keys(f.Told)), ", "), who)
	case f.Engine != "" || f.Version != "" || len(f.Models) > 0:
		return item(ItemServerParameters, CheckPartly, "only engine, version and models of %s; it tells no settings: say them with --server-meta KEY=VALUE or --server-command FILE", who)
	}
	return item(ItemServerParameters, CheckNo, "the server does not tell; say it with --server-meta KEY=VALUE or --server-command FILE")
}

func (r *Run) clientItem(m *Manifest) CheckItem {
	have := map[string]bool{}
	var gone []string
	for _, c := range m.Configs {
		if exists(r.Path(c.Path)) {
			have[c.Kind+" "+c.Name] = true
		} else {
			gone = append(gone, c.Path)
		}
	}
	var missing []string
	for _, p := range m.Pairs {
		if p.Sessions == 0 {
			continue // never asked, or the probe beside a load test
		}
		for _, c := range []string{"model " + p.Model, "dataset " + p.Dataset} {
			if !have[c] {
				missing = append(missing, c)
			}
		}
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	command := ""
	if len(m.Command.Args) > 0 {
		command = " and the command line in manifest.json"
	}
	switch {
	case len(have) > 0 && len(missing) == 0 && len(gone) == 0 && command != "":
		return item(ItemClientParameters, CheckYes, "%d resolved configurations in configs/%s", len(have), command)
	case len(gone) > 0:
		return item(ItemClientParameters, CheckPartly, "files that the manifest names are gone: %s", strings.Join(gone, ", "))
	case len(have) > 0:
		what := "no configuration of " + strings.Join(missing, ", ")
		if len(missing) == 0 {
			what = "no command line in manifest.json"
		}
		return item(ItemClientParameters, CheckPartly, "%d resolved configurations in configs/; %s", len(have), what)
	}
	return item(ItemClientParameters, CheckNo, "no resolved configuration in configs/")
}

func seedItem(m *Manifest) CheckItem {
	if len(m.Seeds) == 0 {
		return item(ItemSeed, CheckNo, "no seed in manifest.json; give --seed")
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m.Seeds)) {
		v := jsonText(generic(m.Seeds[k]))
		switch k {
		case "seed":
			parts = append(parts, "--seed "+v)
		case "workload":
			parts = append(parts, v+" for the workload")
		default:
			parts = append(parts, v+" for "+k)
		}
	}
	for i := range m.Sessions {
		for k, v := range m.Sessions[i].Seeds {
			if a, b := jsonText(generic(v)), jsonText(generic(m.Seeds[k])); a != b {
				return item(ItemSeed, CheckPartly, "%s in the first session, %s=%s in session %d", strings.Join(parts, ", "), k, a, i+1)
			}
		}
	}
	return item(ItemSeed, CheckYes, "%s, in seeds of manifest.json", strings.Join(parts, ", "))
}

// kwargs are the sampling parameters that every request to a model carried.
func kwargs(m *Manifest) map[string]map[string]any {
	out := map[string]map[string]any{}
	for model, v := range m.Sampling {
		s, _ := generic(v).(map[string]any)
		kw, _ := s["generation_kwargs"].(map[string]any)
		if kw == nil {
			kw = map[string]any{}
		}
		out[model] = kw
	}
	return out
}

func samplingItem(m *Manifest) CheckItem {
	all := kwargs(m)
	if len(all) == 0 {
		return item(ItemSampling, CheckNo, "no sampling parameters in manifest.json")
	}
	state := CheckYes
	var parts []string
	worse := func(s string) {
		if state == CheckYes || s == CheckNo {
			state = s
		}
	}
	for _, model := range slices.Sorted(maps.Keys(all)) {
		kw := all[model]
		t, set := kw["temperature"].(float64)
		_, seeded := kw["seed"]
		_, greedy := kw["do_sample"].(bool)
		switch {
		case set && t == 0:
			parts = append(parts, model+": temperature 0 (greedy)")
		case !set && greedy && kw["do_sample"] == false:
			parts = append(parts, model+": do_sample false (greedy)")
		case set && seeded:
			parts = append(parts, fmt.Sprintf("%s: temperature %s with seed %s", model, jsonText(t), jsonText(kw["seed"])))
		case set:
			worse(CheckPartly)
			parts = append(parts, fmt.Sprintf("%s: temperature %s without a seed: every run draws other answers (seed=N fixes them)", model, jsonText(t)))
		default:
			worse(CheckNo)
			parts = append(parts, model+": temperature is not sent, the server's default decides; set it (0 = greedy)")
		}
	}
	return item(ItemSampling, state, "%s", strings.Join(parts, "; "))
}

// perfFacts are what the checklist needs of performances/*.json.
type perfFacts struct {
	file         string
	stoppedEarly *float64
	success      int64
	p95, p99     bool
}

func (r *Run) performanceFacts() []perfFacts {
	pairs, err := r.Pairs()
	if err != nil {
		return nil
	}
	var out []perfFacts
	for _, p := range pairs {
		path := r.PerformancePath(p.Model, p.Dataset, "json")
		var doc struct {
			Requests struct {
				Success int64 `json:"success"`
			} `json:"requests"`
			E2EL         map[string]any `json:"e2el"`
			StoppedEarly *float64       `json:"stopped_early_share"`
		}
		if err := ReadJSON(path, &doc); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				out = append(out, perfFacts{file: p.Dataset})
			}
			continue
		}
		_, p95 := doc.E2EL["p95_ms"]
		_, p99 := doc.E2EL["p99_ms"]
		out = append(out, perfFacts{file: p.Dataset, stoppedEarly: doc.StoppedEarly, success: doc.Requests.Success, p95: p95, p99: p99})
	}
	return out
}

func lengthItem(m *Manifest, perf []perfFacts) CheckItem {
	const how = "--ignore-eos of bench, or --generation-kwargs ignore_eos=true, forces it where the server takes it"
	all := kwargs(m)
	if len(all) == 0 {
		return item(ItemOutputLength, CheckNo, "no sampling parameters in manifest.json")
	}
	var free []string
	for _, model := range slices.Sorted(maps.Keys(all)) {
		if v, ok := all[model]["ignore_eos"].(bool); !ok || !v {
			free = append(free, model)
		}
	}
	if len(free) == len(all) && accuracyRun(m) {
		return item(ItemOutputLength, CheckNA, "usual for accuracy: answers end where the model ends them; %s", how)
	}
	if len(free) == len(all) {
		return item(ItemOutputLength, CheckNo, "answers end where the model ends them; %s", how)
	}
	if len(free) > 0 {
		return item(ItemOutputLength, CheckPartly, "ignore_eos for some models only, not for %s; %s", strings.Join(free, ", "), how)
	}
	early, known := 0.0, false
	for _, p := range perf {
		if p.stoppedEarly != nil {
			early, known = max(early, *p.stoppedEarly), true
		}
	}
	switch {
	case known && early > 0:
		return item(ItemOutputLength, CheckPartly, "ignore_eos was sent, but %.1f %% of the answers ended before max_tokens: the server does not keep it", 100*early)
	case known:
		return item(ItemOutputLength, CheckYes, "ignore_eos with max_tokens; no answer ended early")
	case len(perf) > 0:
		return item(ItemOutputLength, CheckPartly, "ignore_eos was sent; no answer has a known length limit to hold it against")
	}
	return item(ItemOutputLength, CheckYes, "ignore_eos with max_tokens, in sampling of manifest.json")
}

// accuracyRun reports whether the run's first session asked for answers to be
// scored: a forced length would spoil them.
func accuracyRun(m *Manifest) bool {
	if len(m.Sessions) == 0 {
		return false
	}
	switch m.Sessions[0].Mode {
	case "all", "infer", "eval", "infer_judge", "judge":
		return true
	}
	return false
}

func (r *Run) tailItem(m *Manifest, perf []perfFacts) CheckItem {
	if len(perf) == 0 { // not computed yet: the records hold them
		least := int64(-1)
		for _, p := range m.Pairs {
			if n := p.Requests - p.Failed - p.NotAsked; p.Records != "" && exists(r.Path(p.Records)) && (least < 0 || n < least) {
				least = n
			}
		}
		switch {
		case least < 0:
			return item(ItemTailPercentiles, CheckNo, "no records of requests and no performance metrics")
		case least < 100:
			return item(ItemTailPercentiles, CheckPartly, "the records hold every request, but only %d that succeeded: P99 needs 100", least)
		}
		return item(ItemTailPercentiles, CheckYes, "performances/ holds every request, at least %d a data set", least)
	}
	least := perf[0]
	for _, p := range perf {
		if !p.p95 || !p.p99 {
			return item(ItemTailPercentiles, CheckPartly, "not among the percentiles chosen with --metric-percentiles for %s; the records hold them: ais_bench report RUN", p.file)
		}
		if p.success < least.success {
			least = p
		}
	}
	if least.success < 100 {
		return item(ItemTailPercentiles, CheckPartly, "in performances/*.json, but of only %d requests of %s: P95 needs 20, P99 needs 100", least.success, least.file)
	}
	return item(ItemTailPercentiles, CheckYes, "in performances/*.json, of at least %d requests", least.success)
}

func timeItem(m *Manifest) CheckItem {
	switch {
	case m.StartedAt != "" && m.Clock != nil && m.Clock.ZeroWall != "":
		return item(ItemTimeStamps, CheckYes, "started %s; every request on one clock whose zero is %s (%s stamps)", m.StartedAt, m.Clock.ZeroWall, m.Clock.StampSource)
	case m.StartedAt != "":
		return item(ItemTimeStamps, CheckPartly, "started %s; no clock in manifest.json maps the records to wall time", m.StartedAt)
	}
	return item(ItemTimeStamps, CheckNo, "no start time and no clock in manifest.json")
}

func cachingItem(m *Manifest) CheckItem {
	switch c := m.Server().PrefixCaching; c.State {
	case CachingUnknown:
		return item(ItemPrefixCaching, CheckNo, "unknown: the server does not tell; say it with --server-meta enable_prefix_caching=true|false")
	case CachingMixed:
		return item(ItemPrefixCaching, CheckPartly, "the servers of this run differ: %s", c.Evidence)
	default:
		return item(ItemPrefixCaching, CheckYes, "%s: %s", c.State, c.Evidence)
	}
}

func toolItem(m *Manifest) CheckItem {
	switch t := m.Tool; {
	case t.Commit == "":
		return item(ItemToolCommit, CheckNo, "built without version information; build with make")
	case t.Dirty:
		return item(ItemToolCommit, CheckPartly, "%s with changes that are not committed", t.Commit)
	default:
		return item(ItemToolCommit, CheckYes, "%s, version %s", t.Commit, t.Version)
	}
}

func repositoryItem(m *Manifest) CheckItem {
	if c := m.Tool.Repository; c != nil && *c != "" {
		return item(ItemRepositoryCommit, CheckYes, "%s of the repository around %s", *c, m.Command.WorkingDir)
	}
	return item(ItemRepositoryCommit, CheckNo, "not started inside a git repository")
}

// ChecklistTable shows a checklist.
func ChecklistTable(items []CheckItem) Table {
	t := Table{ID: "checklist", Title: "Reproducibility checklist", Columns: []Column{{Name: "Item"}, {Name: "State", Kind: KindVerdict}, {Name: "Evidence", Wrap: true}}}
	for _, c := range items {
		t.AddRow(c.Item, c.State, c.Evidence)
	}
	return t
}

// ChecklistLine is a checklist in one line: how many of the items that apply are
// met, which are partly, which are missing, and which do not apply.
func ChecklistLine(items []CheckItem) string {
	by := map[string][]string{}
	for _, c := range items {
		by[c.State] = append(by[c.State], c.Item)
	}
	line := fmt.Sprintf("Reproducibility checklist: %d of %d met", len(by[CheckYes]), len(items)-len(by[CheckNA]))
	for _, s := range []struct{ state, says string }{{CheckPartly, "partly"}, {CheckNo, "missing"}, {CheckNA, "n/a"}} {
		if list := by[s.state]; len(list) > 0 {
			line += "; " + s.says + ": " + strings.Join(list, ", ")
		}
	}
	return line
}

// MergeChecklists is the checklist of several runs: every item with the worst
// state of any of them, and the evidence of the first run that is in it.
func MergeChecklists(lists ...[]CheckItem) []CheckItem {
	rank := map[string]int{CheckNA: -1, CheckYes: 0, CheckPartly: 1, CheckNo: 2}
	var out []CheckItem
	for _, list := range lists {
		if out == nil {
			out = slices.Clone(list)
			continue
		}
		for i := range min(len(out), len(list)) {
			if rank[list[i].State] > rank[out[i].State] {
				out[i] = list[i]
			}
		}
	}
	for i := range out {
		worst := 0
		for _, list := range lists {
			if i < len(list) && list[i].State == out[i].State {
				worst++
			}
		}
		if worst < len(lists) {
			out[i].Evidence = fmt.Sprintf("in %d of %d runs: %s", worst, len(lists), out[i].Evidence)
		}
	}
	return out
}

// ChecklistsOf is the checklist of the runs in several folders.
func ChecklistsOf(dirs []string) ([]CheckItem, error) {
	var lists [][]CheckItem
	for _, dir := range dirs {
		run, err := Open(dir)
		if err != nil {
			return nil, err
		}
		m, err := run.ReadManifest()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		lists = append(lists, run.Checklist(m))
	}
	return MergeChecklists(lists...), nil
}
