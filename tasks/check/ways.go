package check

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"ais_bench/models"
	"ais_bench/outputs"
)

// way is one form in which a service can be asked.
type way struct {
	check  string
	typ    string // of models.Types
	stream bool
}

// waysOf are the forms to try for a configured protocol. Chat and completions are
// tried both, whichever is configured: data sets differ in what they need.
func waysOf(c models.Config) []way {
	switch c.Protocol() {
	case models.Chat, models.Completions:
		return []way{{"chat", "openai_chat", false}, {"chat-stream", "openai_chat", true},
			{"completions", "openai_completions", false}, {"completions-stream", "openai_completions", true}}
	}
	pooling := c.Protocol() == models.Embeddings || c.Protocol() == models.Rerank
	return []way{{"request", c.Type, c.Stream && !pooling}}
}

// configured reports whether a way is the one that the run will use.
func (r *run) configured(w way) bool {
	return w.check == "request" || models.Types[w.typ] == r.Config.Protocol() && w.stream == r.Config.Stream
}

// ways asks once in each form.
func (r *run) ways(ctx context.Context) {
	for _, w := range waysOf(r.Config) {
		if r.skipped(w.check) {
			continue
		}
		client, err := r.newClient(w.typ)
		if err != nil {
			r.skip(w.check, err.Error())
			continue
		}
		res := client.Do(ctx, &models.Request{Messages: say("Write one sentence about the sea."), MaxTokens: waysTokens, Stream: w.stream})
		res.Decode()
		r.answers[w.check] = res
		r.add(r.judge(w, res))
		client.Close()
	}
}

// waysTokens is how long an answer may be.
const waysTokens = 16

const endlessStream = "the answer goes on and on, beyond the number of tokens asked for: the server ignores max_tokens and never ends, or something else than the API answers there: look at its log; runs need a bound of their own (--timeout)"

// redirectsToItself reports whether a request is sent back to where it was sent.
func (r *run) redirectsToItself(w way, res *models.Result) bool {
	_, to, ok := strings.Cut(res.Error, "redirected to ")
	if !ok {
		return false
	}
	to, _, _ = strings.Cut(to, ": ") // the body follows
	path := map[string]string{"openai_chat": r.apiPath("/chat/completions"), "openai_completions": r.apiPath("/completions")}[w.typ]
	if path == "" || r.configured(w) {
		path = r.probe.Path()
	}
	return r.sameAddress(strings.TrimSpace(to), path)
}

func say(text string) []models.Message { return []models.Message{{Role: "user", Content: text}} }

// newClient makes a client of the service for a protocol, with the model's name
// filled in.
func (r *run) newClient(typ string) (models.Client, error) {
	cfg := r.Config
	cfg.Type, cfg.Model = typ, r.model
	if cfg.Type != r.Config.Type && r.report.URL != "" {
		cfg.URL = r.ep.API // the method's name in the URL is the configured protocol's
	}
	return models.New(cfg, r.clock, models.Options{})
}

