package models

import (
	"embed"
	"fmt"
	"io/fs"

	"ais_bench/registry"
)

//go:embed configs
var builtin embed.FS

// OpenRegistry is the registry of model configurations: the built-in ones, and
// those of userDir ("" = none), which add to and override them by name.
func OpenRegistry(userDir string) (*registry.Registry[Config], error) {
	sub, err := fs.Sub(builtin, "configs")
	if err != nil {
		return nil, fmt.Errorf("open built-in model configurations: %w", err)
	}
	return registry.Open[Config]("model", sub, userDir)
}
