package models

import (
	"context"
	"errors"
	"time"

	"ais_bench/models/transport"
)

var errUnbuilt = errors.New("the client is not in this build yet")

func newClient(Config, *transport.Clock, Options) (Client, error)              { return nil, errUnbuilt }
func discover(context.Context, Config) ([]ModelInfo, error)                    { return nil, errUnbuilt }
func ready(context.Context, Client, Config, time.Duration, func(string)) error { return errUnbuilt }
func tokenize(context.Context, Config, string) ([]int, error)                  { return nil, errUnbuilt }
func detokenize(context.Context, Config, []int) (string, error)                { return "", errUnbuilt }

// Decode fills Text, Reasoning and ToolCalls. It may be called more than once.
func (r *Result) Decode() {}
