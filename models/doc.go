// Package models is who is asked: the configurations of model services and one
// client for all wire protocols.
//
// OpenRegistry reads the configurations (built in, and a user's own), New makes
// a Client of one, Ready tells in one line why a service cannot be used, and
// Client.Do asks. Do has no error: what became of a request is its measurement,
// so every failure is a class in Result.Status.
//
//	reg, err := models.OpenRegistry("")
//	entry, err := reg.Get("vllm_api_general_chat")
//	client, err := models.New(entry.Value, transport.NewClock(), models.Options{})
//	result := client.Do(ctx, &models.Request{Prompt: "2+2?", Stream: true})
//	result.Decode()
//
// What happens below, from the socket up:
//   - transport moves HTTP/1.1 over connections whose arrivals the kernel stamps;
//   - sse cuts the body into events, each with its arrival;
//   - openai and sglang walk an event once and say what it held, wire keeps the
//     answer in its escaped form;
//   - this package applies the rules of measurement and names the failures.
//
// Decoding waits until Result.Decode, which is best called when nothing waits for it.
package models
