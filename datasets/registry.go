package datasets

import (
	"embed"
	"fmt"
	"io/fs"

	"ais_bench/registry"
)

//go:embed configs
var builtinConfigs embed.FS

//go:embed aliases.yaml
var builtinAliases []byte

// alias is a name that stands for a configuration with some fields changed.
type alias struct {
	Of  string         `yaml:"of"`
	Set map[string]any `yaml:"set,omitempty"`
}

// OpenRegistry is the registry of data set configurations: the built-in ones,
// and those of userDir ("" = none), which add to and override them by name.
// Short names (gsm8k_gen) and single members of a family (longbench_trec_gen)
// are derived from the configuration they stand for when they are asked for, so
// they follow a user's override of it.
func OpenRegistry(userDir string) (*registry.Registry[Config], error) {
	sub, err := fs.Sub(builtinConfigs, "configs")
	if err != nil {
		return nil, fmt.Errorf("open built-in data set configurations: %w", err)
	}
	r, err := registry.Open[Config]("dataset", sub, userDir)
	if err != nil {
		return nil, err
	}
	aliases := map[string]alias{}
	if err := registry.Decode(builtinAliases, &aliases); err != nil {
		return nil, fmt.Errorf("built-in data set aliases: %w", err)
	}
	for name, a := range aliases {
		if err := r.Derive(name, a.Of, a.Set); err != nil {
			return nil, fmt.Errorf("built-in data set aliases: %w", err)
		}
	}
	return r, nil
}
