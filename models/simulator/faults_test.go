package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestParseFault(t *testing.T) {
	for in, want := range map[string]string{
		"reset:0.01,mid": "reset:0.01,mid", "hang@mid": "hang:1,mid", "429": "429:1,before", "empty:0.5": "empty:0.5,start",
		"slowloris@start": "slow-loris:1,start", "close": "close:1,mid", "slow_loris": "slow-loris:1,mid",
	} {
		if f, err := ParseFault(in); err != nil || f.String() != want {
			t.Errorf("ParseFault(%q) = %v, %v; want %s", in, f, err, want)
		}
	}
	for in, says := range map[string]string{"rest": "did you mean", "reset:2": "rate", "reset:x": "rate", "reset,middle": "before, start or mid", "": "unknown kind"} {
		if _, err := ParseFault(in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("ParseFault(%q): error %v, want one with %q", in, err, says)
		}
	}
}

// outcome is what a client that follows the protocol sees. Only faults that nothing
// but its patience ends find it impatient.
func outcome(url, path, body, fault string) string {
	patience := 2 * time.Minute
	if kind, _, _ := strings.Cut(fault, "@"); kind == "hang" || kind == "slow-loris" {
		patience = 400 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", url+path, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("X-Sim-Fault", fault)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	slow := func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
	if slow(err) {
		return "timeout"
	}
	if err != nil {
		return "broken"
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		if s := resp.StatusCode; (s == 429 || s == 503) && resp.Header.Get("Retry-After") != "1" {
			return "no Retry-After"
		}
		return resp.Status[:3]
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return "html"
	}
	b, err := io.ReadAll(resp.Body)
	if slow(err) {
		return "timeout"
	}
	if err != nil {
		return "broken"
	}
	if !strings.Contains(body, `"stream":true`) {
		var v struct {
			Error   any
			Choices []struct {
				Text    string
				Message struct{ Content string }
			}
		}
		switch err := json.Unmarshal(b, &v); {
		case len(b) == 0:
			return "empty"
		case err != nil:
			return "malformed"
		case v.Error != nil:
			return "error"
		case len(v.Choices) == 0 || v.Choices[0].Text+v.Choices[0].Message.Content == "":
			return "empty"
		}
		return "ok"
	}
	if strings.Contains(string(b), "<html>") {
		return "html"
	}
	payload, done, finish, last := 0, false, false, ""
	for _, line := range strings.Split(string(b), "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		if data == last {
			return "duplicate"
		}
		last = data
		var r chatReply
		if json.Unmarshal([]byte(data), &r) != nil {
			return "malformed"
		}
		if r.Error != nil {
			return "error"
		}
		for _, c := range r.Choices {
			if c.Delta.Content+c.Text != "" {
				payload++
			}
			finish = finish || c.FinishReason != nil
		}
	}
	switch {
	case len(b) == 0:
		return "empty"
	case !done || !finish:
		return "broken"
	case payload == 0:
		return "empty"
	case payload < 30:
		return "short"
	}
	return "ok"
}

// Every fault at every place, streamed and not, over both OpenAI protocols, is
// seen by a client as what it is; none looks like a whole answer.
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	srv, url := start(t, Config{Preset: "instant"})
	bodies := map[string]string{
		"/v1/chat/completions": `{"messages":[{"role":"user","content":"x"}],"max_tokens":30,"ignore_eos":true`,
		"/v1/completions":      `{"prompt":"x","max_tokens":30,"ignore_eos":true`,
	}
	want := map[string]map[FaultWhen][2]string{ // not streamed, streamed
		"reset":      {"before": {"broken", "broken"}, "start": {"broken", "broken"}, "mid": {"broken", "broken"}},
		"close":      {"before": {"broken", "broken"}, "start": {"broken", "broken"}, "mid": {"broken", "broken"}},
		"hang":       {"before": {"timeout", "timeout"}, "start": {"timeout", "timeout"}, "mid": {"timeout", "timeout"}},
		"error":      {"before": {"error", "empty"}, "start": {"error", "error"}, "mid": {"error", "error"}},
		"429":        {"before": {"429", "429"}, "start": {"429", "error"}, "mid": {"429", "error"}},
		"500":        {"before": {"500", "500"}, "start": {"500", "error"}, "mid": {"500", "error"}},
		"503":        {"before": {"503", "503"}, "start": {"503", "error"}, "mid": {"503", "error"}},
		"html":       {"before": {"html", "html"}, "start": {"html", "html"}, "mid": {"html", "html"}},
		"malformed":  {"before": {"malformed", "malformed"}, "start": {"malformed", "malformed"}, "mid": {"malformed", "malformed"}},
		"empty":      {"before": {"empty", "empty"}, "start": {"empty", "empty"}, "mid": {"empty", "short"}},
		"duplicate":  {"before": {"malformed", "duplicate"}, "start": {"malformed", "duplicate"}, "mid": {"malformed", "duplicate"}},
		"slow-loris": {"before": {"timeout", "timeout"}, "start": {"timeout", "timeout"}, "mid": {"timeout", "timeout"}},
	}
	want["error"]["before"] = [2]string{"error", "broken"} // one JSON object where a stream was asked for
	for _, kind := range FaultKinds {
		for when, expect := range want[kind] {
			for path, body := range bodies {
				for i, end := range []string{"}", `,"stream":true}`} {
					name := kind + "@" + string(when) + path + end
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						if got := outcome(url, path, body+end, kind+"@"+string(when)); got != expect[i] {
							t.Errorf("a client sees %q, want %q", got, expect[i])
						}
					})
				}
			}
		}
	}
	t.Cleanup(func() {
		if n := srv.Stats().Faulted; n != int64(len(FaultKinds)*3*2*2) {
			t.Errorf("%d faults counted", n)
		}
	})
}

func TestFaultRateIsSeeded(t *testing.T) {
	faults := []Fault{{Kind: "500", Rate: 0.1, When: FaultBefore}, {Kind: "429", Rate: 0.2, When: FaultBefore}}
	count := map[string]int{}
	for n := range uint64(10000) {
		if f := pickFault(faults, 1, n); f != nil {
			count[f.Kind]++
			if g := pickFault(faults, 1, n); g != f {
				t.Fatal("the same request suffers different faults")
			}
		}
	}
	if count["500"] < 900 || count["500"] > 1100 || count["429"] < 1850 || count["429"] > 2150 {
		t.Errorf("rates 0.1 and 0.2 gave %v of 10000", count)
	}
}
