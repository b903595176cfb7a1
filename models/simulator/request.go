package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// apiRequest is a generation request of any of the protocols, as far as the
// simulator cares. Unknown fields are accepted, as servers do.
type apiRequest struct {
	Model               string          `json:"model"`
	Messages            []apiMessage    `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Stop                json.RawMessage `json:"stop"`
	N                   *int            `json:"n"`
	Echo                bool            `json:"echo"`
	Logprobs            json.RawMessage `json:"logprobs"`
	TopLogprobs         int             `json:"top_logprobs"`
	PromptLogprobs      *int            `json:"prompt_logprobs"`
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
	Seed                *int64          `json:"seed"`
	Tools               []apiTool       `json:"tools"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	ResponseFormat      *responseFormat `json:"response_format"`
	CacheSalt           string          `json:"cache_salt"`

	// SGLang's /generate and TGI's.
	Text           json.RawMessage `json:"text"`
	InputIDs       json.RawMessage `json:"input_ids"`
	SamplingParams *samplingParams `json:"sampling_params"`
	Inputs         string          `json:"inputs"`
	Parameters     *samplingParams `json:"parameters"`
}

type streamOptions struct {
	IncludeUsage         bool `json:"include_usage"`
	ContinuousUsageStats bool `json:"continuous_usage_stats"`
}

// samplingParams are SGLang's and TGI's names for the same things.
type samplingParams struct {
	MaxNewTokens *int            `json:"max_new_tokens"`
	MinNewTokens int             `json:"min_new_tokens"`
	IgnoreEOS    bool            `json:"ignore_eos"`
	Stop         json.RawMessage `json:"stop"`
	N            *int            `json:"n"`
	Temperature  *float64        `json:"temperature"`
	TopP         *float64        `json:"top_p"`
	Seed         *int64          `json:"seed"`
}