// judge turns what one request did into a line. Only the form that the run will
// use can fail; the others warn.
func (r *run) judge(w way, res *models.Result) Line {
	l := Line{Check: w.check, Status: OK}
	problem := func(cause, found, remedy string) Line {
		l.Status, l.Cause, l.Found, l.Remedy = Warn, cause, found, remedy
		if r.configured(w) {
			l.Status = Fail
		}
		return l
	}
	if res.Status != outputs.StatusOK {
		cause, remedy := r.whyFailed(w, res)
		return problem(cause, short(res.Brief()), remedy)
	}
	l.Found = r.describe(w, res)
	warn := func(cause, remedy string) Line {
		l.Status, l.Cause, l.Remedy = Warn, cause, remedy
		return l
	}
	switch {
	case w.stream && !res.Stream && res.Fallbacks == 0:
		return warn(CauseNotStreamed, "the answer came as a whole although a stream was asked for: TTFT, TPOT and ITL do not exist")
	case w.stream && !res.Stream:
		return warn(CauseNotStreamed, "the server refuses to stream: TTFT, TPOT and ITL do not exist")
	case strings.ContainsRune(withoutCut(res), utf8.RuneError):
		return warn(CauseInvalidUTF8, "the answer holds bytes that are no UTF-8 (or U+FFFD in their place): characters are cut apart between tokens, or the model's tokenizer is not the server's; such answers are scored as they are read")
	case w.stream && buffered(res, r.noticeable):
		return warn(CauseBuffered, "the stream arrives in one piece: a proxy or gateway holds it back (nginx: proxy_buffering off); TTFT and ITL are its, not the server's")
	case w.stream && res.OutputTokens != outputs.UnknownTokens && len(res.ChunkAt) > int(res.OutputTokens):
		return warn(CauseDuplicate, "more chunks with text than tokens: something repeats parts of the stream, or usage leaves tokens out")
	case res.Fallbacks > 0:
		return warn(CauseQuirk, "the server refused the first form of the request (stream_options, or max_tokens in favour of max_completion_tokens); the run adapts itself")
	}
	return l
}

// withoutCut is what an answer says, without the broken character that the limit of
// tokens may have left at its end.
func withoutCut(res *models.Result) string {
	text := res.Reasoning + res.Text
	if res.FinishReason == "length" {
		text = strings.TrimRight(text, string(utf8.RuneError))
	}
	return text
}

// describe is what a good answer looked like.
func (r *run) describe(w way, res *models.Result) string {
	var parts []string
	if n := res.OutputTokens; n > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", n))
	} else if t := []rune(res.Text + res.Reasoning); len(t) > 0 {
		parts = append(parts, fmt.Sprintf("%d characters", len(t)))
	}
	if took := "after " + millis(time.Duration(res.End-res.Sent)); res.End != outputs.Never && len(parts) > 0 {
		parts[0] += " " + took
	} else if res.End != outputs.Never {
		parts = append(parts, "answered "+took)
	}
	if res.Stream && res.FirstToken != outputs.Never {
		parts = append(parts, fmt.Sprintf("the first after %s", millis(time.Duration(res.FirstToken-res.Sent))), fmt.Sprintf("%d chunks in %d reads", len(res.ChunkAt), res.Reads))
	}
	if res.FinishReason != "" {
		parts = append(parts, "finish_reason "+res.FinishReason)
	}
	if res.Reasoning != "" {
		parts = append(parts, "with reasoning")
	}
	if len(parts) == 0 {
		return "answered"
	}
	return strings.Join(parts, ", ")
}

// buffered tells a stream that came in one piece after a noticeable time. A fast
// server's stream can come in one read, too.
func buffered(res *models.Result, noticeable time.Duration) bool {
	n := len(res.ChunkAt)
	if n < 8 || res.End == outputs.Never {
		return false
	}
	span := res.ChunkAt[n-1] - res.ChunkAt[0]
	total := res.End - res.Sent
	return total > int64(noticeable) && span < total/50
}

