package tasks

import (
	"os"
	"path/filepath"
	"testing"

	"ais_bench/datasets"
	"ais_bench/models/simulator"
)

// A row without a reference cannot be scored: it is asked and timed, but stands
// in no count and no interval.
func TestRowsWithoutAReferenceAreNotScored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.jsonl")
	rows := "{\"question\": \"What is the capital of France?\", \"answer\": \"Paris\"}\n{\"question\": \"What is the best colour?\", \"answer\": \"\"}\n{\"question\": \"What is 6 times 7?\", \"answer\": \"42\"}\n"
	if err := os.WriteFile(path, []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, err := datasets.Custom(path, datasets.CustomOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := DatasetChoice{Name: cfg.Abbr, Config: cfg}
	answers := "{\"question\": \"What is the capital of France?\", \"answer\": \"Paris\"}\n{\"question\": \"What is 6 times 7?\", \"answer\": \"42\"}\n"
	sim, err := simulator.New(simulator.Config{Preset: "instant", AnswersData: []byte(answers)})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	url, err := sim.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, task := runOnce(t, modelAt(url, set), set, Options{})
	if task.Inference.Asked != 3 || task.Accuracy == nil {
		t.Fatalf("asked %d, accuracy %v; want 3 and a score", task.Inference.Asked, task.Accuracy)
	}
	if s := task.Accuracy.Overall; s.N != 2 || s.Right != 2 || s.Wrong != 0 {
		t.Errorf("%s; want 2 of 2 right", counts(s))
	}
}
