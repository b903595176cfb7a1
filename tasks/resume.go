package tasks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ais_bench/datasets"
	"ais_bench/outputs"
)

// answeredBefore are the keys of the answers an earlier run already has.
func answeredBefore(path string) (map[outputs.PredictionKey]bool, error) {
	done := map[outputs.PredictionKey]bool{}
	byKey, _, err := outputs.LatestPredictions(path)
	if errors.Is(err, fs.ErrNotExist) {
		return done, nil
	}
	if err != nil {
		return nil, fmt.Errorf("resume from %s: %w", path, err)
	}
	for key, p := range byKey {
		if p.Success {
			done[key] = true
		}
	}
	return done, nil
}

// leftover is what earlier sessions have of questions that are to be asked again.
type leftover struct {
	// attempts is the number the next attempt gets, by request: a question that
	// was asked before is no new request.
	attempts map[outputs.PredictionKey]int32
	// labels are the records of labels (PPL) that have a score, by request.
	labels map[outputs.PredictionKey]*outputs.Record
}

// label is the record of a question's label, nil when it has to be asked for.
func (l leftover) label(q question, label int) *outputs.Record {
	return l.labels[outputs.PredictionKey{SampleID: q.sample.Key(), Repeat: q.repeat, Turn: int32(label), SessionID: q.sample.SessionID}]
}

// recoverAnswers completes the predictions of a killed run from its records: the
// two files are written side by side, so an answer may have reached only the
// records. Asked again it would count twice.
func recoverAnswers(run *outputs.Run, t *Task, set *datasets.Set, note func(string)) (leftover, error) {
	left := leftover{map[outputs.PredictionKey]int32{}, map[outputs.PredictionKey]*outputs.Record{}}
	if run.RecordsPath(t.ModelAbbr, t.DatasetAbbr) == "" {
		return left, nil
	}
	done, err := answeredBefore(run.PredictionsPath(t.ModelAbbr, t.DatasetAbbr))
	if err != nil {
		return left, err
	}
	missing := map[outputs.PredictionKey]question{}
	for _, q := range allQuestions(t, set) {
		k := outputs.PredictionKey{SampleID: q.sample.Key(), Repeat: q.repeat, Turn: lastTurn(q.sample), SessionID: q.sample.SessionID}
		if !done[k] {
			k.Turn = 0
			missing[k] = q
		}
	}
	if len(missing) == 0 {
		return left, nil
	}
	var found []*outputs.Prediction
	keep := func(q question, answer *outputs.Record, scores []*float64) {
		p := &outputs.Prediction{ID: q.index, Gold: gold(q.sample), Subset: q.sample.Subset, LabelLogprobs: scores}
		p.FromRecord(answer)
		found = append(found, p)
	}
	for rec, err := range run.Records(t.ModelAbbr, t.DatasetAbbr) {
		var damage *outputs.DamageError
		if errors.As(err, &damage) {
			continue // sealing reports it
		}
		if err != nil {
			return left, err
		}
		k := outputs.PredictionKey{SampleID: rec.SampleID, Repeat: rec.Repeat, Turn: rec.Turn, SessionID: rec.SessionID}
		whole := k // the question
		whole.Turn = 0
		q, wanted := missing[whole]
		if !wanted || rec.Phase != outputs.PhaseMeasured {
			continue
		}
		labels := len(q.sample.Choices) > 0
		_, scored := labelScore(rec)
		switch {
		case rec.OK() && !labels && rec.Turn == lastTurn(q.sample):
			delete(missing, whole)
			keep(q, rec, nil)
		case rec.OK() && scored:
			left.labels[k] = rec
		case !rec.OK() && rec.Status != outputs.StatusCancelled:
			left.attempts[k] = max(left.attempts[k], rec.Attempt+1)
		}
	}
	for _, q := range missing {
		scores := make([]*float64, len(q.sample.Choices))
		var last *outputs.Record
		for i := range scores {
			if last = left.label(q, i); last == nil {
				break
			}
			scores[i], _ = labelScore(last)
		}
		if last != nil {
			keep(q, pplAnswer(last), scores)
		}
	}
	if len(found) == 0 {
		return left, nil
	}
	slices.SortFunc(found, func(a, b *outputs.Prediction) int {
		return cmp.Or(cmp.Compare(a.Repeat, b.Repeat), cmp.Compare(a.ID, b.ID))
	})
	w, err := run.Predictions(t.ModelAbbr, t.DatasetAbbr)
	if err != nil {
		return left, err
	}
	if w.Note() != "" {
		note(w.Note())
	}
	note(fmt.Sprintf("%d answers that only the records had are kept", len(found)))
	for _, p := range found {
		if err := w.Append(p); err != nil {
			return left, errors.Join(err, w.Close())
		}
	}
	return left, w.Close()
}

