package verify

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"ais_bench/outputs"
	"ais_bench/summarizers/server"
)

// server makes server/*.json again from what the server reported during the run
// and from the records.
func (v *verifier) server(pairs []outputs.Pair) {
	var seen []outputs.Pair
	for _, p := range pairs {
		for _, ext := range []string{"json", "parquet"} {
			if _, err := os.Lstat(v.run.ServerPath(p.Model, p.Dataset, ext)); err == nil {
				seen = append(seen, p)
				break
			}
		}
	}
	if len(seen) == 0 {
		return
	}
	again, err := v.analyses(pairs)
	for _, p := range seen {
		path := v.run.ServerPath(p.Model, p.Dataset, "json")
		file := v.rel(path)
		if err != nil {
			v.add(Finding{Check: "server", File: v.rel(v.run.ServerPath(p.Model, p.Dataset, "parquet")), Status: Unreadable, Detail: err.Error()})
			continue
		}
		doc, err := outputs.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			v.notChecked("server", file, "not there: nothing was reported of the server's side")
			continue
		case err != nil:
			v.add(Finding{Check: "server", File: file, Status: Unreadable, Detail: err.Error()})
			continue
		case len(again[p]) == 0:
			v.add(Finding{Check: "server", File: file, Status: Missing, Detail: "the metrics that these figures were made from are gone"})
			continue
		}
		stored, err := tree(doc)
		if err != nil {
			v.add(Finding{Check: "server", File: file, Status: Unreadable, Detail: "no JSON: " + err.Error()})
			continue
		}
		v.compareJSON("server", file, stored, map[string]any{"sessions": again[p]})
	}
}

// analyses are those of the server's side, by pair.
func (v *verifier) analyses(pairs []outputs.Pair) (map[outputs.Pair][]*server.Analysis, error) {
	var list []*server.Analysis
	if v.last != nil && v.last.summary.Server != nil {
		list = v.last.summary.Server
	} else {
		var health map[string]any
		doc, err := outputs.MarshalJSON(v.m.ClientHealth)
		if err == nil {
			_ = json.Unmarshal(doc, &health) // another shape is no health
		}
		if list, err = server.Analyze(v.run, pairs, health); err != nil {
			return nil, err
		}
	}
	byPair := map[outputs.Pair][]*server.Analysis{}
	for _, a := range list {
		p := outputs.Pair{Model: a.Model, Dataset: a.Dataset}
		byPair[p] = append(byPair[p], a)
	}
	return byPair, nil
}
