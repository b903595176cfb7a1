package inspect

import (
	"net/http"
	"regexp"
	"strings"
)

// keptHeaders are those of an answer that tell what stands before the engine:
// the server's name, proxies and gateways.
var keptHeaders = regexp.MustCompile(`(?i)^(server|via|alt-svc|x-.+|cf-.+|fly-.+|apim-.+|openai-.+)$`)

// secretHeaders may hold credentials.
var secretHeaders = regexp.MustCompile(`(?i)auth|key|token|secret|cookie|password|credential|signature|session`)

// gatewayHeaders are the headers of interest, names in lower case, credentials
// redacted.
func gatewayHeaders(h http.Header) map[string]string {
	out := map[string]string{}
	for name, values := range h {
		if !keptHeaders.MatchString(name) {
			continue
		}
		v := strings.Join(values, ", ")
		if secretHeaders.MatchString(name) {
			v = "[redacted]"
		}
		if len(v) > 200 {
			v = strings.ToValidUTF8(v[:200], "") + "…"
		}
		out[strings.ToLower(name)] = v
	}
	return out
}
