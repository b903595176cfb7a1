package inspect

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"ais_bench/registry"
)

//go:embed maps/*.yaml
var builtinMaps embed.FS

// Map says what the series of one kind of Prometheus endpoint mean: an engine,
// an exporter of accelerators, of a machine. It is a YAML file; maps/ has the
// built-in ones and a user's --config-dir/metrics adds to them.
type Map struct {
	Description string `yaml:"description,omitempty"`
	// Engine is the engine's name where the endpoint is one's (vllm, sglang …).
	Engine string `yaml:"engine,omitempty"`
	// Detect are prefixes of metric names; an endpoint that has one is read by this map.
	Detect []string `yaml:"detect"`
	// Series by our name for them.
	Series map[string]SeriesRule `yaml:"series"`
}

// SeriesRule is where the values of one series are found.
type SeriesRule struct {
	// Metrics are spellings; the first one an endpoint has counts, with or without
	// _total. A histogram's NAME_sum and NAME_count can be named like counters.
	Metrics []string `yaml:"metrics"`
	Kind    string   `yaml:"kind"` // gauge, counter or histogram
	Unit    string   `yaml:"unit,omitempty"`
	Scale   float64  `yaml:"scale,omitempty"` // multiplies the value; 0 = 1
	// Where and Without choose by labels: only, or none, of these values.
	Where   map[string][]string `yaml:"where,omitempty"`
	Without map[string][]string `yaml:"without,omitempty"`
	// Labels are kept apart; over all others the values are combined.
	Labels []string `yaml:"labels,omitempty"`
	// Ranks are labels under which the same figure is told again (the processes of one
	// engine): of these the largest counts.
	Ranks []string `yaml:"ranks,omitempty"`
	// Combine is sum (default), mean or max.
	Combine string `yaml:"combine,omitempty"`
	// Title makes a chart of the series in reports; "" = none of its own.
	Title string `yaml:"title,omitempty"`
}

// The kinds of a series.
const (
	KindGauge     = "gauge"
	KindCounter   = "counter"
	KindHistogram = "histogram"
)

// Maps are the known maps by name.
type Maps struct {
	names []string
	by    map[string]*Map
}

// OpenMaps reads the built-in maps and those of a user's folder ("" or one that
// is not there = none), which add to them and override them by name.
func OpenMaps(userDir string) (*Maps, error) {
	sub, err := fs.Sub(builtinMaps, "maps")
	if err != nil {
		return nil, err
	}
	reg, err := registry.Open[Map]("metric map", sub, userDir)
	if err != nil {
		return nil, err
	}
	m := &Maps{by: map[string]*Map{}}
	for _, name := range reg.Names() {
		e, err := reg.Get(name)
		if err != nil {
			return nil, err
		}
		if err := e.Value.check(); err != nil {
			return nil, fmt.Errorf("metric map %s: %w", e.Origin, err)
		}
		m.names = append(m.names, name)
		m.by[name] = &e.Value
	}
	slices.Sort(m.names)
	return m, nil
}

// BuiltinMaps are the maps without a user's.
func BuiltinMaps() *Maps {
	m, err := OpenMaps("")
	if err != nil {
		panic(err) // the files are part of the program and tested with it
	}
	return m
}

// Get is the map called name, nil when there is none.
func (m *Maps) Get(name string) *Map { return m.by[name] }

// Names are all names in order.
func (m *Maps) Names() []string { return slices.Clone(m.names) }

func (m *Map) check() error {
	if len(m.Detect) == 0 || slices.Contains(m.Detect, "") {
		return fmt.Errorf("detect: give at least one prefix of metric names, none of them empty")
	}
	for name, s := range m.Series {
		kinds := []string{KindGauge, KindCounter, KindHistogram}
		combines := []string{"", "sum", "mean", "max"}
		switch {
		case len(s.Metrics) == 0:
			return fmt.Errorf("series %s: metrics: give at least one metric name", name)
		case !slices.Contains(kinds, s.Kind):
			return fmt.Errorf("series %s: kind %q: one of %s", name, s.Kind, strings.Join(kinds, ", "))
		case !slices.Contains(combines, s.Combine):
			return fmt.Errorf("series %s: combine %q: one of sum, mean, max", name, s.Combine)
		}
	}
	return nil
}

// applies reports whether one of the families is the map's.
func (m *Map) applies(x *Metrics) bool {
	for name := range x.families {
		for _, p := range m.Detect {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
	}
	return false
}
