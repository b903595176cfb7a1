package check

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"

	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/registry"
)

// apiPath is a path below the API root, as the probe takes it.
func (r *run) apiPath(method string) string {
	_, prefix := splitOrigin(r.ep.API)
	return prefix + method
}

// answer is the first HTTP answer: the list of models, which nearly every server
// has and which costs nothing.
func (r *run) answer(ctx context.Context) {
	const name = "answer"
	if r.skipped(name) {
		return
	}
	reply := r.probe.Ask(ctx, models.Question{Path: r.apiPath("/models"), Limit: r.StepTimeout})
	r.first = reply
	r.report.Reached = reply.Code != 0
	if reply.Status != outputs.StatusOK {
		r.noAnswer(ctx, reply)
		return
	}
	found := fmt.Sprintf("GET %s: HTTP %d after %s%s", r.apiPath("/models"), reply.Code, millis(reply.Took), between(reply))
	switch {
	case reply.Code == http.StatusProxyAuthRequired:
		r.fail(name, CauseProxyRefused, found+": a proxy wants a user and a password", "give them in --proxy http://USER:PASSWORD@HOST:PORT, or leave the proxy out", true)
	case looksLikeLogin(reply):
		r.fail(name, CauseLogin, found+": "+what(reply), "an OAuth or single-sign-on gateway stands before the service: give what it wants by --header 'Authorization=Bearer TOKEN' or --header 'Cookie=…', or an address behind it", true)
	case reply.Cut:
		r.fail(name, CauseEndless, found+fmt.Sprintf(": the answer is longer than %d MiB and was not read to its end", len(reply.Body)>>20), endless, true)
	case reply.Code/100 == 3 && r.sameAddress(reply.Header["location"], r.apiPath("/models")):
		r.fail(name, CauseRedirectLoop, found+": "+what(reply)+", which is the address that was asked", redirectLoop, true)
	case reply.Code/100 == 3:
		remedy := "give the address it names by --url"
		if strings.HasPrefix(reply.Header["location"], "https://") && r.target().Scheme == "http" {
			remedy = "use https:// in --url"
		}
		r.fail(name, CauseRedirect, found+": "+what(reply), remedy, true)
	case reply.HTML() && proxyPage(reply):
		r.fail(name, CauseProxyRefused, found+": the page of a proxy: "+what(reply), "a proxy stands in between and does not let this through: leave --proxy out, or ask for an exception", true)
	case plainOnTLS(reply):
		r.fail(name, CauseHTTPOnHTTPS, found+": "+reply.Message(), "use https:// in --url", true)
	case reply.Code == http.StatusUnauthorized || reply.Code == http.StatusForbidden:
		r.ok(name, found) // said by auth
	case reply.HTML() && reply.Code < 400:
		r.fail(name, CauseHTML, found+": "+what(reply), "this is the address of a web site, not of the API: check port and path of --url", true)
	case reply.Code == http.StatusTooManyRequests:
		wait := ""
		if s := reply.Header["retry-after"]; s != "" {
			wait = "; it asks to wait " + s
		}
		r.fail(name, CauseRateLimited, found+": "+reply.Message()+wait, "the service limits requests: wait, and run with a lower --request-rate and --batch-size; a limit below the load makes performance figures those of the limit", true)
	case reply.Code == http.StatusServiceUnavailable:
		r.fail(name, CauseLoading, found+": "+what(reply), "the server is loading its model or overloaded: wait, or let the run wait with --ready-timeout 10m", true)
	case reply.Code == http.StatusBadGateway || reply.Code == http.StatusGatewayTimeout:
		r.fail(name, CauseBadGateway, found+": "+what(reply), "a gateway answers but not the server behind it: is the server up, and what does the gateway's log say?", true)
	case reply.Code >= 500:
		r.warn(name, CauseServerError, found+": "+what(reply), "the server failed on its list of models: look at its log")
	case strings.Contains(found, "via "):
		r.warn(name, CauseProxyBetween, found, "a proxy stands in between: it may hold streams back, see chat-stream")
	default:
		r.ok(name, found)
	}
}