// otherModel refuses to put the answers of a new model beside those of a run that
// are of others: the run would look as if it had compared them under one load. Other
// data sets of its models, and some of its models alone, may go on.
func otherModel(run *outputs.Run, plan *Plan) error {
	pairs, err := run.Pairs()
	if err != nil {
		return fmt.Errorf("resume %s: %w", run.Dir(), err)
	}
	planned, held := map[string]bool{}, map[string]bool{}
	for i := range plan.Tasks {
		planned[outputs.FileName(plan.Tasks[i].ModelAbbr)] = true
	}
	var names []string
	missing := false
	for _, p := range pairs {
		if name := outputs.FileName(p.Model); !held[name] {
			held[name] = true
			names = append(names, p.Model)
			missing = missing || !planned[name]
		}
	}
	for i := range plan.Tasks {
		if m := plan.Tasks[i].ModelAbbr; missing && !held[outputs.FileName(m)] {
			slices.Sort(names)
			return fmt.Errorf("--reuse %s: the run holds answers of %s, and this command asks %s: leave --reuse out for a run of its own, or choose the run's models too", filepath.Base(run.Dir()), strings.Join(names, ", "), m)
		}
	}
	return nil
}

// fingerprint identifies what an answer depends on besides the sample: answers
// with different fingerprints must not be mixed in one result.
type fingerprint struct {
	Model   string `json:"model"`
	Prompt  string `json:"prompt"`  // hash over all rendered prompts
	Request string `json:"request"` // hash over sampling parameters and output caps
	// ChatTemplate is the hash of the template that rendered conversations here;
	// "" when none did. Known only where requests are sent.
	ChatTemplate string `json:"chat_template,omitempty"`
}

// fingerprintOf hashes what every request of the task will be made of.
func fingerprintOf(t *Task, est Estimate) fingerprint {
	prompts, params := "", ""
	for i := range est.Set.Samples {
		s := &est.Set.Samples[i]
		req := newRequest(t.Model.Config, est.Set.Config, s, s.Prompt)
		prompts = sha256Hex(prompts + s.Key() + "\x00" + promptText(req))
		for _, f := range s.FollowUps {
			reply := ""
			if f.Reply != nil {
				reply = *f.Reply
			}
			prompts = sha256Hex(prompts + reply + "\x00" + f.Text)
			params = sha256Hex(params + fmt.Sprint(f.MaxTokens, f.Alone))
		}
		for _, c := range s.Choices {
			prompts = sha256Hex(prompts + promptText(newRequest(t.Model.Config, est.Set.Config, s, c)))
		}
		params = sha256Hex(params + fmt.Sprint(req.MaxTokens, req.Params))
	}
	kwargs := map[string]any{}
	for k, v := range t.Model.Config.GenerationKwargs {
		kwargs[k] = v
	}
	kw, err := outputs.MarshalJSON(kwargs) // maps marshal with sorted keys
	if err != nil {
		kw = []byte(fmt.Sprint(kwargs))
	}
	return fingerprint{Model: t.Model.Config.Model, Prompt: prompts, Request: sha256Hex(params + string(kw))}
}

