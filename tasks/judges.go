package tasks

import (
	"context"
	"fmt"
	"time"

	"ais_bench/evaluators"
	"ais_bench/models"
	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// judgeAsker asks one judge model.
type judgeAsker struct{ svc *service }

// Ask implements evaluators.Judge with the model's own retries.
func (j judgeAsker) Ask(ctx context.Context, prompt string) (string, error) {
	req := &models.Request{Messages: []models.Message{{Role: "user", Content: prompt}}, Stream: false, MaxTokens: j.svc.cfg.MaxOutLen}
	for attempt := 0; ; attempt++ {
		res := j.svc.client.Do(ctx, req)
		res.Decode()
		if res.Status == outputs.StatusOK {
			return res.Text, nil
		}
		if attempt >= j.svc.cfg.Retry || !retryable(res.Status) || ctx.Err() != nil {
			return "", fmt.Errorf("judge %s at %s: %s: %s", j.svc.cfg.Model, j.svc.cfg.URL, res.Status, oneLine(res.Error))
		}
		select {
		case <-time.After(backoff(attempt, res)):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func startJudges(ctx context.Context, opts *Options, clock *transport.Clock) ([]evaluators.Judge, func(), error) {
	var judges []evaluators.Judge
	var services []*service
	closeAll := func() {
		for _, s := range services {
			s.close()
		}
	}
	for _, j := range opts.Judges {
		chat, why, err := chatRenderer(ctx, j.Config)
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("judge model %s: %w", j.Name, err)
		}
		if why != "" {
			opts.Observer.Note("judge model " + j.Name + ": " + why)
		}
		s, err := startService(ctx, j.Config, clock, nil, chat, opts.ReadyTimeout, opts.Stop, opts.Observer.Note)
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("judge model %s: %w", j.Name, err)
		}
		services = append(services, s)
		judges = append(judges, judgeAsker{s})
	}
	return judges, closeAll, nil
}
