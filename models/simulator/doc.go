// Package simulator is an LLM inference server without a model: it speaks
// OpenAI's, SGLang's and TGI's protocols, batches like a real engine, answers a
// data set right as often as it is told to, misbehaves on request, and logs
// what it really did, so that a client's figures can be checked against it.
//
// It serves three purposes, and most knobs belong to one of them:
//
//   - A stand-in engine. Requests wait, are admitted, prefilled in chunks and
//     decoded in steps that all running sequences share, with KV blocks, a
//     prefix cache and preemption (engine.go, kvcache.go, steptime.go). Load
//     curves therefore bend where a real server's bend.
//   - A known answer sheet. With Config.Answers a question found in a prompt is
//     answered right with probability Config.Accuracy, decided by a seeded hash
//     of the question, so the share of right answers does not depend on order
//     or concurrency (answers.go, answerformat.go).
//   - An instrument. With Config.TokensPerSecond every stream follows its own
//     absolute schedule (paced.go), Config.Truth receives the time of every
//     write (truth.go), and chunk shapes and faults can be chosen (writer.go, faults.go).
//
// In process:
//
//	srv, err := simulator.New(simulator.Config{Answers: "gsm8k.jsonl", Accuracy: 0.8})
//	url, err := srv.Start("127.0.0.1:0") // http://127.0.0.1:PORT
//	defer srv.Close()
//
// The zero Config is usable: every zero field stands for its documented
// default. The server writes its own HTTP/1.1 responses, one write call per
// event, because a general purpose server costs more per chunk than everything
// else here together.
package simulator