type apiMessage struct {
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	ReasoningContent string          `json:"reasoning_content"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
}

type apiTool struct {
	Type     string `json:"type"`
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type responseFormat struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// badRequest is a mistake of the client's; it becomes a 400 with its text.
type badRequest struct{ message, param string }

func (e *badRequest) Error() string { return e.message }

func badf(param, format string, args ...any) error {
	return &badRequest{fmt.Sprintf(format, args...), param}
}

// input is one prompt: its text and its tokens.
type input struct {
	text   string
	ids    []int32
	last   string // the part most likely to hold the question: the last user message
	pieces bool   // ids came as ids; the text is their reading
}

// parseRequest reads a body and normalises the protocols' names.
func parseRequest(body []byte, p protocol) (*apiRequest, error) {
	r := new(apiRequest)
	if err := json.Unmarshal(body, r); err != nil {
		var te *json.UnmarshalTypeError
		if errors.As(err, &te) && te.Field != "" {
			return nil, badf(te.Field, "field %q has the wrong type: got %s", te.Field, te.Value)
		}
		return nil, badf("", "the body is not valid JSON: %v", err)
	}
	if sp := r.SamplingParams; sp != nil && p == protoGenerate {
		r.adopt(sp)
	}
	if sp := r.Parameters; sp != nil && p == protoTGI {
		r.adopt(sp)
	}
	if r.Temperature != nil && (*r.Temperature < 0 || math.IsNaN(*r.Temperature)) {
		return nil, badf("temperature", "temperature must be non-negative, got %v.", *r.Temperature)
	}
	if r.TopP != nil && !(*r.TopP > 0 && *r.TopP <= 1) {
		return nil, badf("top_p", "top_p must be in (0, 1], got %v.", *r.TopP)
	}
	if r.N != nil && (*r.N < 1 || *r.N > 128) {
		return nil, badf("n", "n must be between 1 and 128, got %d.", *r.N)
	}
	if r.StreamOptions != nil && !r.Stream {
		return nil, badf("stream_options", "Stream options can only be defined when `stream=True`.")
	}
	if m := r.limit(); m != nil && (*m < 0 || *m == 0 && p == protoChat) {
		return nil, badf("max_tokens", "max_tokens must be at least 1, got %d.", *m)
	}
	if m := r.limit(); m != nil && *m > 0 && r.MinTokens > *m || r.MinTokens < 0 {
		return nil, badf("min_tokens", "min_tokens must be between 0 and max_tokens, got %d.", r.MinTokens)
	}
	return r, nil
}

func (r *apiRequest) adopt(sp *samplingParams) {
	r.MaxTokens, r.MinTokens, r.IgnoreEOS, r.Stop, r.N = sp.MaxNewTokens, sp.MinNewTokens, sp.IgnoreEOS, sp.Stop, sp.N
	r.Temperature, r.TopP, r.Seed = sp.Temperature, sp.TopP, sp.Seed
}

// limit is the asked for number of output tokens; nil when left open.
func (r *apiRequest) limit() *int {
	if r.MaxCompletionTokens != nil {
		return r.MaxCompletionTokens
	}
	return r.MaxTokens
}

// stops are the stop strings, at most as given.
func (r *apiRequest) stops() ([]string, error) {
	if len(r.Stop) == 0 || string(r.Stop) == "null" {
		return nil, nil
	}
	var one string
	if json.Unmarshal(r.Stop, &one) == nil {
		return nonEmpty([]string{one}), nil
	}
	var many []string
	if json.Unmarshal(r.Stop, &many) == nil {
		return nonEmpty(many), nil
	}
	return nil, badf("stop", "stop must be a string or a list of strings")
}

func nonEmpty(in []string) []string {
	out := in[:0]
	for _, s := range in {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// inputs gives the prompts of a request.
func (r *apiRequest) inputs(p protocol) ([]input, error) {
	switch p {
	case protoChat:
		if len(r.Messages) == 0 {
			return nil, badf("messages", "messages must be a list with at least one message")
		}
		text, last, err := renderChat(r.Messages, true)
		if err != nil {
			return nil, err
		}
		return []input{textInput(text, last)}, nil
	case protoTGI:
		if r.Inputs == "" {
			return nil, badf("inputs", "inputs must be a non-empty string")
		}
		return []input{textInput(r.Inputs, r.Inputs)}, nil
	case protoGenerate:
		if len(r.InputIDs) > 0 && string(r.InputIDs) != "null" {
			return promptInputs(r.InputIDs, "input_ids")
		}
		return promptInputs(r.Text, "text")
	}
	return promptInputs(r.Prompt, "prompt")
}

func textInput(text, last string) input {
	return input{text: text, ids: appendTokens(nil, text), last: last}
}

func idsInput(ids []int32) input {
	text := detokenize(ids)
	return input{text: text, ids: ids, last: text, pieces: true}
}

// promptInputs reads a string, a list of strings, a list of token ids or a list of such lists.
func promptInputs(raw json.RawMessage, field string) ([]input, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, badf(field, "%s is required", field)
	}
	wrong := badf(field, "%s must be a string, a list of strings, a list of token ids or a list of lists of token ids, and not empty", field)
	var one string
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, wrong
		}
		return []input{textInput(one, one)}, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil, wrong
	}
	switch list[0][0] {
	case '"':
		var texts []string
		if json.Unmarshal(raw, &texts) != nil {
			return nil, wrong
		}
		out := make([]input, len(texts))
		for i, t := range texts {
			out[i] = textInput(t, t)
		}
		return out, nil
	case '[':
		var many [][]int32
		if json.Unmarshal(raw, &many) != nil {
			return nil, wrong
		}
		out := make([]input, len(many))
		for i, ids := range many {
			if err := checkIDs(ids, field); err != nil {
				return nil, err
			}
			out[i] = idsInput(ids)
		}
		return out, nil
	}
	var ids []int32
	if json.Unmarshal(raw, &ids) != nil {
		return nil, wrong
	}
	if err := checkIDs(ids, field); err != nil {
		return nil, err
	}
	return []input{idsInput(ids)}, nil
}

func checkIDs(ids []int32, field string) error {
	if len(ids) == 0 {
		return badf(field, "%s must not hold an empty list of token ids", field)
	}
	for _, id := range ids {
		if id < 0 || id >= maxTokenID {
			return badf(field, "token id %d in %s is out of vocabulary (0 to %d)", id, field, maxTokenID-1)
		}
	}
	return nil
}

// renderChat is the simulator's chat template, ChatML:
//
//	<|im_start|>ROLE\nCONTENT<|im_end|>\n … <|im_start|>assistant\n
//
// It also returns the text of the last user message.
func renderChat(messages []apiMessage, generationPrompt bool) (text, last string, err error) {
	var b strings.Builder
	for i, m := range messages {
		switch m.Role {
		case "system", "developer", "user", "assistant", "tool", "function":
		case "":
			return "", "", badf("messages", "messages[%d] has no role", i)
		default:
			return "", "", badf("messages", "messages[%d] has the unknown role %q", i, m.Role)
		}
		content, err := contentText(m.Content)
		if err != nil {
			return "", "", badf("messages", "messages[%d]: %v", i, err)
		}
		if m.Role == "user" {
			last = content
		}
		b.WriteString(imStart)
		b.WriteString(m.Role)
		b.WriteByte('\n')
		b.WriteString(content)
		b.Write(m.ToolCalls)
		b.WriteString(imEnd)
		b.WriteByte('\n')
	}
	if generationPrompt {
		b.WriteString(imStart + "assistant\n")
	}
	return b.String(), last, nil
}

// contentText reads a message's content: a string, null, or a list of parts.
// A part that is not text counts as its type's name in brackets.
func contentText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", errors.New("content must be a string or a list of parts")
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			b.WriteString(p.Text)
		} else {
			b.WriteString("[" + p.Type + "]")
		}
	}
	return b.String(), nil
}
