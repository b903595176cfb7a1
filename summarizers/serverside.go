package summarizers

import (
	"fmt"

	"ais_bench/outputs"
	"ais_bench/summarizers/server"
)

// watched computes the server's side of the run, where it was watched, adds its
// tables and, with write, writes it to server/<model>/<dataset>.json. A file that cannot be read is
// a warning: the client's figures do not depend on it.
func (s *Summary) watched(run *outputs.Run, pairs []outputs.Pair, health any, write bool) error {
	byTask, _ := plain(health).(map[string]any)
	list, err := server.Analyze(run, pairs, byTask)
	if err != nil {
		s.ServerWarnings = append(s.ServerWarnings, "the server's side is left out: "+err.Error())
		return nil
	}
	s.Server = list
	byPair := map[outputs.Pair][]*server.Analysis{}
	for _, a := range list {
		s.Tables = append(s.Tables, a.Tables()...)
		s.ServerWarnings = append(s.ServerWarnings, a.Warnings()...)
		p := outputs.Pair{Model: a.Model, Dataset: a.Dataset}
		byPair[p] = append(byPair[p], a)
	}
	if !write {
		return nil
	}
	for p, sessions := range byPair {
		if err := run.WriteJSON(run.ServerPath(p.Model, p.Dataset, "json"), map[string]any{"sessions": sessions}); err != nil {
			s.wrote(run, "", err)
		}
	}
	return nil
}

// serverSections are the chapters of the server's side, each with the client's
// curves of its pair.
func (s *Summary) serverSections() []outputs.Section {
	var out []outputs.Section
	for i, a := range s.Server {
		var c server.ClientSeries
		for _, p := range s.Performance {
			if p.Model == a.Model && p.Dataset == a.Dataset {
				x := p.Result.Series
				c = server.ClientSeries{StepS: x.StepS, InFlight: x.InFlight, OutputTokens: x.OutputTokens, TTFTMeanMS: x.TTFTMeanMS}
			}
		}
		out = append(out, a.Section(fmt.Sprintf("s%d", i+1), c))
	}
	return out
}

// ServerTables are the tables of the server's side.
func (s *Summary) ServerTables() []outputs.Table {
	var out []outputs.Table
	for _, a := range s.Server {
		out = append(out, a.Tables()...)
	}
	return out
}