// checkDrift refuses to continue a run whose answers were made under other
// conditions: the mixture would be a score of nothing. The fingerprint of the
// first run is stored beside the configurations.
func checkDrift(run *outputs.Run, t *Task, now fingerprint, resuming bool) error {
	path := fingerprintPath(run, t)
	if !resuming {
		return run.WriteJSON(path, now)
	}
	var before fingerprint
	if err := outputs.ReadJSON(path, &before); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			if _, statErr := os.Stat(run.PredictionsPath(t.ModelAbbr, t.DatasetAbbr)); errors.Is(statErr, fs.ErrNotExist) {
				return run.WriteJSON(path, now) // a task that is new in this run
			}
			return fmt.Errorf("resume %s: the run has answers but no fingerprint of how they were asked (%s is missing); start a new run without --reuse", t, path)
		}
		return fmt.Errorf("resume %s: %w", t, err)
	}
	switch {
	case before.Model != now.Model:
		return fmt.Errorf("resume %s: the stored answers are of model %q, this run asks %q; start a new run without --reuse", t, before.Model, now.Model)
	case before.Prompt != now.Prompt:
		return fmt.Errorf("resume %s: the prompts have changed since the stored answers were made (data, template or --num-prompts); start a new run without --reuse", t)
	case before.ChatTemplate != now.ChatTemplate:
		return fmt.Errorf("resume %s: the chat template has changed since the stored answers were made (--chat-template, --tokenizer or --skip-chat-template); start a new run without --reuse", t)
	case before.Request != now.Request:
		return fmt.Errorf("resume %s: sampling parameters or output caps have changed since the stored answers were made; start a new run without --reuse", t)
	}
	return nil
}

// askedBefore compares how stored answers were asked with the configurations of
// now, for scoring without asking. samePrompts is true when all prompts are the
// ones that were sent; false when they are not, or not all of them, or nothing is
// known. notes say what else differs: it changes no score, but the answers are
// not of what the configuration says.
func askedBefore(run *outputs.Run, t *Task, est Estimate) (samePrompts, known bool, notes []string, err error) {
	var before fingerprint
	err = outputs.ReadJSON(fingerprintPath(run, t), &before)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil, nil
	}
	if err != nil {
		return false, false, nil, err
	}
	now := fingerprintOf(t, est)
	if before.Model != now.Model {
		notes = append(notes, fmt.Sprintf("%s: the answers are of model %q, not of %q as configured now", t, before.Model, now.Model))
	}
	if before.Prompt == now.Prompt && before.Request != now.Request {
		notes = append(notes, fmt.Sprintf("%s: the answers were sampled with other parameters or output caps than configured now; configs/ and manifest.json have them", t))
	}
	return before.Prompt == now.Prompt, true, notes, nil
}

func fingerprintPath(run *outputs.Run, t *Task) string {
	return run.ConfigPath(outputs.FileName(t.ModelAbbr) + "." + outputs.FileName(t.DatasetAbbr) + ".fingerprint.json")
}

// checkPrompt refuses to score an answer against a sample whose prompt it was not
// given to: the data or the template changed since. Answers that carry no hash,
// as those of other tools, are taken as they are.
func checkPrompt(t *Task, set *datasets.Set, s *datasets.Sample, p *outputs.Prediction) error {
	if p == nil || p.PromptSHA256 == "" {
		return nil
	}
	prompts := s.Choices
	if len(prompts) == 0 {
		prompts = []datasets.Prompt{s.Prompt}
	}
	for _, prompt := range prompts {
		if sha256Hex(promptText(newRequest(t.Model.Config, set.Config, s, prompt))) == p.PromptSHA256 {
			return nil
		}
	}
	return fmt.Errorf("sample %s: the stored answer was given to another prompt (data or template have changed since); start a new run without --reuse", s.Key())
}