// noAnswer says why there was no HTTP answer.
func (r *run) noAnswer(ctx context.Context, reply *models.Reply) {
	const name = "answer"
	where := "GET " + r.apiPath("/models") + ": "
	https := r.target().Scheme == "https"
	viaProxy := r.probe.Proxy() != nil
	switch reply.Status {
	case outputs.StatusTimeoutTotal, outputs.StatusTimeoutFirstToken, outputs.StatusTimeoutIdle:
		if reply.Code != 0 {
			r.fail(name, CauseEndless, where+fmt.Sprintf("an answer begins (HTTP %d) and does not end within %s", reply.Code, r.StepTimeout), endless, true)
			return
		}
		r.fail(name, CauseSilent, where+fmt.Sprintf("the connection is accepted and no answer comes within %s", r.StepTimeout),
			"the server hangs, is still loading with its port open, or speaks another protocol: look at its log, check the port, or raise --step-timeout", true)
	case outputs.StatusMalformed:
		if strings.Contains(reply.Error, "TLS") {
			r.fail(name, CauseHTTPOnHTTPS, where+"the port speaks TLS", "use https:// in --url", true)
			return
		}
		r.fail(name, CauseNotHTTP, where+reply.Error, "something else than a web server listens there: check the port", true)
	case outputs.StatusTruncated, outputs.StatusStreamError:
		if !https && !viaProxy && r.speaksTLS(ctx) {
			r.fail(name, CauseHTTPOnHTTPS, where+"the port speaks TLS", "use https:// in --url", true)
			return
		}
		r.fail(name, CauseClosed, where+"the connection ends without an answer ("+reply.Error+")",
			"the server, or a balancer without a server behind it, gave up: look at its log; is this port the API's?", true)
	case outputs.StatusTLS:
		r.fail(name, CauseHandshake, where+reply.Error, "give the authority's certificate by --ca-file FILE, or --insecure to accept any", true)
	default:
		if viaProxy {
			r.fail(name, CauseProxyRefused, where+reply.Error, "the proxy does not reach the service: leave --proxy out, or ask for an exception", true)
			return
		}
		r.fail(name, CauseNoConnection, where+reply.Error, "look at the lines above", true)
	}
}

const (
	endless      = "something else than the API answers there (a stream of events, a download), or the server never closes its answer: check port and path of --url, look at its log"
	redirectLoop = "the server, or a gateway before it, redirects in a circle: one that expects https learns of it by X-Forwarded-Proto, one that expects a log-in by a cookie or key; look at its configuration, or give an address behind it"
)

// sameAddress reports whether a redirect leads to the path that was asked.
func (r *run) sameAddress(location, path string) bool {
	base := r.target()
	asked, err := base.Parse(path)
	if err != nil || location == "" {
		return false
	}
	to, err := asked.Parse(location)
	return err == nil && to.Scheme == asked.Scheme && hostPort(to) == hostPort(asked) && to.Path == asked.Path && to.RawQuery == asked.RawQuery
}

// speaksTLS reports whether the http address answers a TLS hand-shake.
func (r *run) speaksTLS(ctx context.Context) bool {
	host, _, _ := r.peer()
	_, err := r.handshake(ctx, hostPort(r.target()), host)
	return err == nil
}

// between names what the answer's header tells of gateways and proxies.
func between(reply *models.Reply) string {
	var marks []string
	if s := reply.Header["server"]; s != "" {
		marks = append(marks, "server "+s)
	}
	if v := reply.Header["via"]; v != "" {
		marks = append(marks, "via "+v)
	}
	for _, h := range []string{"x-squid-error", "proxy-agent", "x-envoy-upstream-service-time", "x-kong-proxy-latency", "cf-ray", "x-served-by"} {
		if v := reply.Header[h]; v != "" {
			marks = append(marks, h+" "+v)
		}
	}
	if len(marks) == 0 {
		return ""
	}
	return " (" + strings.Join(marks, ", ") + ")"
}

