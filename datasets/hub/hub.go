// Package hub downloads data files from a hub of data sets: Hugging Face's or
// ModelScope's protocol, at any address that speaks it.
//
// A download is resumed where an earlier one stopped (HTTP Range), checked
// against the digest the hub states, and renamed into place only when it is
// whole, so a file under its final name is never a part of itself.
package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// The protocols.
const (
	HuggingFace = "hf"
	ModelScope  = "modelscope"
)

// defaults are the hubs' public addresses and the environment variables that
// replace them (mirrors, a company's own hub) or hold a token.
var defaults = map[string]struct{ host, endpointEnv, tokenEnv, revision string }{
	HuggingFace: {"huggingface.co", "HF_ENDPOINT", "HF_TOKEN", "main"},
	ModelScope:  {"modelscope.cn", "MODELSCOPE_ENDPOINT", "MODELSCOPE_API_TOKEN", "master"},
}

// Client speaks to one hub.
type Client struct {
	Kind     string // HuggingFace or ModelScope
	Endpoint string // base address
	Token    string // sent to Endpoint alone; redirects to other hosts do not carry it
	HTTP     *http.Client
	// Attempts is how often one file is tried before giving up; every further
	// try resumes. Pause is the wait before the second, doubled each time.
	Attempts int
	Pause    time.Duration
}

// New is a client of a hub at its address in the environment, or its public one.
func New(kind string) (*Client, error) {
	d, ok := defaults[kind]
	if !ok {
		return nil, fmt.Errorf("hub %q is neither %s nor %s", kind, HuggingFace, ModelScope)
	}
	endpoint := os.Getenv(d.endpointEnv)
	if endpoint == "" {
		endpoint = "https://" + d.host
	}
	if !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	return &Client{Kind: kind, Endpoint: strings.TrimRight(endpoint, "/"), Token: os.Getenv(d.tokenEnv),
		HTTP:     &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: time.Minute}},
		Attempts: 4, Pause: time.Second}, nil
}

// TokenEnv is the variable a client of kind reads its token from.
func TokenEnv(kind string) string { return defaults[kind].tokenEnv }

// File is one file of a repository.
type File struct {
	Path   string // within the repository, with slashes
	Bytes  int64
	SHA256 string // hex; "" when the hub states none
	Git    string // hex git blob id; "" when the hub states none
}

// Progress says how far a download is. It is called from one goroutine, at most
// some times a second for every file and once at its end.
type Progress func(f File, done int64)

// Done is a file in place.
type Done struct {
	File
	Local string // where it is
	Fresh bool   // downloaded now; false = it was there already, whole
}

// Pull downloads the files of repository id that match one of patterns into dir,
// keeping their paths. revision "" is the hub's main line.
func (c *Client) Pull(ctx context.Context, id, revision string, patterns []string, dir string, progress Progress) ([]Done, error) {
	if revision == "" {
		revision = defaults[c.Kind].revision
	}
	all, err := c.List(ctx, id, revision)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, f := range all {
		if matchAny(patterns, f.Path) {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("repository %s at %s has no file like %s (it has %d files)", id, c.Endpoint, strings.Join(patterns, ", "), len(all))
	}
	sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
	var done []Done
	for _, f := range files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return done, fmt.Errorf("repository %s names the file %q, which leads out of the data directory; refused", id, f.Path)
		}
		local := filepath.Join(dir, filepath.FromSlash(f.Path))
		d := Done{File: f, Local: local}
		if whole(local, f) {
			if progress != nil {
				progress(f, f.Bytes)
			}
			done = append(done, d)
			continue
		}
		if err := c.fetch(ctx, id, revision, f, local, progress); err != nil {
			return done, err
		}
		d.Fresh = true
		done = append(done, d)
	}
	return done, nil
}

// matchAny reports whether p matches a pattern; "**" stands for any directories.
func matchAny(patterns []string, p string) bool {
	for _, pat := range patterns {
		if pat == "**" {
			return true
		}
		if head, tail, ok := strings.Cut(pat, "**/"); ok {
			rest, has := strings.CutPrefix(p, head)
			if hit, _ := path.Match(tail, path.Base(p)); has && hit && rest != "" {
				return true
			}
			continue
		}
		if hit, _ := path.Match(pat, p); hit {
			return true
		}
	}
	return false
}

// whole reports whether local is the file f, by size and, where one is stated,
// by digest.
func whole(local string, f File) bool {
	st, err := os.Stat(local)
	if err != nil || st.Size() != f.Bytes {
		return false
	}
	return f.verify(local) == nil
}

// statusError is an answer other than success.
type statusError struct {
	status int
	msg    string
}

func (e *statusError) Error() string { return e.msg }

// Unreachable reports whether a pull failed because the hub gave no answer, or only
// that it is out of order: another hub, a mirror, or files brought by hand may help.
func Unreachable(err error) bool {
	var s *statusError
	if errors.As(err, &s) {
		return s.status >= 500
	}
	var call *url.Error
	return errors.As(err, &call) && !errors.Is(err, context.Canceled)
}

// EndpointEnv is the variable a client of kind reads its hub's address from.
func EndpointEnv(kind string) string { return defaults[kind].endpointEnv }

// permanent reports whether trying again cannot help.
func permanent(err error) bool {
	var s *statusError
	if errors.As(err, &s) {
		return s.status < 500 && s.status != http.StatusTooManyRequests && s.status != http.StatusRequestTimeout
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errDigest) || errors.Is(err, errDisk)
}

// refused explains an answer that is not a success in one line.
func (c *Client) refused(what string, resp *http.Response) error {
	hint := ""
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = "; the data may be gated: accept their terms on the hub and set " + TokenEnv(c.Kind)
	case http.StatusNotFound:
		hint = "; the hub does not have it, or it needs a token in " + TokenEnv(c.Kind)
	case http.StatusTooManyRequests:
		hint = "; the hub asks to slow down, try later or set " + TokenEnv(c.Kind)
	}
	return &statusError{resp.StatusCode, fmt.Sprintf("%s from %s: HTTP %d%s", what, c.Endpoint, resp.StatusCode, hint)}
}
