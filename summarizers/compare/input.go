package compare

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/vllm"
)

// Input is one run, of this tool or of another.
type Input struct {
	Name string // as tables show it
	Path string

	Run      *outputs.Run      // of a run folder
	Manifest *outputs.Manifest // nil: there is none
	Saved    *vllm.Saved       // of a saved result
}

// Side is one thing that is compared: one run, or several of the same
// configuration.
type Side struct {
	Name   string
	Inputs []*Input
}

// OpenRun makes an input of a run folder.
func OpenRun(run *outputs.Run) (*Input, error) {
	in := &Input{Name: filepath.Base(run.Dir()), Path: run.Dir(), Run: run}
	m, err := run.ReadManifest()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	in.Manifest = m
	return in, nil
}

// OpenSaved makes inputs of a file of saved results: one each.
func OpenSaved(path string) ([]*Input, error) {
	list, err := vllm.ReadResult(path)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	var out []*Input
	for i := range list {
		in := &Input{Name: name, Path: path, Saved: &list[i]}
		if len(list) > 1 {
			in.Name = fmt.Sprintf("%s:%d", name, list[i].Line)
		}
		out = append(out, in)
	}
	return out, nil
}

// Open makes inputs of a path: a run folder, or a file of saved results.
func Open(path string) ([]*Input, error) {
	st, err := os.Stat(path)
	if err == nil && !st.IsDir() {
		return OpenSaved(path)
	}
	run, err := outputs.Open(path)
	if err != nil {
		return nil, err
	}
	in, err := OpenRun(run)
	if err != nil {
		return nil, err
	}
	return []*Input{in}, nil
}

// pairs are the models and data sets of an input. Requests beside a load test (its
// probe) are none.
func (in *Input) pairs() ([]outputs.Pair, error) {
	if in.Saved != nil {
		return []outputs.Pair{{Model: in.Saved.Model, Dataset: savedDataset(in.Saved)}}, nil
	}
	all, err := in.Run.Pairs()
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds neither records nor answers: nothing to compare", in.Path)
	}
	beside := map[outputs.Pair]bool{}
	if in.Manifest != nil {
		for _, p := range in.Manifest.Pairs {
			beside[outputs.Pair{Model: p.Model, Dataset: p.Dataset}] = p.Sessions == 0 && p.State == outputs.PairDone
		}
	}
	var out []outputs.Pair
	for _, p := range all {
		if !beside[p] {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return all, nil
	}
	return out, nil
}

// Identity are texts that another run cannot have (outputs.Manifest.Identity), or what a
// saved result says. Copies of a run share one.
func (in *Input) Identity() []string {
	if in.Saved != nil {
		h := sha256.New()
		for _, key := range slices.Sorted(maps.Keys(in.Saved.Raw)) {
			var value bytes.Buffer
			if json.Compact(&value, in.Saved.Raw[key]) != nil {
				return nil
			}
			fmt.Fprintf(h, "%q:%s,", key, value.Bytes())
		}
		return []string{"saved " + hex.EncodeToString(h.Sum(nil))}
	}
	if in.Manifest != nil {
		return in.Manifest.Identity()
	}
	return nil
}

// state is the pair's entry in the manifest, nil where there is none.
func (in *Input) state(p outputs.Pair) *outputs.PairState {
	if in.Manifest == nil {
		return nil
	}
	for i := range in.Manifest.Pairs {
		if s := &in.Manifest.Pairs[i]; s.Model == p.Model && s.Dataset == p.Dataset {
			return s
		}
	}
	return nil
}
