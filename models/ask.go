package models

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ais_bench/models/transport"
	"ais_bench/models/wire"
	"ais_bench/outputs"
)

// maxErrorBody is how much of a body an error quotes.
const maxErrorBody = 2 << 10

// maxBody bounds an answer that comes as a whole.
const maxBody = 256 << 20

// Do sends the request and returns what happened.
func (s *service) Do(ctx context.Context, req *Request) *Result {
	q := s.quirks.get()
	for cures := int32(0); ; cures++ {
		p := req.prepared
		if p == nil || p.quirks != q || p.body == nil {
			p = s.prepare(ctx, req, q)
		}
		if p.err != nil {
			r := newResult(s.clock.Now())
			return s.failed(r, outputs.StatusMalformed, p.err.Error())
		}
		body := p.body
		p.body = nil // a long prompt must not stay for as long as its answer
		r := s.once(ctx, req, body, p.stream, p.logprobs, p.choices)
		r.Fallbacks = cures
		if a := r.answer; a != nil && r.Status == outputs.StatusOK {
			s.answered.saw(s.served(ctx, req), a.Model)
		}
		switch {
		case r.HTTPStatus == http.StatusOK:
			if cures > 0 {
				s.learn(q)
			}
			s.quirks.accepted(r, p.fields)
			return r
		case cures > 0:
			s.quirks.failed.Add(1)
		}
		next, ok := s.quirks.cure(r, q, p.stream)
		if !ok || cures >= 3 || ctx.Err() != nil {
			return r
		}
		s.quirks.fallbacks.Add(1)
		q = next
	}
}

// once is one request and its answer of so many choices.
func (s *service) once(ctx context.Context, req *Request, body []byte, stream, logprobs bool, choices int) *Result {
	header := make([]transport.Field, 0, len(s.header)+len(req.Headers)+2)
	header = append(header, s.header...)
	for k, v := range req.Headers {
		header = setField(header, k, v)
	}
	if req.ID != "" {
		header = setField(header, "X-Request-Id", req.ID)
	}
	t := s.cfg.Timeouts
	limits := transport.Limits{Total: time.Duration(t.Total)}
	if stream {
		header = append(header, transport.Field{Name: "Accept", Value: "text/event-stream, application/json"})
		limits.FirstToken, limits.Idle = time.Duration(t.FirstToken), time.Duration(t.Idle)
	} else {
		header = append(header, transport.Field{Name: "Accept", Value: "application/json"})
	}
	x, err := s.http.Do(ctx, &transport.Request{Method: http.MethodPost, Path: s.path, Header: header, Body: body, Limits: limits})
	r := newResult(x.Sent)
	defer func() {
		r.Connected, r.FirstByte, r.Reused, r.Resent = x.Connected, x.FirstByte, x.Reused, int32(x.Resent)
		r.BytesIn, r.KernelStamp = x.BytesIn(), x.KernelStamp()
		r.SetupWait = x.SetupWait
		if r.End == outputs.Never {
			r.End = s.clock.Now()
		}
		x.Finish(patience) // last: from here on x belongs to whoever reads the end of its body
	}()
	if err != nil {
		r.Stream = stream
		return s.failedBy(r, err)
	}
	r.HTTPStatus = x.StatusCode
	kind, _, _ := strings.Cut(strings.ToLower(x.Header.Get("content-type")), ";")
	kind = strings.TrimSpace(kind)
	switch {
	case x.StatusCode != http.StatusOK:
		r.Stream = stream
		s.keepHeaders(r, x)
		return s.refused(r, x)
	case s.opts.KeepHeaders:
		s.keepHeaders(r, x)
	}
	if kind == "text/event-stream" || stream && !strings.Contains(kind, "json") && !strings.Contains(kind, "html") {
		r.Stream = true
		s.readStream(r, x, choices)
		return r
	}
	s.readWhole(r, x, kind, logprobs)
	if stream && r.Status == outputs.StatusOK && !s.quirks.whole.Swap(true) {
		// One answer says nothing about the next one, so streams are still asked for;
		// whether the server never streams is found out by Ready.
		s.warn("model %s: the server answered a request for a stream as a whole; such answers have no TTFT, TPOT and ITL", s.cfg.name())
	}
	return r
}

// refused reads the body of an answer that is not 200.
func (s *service) refused(r *Result, x *transport.Exchange) *Result {
	body, _, err := readBody(x, maxErrorBody+1)
	r.End = x.At()
	x.Close()
	var te *transport.Error
	if errors.As(err, &te) && (te.Status == outputs.StatusCancelled || te.Status == outputs.StatusTimeoutTotal) {
		return s.failedBy(r, err)
	}
	status := outputs.StatusMalformed
	switch {
	case x.StatusCode == http.StatusTooManyRequests:
		status = outputs.StatusHTTP429
	case x.StatusCode >= 500:
		status = outputs.StatusHTTP5xx
	case x.StatusCode >= 400:
		status = outputs.StatusHTTP4xx
	}
	r.RetryAfter = retryAfter(x.Header.Get("retry-after"), x.Header.Get("date"))
	msg := fmt.Sprintf("HTTP %d %s", x.StatusCode, http.StatusText(x.StatusCode))
	if to := x.Header.Get("location"); to != "" && x.StatusCode/100 == 3 {
		msg += ": redirected to " + redactURL(to)
	}
	return s.failed(r, status, msg+": "+quote(body))
}

