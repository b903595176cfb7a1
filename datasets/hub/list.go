package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// listPageSize is how many files are asked for at a time where a hub pages.
const listPageSize = 200

// List are all files of a repository.
func (c *Client) List(ctx context.Context, id, revision string) ([]File, error) {
	if c.Kind == ModelScope {
		return c.listModelScope(ctx, id, revision)
	}
	return c.listHuggingFace(ctx, id, revision)
}

func (c *Client) listHuggingFace(ctx context.Context, id, revision string) ([]File, error) {
	var files []File
	next := fmt.Sprintf("%s/api/datasets/%s/tree/%s?recursive=true", c.Endpoint, id, url.PathEscape(revision))
	for next != "" {
		var page []struct {
			Type string `json:"type"`
			Path string `json:"path"`
			Size int64  `json:"size"`
			OID  string `json:"oid"`
			LFS  *struct {
				OID  string `json:"oid"`
				Size int64  `json:"size"`
			} `json:"lfs"`
		}
		header, err := c.getJSON(ctx, "list files of "+id, next, &page)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			if e.Type != "file" {
				continue
			}
			f := File{Path: e.Path, Bytes: e.Size, Git: e.OID}
			if e.LFS != nil {
				f.SHA256, f.Bytes, f.Git = strings.TrimPrefix(e.LFS.OID, "sha256:"), e.LFS.Size, ""
			}
			files = append(files, f)
		}
		next = c.nextPage(header.Get("Link"))
	}
	return files, nil
}

// nextPage is the address with rel="next" in a Link header; only one at the same
// endpoint is followed, because the token goes with the request.
func (c *Client) nextPage(link string) string {
	for _, part := range strings.Split(link, ",") {
		addr, rel, ok := strings.Cut(part, ";")
		if !ok || !strings.Contains(rel, `rel="next"`) {
			continue
		}
		u := strings.Trim(strings.TrimSpace(addr), "<>")
		if strings.HasPrefix(u, "/") {
			u = c.Endpoint + u
		}
		if sameHost(u, c.Endpoint) {
			return u
		}
	}
	return ""
}

func sameHost(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	return errA == nil && errB == nil && ua.Host == ub.Host
}

func (c *Client) listModelScope(ctx context.Context, id, revision string) ([]File, error) {
	var files []File
	for page := 1; ; page++ {
		q := url.Values{"Revision": {revision}, "Recursive": {"True"}, "Root": {"/"},
			"PageNumber": {strconv.Itoa(page)}, "PageSize": {strconv.Itoa(listPageSize)}}
		var answer struct {
			Message string
			Data    struct {
				Files []struct {
					Path, Type, Sha256 string
					Size               int64
				}
			}
		}
		addr := fmt.Sprintf("%s/api/v1/datasets/%s/repo/tree?%s", c.Endpoint, id, q.Encode())
		if _, err := c.getJSON(ctx, "list files of "+id, addr, &answer); err != nil {
			return nil, err
		}
		for _, e := range answer.Data.Files {
			if e.Type != "tree" {
				files = append(files, File{Path: strings.TrimPrefix(e.Path, "/"), Bytes: e.Size, SHA256: e.Sha256})
			}
		}
		if len(answer.Data.Files) < listPageSize {
			return files, nil
		}
	}
}

// address is where a file's bytes are.
func (c *Client) address(id, revision, path string) string {
	if c.Kind == ModelScope {
		q := url.Values{"Source": {"SDK"}, "Revision": {revision}, "FilePath": {path}}
		return fmt.Sprintf("%s/api/v1/datasets/%s/repo?%s", c.Endpoint, id, q.Encode())
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return fmt.Sprintf("%s/datasets/%s/resolve/%s/%s", c.Endpoint, id, url.PathEscape(revision), strings.Join(parts, "/"))
}

func (c *Client) getJSON(ctx context.Context, what, addr string, into any) (http.Header, error) {
	resp, err := c.get(ctx, addr, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, c.refused(what, resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return nil, fmt.Errorf("%s: %s does not answer like a hub of kind %s: %w", what, c.Endpoint, c.Kind, err)
	}
	return resp.Header, nil
}

func (c *Client) get(ctx context.Context, addr string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, addr, nil)
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	req.Header.Set("User-Agent", "ais_bench")
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	return c.HTTP.Do(req)
}
