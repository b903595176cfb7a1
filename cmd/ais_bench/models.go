package main

import (
	"fmt"
	"path"

	"github.com/goccy/go-yaml"
	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
)

// modelsCommand describes model configurations.
func modelsCommand() *cli.Command {
	configDir := &cli.StringFlag{Name: "config-dir", Usage: "directory with your own configurations (models/*.yaml)", Value: "configs"}
	return &cli.Command{
		Name:  "models",
		Usage: "list and describe model configurations", ArgsUsage: "COMMAND",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list model configurations; patterns narrow the list", ArgsUsage: "[PATTERN …]", Flags: []cli.Flag{configDir}, Action: listModels},
			{Name: "info", Usage: "show a configuration in full", ArgsUsage: "NAME …", Flags: []cli.Flag{configDir}, Action: modelInfo},
		},
	}
}

func listModels(c *cli.Context) error {
	reg, err := openModels(c)
	if err != nil {
		return err
	}
	t := outputs.Table{Columns: []outputs.Column{{Name: "Name"}, {Name: "Type"}, {Name: "Stream", Kind: outputs.KindBool}, {Name: "Description"}}}
	for _, name := range reg.Names() {
		if c.NArg() > 0 {
			hit := false
			for _, p := range c.Args().Slice() {
				ok, err := path.Match(p, name)
				if err != nil {
					return usagef("pattern %q: %w", p, err)
				}
				hit = hit || ok
			}
			if !hit {
				continue
			}
		}
		e, err := reg.Get(name)
		if err != nil {
			return err
		}
		t.AddRow(name, e.Value.Type, e.Value.Stream, e.Value.Description)
	}
	return t.WriteText(c.App.Writer, outputs.TextOptions{})
}

func modelInfo(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef("models info: name a configuration; `ais_bench models list` shows all")
	}
	reg, err := openModels(c)
	if err != nil {
		return err
	}
	for _, name := range c.Args().Slice() {
		e, err := reg.Get(name)
		if err != nil {
			return usage(err)
		}
		text, err := yaml.Marshal(e.Value.Redacted())
		if err != nil {
			return fmt.Errorf("show %s: %w", name, err)
		}
		fmt.Fprintf(c.App.Writer, "# %s (%s)\n%s", e.Name, e.Origin, text)
	}
	return nil
}