// readWhole reads an answer that comes as one document.
func (s *service) readWhole(r *Result, x *transport.Exchange, kind string, logprobs bool) {
	body, at, err := readBody(x, maxBody)
	r.End = at
	r.StreamEnd = outputs.EndBody
	if err != nil {
		r.StreamEnd = outputs.EndBroken
		x.Close()
		s.failedBy(r, err)
		if len(body) > 0 {
			r.Error += ": " + Scrub(quote(body), s.secrets)
		}
		return
	}
	x.Close()
	trimmed := bytes.TrimSpace(body)
	switch {
	case len(trimmed) == 0:
		s.failed(r, outputs.StatusEmpty, "the body is empty")
		return
	case strings.Contains(kind, "html") || trimmed[0] == '<':
		r.StreamEnd = outputs.EndMalformed
		s.failed(r, outputs.StatusMalformed, "HTML instead of JSON: "+quote(trimmed))
		return
	}
	a := wire.NewAnswer()
	a.Whole = true
	v := s.protocol.scan(trimmed, a)
	r.take(a)
	switch {
	case v.Has(wire.Malformed):
		r.StreamEnd = outputs.EndMalformed
		s.failed(r, outputs.StatusMalformed, "broken JSON: "+quote(trimmed))
	case v.Has(wire.Failure):
		// The server's own word in a 200: the same failure as in mid-stream.
		s.failed(r, outputs.StatusStreamError, outputs.ErrorFromServer+a.Failure+": "+quote(trimmed))
	case !v.Has(wire.Choices):
		s.failed(r, outputs.StatusMalformed, "the answer has no choices: "+quote(trimmed))
	case !a.Any():
		r.Status = outputs.StatusEmpty
		if !logprobs {
			r.Error = "the answer holds no text"
		}
	default:
		s.accept(r)
	}
	if r.Status == outputs.StatusOK {
		r.LastToken = at
	}
	if logprobs && (r.Status == outputs.StatusOK || r.Status == outputs.StatusEmpty) {
		lps, err := s.protocol.logprobs(trimmed, a.InputTokens)
		if err != nil {
			s.failed(r, outputs.StatusMalformed, err.Error())
			return
		}
		r.Status, r.LastToken = outputs.StatusOK, at // the log-probabilities are the answer
		for _, lp := range lps {
			r.PromptLogprobs = append(r.PromptLogprobs, TokenLogprob{Token: lp.Token, Logprob: lp.Value, Unset: lp.Unset})
		}
	}
}

// readBody reads up to limit bytes and tells when the last of them arrived.
func readBody(x *transport.Exchange, limit int) ([]byte, int64, error) {
	var body []byte
	for {
		p, at, err := x.Next()
		body = append(body, p[:min(len(p), limit-len(body))]...)
		switch {
		case errors.Is(err, io.EOF):
			return body, at, nil
		case err != nil:
			return body, at, err
		case len(body) >= limit:
			if limit == maxBody {
				return body[:maxErrorBody], at, &transport.Error{Status: outputs.StatusMalformed, Err: fmt.Errorf("the answer exceeds %d MiB", maxBody>>20)}
			}
			return body, at, nil
		}
	}
}

// quote is the start of a body for an error: at most 2 KiB, on one line.
func quote(body []byte) string {
	if len(body) > maxErrorBody {
		body = body[:maxErrorBody]
	}
	return printable(strings.ToValidUTF8(string(body), "\uFFFD"))
}

// printable is text on one line without control characters: what a server says
// must not drive a terminal.
func printable(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }), " ")
}

// failed gives the result a class of failure; secrets are removed from the
// message, which may echo what we sent.
func (s *service) failed(r *Result, status outputs.Status, msg string) *Result {
	r.Status, r.Error = status, strings.TrimSuffix(Scrub(msg, s.secrets), ": ")
	return r
}

func (s *service) failedBy(r *Result, err error) *Result {
	var te *transport.Error
	if errors.As(err, &te) {
		return s.failed(r, te.Status, te.Error())
	}
	return s.failed(r, outputs.StatusStreamError, err.Error())
}

func (s *service) keepHeaders(r *Result, x *transport.Exchange) {
	r.Headers = make(map[string]string, len(x.Header))
	for _, f := range x.Header {
		v := Scrub(f.Value, s.secrets)
		if f.Name == "set-cookie" {
			v = Redacted
		}
		if had, ok := r.Headers[f.Name]; ok {
			v = had + ", " + v
		}
		r.Headers[f.Name] = v
	}
}

// setField replaces a header field or adds it.
func setField(h []transport.Field, name, value string) []transport.Field {
	value = strings.NewReplacer("\r", " ", "\n", " ").Replace(value)
	for i := range h {
		if equalFold(h[i].Name, name) {
			h[i].Value = value
			return h
		}
	}
	return append(h, transport.Field{Name: name, Value: value})
}

// retryAfter reads Retry-After, seconds or a date; a date counts from the
// server's own Date where there is one, so that its clock does not matter.
func retryAfter(value, date string) int64 {
	if value == "" {
		return 0
	}
	if sec, err := strconv.ParseFloat(value, 64); err == nil {
		if sec <= 0 || sec > 1e6 {
			return 0
		}
		return int64(sec * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now := time.Now()
	if d, err := http.ParseTime(date); err == nil {
		now = d
	}
	return max(0, int64(at.Sub(now)))
}

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

func basicAuth(u *url.Userinfo) string {
	pass, _ := u.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+pass))
}
