package bench

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ais_bench/datasets/workloads"
	"ais_bench/outputs"
	"ais_bench/tasks"
)

type said struct{ Role, Content string }

// talker answers every chat with a word of its own that the conversation so far
// decides, and refuses the conversations that contain bad.
func talker(t *testing.T, bad string) *recorder {
	var rec *recorder
	rec = record(t, func(n int, w http.ResponseWriter, r *http.Request) bool {
		rec.mu.Lock()
		body := rec.bodies[n]
		rec.mu.Unlock()
		if bad != "" && strings.Contains(body, bad) {
			http.Error(w, "out of memory", http.StatusInternalServerError)
			return true
		}
		h := fnv.New32a()
		io.WriteString(h, body)
		w.Header().Set("content-type", "text/event-stream")
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"reply%d\"}}]}\n\n", h.Sum32())
		} else {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"text\":\"reply%d\"}]}\n\n", h.Sum32())
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\ndata: [DONE]\n\n", len(strings.Fields(body)))
		return true
	})
	return rec
}

// replyTo is what talker answered to a body.
func replyTo(line string) string {
	h := fnv.New32a()
	io.WriteString(h, line)
	return fmt.Sprintf("reply%d", h.Sum32())
}

func messagesOf(t *testing.T, line string) []said {
	t.Helper()
	_, text, _ := strings.Cut(line, " ")
	var body struct{ Messages []said }
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	return body.Messages
}

func conversationOptions(t *testing.T, rec *recorder) Options {
	o := options(t, rec, "random")
	o.Backend = "openai-chat"
	o.Workload.NumTurns, o.Workload.NumPrompts, o.Workload.TurnInputLen = 3, 4, 5
	return o
}

// TestConversation: turns are asked in order, each behind the answers that really
// came, and are due when the answer before has ended.
func TestConversation(t *testing.T) {
	rec := talker(t, "")
	o := conversationOptions(t, rec)
	o.Workload.ThinkTime = 3 * time.Millisecond
	s, out := run(t, o)
	sent := rec.sent()
	if len(sent) != 12 {
		t.Fatalf("%d requests, want 4 conversations of 3 turns", len(sent))
	}
	for i, line := range sent {
		msgs := messagesOf(t, line)
		turn := i % 3
		if len(msgs) != 2*turn+1 {
			t.Fatalf("request %d has %d messages", i, len(msgs))
		}
		if turn > 0 {
			before := messagesOf(t, sent[i-1])
			if !slices.Equal(msgs[:len(before)], before) || msgs[len(before)] != (said{"assistant", replyTo(sent[i-1])}) || msgs[len(msgs)-1].Role != "user" {
				t.Errorf("request %d does not go on with the one before:\n%v\n%v", i, before, msgs)
			}
			if n := len(strings.Fields(msgs[len(msgs)-1].Content)); n != 5 {
				t.Errorf("request %d: a later turn of %d tokens, want 5", i, n)
			}
		}
		if id := rec.headers[i].Get("X-Session-ID"); id != fmt.Sprint(i/3) {
			t.Errorf("request %d: session %q", i, id)
		}
	}
	model, dataset := s.Pair(out)
	type key struct {
		session string
		turn    int32
	}
	got := map[key]*outputs.Record{}
	if err := outputs.EachMeasured(out.Run.Records(model, dataset), func(r *outputs.Record) { got[key{r.SessionID, r.Turn}] = r }); err != nil || len(got) != 12 {
		t.Fatalf("%d records, %v", len(got), err)
	}
	for k, r := range got {
		if r.SampleID != k.session || r.Sent < r.Scheduled {
			t.Errorf("%v: sample %s, sent at %d, due at %d", k, r.SampleID, r.Sent, r.Scheduled)
		}
		if k.turn > 0 {
			if before := got[key{k.session, k.turn - 1}]; r.Scheduled != before.End+3e6 {
				t.Errorf("%v is due %d ns after the answer before, want 3 ms", k, r.Scheduled-before.End)
			}
		}
	}
	c, err := s.Lengths(out)
	if err != nil || c.Requests != 12 || c.OutputBoth != 12 || c.InputBoth != 4 {
		t.Errorf("lengths %+v, %v", c, err)
	}
	turns, err := s.Turns(out)
	if err != nil || len(turns) != 3 {
		t.Fatalf("%d turns, %v", len(turns), err)
	}
	for i, f := range turns {
		if f.Turn != i || f.Completed != 4 || f.Failed != 0 || f.MeanTTFT == nil || *f.P99E2EL < *f.MedTTFT || f.Cached == nil || *f.Cached <= 0 || *f.Cached >= 1 {
			t.Errorf("turn %d: %+v", i, f)
		}
		if i > 0 && *f.Input <= *turns[i-1].Input {
			t.Errorf("turn %d has %g input tokens, the one before %g", i, *f.Input, *turns[i-1].Input)
		}
	}
	if in := out.Tasks[0].Inference; in.Asked != 4 || in.Answered != 4 || in.Failed != 0 {
		t.Errorf("%+v", in)
	}
	m, err := out.Run.ReadManifest()
	if err != nil || m.State != outputs.StateDone || m.Pairs[0].Requests != 4 || m.Pairs[0].Failed != 0 {
		t.Errorf("manifest %+v, %v", m.Pairs, err)
	}
}