var (
	pageTitle  = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	loginWords = regexp.MustCompile(`(?i)sign[ _-]?in|log[ _-]?in|oauth|openid|\bsso\b|/auth\b|/authorize|saml|keycloak|dex/`)
	proxyWords = regexp.MustCompile(`(?i)squid|the requested URL could not be retrieved|ERR_ACCESS_DENIED|bluecoat|zscaler|web ?filter|proxy error|cntlm`)
)

// what is an answer in a few words: where a redirect goes, the title of a page,
// else the server's message.
func what(reply *models.Reply) string {
	switch {
	case reply.Code/100 == 3:
		return "redirected to " + reply.Header["location"]
	case reply.HTML():
		if m := pageTitle.FindSubmatch(reply.Body); m != nil {
			return fmt.Sprintf("a web page, %q", strings.Join(strings.Fields(string(m[1])), " "))
		}
		return "a web page"
	}
	if msg := reply.Message(); msg != "" {
		return msg
	}
	return "an empty answer"
}

// looksLikeLogin tells a redirect to a log-in, a log-in page and the challenge of
// an OAuth gateway from other answers.
func looksLikeLogin(reply *models.Reply) bool {
	switch {
	case reply.Code/100 == 3:
		return loginWords.MatchString(reply.Header["location"])
	case reply.HTML():
		return loginWords.Match(reply.Body) && !proxyPage(reply)
	}
	return false
}

func proxyPage(reply *models.Reply) bool {
	return reply.Header["x-squid-error"] != "" || proxyWords.Match(reply.Body)
}

func plainOnTLS(reply *models.Reply) bool {
	text := string(reply.Body)
	return reply.Code == http.StatusBadRequest && (strings.Contains(text, "HTTPS port") || strings.Contains(text, "HTTPS server"))
}

// auth says whether the key is asked for and accepted.
func (r *run) auth(ctx context.Context) {
	const name = "auth"
	if r.skipped(name) {
		return
	}
	keyed := r.probe.Keyed()
	code := r.first.Code
	if code == http.StatusUnauthorized || code == http.StatusForbidden {
		r.keyFails = true
		tiny := r.tiny(ctx)
		if !denied(tiny) {
			r.warn(name, CauseNoModelList, fmt.Sprintf("the list of models is refused with HTTP %d, but requests are not", code), "name the model by --model")
			return
		}
		r.deniedLine(name, keyed, r.first)
		return
	}
	if !keyed {
		r.ok(name, "no key given, none asked for")
		return
	}
	open := r.probe.Ask(ctx, models.Question{Path: r.apiPath("/models"), Anonymous: true, Limit: r.StepTimeout})
	if open.Status == outputs.StatusOK && open.Code == code {
		r.add(Line{Check: name, Status: OK, Cause: CauseNoKeyAsked, Found: "a key is sent, and the list of models is given without one too: whether the key is right shows below"})
		return
	}
	r.ok(name, fmt.Sprintf("the key is accepted; without one the answer is HTTP %d", open.Code))
}

func (r *run) deniedLine(name string, keyed bool, reply *models.Reply) {
	found := fmt.Sprintf("HTTP %d: %s", reply.Code, what(reply))
	if c := reply.Header["www-authenticate"]; c != "" {
		found += " (it wants " + c + ")"
	}
	if reply.Code == http.StatusForbidden {
		r.fail(name, CauseForbidden, found, "the key is known and may not do this, or a gateway refuses this address: look at the key's rights, the model's name and allow-lists", true)
		return
	}
	remedy := "a key is needed: name the variable that holds it by --api-key-env NAME, or give it by --header 'NAME=VALUE'"
	switch {
	case keyed:
		remedy = "the key given is not accepted: is the variable the right one, has the key expired, does the gateway want another header (--header)?"
	case r.Getenv("OPENAI_API_KEY") != "":
		remedy = "a key is needed: OPENAI_API_KEY is set, --api-key-env OPENAI_API_KEY sends it"
	}
	r.fail(name, CauseUnauthorized, found, remedy, true)
}

