package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"ais_bench/datasets"
	"ais_bench/models"
	"ais_bench/models/simulator"
	"ais_bench/models/transport"
	"ais_bench/outputs"
	"ais_bench/registry"
)

// service is a model that answers: its client, and for sim_* types the
// simulator started for it.
type service struct {
	cfg    models.Config // with URL and model name filled in
	client models.Client
	sim    *simulator.Server
}

// simOptions are the keys of a model configuration's `sim` group.
type simOptions struct {
	Accuracy            *float64        `yaml:"accuracy,omitempty"`
	Seed                int64           `yaml:"seed,omitempty"`
	Flavor              string          `yaml:"flavor,omitempty"`
	NoDevMode           bool            `yaml:"no_dev_mode,omitempty"`
	Preset              string          `yaml:"preset,omitempty"`
	MaxNumSeqs          int             `yaml:"max_num_seqs,omitempty"`
	MaxNumBatchedTokens int             `yaml:"max_num_batched_tokens,omitempty"`
	NumGPUBlocks        int             `yaml:"num_gpu_blocks,omitempty"`
	BlockSize           int             `yaml:"block_size,omitempty"`
	TimeScale           float64         `yaml:"time_scale,omitempty"`
	TokensPerSecond     float64         `yaml:"tokens_per_second,omitempty"`
	TTFT                models.Duration `yaml:"ttft,omitempty"`
	OutputLen           int             `yaml:"output_len,omitempty"`
	ReasoningTokens     int             `yaml:"reasoning_tokens,omitempty"`
	TokensPerChunk      int             `yaml:"tokens_per_chunk,omitempty"`
	VaryByRepeat        bool            `yaml:"vary_by_repeat,omitempty"`
	Faults              []string        `yaml:"faults,omitempty"`
}

// startService brings up the simulator where the model is one, finds the model
// name, makes the client and checks readiness. sets are the data sets that
// will be asked; the simulator answers them from their keys. chat, where not nil,
// renders conversations. Closing stop ends the wait for a service that is not
// there yet.
func startService(ctx context.Context, cfg models.Config, clock *transport.Clock, sets []*datasets.Set, chat *ChatRenderer, wait time.Duration, stop <-chan struct{}, note func(string)) (*service, error) {
	ctx, cancel := UntilStopped(ctx, stop) // nothing of the service lives on with this context
	defer cancel()
	s, err := bringUp(ctx, cfg, clock, sets, chat, wait, note)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", errInterrupted, err)
	}
	return s, err
}

// errInterrupted is why a service was not waited for any longer.
var errInterrupted = errors.New("interrupted while waiting for the service")

