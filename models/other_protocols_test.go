package models

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// askOnce sends one request to a server that answers with reply and returns
// what was sent and what came of it.
func askOnce(t *testing.T, kind, reply string, req *Request) (path string, body map[string]any, r *Result) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		path = hr.URL.Path
		b, _ := io.ReadAll(hr.Body)
		if err := json.Unmarshal(b, &body); err != nil {
			t.Errorf("body %s: %v", b, err)
		}
		if strings.HasPrefix(reply, "data:") {
			w.Header().Set("content-type", "text/event-stream")
		} else {
			w.Header().Set("content-type", "application/json")
		}
		io.WriteString(w, reply)
	}))
	defer srv.Close()
	c, err := New(Config{Abbr: "m", Type: kind, URL: srv.URL, Model: "m"}, transport.NewClock(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r = c.Do(context.Background(), req)
	r.Decode()
	return path, body, r
}

func TestTGI(t *testing.T) {
	stream := `data:{"index":1,"token":{"id":5,"text":"Hello","logprob":-0.1,"special":false},"generated_text":null,"details":null}` + "\n\n" +
		`data:{"index":2,"token":{"id":6,"text":" w\u00f6rld","logprob":-0.1,"special":false},"generated_text":null,"details":null}` + "\n\n" +
		`data:{"index":3,"token":{"id":2,"text":"</s>","logprob":-0.1,"special":true},"generated_text":"Hello wörld","details":{"finish_reason":"eos_token","generated_tokens":3,"seed":null}}` + "\n\n"
	path, body, r := askOnce(t, "tgi_generate_stream", stream, &Request{Prompt: "Hi", MaxTokens: 7, Stream: true, Params: map[string]any{"temperature": 0, "top_p": 0.5}})
	if path != "/generate_stream" || r.Status != outputs.StatusOK || r.Text != "Hello wörld" || r.OutputTokens != 3 || r.FinishReason != "eos_token" || len(r.ChunkAt) != 2 {
		t.Errorf("%s: %+v", path, r)
	}
	p, _ := body["parameters"].(map[string]any)
	if body["inputs"] != "Hi" || p["max_new_tokens"] != 7.0 || p["do_sample"] != false || p["top_p"] != 0.5 || p["temperature"] != nil {
		t.Errorf("body %v", body)
	}
	if _, _, r := askOnce(t, "tgi_generate_stream", `data:{"error":"Model is overloaded","error_type":"overloaded"}`+"\n\n", &Request{Prompt: "Hi", Stream: true}); r.Status != outputs.StatusStreamError || !strings.Contains(r.Error, "overloaded") {
		t.Errorf("error event: %s %s", r.Status, r.Error)
	}
	cut := stream[:strings.Index(stream, `data:{"index":3`)]
	if _, _, r := askOnce(t, "tgi_generate_stream", cut, &Request{Prompt: "Hi", Stream: true}); r.Status != outputs.StatusTruncated {
		t.Errorf("a stream without its end: %s", r.Status)
	}
}

func TestEmbeddingsAndRerank(t *testing.T) {
	path, body, r := askOnce(t, "openai_embeddings", `{"object":"list","data":[{"index":0,"embedding":[0.1,0.2,0.3]},{"index":1,"embedding":[1,2,3]}],"usage":{"prompt_tokens":9,"total_tokens":9}}`,
		&Request{Prompt: "a", MaxTokens: 5, Params: map[string]any{"input": []string{"a", "b"}, "ignore_eos": true}})
	if path != "/v1/embeddings" || r.Status != outputs.StatusOK || r.InputTokens != 9 || r.OutputTokens != 0 || r.Text != "2 embeddings of 3 numbers" {
		t.Errorf("%s: %+v", path, r)
	}
	if in, _ := body["input"].([]any); len(in) != 2 || body["max_tokens"] != nil || body["ignore_eos"] != nil || body["stream"] != nil {
		t.Errorf("body %v", body)
	}
	path, body, r = askOnce(t, "openai_rerank", `{"results":[{"index":0,"relevance_score":0.9},{"index":1,"relevance_score":0.1}],"usage":{"total_tokens":12}}`,
		&Request{Prompt: "q", Params: map[string]any{"query": "q", "documents": []string{"a", "b"}}})
	if path != "/v1/rerank" || r.Status != outputs.StatusOK || r.InputTokens != 12 || r.Text != "2 scores" || body["query"] != "q" {
		t.Errorf("%s: %+v %v", path, r, body)
	}
	if _, _, r = askOnce(t, "openai_embeddings", `{"object":"list","data":[]}`, &Request{Prompt: "a"}); r.Status == outputs.StatusOK {
		t.Error("no embedding at all counts as a success")
	}
}
