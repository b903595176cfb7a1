package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"ais_bench/datasets"
	"ais_bench/datasets/chattemplate"
	"ais_bench/datasets/tokenizer"
	"ais_bench/datasets/workloads"
	"ais_bench/outputs"
	"ais_bench/registry"
	"ais_bench/tasks"
)

// unsupported are data set names of the tools we stand in for that need media.
var unsupported = map[string]string{
	"random_mm": "images and video are not supported", "custom_mm": "images and video are not supported", "custom_image": "images are not supported",
	"custom_audio": "audio is not supported", "image": "images are not supported", "mmmu": "images are not supported",
	"hf": "data sets of the hub go by their names here: `ais_bench datasets list` shows all; or convert the rows to JSONL and give --dataset-name custom",
}

// makeRequests makes the run's requests from the workload or the registry's data set.
func (s *Session) makeRequests(ctx context.Context) error {
	o := &s.opts
	name := strings.ReplaceAll(strings.ToLower(o.Dataset), "-", "_")
	if why, ok := unsupported[name]; ok {
		return fmt.Errorf("--dataset-name %s: %s", o.Dataset, why)
	}
	cfg := o.Workload
	cfg.Seed = uint64(o.Seed)
	if codec := s.Tokenizer.Codec; codec != nil {
		cfg.Tokenizer = codec
	}
	if cfg.IgnoreEOS = s.ignoreEOS(name); cfg.IgnoreEOS {
		kw := maps.Clone(s.Service.GenerationKwargs)
		if kw == nil {
			kw = map[string]any{}
		}
		kw["ignore_eos"] = true // in every body and, through the configuration, in the manifest
		s.Service.GenerationKwargs = kw
	}
	if s.Backend.NoIDs {
		if name == "random_token_ids" || name == "random_ids" {
			return fmt.Errorf("--dataset-name %s sends token ids, which --backend %s does not take: give a completions backend (openai), or --dataset-name random", o.Dataset, s.Backend.Name)
		}
		cfg.TraceAsText = true
	}
	s.Service.SkipChatTemplate, s.Service.ChatTemplate = o.SkipChatTemplate, o.ChatTemplate
	if !s.Backend.Chat && !s.Backend.Pooling && !o.SkipChatTemplate {
		if err := s.findChat(); err != nil {
			return err
		}
		if s.chat != nil {
			cfg.ChatTemplate = s.chat.Turns
		}
	}
	set := &datasets.Set{Config: datasets.Config{Abbr: name, Description: "workload of a benchmark"}, Subsets: []string{""}}
	w, err := s.workload(ctx, cfg, set)
	if err != nil {
		return err
	}
	if set.Samples, err = w.Samples(ctx); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return &tasks.EnvironmentError{Err: err}
		}
		return err
	}
	if remote, ok := s.Tokenizer.Codec.(*tokenizer.Remote); ok && remote.Err() != nil {
		return &tasks.EnvironmentError{Err: remote.Err()}
	}
	if len(set.Samples) == 0 {
		return fmt.Errorf("--dataset-name %s makes no request", o.Dataset)
	}
	s.Workload, s.Set = w.String(), set
	s.align(ctx, name)
	if o.TokenizePrompt {
		if err := s.tokenizePrompts(set.Samples); err != nil {
			return err
		}
	}
	for _, n := range w.Notes() {
		s.note("%s: %s", o.Dataset, n)
	}
	if n := s.Duplicated(); n > 0 {
		s.note("%d of %d requests repeat a row of the file, which a prefix cache answers faster; --no-oversample sends fewer requests instead", n, len(set.Samples))
	}
	if err := s.addToSamples(); err != nil {
		return err
	}
	return s.addFile(cmp.Or(cfg.DatasetPath, cfg.ConfigFile))
}