// UntilStopped is ctx, ended as well when stop is closed.
func UntilStopped(ctx context.Context, stop <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func bringUp(ctx context.Context, cfg models.Config, clock *transport.Clock, sets []*datasets.Set, chat *ChatRenderer, wait time.Duration, note func(string)) (*service, error) {
	s := &service{cfg: cfg}
	if cfg.Simulated() {
		if err := s.startSimulator(sets); err != nil {
			return nil, err
		}
	}
	// AISBench's repeats are carried out here, never by the server.
	s.cfg.GenerationKwargs = maps.Clone(s.cfg.GenerationKwargs)
	delete(s.cfg.GenerationKwargs, numReturnSequences)
	copts := models.Options{Warn: note}
	if chat != nil {
		copts.RenderChat = chat.Messages
		delete(s.cfg.GenerationKwargs, chatTemplateKwargs) // used here, unknown there
	}
	if s.cfg.Model == "" {
		served, err := discover(ctx, s.cfg, wait, note)
		if err != nil {
			s.close()
			return nil, NoModelName(err)
		}
		if len(served) == 0 {
			s.close()
			return nil, errors.New("the server lists no model at /v1/models: give --model NAME")
		}
		s.cfg.Model = served[0].ID
		note("model name " + s.cfg.Model + " from /v1/models")
	}
	client, err := models.New(s.cfg, clock, copts)
	if err != nil {
		s.close()
		return nil, err
	}
	s.client = client
	if err := models.Ready(ctx, client, s.cfg, wait, note); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// NoModelName is why the model's name could not be asked for. The cause stands first,
// and alone where it is none of the service's: a key that is not set would stop the
// run with --model, too.
func NoModelName(err error) error {
	var down *models.Unavailable
	if errors.As(err, &down) {
		return fmt.Errorf("%w (asked for the model's name, which --model sets)", err)
	}
	return err
}

// discover asks for the list of models, again and again while a server that is
// still coming up refuses and wait is not over.
func discover(ctx context.Context, cfg models.Config, wait time.Duration, note func(string)) ([]models.ModelInfo, error) {
	until := time.Now().Add(wait)
	said := false
	for {
		served, err := models.Discover(ctx, cfg)
		var down *models.Unavailable
		if err == nil || !errors.As(err, &down) || down.Status != outputs.StatusDial && down.Status != outputs.StatusHTTP5xx || !time.Now().Before(until) {
			return served, err
		}
		if !said {
			said = true
			note(fmt.Sprintf("waiting up to %s for the server: %v", wait, err))
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *service) startSimulator(sets []*datasets.Set) (err error) {
	s.sim, s.cfg.URL, err = Simulate(s.cfg, sets...)
	return err
}

// Simulate starts the built-in simulator that a sim_* configuration describes,
// which answers the data sets from their keys, and gives its address. The caller
// closes it.
func Simulate(cfg models.Config, sets ...*datasets.Set) (*simulator.Server, string, error) {
	raw, err := yaml.Marshal(cfg.Sim)
	if err != nil {
		return nil, "", fmt.Errorf("sim options: %w", err)
	}
	var o simOptions
	if err := registry.Decode(raw, &o); err != nil {
		return nil, "", fmt.Errorf("sim options: %w", err)
	}
	answers, err := SimulatorAnswers(sets...)
	if err != nil {
		return nil, "", err
	}
	c := simulator.Config{AnswersData: answers, Seed: o.Seed, Flavor: o.Flavor, NoDevMode: o.NoDevMode, Preset: o.Preset, MaxNumSeqs: o.MaxNumSeqs,
		MaxNumBatchedTokens: o.MaxNumBatchedTokens, NumGPUBlocks: o.NumGPUBlocks, BlockSize: o.BlockSize,
		TimeScale: o.TimeScale, TokensPerSecond: o.TokensPerSecond, TTFT: time.Duration(o.TTFT), OutputLen: o.OutputLen,
		ReasoningTokens: o.ReasoningTokens, VaryByRepeat: o.VaryByRepeat}
	c.Shape.TokensPerChunk = o.TokensPerChunk
	if o.Accuracy != nil {
		c.Accuracy = *o.Accuracy
		if c.Accuracy == 0 {
			c.Accuracy = -1 // zero means the default there
		}
	}
	for _, f := range o.Faults {
		fault, err := simulator.ParseFault(f)
		if err != nil {
			return nil, "", fmt.Errorf("sim options: faults: %w", err)
		}
		c.Faults = append(c.Faults, fault)
	}
	if cfg.Model != "" {
		c.ServedModelNames = []string{cfg.Model}
	}
	sim, err := simulator.New(c)
	if err != nil {
		return nil, "", fmt.Errorf("start the simulator: %w", err)
	}
	url, err := sim.Start("127.0.0.1:0")
	if err != nil {
		sim.Close()
		return nil, "", fmt.Errorf("start the simulator: %w", err)
	}
	return sim, url, nil
}

// SimulatorAnswers are data sets as the simulator's answer sheet
// (simulator.Config.AnswersData): one JSON object a row, with question and answer.
func SimulatorAnswers(sets ...*datasets.Set) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, set := range sets {
		if set.Config.Workload != nil {
			continue // its requests have no answer that would be right
		}
		for i := range set.Samples {
			s := &set.Samples[i]
			row := maps.Clone(s.Fields)
			if row == nil {
				row = map[string]any{}
			}
			if _, ok := row["answer"]; !ok {
				row["answer"] = s.Gold
			}
			if _, ok := row["question"]; !ok {
				row["question"] = questionOf(s)
			}
			if err := enc.Encode(row); err != nil {
				return nil, fmt.Errorf("row %s of %s as a simulator's answer: %w", s.ID, set.Config.Abbr, err)
			}
		}
	}
	return b.Bytes(), nil
}

// questionOf is the part of a sample's prompt that stays the same whatever is
// answered: of a PPL sample what stands before the candidate, of a conversation
// its last turn by the user.
func questionOf(s *datasets.Sample) string {
	for i := len(s.Prompt.Turns) - 1; i >= 0; i-- {
		if t := s.Prompt.Turns[i]; t.Role == "user" {
			return t.Text
		}
	}
	if len(s.Choices) == 0 {
		return s.Prompt.String()
	}
	options, _ := s.Fields["options"].([]string)
	common := s.Choices[0].Text
	for i, c := range s.Choices {
		text := c.Text
		if i < len(options) {
			text = strings.TrimSuffix(text, options[i])
		}
		n := 0
		for n < min(len(common), len(text)) && common[n] == text[n] {
			n++
		}
		common = common[:n]
	}
	return strings.ToValidUTF8(common, "")
}

func (s *service) close() {
	if s.client != nil {
		s.client.Close()
	}
	if s.sim != nil {
		s.sim.Close()
	}
}