// A slot is a conversation's: no more than that are going on at once.
func TestConversationsShareSlots(t *testing.T) {
	rec := talker(t, "")
	o := conversationOptions(t, rec)
	o.Workload.NumPrompts, o.MaxConcurrency = 9, 2
	run(t, o)
	var mu sync.Mutex
	open, ended := map[string]bool{}, map[string]int{}
	for i, h := range rec.headers {
		mu.Lock()
		id := h.Get("X-Session-ID")
		open[id] = true
		ended[id]++
		if ended[id] == 3 {
			delete(open, id)
		} else if len(open) > 2 {
			t.Errorf("at request %d the conversations %v are going on", i, open)
		}
		mu.Unlock()
	}
	if rec.peak > 2 || len(ended) != 9 {
		t.Errorf("%d requests at once, %d conversations", rec.peak, len(ended))
	}
}

// A conversation ends with the first turn that fails; the others go on.
func TestConversationEndsWithAFailure(t *testing.T) {
	var second string
	probe := talker(t, "")
	o := conversationOptions(t, probe)
	run(t, o)
	msgs := messagesOf(t, probe.sent()[4]) // conversation 1, turn 1
	second = msgs[len(msgs)-1].Content
	rec := talker(t, second)
	o.BaseURL = rec.URL
	s, out := run(t, o)
	if n := len(rec.sent()); n != 11 {
		t.Errorf("%d requests, want 11: the third turn of the failed conversation has no history", n)
	}
	turns, err := s.Turns(out)
	if err != nil || turns[0].Completed != 4 || turns[1].Completed != 3 || turns[1].Failed != 1 || turns[2].Completed != 3 {
		t.Errorf("%+v, %v", turns, err)
	}
	if in := out.Tasks[0].Inference; in.Answered != 3 || in.Failed != 1 {
		t.Errorf("%+v", in)
	}
}

// The file's replies in place of the model's, and a completions endpoint that gets
// the conversation rendered with them.
func TestConversationOfAFile(t *testing.T) {
	rec := talker(t, "")
	o := options(t, rec, "sharegpt")
	o.Workload.DatasetPath = writeFile(t, "c.json", `[{"conversations":[{"from":"human","value":"bread bee"},{"from":"gpt","value":"iron"},{"from":"human","value":"book"},{"from":"gpt","value":"fish rice"}]}]`)
	o.Workload.InferMode, o.Workload.NumPrompts = workloads.InferEveryGold, 0
	o.ChatTemplate = writeFile(t, "t.jinja", `{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>`)
	run(t, o)
	var prompts []string
	for _, line := range rec.sent() {
		_, text, _ := strings.Cut(line, " ")
		var body struct {
			Prompt    string
			MaxTokens int `json:"max_tokens"`
		}
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		prompts = append(prompts, fmt.Sprint(body.MaxTokens, " ", body.Prompt))
	}
	want := []string{"1 <user>bread bee<assistant>", "2 <user>bread bee<assistant>iron<user>book<assistant>"}
	if !slices.Equal(prompts, want) {
		t.Errorf("sent %q, want %q", prompts, want)
	}
}

// TestConversationSameSeedSameBytes: with a model that answers the same, the same
// seed holds the same conversations, another one others.
func TestConversationSameSeedSameBytes(t *testing.T) {
	path := wireFile(t, "spec_bench")
	for _, dataset := range []string{"random", "generated-shared-prefix", "spec_bench"} {
		send := func(seed int64) []string {
			rec := talker(t, "")
			o := options(t, rec, dataset)
			o.Backend, o.Seed, o.Workload.NumPrompts = "openai-chat", seed, 5
			o.Workload.NumTurns, o.Workload.MinTurns, o.Workload.MaxTurns = 2, 2, 4
			switch dataset {
			case "spec_bench":
				o.Workload.DatasetPath, o.Workload.InferMode = path, workloads.InferEvery
			case "generated-shared-prefix":
				o.Workload.NumGroups, o.Workload.PromptsPerGroup, o.Workload.SystemPromptLen, o.Workload.QuestionLen = 2, 3, 10, 4
				o.Workload.SendRoutingKey = true
			}
			run(t, o)
			if dataset == "generated-shared-prefix" {
				for i, h := range rec.headers {
					if h.Get("X-SMG-Routing-Key") == "" {
						t.Errorf("request %d has no routing key", i)
					}
				}
			}
			return rec.sent()
		}
		a, b, c := send(1), send(1), send(2)
		if len(a) < 10 || !slices.Equal(a, b) {
			t.Errorf("%s: the same seed held other conversations:\n%s\n\n%s", dataset, strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
		if slices.Equal(a, c) {
			t.Errorf("%s: another seed held the same conversations", dataset)
		}
	}
}

// stopper interrupts the run at the first answer.
type stopper struct {
	tasks.Quiet
	once sync.Once
	stop chan struct{}
}

func (s *stopper) Answered(*tasks.Task, *outputs.Record) { s.once.Do(func() { close(s.stop) }) }

// An interrupt between two turns is no failure: what was not asked is said so.
func TestConversationInterrupted(t *testing.T) {
	rec := talker(t, "")
	o := conversationOptions(t, rec)
	o.Workload.ThinkTime = time.Hour // the interrupt comes while the user thinks
	watch := &stopper{stop: make(chan struct{})}
	o.Observer, o.Stop = watch, watch.stop
	s, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in := out.Tasks[0].Inference
	if n := len(rec.sent()); n != 1 || !out.Stopped || in.Failed != 0 || in.Answered != 0 || in.Cancelled != 1 || in.NotAsked != 3 {
		t.Errorf("%d requests, stopped %v, %+v; want one request and nothing failed", n, out.Stopped, in)
	}
	if m, err := out.Run.ReadManifest(); err != nil || m.State != outputs.StateInterrupted || m.Pairs[0].NotAsked != 3 || m.Pairs[0].Failed != 0 {
		t.Errorf("manifest %s, pairs %+v, %v", m.State, m.Pairs, err)
	}
}