// workload finds what o.Dataset names: a workload, or a data set of the registry.
func (s *Session) workload(ctx context.Context, cfg workloads.Config, set *datasets.Set) (workloads.Workload, error) {
	o := &s.opts
	if workloads.Describe(o.Dataset) != "" {
		s.Timed = workloads.Timed(o.Dataset) && o.SelfTimed != No
		if o.SelfTimed == Yes && !workloads.Timed(o.Dataset) {
			return nil, fmt.Errorf("--self-timed: workload %s has no time stamps; it goes with timed_trace, mooncake and azure", o.Dataset)
		}
		return workloads.New(o.Dataset, cfg)
	}
	if o.SelfTimed == Yes {
		return nil, fmt.Errorf("--self-timed: data set %s has no time stamps; it goes with timed_trace, mooncake and azure", o.Dataset)
	}
	reg, err := datasets.OpenRegistry(o.ConfigDir)
	if err != nil {
		return nil, err
	}
	entries, err := reg.Select(o.Dataset)
	if err != nil || len(entries) != 1 {
		return nil, fmt.Errorf("--dataset-name %q is neither a workload (%s) nor one data set of the registry%s", o.Dataset,
			strings.Join(workloads.Names(), ", "), registry.DidYouMean(o.Dataset, append(workloads.Names(), reg.Names()...)))
	}
	if w := entries[0].Value.Workload; w != nil {
		return nil, fmt.Errorf("--dataset-name %s: this configuration is a workload of the main command (`ais_bench --datasets %s --mode perf`); here give one of %s and its flags", o.Dataset, o.Dataset, strings.Join(workloads.Names(), ", "))
	}
	loaded, err := entries[0].Value.Load(ctx, datasets.LoadOptions{Path: cfg.DatasetPath, Seed: o.Seed})
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: fmt.Errorf("data set %s: %w", o.Dataset, err)}
	}
	set.Config.Abbr, set.Config.MaxOutLen, set.Config.Variants = loaded.Config.Abbr, loaded.Config.MaxOutLen, loaded.Config.Variants
	set.Subsets, set.Files, set.Warnings = loaded.Subsets, loaded.Files, loaded.Warnings
	return workloads.FromSamples(o.Dataset, loaded.Samples, cfg)
}

// ignoreEOS says whether answers are forced to their full length. As the tools
// do it: always for random prompts (with OpenAI's protocol) and traces, whose
// lengths are the workload; with SGLang's own protocol for everything. AISBench leaves
// it to the user for its synthetic prompts, which are of the same kind.
func (s *Session) ignoreEOS(name string) bool {
	switch s.opts.IgnoreEOS {
	case Yes:
		return !s.Backend.Pooling
	case No:
		return false
	}
	switch {
	case s.Backend.Pooling:
		return false
	case s.Backend.SGLang:
		return true
	}
	forced := []string{"random", "random_token_ids", "synthetic_string", "synthetic_tokenid"}
	return s.Backend.OpenAI && slices.Contains(forced, workloads.Resolve(name)) || workloads.Timed(name)
}

// findChat finds the model's chat template, for workloads that make
// conversations; there may be none, which only matters to those. Variables for it
// (chat_template_kwargs) are used here and not sent.
func (s *Session) findChat() error {
	const key = "chat_template_kwargs"
	chat, err := tasks.NewChatRenderer(s.opts.ChatTemplate, s.Tokenizer.Local, s.Service.GenerationKwargs[key])
	switch {
	case errors.Is(err, chattemplate.ErrNoTemplate):
		return nil
	case err != nil:
		return err
	}
	s.chat = chat
	s.Service.GenerationKwargs = maps.Clone(s.Service.GenerationKwargs)
	delete(s.Service.GenerationKwargs, key)
	return nil
}