func denied(reply *models.Reply) bool {
	return reply.Code == http.StatusUnauthorized || reply.Code == http.StatusForbidden
}

// tiny asks the smallest request of the configured protocol.
func (r *run) tiny(ctx context.Context) *models.Reply {
	return r.probe.Ask(ctx, models.Question{Path: r.probe.Path(), Body: r.tinyBody(), Limit: r.StepTimeout})
}

func (r *run) tinyBody() map[string]any {
	model := r.Config.Model
	if model == "" && len(r.served) > 0 {
		model = r.served[0].ID
	}
	body := map[string]any{"model": model, "max_tokens": 1}
	switch r.Config.Protocol() {
	case models.Chat:
		body["messages"] = []any{map[string]any{"role": "user", "content": "Hi"}}
	case models.Completions:
		body["prompt"] = "Hi"
	case models.Generate:
		body = map[string]any{"text": "Hi", "sampling_params": map[string]any{"max_new_tokens": 1}}
	case models.TGI:
		body = map[string]any{"inputs": "Hi", "parameters": map[string]any{"max_new_tokens": 1}}
	case models.Embeddings:
		body = map[string]any{"model": model, "input": "Hi"}
	case models.Rerank:
		body = map[string]any{"model": model, "query": "Hi", "documents": []string{"Hello"}}
	}
	return body
}

// path finds out whether the API is at the address given, and where it is if not.
func (r *run) path(ctx context.Context) {
	const name = "path"
	if r.skipped(name) {
		return
	}
	if r.first.Code == http.StatusOK {
		if r.served = modelList(r.first.Body); r.served != nil {
			r.ok(name, r.apiPath("/models")+" lists models: this is the API")
			return
		}
	}
	tiny := r.tiny(ctx)
	switch {
	case tiny.Status == outputs.StatusOK && denied(tiny):
		r.deniedLine(name, r.probe.Keyed(), tiny)
	case tiny.Status == outputs.StatusOK && !noSuchPath(tiny):
		r.warn(name, CauseNoModelList, fmt.Sprintf("%s gives no list of models (HTTP %d), but %s answers", r.apiPath("/models"), r.first.Code, r.probe.Path()),
			"name the model by --model; tokenizer and snapshot cannot be found by themselves")
	default:
		found := fmt.Sprintf("neither %s nor %s is there (HTTP %d and %d)", r.apiPath("/models"), r.probe.Path(), r.first.Code, tiny.Code)
		if other := r.otherRoot(ctx); other != "" {
			r.fail(name, CauseOtherPath, found, "the API is at "+other+": give --url "+other, true)
			return
		}
		r.fail(name, CauseNoSuchPath, found, "--url takes the base with its prefix, for example http://host:8000 or https://host/api/v1: ask the service's documentation for it", true)
	}
}

// noSuchPath tells a path that does not exist from a model that does not.
func noSuchPath(reply *models.Reply) bool {
	if reply.HTML() {
		return true
	}
	return (reply.Code == http.StatusNotFound || reply.Code == http.StatusMethodNotAllowed) && !strings.Contains(strings.ToLower(reply.Message()), "model")
}

// otherRoot tries the usual places of the API on the same origin.
func (r *run) otherRoot(ctx context.Context) string {
	origin, prefix := splitOrigin(r.ep.API)
	tried := map[string]bool{prefix: true}
	var roots []string
	add := func(p string) {
		if !tried[p] {
			tried[p] = true
			roots = append(roots, p)
		}
	}
	add(doubledVersion.ReplaceAllString(prefix, "/$1$2"))
	parts := strings.Split(strings.Trim(prefix, "/"), "/")
	for i := len(parts); i >= 0; i-- {
		head := ""
		if i > 0 && parts[0] != "" {
			head = "/" + strings.Join(parts[:i], "/")
		}
		add(head + "/v1")
		add(head)
	}
	for _, p := range []string{"/api/v1", "/openai/v1", "/api/openai/v1", "/openai", "/api", "/v2", "/v3", "/api/v3", "/compatible-mode/v1"} {
		add(p)
	}
	for _, p := range roots {
		reply := r.probe.Ask(ctx, models.Question{Path: p + "/models", Limit: r.StepTimeout})
		if reply.Status != outputs.StatusOK {
			return "" // it answered a moment ago: something else is wrong now
		}
		if reply.Code == http.StatusOK && modelList(reply.Body) != nil {
			return origin + p
		}
	}
	return ""
}

