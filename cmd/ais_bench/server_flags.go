package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/models"
	"ais_bench/models/inspect"
	"ais_bench/summarizers"
	"ais_bench/tasks"
)

// serverFlags say how the server is watched during a run; every command that
// sends requests has them.
func serverFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "server-metrics", Category: groupServer, Usage: "scrape metrics during the run: `URL …` of Prometheus endpoints; bare or auto: the service's own /metrics"},
		&cli.StringFlag{Name: "server-metrics-interval", Category: groupServer, Value: "1s", Usage: "how often; 100ms or more"},
		&cli.StringFlag{Name: "cache", Category: groupServer, Value: "any", Usage: "prefix cache at the first measured request: cold (reset, else salted prompts), warm (every prompt was sent once), any"},
		&cli.StringSliceFlag{Name: "server-meta", Category: groupServer, Usage: "what you know of the server and no endpoint tells (`KEY=VALUE`), such as max_num_seqs=64; goes into the manifest"},
		&cli.StringFlag{Name: "server-command", Category: groupServer, Usage: "`FILE` with the command the server was started with; goes into the manifest"},
	}
}

const groupServer = "The server during the run"

// serverOptions reads them.
func serverOptions(c *cli.Context) (o tasks.ServerOptions, err error) {
	if o.Cache, err = tasks.ParseCacheMode(c.String("cache")); err != nil {
		return o, usage(err)
	}
	interval, err := models.ParseDuration(c.String("server-metrics-interval"))
	if err != nil {
		return o, usagef("--server-metrics-interval: %w", err)
	}
	if urls := splitCommas(c.StringSlice("server-metrics")); len(urls) > 0 {
		o.Metrics = &tasks.ServerMetrics{URLs: urls, Interval: time.Duration(interval)}
		if err := o.Metrics.Check(); err != nil {
			return o, usage(err)
		}
	} else if c.IsSet("server-metrics-interval") {
		return o, usagef("--server-metrics-interval goes with --server-metrics")
	}
	for _, kv := range c.StringSlice("server-meta") {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return o, usagef("--server-meta %s: write KEY=VALUE", kv)
		}
		o.Meta = with(o.Meta, k, v)
	}
	if path := c.String("server-command"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return o, usagef("--server-command: %w", err)
		}
		o.Meta = with(o.Meta, "command", strings.TrimSpace(string(text)))
	}
	dir, err := configDir(c, "metrics")
	if err != nil {
		return o, err
	}
	if o.Maps, err = inspect.OpenMaps(dir); err != nil {
		return o, usage(err)
	}
	return o, nil
}

// printServerWarnings says what of the server's side must not be missed.
func printServerWarnings(c *cli.Context, s *summarizers.Summary) {
	for _, w := range s.ServerWarnings {
		fmt.Fprintln(c.App.ErrWriter, "WARNING: "+w)
	}
}