// tokenizePrompts sends the ids of the prompts in place of their text, so that the
// server need not tokenize and counts exactly these.
func (s *Session) tokenizePrompts(samples []datasets.Sample) error {
	codec := s.Tokenizer.Codec
	switch {
	case s.Backend.NoIDs:
		return fmt.Errorf("--tokenize-prompt sends token ids, which --backend %s does not take: give a completions backend (openai) or sglang", s.Backend.Name)
	case codec == nil:
		return errors.New("--tokenize-prompt needs a tokenizer; give --tokenizer DIR")
	}
	for i := range samples {
		p := &samples[i]
		if len(p.FollowUps) > 0 || len(p.Prompt.Turns) > 0 {
			return errors.New("--tokenize-prompt: conversations are sent as text")
		}
		if p.Prompt.Text == "" || p.Fields[workloads.FieldBatch] != nil {
			continue
		}
		p.Prompt = datasets.Prompt{TokenIDs: codec.Encode(p.Prompt.Text, true)}
		p.Fields[workloads.FieldInputLen] = len(p.Prompt.TokenIDs)
	}
	return nil
}

// addToSamples sets what differs from request to request in the body beside the
// prompt: the adapter, and the texts of a request that carries several.
func (s *Session) addToSamples() error {
	how := s.opts.LoRAAssignment
	if how == "" {
		how = workloads.LoRARandom
	}
	if err := s.checkLimits(); err != nil {
		return err
	}
	adapters, err := workloads.AssignLoRA(s.opts.LoRAModules, how, s.opts.LoRAAlpha, len(s.Set.Samples), uint64(s.opts.Seed))
	if err != nil {
		return err
	}
	for i := range s.Set.Samples {
		sample := &s.Set.Samples[i]
		batch, many := sample.Fields[workloads.FieldBatch].([]string)
		if many && s.Backend.Type != "openai_embeddings" && s.Backend.Type != "openai_rerank" {
			return fmt.Errorf("--random-batch-size: several prompts a request go with embeddings and rerank backends, not with %s", s.Backend.Name)
		}
		if s.Backend.Pooling {
			sample.MaxTokens = 0 // nothing is generated
		}
		if adapters == nil && !many {
			continue
		}
		params := maps.Clone(sample.Params)
		if params == nil {
			params = map[string]any{}
		}
		if adapters != nil {
			params["model"] = adapters[i]
		}
		if many && s.Backend.Type == "openai_embeddings" {
			params["input"] = batch
			delete(params, "query")
			delete(params, "documents")
		}
		sample.Params = params
	}
	return nil
}

// checkLimits refuses a request whose answer nothing would end: one of a workload
// without an output length, and one of a data set without any where ignore_eos is asked for.
func (s *Session) checkLimits() error {
	if s.Backend.Pooling {
		return nil
	}
	made := workloads.Describe(s.opts.Dataset) != ""
	if !made && s.Service.GenerationKwargs["ignore_eos"] != true {
		return nil
	}
	for _, key := range []string{"max_tokens", "max_completion_tokens", "max_new_tokens"} {
		if s.Service.GenerationKwargs[key] != nil {
			return nil
		}
	}
	for i := range s.Set.Samples {
		sample := &s.Set.Samples[i]
		switch {
		case sample.MaxTokens > 0:
		case made:
			return fmt.Errorf("--dataset-name %s: request %s has no output length, so nothing would bound its answer: give one of 1 or more", s.opts.Dataset, sample.ID)
		case s.Set.Config.For(sample.Subset).MaxOutLen == 0:
			return fmt.Errorf("--dataset-name %s: request %s has no output length and --ignore-eos keeps its answer from ending: give --output-len", s.opts.Dataset, sample.ID)
		}
	}
	return nil
}

// addFile puts the data file with its hash into the manifest.
func (s *Session) addFile(file string) error {
	if file == "" || len(s.Set.Files) > 0 {
		return nil
	}
	sum, size, err := outputs.HashFile(file)
	if err != nil {
		return fmt.Errorf("--dataset-path: %w", err)
	}
	s.Set.Files = append(s.Set.Files, datasets.File{Path: file, SHA256: sum, Bytes: size})
	return nil
}
