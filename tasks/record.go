package tasks

import (
	"ais_bench/models"
	"ais_bench/outputs"
)

// newRecord turns what one attempt did into the row everything is computed from.
func newRecord(res *models.Result, req *models.Request) *outputs.Record {
	rec := &outputs.Record{
		RequestID: req.ID,
		Sent:      res.Sent, Connected: res.Connected, FirstByte: res.FirstByte, FirstEvent: res.FirstEvent,
		FirstToken: res.FirstToken, FirstAnswerToken: res.FirstAnswerToken, LastToken: res.LastToken, End: res.End,
		FirstOutput: res.FirstOutput, LastOutput: res.LastOutput, LastEvent: res.LastEvent,
		ChunkAt: res.ChunkAt, ChunkTokens: res.ChunkTokens,
		InputTokens: res.InputTokens, OutputTokens: res.OutputTokens,
		ReasoningTokens: res.ReasoningTokens, CachedTokens: res.CachedTokens,
		TokenSource: outputs.TokensUnknown,
		MaxTokens:   int32(req.MaxTokens),
		Status:      res.Status, StreamEnd: res.StreamEnd, HTTPStatus: int32(res.HTTPStatus), FinishReason: res.FinishReason, Error: res.Error,
		Stream: res.Stream, KernelStamp: res.KernelStamp, Reused: res.Reused,
		Resent: res.Resent, Reads: res.Reads, Coalesced: res.Coalesced, BytesIn: res.BytesIn,
		Text: res.Text, Reasoning: res.Reasoning, ToolCalls: res.ToolCalls,
	}
	if res.UsageSeen {
		rec.TokenSource = outputs.TokensUsage
	}
	return rec
}