// whyFailed is the cause of a failed request and what to do.
func (r *run) whyFailed(w way, res *models.Result) (cause, remedy string) {
	text := strings.ToLower(res.Error)
	switch res.Status {
	case outputs.StatusMalformed:
		switch {
		case strings.Contains(text, "no choices"):
			return CauseNoChoices, "the answer is JSON but not of this protocol: a gateway that wraps answers, or another API (its own format, an error without a status): look at the answer above and choose the model's type"
		case strings.Contains(text, "html"):
			return CauseHTML, "a web or log-in page answers there, not the API: check --url, and whether a proxy or a log-in stands before this path"
		case strings.Contains(text, "mib"):
			return CauseEndless, endlessStream
		case res.HTTPStatus/100 == 3 && r.redirectsToItself(w, res):
			return CauseRedirectLoop, redirectLoop
		case res.HTTPStatus/100 == 3:
			return CauseRedirect, "give the address it names by --url"
		}
		return CauseBroken, "the server does not speak this protocol, or something in between spoils the answer: ask it with curl and look"
	case outputs.StatusTruncated:
		return CauseTruncated, "the answer breaks off without its end: look at the server's log; a proxy that limits time or size does this, too"
	case outputs.StatusEmpty:
		return CauseEmpty, "the answer ends properly and holds nothing: stop words or a chat template that end it at once, or a server that generates nothing: look at its log"
	case outputs.StatusStreamError:
		if strings.Contains(text, "the server reports") {
			return CauseServerReports, "the server's own error, sent with status 200: look at its log"
		}
		return CauseClosed, "the connection broke: look at the server's log"
	case outputs.StatusHTTP429:
		return CauseRateLimited, "the service limits requests: wait, and run with a lower --request-rate and --batch-size"
	case outputs.StatusHTTP5xx:
		switch res.HTTPStatus {
		case http.StatusServiceUnavailable:
			return CauseLoading, "the server is loading its model or overloaded: wait, or let the run wait with --ready-timeout 10m"
		case http.StatusBadGateway, http.StatusGatewayTimeout:
			return CauseBadGateway, "a gateway answers but not the server behind it: is the server up?"
		}
		return CauseServerError, "the server failed: look at its log"
	case outputs.StatusHTTP4xx:
		switch {
		case res.HTTPStatus == http.StatusUnauthorized:
			return CauseUnauthorized, "the key is missing or wrong: --api-key-env NAME, or --header"
		case res.HTTPStatus == http.StatusForbidden:
			return CauseForbidden, "the key may not do this: look at its rights and at allow-lists"
		case res.HTTPStatus == http.StatusNotFound && strings.Contains(text, "model"):
			return CauseWrongModel, "the model is not served under this name: --model NAME"
		case res.HTTPStatus == http.StatusNotFound || res.HTTPStatus == http.StatusMethodNotAllowed:
			if r.configured(w) {
				return CauseNotOffered, "the server has no such endpoint: choose a model configuration of another type (ais_bench models list)"
			}
			return CauseNotOffered, "the server has no such endpoint: model configurations that ask there, and data sets that need it, cannot be used"
		case strings.Contains(text, "chat template"):
			return CauseRejected, "the model has no chat template: start the server with --chat-template, or ask completions (vllm_api_general_stream)"
		}
		return CauseRejected, "the server refuses the request; its message says why: look at generation_kwargs (--generation-kwargs) and the model's type"
	case outputs.StatusTimeoutFirstToken, outputs.StatusTimeoutIdle, outputs.StatusTimeoutTotal:
		if len(res.ChunkAt) > waysTokens || res.BytesIn > 1<<20 {
			return CauseEndless, endlessStream
		}
		return CauseSilent, fmt.Sprintf("nothing, or not everything, came within %s: the server hangs or is busy with others' requests: look at its log, or raise --step-timeout", r.StepTimeout)
	}
	return CauseNoConnection, "look at the lines above"
}

// short keeps a message to one readable line.
func short(s string) string {
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// usable is the client for further questions, in the configured form, or nil with
// a skip line for the check when that form does not work.
func (r *run) usable(check string) (models.Client, bool) {
	if r.skipped(check) {
		return nil, false
	}
	worked := false
	for _, w := range waysOf(r.Config) {
		res := r.answers[w.check]
		worked = worked || res != nil && res.Status == outputs.StatusOK && models.Types[w.typ] == r.Config.Protocol()
	}
	if !worked {
		r.skip(check, "not looked at: no request of the configured type was answered")
		return nil, false
	}
	if r.client == nil {
		var err error
		if r.client, err = r.newClient(r.Config.Type); err != nil {
			r.skip(check, err.Error())
			return nil, false
		}
	}
	return r.client, true
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
