package datasets

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"ais_bench/registry"
)

//go:embed examples
var builtinExampleFiles embed.FS

// exampleLists are the built-in worked examples by name: one YAML file a list,
// or a list a sub-set ("bbh/{subset}").
var exampleLists = sync.OnceValues(func() (map[string][]map[string]any, error) {
	lists := map[string][]map[string]any{}
	err := fs.WalkDir(builtinExampleFiles, "examples", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(p) != ".yaml" {
			return err
		}
		raw, err := builtinExampleFiles.ReadFile(p)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(path.Base(p), ".yaml")
		var flat []map[string]any
		if err := registry.Decode(raw, &flat); err == nil {
			lists[name] = flat
			return nil
		}
		bySubset := map[string][]map[string]any{}
		if err := registry.Decode(raw, &bySubset); err != nil {
			return fmt.Errorf("built-in examples %s: %w", p, err)
		}
		for subset, l := range bySubset {
			lists[name+"/"+subset] = l
		}
		return nil
	})
	return lists, err
})

// builtinExamples are the rows of a built-in list; {subset} in name stands for
// the sub-set.
func builtinExamples(name, subset string) ([]map[string]any, error) {
	lists, err := exampleLists()
	if err != nil {
		return nil, err
	}
	name = strings.ReplaceAll(name, "{subset}", subset)
	rows, ok := lists[name]
	if !ok {
		return nil, fmt.Errorf("few_shot: no built-in examples called %q%s", name, didYouMean(name, sortedKeys(lists)))
	}
	return rows, nil
}

// examplesOf is the part of a prompt file that is shown: BIG-Bench Hard's own
// files begin with a canary line and a rule.
func examplesOf(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if _, after, ok := strings.Cut(text, "\n-----\n"); ok {
		text = after
	}
	return strings.TrimSpace(text)
}