// modelList reads /v1/models; nil when it is something else.
func modelList(body []byte) []models.ModelInfo {
	var list struct {
		Data []struct {
			ID          string `json:"id"`
			Root        string `json:"root"`
			MaxModelLen int    `json:"max_model_len"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil || list.Data == nil {
		return nil
	}
	out := make([]models.ModelInfo, 0, len(list.Data))
	for _, m := range list.Data {
		out = append(out, models.ModelInfo{ID: m.ID, Root: m.Root, MaxModelLen: m.MaxModelLen})
	}
	return out
}

// modelName says whether the model that requests name is served.
func (r *run) modelName(ctx context.Context) {
	const name = "model"
	if r.skipped(name) {
		return
	}
	r.model = r.Config.Model
	ids := make([]string, len(r.served))
	for i, m := range r.served {
		ids[i] = m.ID
	}
	switch {
	case r.served == nil && r.model == "":
		switch r.Config.Protocol() {
		case models.Generate, models.TGI:
			r.ok(name, "requests of this protocol name none")
			return
		}
		r.fail(name, CauseNoModel, "no name is given and the server lists none", "give --model NAME", true)
		return
	case r.served == nil:
		r.warn(name, CauseNoModelList, fmt.Sprintf("%s, which no list confirms", r.model), "whether it is served shows below")
		return
	case len(ids) == 0 && r.model == "":
		r.fail(name, CauseNoModel, "the list of models is empty", "has the server loaded a model? give --model NAME if it serves one all the same", true)
		return
	}
	if r.model == "" {
		r.model = ids[0]
		found := r.model + ", the first of the list" + lengthOf(r.served[0])
		if len(ids) > 1 {
			r.ok(name, found+"; also "+strings.Join(ids[1:], ", ")+" (--model chooses)")
			return
		}
		r.ok(name, found)
		return
	}
	for i, id := range ids {
		if id == r.model {
			r.ok(name, id+" is served"+lengthOf(r.served[i]))
			return
		}
	}
	have := "the server has " + strings.Join(ids, ", ")
	if tiny := r.tiny(ctx); tiny.Status == outputs.StatusOK && tiny.Code == http.StatusOK && !tiny.HTML() {
		r.warn(name, CauseWrongModel, fmt.Sprintf("%q is not in the list and is answered all the same", r.model), have+": it may answer with another model than the one you mean")
		return
	}
	remedy := have
	if near := nearest(r.model, ids); near != "" {
		remedy = fmt.Sprintf("the nearest is %s: --model %s (%s)", near, near, have)
	} else if len(ids) == 1 {
		remedy = fmt.Sprintf("%s: --model %s, or leave --model out", have, ids[0])
	}
	r.fail(name, CauseWrongModel, fmt.Sprintf("%q is not served", r.model), remedy, true)
}

// nearest is the served name that is probably meant: one with the same last
// element, else one that is spelled alike.
func nearest(name string, ids []string) string {
	last := func(s string) string { return strings.ToLower(path.Base(strings.TrimRight(s, "/"))) }
	for _, id := range ids {
		if last(id) == last(name) {
			return id
		}
	}
	return registry.Nearest(name, ids)
}

func lengthOf(m models.ModelInfo) string {
	if m.MaxModelLen == 0 {
		return ""
	}
	return fmt.Sprintf(", max_model_len %d", m.MaxModelLen)
}
