package inspect

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"ais_bench/models"
)

// resets are the endpoints that empty a prefix cache: vLLM's (in its development
// mode) and SGLang's.
var resets = []string{"/reset_prefix_cache", "/flush_cache"}

// ResetPrefixCache makes the server forget its prefix cache and returns the path
// that did it. A server that refuses while requests are running is asked again
// for a second. The error says what each path answered.
func ResetPrefixCache(ctx context.Context, cfg models.Config, engine string) (path string, err error) {
	ep, err := cfg.Endpoint()
	if err != nil {
		return "", err
	}
	get, err := models.NewGetter(cfg)
	if err != nil {
		return "", err
	}
	defer get.Close()
	paths := resets
	if engine == "sglang" {
		paths = []string{resets[1], resets[0]}
	}
	var why []string
	for _, p := range paths {
		err := post(ctx, get, ep.Server+p)
		if err == nil {
			return p, nil
		}
		why = append(why, fmt.Sprintf("POST %s: %v", p, err))
	}
	return "", fmt.Errorf("%s; vLLM serves it with VLLM_SERVER_DEV_MODE=1", strings.Join(why, ", "))
}

func post(ctx context.Context, get *models.Getter, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for try := 0; ; try++ {
		resp, err := get.Post(ctx, url)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
		resp.Body.Close()
		if resp.StatusCode/100 == 2 {
			return nil
		}
		busy := resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusConflict
		if !busy || try == 5 {
			return fmt.Errorf("HTTP %s", resp.Status)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
