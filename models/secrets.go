package models

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"sort"
	"strings"
)

// Redacted stands wherever a secret stood.
const Redacted = "[redacted]"

var envRef = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// sensitiveHeader tells headers whose value is a credential.
var sensitiveHeader = regexp.MustCompile(`(?i)auth|key|token|secret|cookie|password|credential|signature`)

// expand replaces ${NAME} by the environment's value.
func expand(field, s string) (string, error) {
	var missing string
	out := envRef.ReplaceAllStringFunc(s, func(ref string) string {
		name := ref[2 : len(ref)-1]
		v, ok := os.LookupEnv(name)
		if (!ok || v == "") && missing == "" {
			missing = name
		}
		return v
	})
	if missing != "" {
		return "", fmt.Errorf("%s refers to ${%s}, which is not set: export %s=… or put it into a file for --env-file", field, missing, missing)
	}
	return out, nil
}

// resolved is a copy with every ${NAME} replaced.
func (c Config) resolved() (Config, error) {
	wrap := func(err error) error { return fmt.Errorf("model %s: %w", c.name(), err) }
	var err error
	if c.APIKey, err = expand("api_key", c.APIKey); err != nil {
		return c, wrap(err)
	}
	if strings.ContainsAny(c.APIKey, "\r\n\x00") {
		return c, wrap(fmt.Errorf("api_key spans several lines: a line end was copied with it"))
	}
	if c.Proxy, err = expand("proxy", c.Proxy); err != nil {
		return c, wrap(err)
	}
	headers := make(map[string]string, len(c.Headers))
	for k, v := range c.Headers {
		if headers[k], err = expand("header "+k, v); err != nil {
			return c, wrap(err)
		}
		if strings.ContainsAny(headers[k], "\r\n\x00") {
			return c, wrap(fmt.Errorf("header %s spans several lines", k))
		}
	}
	c.Headers = headers
	return c, nil
}

// Secrets are the values, resolved from the environment, that must not appear
// in any output: the key, credentials in headers, passwords in URLs. Longest
// first, so that replacing them in order leaves no remainder. Unset variables
// are left out.
func (c Config) Secrets() []string {
	set := map[string]bool{}
	add := func(s string) {
		if s = strings.TrimSpace(s); len(s) >= 4 { // shorter ones would blank out ordinary text
			set[s] = true
			if q := url.QueryEscape(s); q != s {
				set[q] = true
			}
		}
	}
	lookup := func(s string) string {
		return envRef.ReplaceAllStringFunc(s, func(ref string) string { return os.Getenv(ref[2 : len(ref)-1]) })
	}
	add(lookup(c.APIKey))
	if key := lookup(c.APIKey); key != "" {
		add(base64.StdEncoding.EncodeToString([]byte(key))) // as a server that logs it encoded would echo it
	}
	for k, v := range c.Headers {
		for _, m := range envRef.FindAllStringSubmatch(v, -1) {
			add(os.Getenv(m[1])) // what was worth hiding in the environment is a secret under any header name
		}
		if sensitiveHeader.MatchString(k) {
			v = lookup(v)
			add(v)
			if _, cred, ok := strings.Cut(v, " "); ok { // "Bearer …"
				add(cred)
			}
		}
	}
	for _, raw := range []string{c.URL, lookup(c.Proxy)} {
		if u, err := url.Parse(raw); err == nil && u.User != nil {
			if p, ok := u.User.Password(); ok {
				add(p)
				add(base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + p))) // as it is sent
			} else {
				add(u.User.Username())
			}
		}
	}
	eachCredential(c.GenerationKwargs, func(m map[string]any, k string, v string) { add(lookup(v)) })
	out := make([]string, 0, len(set))
	for s := range set {
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return len(out[i]) > len(out[j]) || len(out[i]) == len(out[j]) && out[i] < out[j] })
	return out
}

// Scrub replaces every secret in s.
func Scrub(s string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" && strings.Contains(s, secret) {
			s = strings.ReplaceAll(s, secret, Redacted)
		}
	}
	return s
}

// Redacted is a copy fit for any output: references to the environment stay,
// credentials written in clear do not.
func (c Config) Redacted() Config {
	keep := func(s string) string {
		if s == "" || envRef.ReplaceAllString(s, "") == "" {
			return s
		}
		return Redacted
	}
	c.APIKey = keep(c.APIKey)
	if c.Headers != nil {
		h := make(map[string]string, len(c.Headers))
		for k, v := range c.Headers {
			if sensitiveHeader.MatchString(k) {
				if scheme, cred, ok := strings.Cut(v, " "); ok && envRef.ReplaceAllString(cred, "") == "" {
					h[k] = scheme + " " + cred
				} else {
					h[k] = keep(v)
				}
			} else {
				h[k] = v
			}
		}
		c.Headers = h
	}
	c.URL, c.Proxy = redactURL(c.URL), redactURL(c.Proxy)
	if kw, ok := deepCopy(c.GenerationKwargs).(map[string]any); ok && c.GenerationKwargs != nil {
		eachCredential(kw, func(m map[string]any, k, v string) { m[k] = keep(v) })
		c.GenerationKwargs = kw
	}
	return c
}

// RedactCredentials replaces every text under a credential's name in v, JSON's own
// types at any depth, in place: servers tell their own keys among their arguments.
func RedactCredentials(v any) {
	eachCredential(v, func(m map[string]any, k, value string) {
		if value != "" {
			m[k] = Redacted
		}
	})
}

// credentialKwarg tells request fields whose value is a credential. It is
// narrower than for headers: max_tokens and stop_token_ids are none.
var credentialKwarg = regexp.MustCompile(`(?i)^(.*[_-])?(api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|bearer[_-]?token|token|secret|password|authorization|credential)s?$`)

// eachCredential calls f for every text under a credential's name, at any depth.
func eachCredential(v any, f func(m map[string]any, key, value string)) {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if s, ok := e.(string); ok && credentialKwarg.MatchString(k) {
				f(x, k, s)
				continue
			}
			eachCredential(e, f)
		}
	case []any:
		for _, e := range x {
			eachCredential(e, f)
		}
	}
}

func deepCopy(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = deepCopy(e)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = deepCopy(e)
		}
		return out
	}
	return v
}

var userInfo = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*://)?[^/?#@]*(@)`)

// redactURL hides user info, also of a string that is not quite a URL.
func redactURL(s string) string {
	s = userInfo.ReplaceAllString(s, "${1}"+Redacted+"@")
	if base, query, ok := strings.Cut(s, "?"); ok && query != "" {
		return base + "?" + Redacted // a key may stand in it
	}
	return s
}
