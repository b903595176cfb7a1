package models_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ais_bench/models"
	"ais_bench/models/simulator"
	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// undetectable are the faults, of streams, that no client can tell from an answer:
// a chunk that comes twice reads as a text that repeats itself, and half an answer
// that ends properly as a shorter one.
var undetectable = map[string]bool{"duplicate@before": true, "duplicate@start": true, "duplicate@mid": true, "empty@mid": true}

// TestFaultMatrix lets the simulator misbehave in every way it knows, at every
// place, in every protocol, streamed and not, and checks the class each gets:
// above all, that none but the undetectable ones is taken for a success.
func TestFaultMatrix(t *testing.T) {
	sim, err := simulator.New(simulator.Config{Preset: "instant", OutputLen: 40, OutputLenSigma: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	url, err := sim.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	// The classes each fault may have; which of them depends on its place: a status
	// that can no longer be given is an error object in the stream.
	expect := map[string][]outputs.Status{
		"reset":      {outputs.StatusStreamError},
		"hang":       {outputs.StatusTimeoutFirstToken, outputs.StatusTimeoutIdle, outputs.StatusTimeoutTotal},
		"close":      {outputs.StatusTruncated},
		"error":      {outputs.StatusStreamError},
		"429":        {outputs.StatusHTTP429, outputs.StatusStreamError},
		"500":        {outputs.StatusHTTP5xx, outputs.StatusStreamError},
		"503":        {outputs.StatusHTTP5xx, outputs.StatusStreamError},
		"html":       {outputs.StatusMalformed},
		"malformed":  {outputs.StatusMalformed},
		"empty":      {outputs.StatusEmpty},
		"slow-loris": {outputs.StatusTimeoutFirstToken, outputs.StatusTimeoutIdle, outputs.StatusTimeoutTotal},
		"duplicate":  {outputs.StatusMalformed},
	}
	// The faults that only a time-out ends have short ones, all others none, so that
	// a slow machine does not change their class.
	short := models.Timeouts{FirstToken: models.Duration(60 * time.Millisecond), Idle: models.Duration(60 * time.Millisecond), Total: models.Duration(120 * time.Millisecond)}
	var mu sync.Mutex
	var table []string
	taken, all := 0, 0 // for a success; of how many
	t.Run("all", func(t *testing.T) {
		for _, typ := range []string{"openai_chat", "openai_completions", "sglang_generate"} {
			for _, stream := range []bool{true, false} {
				cfg := models.Config{Abbr: "sim", Type: typ, URL: url, Model: "sim", Stream: stream}
				hasty := cfg
				hasty.Timeouts = short
				client, quick := mustClient(t, cfg), mustClient(t, hasty)
				ok := client.Do(context.Background(), &models.Request{Prompt: "hello", Stream: stream, MaxTokens: 40})
				if ok.Status != outputs.StatusOK {
					t.Fatalf("%s: without a fault: %s (%s)", typ, ok.Status, ok.Error)
				}
				for _, kind := range simulator.FaultKinds {
					for _, when := range []simulator.FaultWhen{simulator.FaultBefore, simulator.FaultStart, simulator.FaultMid} {
						all++
						name := fmt.Sprintf("%s/%s/stream=%v/%s", kind, when, stream, typ)
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							c := client
							if kind == "hang" || kind == "slow-loris" {
								c = quick
							}
							r := c.Do(context.Background(), &models.Request{Prompt: "hello", Stream: stream, MaxTokens: 40,
								Headers: map[string]string{"X-Sim-Fault": kind + "@" + string(when)}})
							mu.Lock()
							table = append(table, fmt.Sprintf("%-60s %s", name, r.Status))
							if r.Status == outputs.StatusOK {
								taken++
							}
							mu.Unlock()
							want := expect[kind]
							if stream && undetectable[kind+"@"+string(when)] {
								want = []outputs.Status{outputs.StatusOK}
							}
							if !slices.Contains(want, r.Status) {
								t.Errorf("status %s (%s), want one of %v", r.Status, r.Error, want)
							}
						})
					}
				}
			}
		}
	})
	if all != 216 || len(table) == all && taken != 12 { // fewer when a part is run
		t.Errorf("%d of %d faults were taken for successes, want 12 of 216", taken, all)
	}
	t.Log("\n" + strings.Join(table, "\n"))
}

func mustClient(t *testing.T, cfg models.Config) models.Client {
	t.Helper()
	c, err := models.New(cfg, transport.NewClock(), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
