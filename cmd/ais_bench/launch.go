package main

import (
	"context"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/models"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
	"ais_bench/tasks/engine"
	"ais_bench/tasks/launch"
)

// launchFlags start an engine for the test.
func launchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "launch", Category: groupLaunch, Usage: "start this engine `COMMAND` for the test and stop it, with all its processes, afterwards; {port} and {host} are filled in"},
		&cli.StringFlag{Name: "launch-timeout", Category: groupLaunch, Value: "10m", Usage: "how long it may take until /health or /v1/models answers"},
	}
}

// readLaunch is the engine that --launch and its companions describe; its command is
// "" without one.
func readLaunch(c *cli.Context) (launch.Spec, error) {
	l := launch.Spec{Command: c.String("launch"), WorkDir: c.String("work-dir")}
	if strings.TrimSpace(l.Command) == "" {
		l.Command = ""
		if c.IsSet("launch") {
			return l, usagef("--launch is empty: give the engine's command, or leave it out for a service that runs")
		}
		if c.IsSet("launch-timeout") {
			return l, usagef("--launch-timeout goes with --launch")
		}
		return l, nil
	}
	wait, err := models.ParseDuration(c.String("launch-timeout"))
	if err != nil || wait <= 0 {
		return l, usagef("--launch-timeout %s: give seconds or a duration like 10m, above 0", c.String("launch-timeout"))
	}
	l.Ready = time.Duration(wait)
	return l, nil
}

// launchFor starts the engine that a benchmark's --launch describes, nil without
// one.
func launchFor(ctx context.Context, l launch.Spec, c *cli.Context, o *bench.Options) (*engine.Engine, error) {
	if l.Command == "" {
		return nil, nil
	}
	e, err := launch.For(ctx, l, o, portIsFree(c))
	return e, usageUnlessEnvironment(err)
}

// portIsFree reports whether nothing on a benchmark's command line says where the
// engine is.
func portIsFree(c *cli.Context) bool { return !c.IsSet("port") && !c.IsSet("base-url") }

// launchForPlan is launchFor of the main command.
func launchForPlan(ctx context.Context, l launch.Spec, c *cli.Context, plan *tasks.Plan, opts *tasks.Options) (*engine.Engine, error) {
	if l.Command == "" {
		return nil, nil
	}
	e, err := launch.ForPlan(ctx, l, plan, opts, launch.Choice{Port: !c.IsSet("host-port") && !c.IsSet("url"), Host: !c.IsSet("host-ip")})
	return e, usageUnlessEnvironment(err)
}
