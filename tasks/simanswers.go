package tasks

import "ais_bench/datasets"

// SimulatorAnswers are data sets as the simulator's answer sheet
// (simulator.Config.AnswersData): one JSON object a row, with question and answer.
func SimulatorAnswers(sets ...*datasets.Set) ([]byte, error) { return simulatorAnswers(sets) }
