package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ais_bench/datasets/chattemplate"
	"ais_bench/datasets/tokenizer"
	"ais_bench/models"
	"ais_bench/outputs"
)

// sample is what tokenizers are compared on: words, numbers, code, white space,
// accents, three scripts and a character beyond the basic plane.
const sample = "The quick brown fox; 3.14159 × 2 = 6.28318\n\tdef f(x): return x**2  # naïve\n你好，世界！ Здравствуйте 😀"

// tokens compares the witnesses of a prompt's length: the server's usage, its
// /tokenize, and a local tokenizer with the model's chat template.
func (r *run) tokens(ctx context.Context) {
	const name = "tokenizer"
	client, ok := r.usable(name)
	if !ok {
		return
	}
	local, note := r.localTokenizer(ctx)
	if local == nil && note != "" {
		r.fail(name, CauseNoTokenizer, note, "give the folder that holds the model's tokenizer.json", false)
		return
	}
	var server []int
	if t, ok := client.(models.Tokenizer); ok {
		server, _ = t.Tokenize(ctx, sample) // without the endpoint there is one witness less
	}
	chat := r.Config.Protocol() == models.Chat
	res := client.Do(ctx, &models.Request{Messages: say(sample), MaxTokens: 1})
	usage := outputs.UnknownTokens
	if res.Status == outputs.StatusOK || res.Status == outputs.StatusEmpty {
		usage = res.InputTokens
	}

	var found []string
	if local != nil && server != nil {
		mine := local.Encode(sample, false)
		if !slices.Equal(mine, server) {
			r.warn(name, CauseTokensDiffer, fmt.Sprintf("a text of %d characters has %d tokens here (%s) and %d by the server's /tokenize, the first difference at token %d",
				len([]rune(sample)), len(mine), r.tok.Path, len(server), firstDifference(mine, server)),
				"this is another model's tokenizer: give the right one by --tokenizer DIR, or leave it out so that the server's own counts are used")
			return
		}
		found = append(found, fmt.Sprintf("%s and the server's /tokenize give the same %d tokens", r.tok.Path, len(mine)))
	}
	plain, witness := -1, ""
	switch {
	case local != nil:
		plain, witness = local.Count(sample), "the local tokenizer"
	case server != nil:
		plain, witness = len(server), "the server's /tokenize"
	}
	switch {
	case usage == outputs.UnknownTokens && plain < 0:
		r.skip(name, "nothing to compare: no usage, no /tokenize and no local tokenizer (--tokenizer DIR)")
		return
	case plain < 0:
		r.skip(name, fmt.Sprintf("nothing to compare with usage (%d prompt tokens): no local tokenizer (--tokenizer DIR) and no /tokenize", usage))
		return
	case usage == outputs.UnknownTokens:
		if len(found) == 0 {
			r.skip(name, fmt.Sprintf("nothing to compare with %s (%d tokens): the answers carry no usage", witness, plain))
			return
		}
		r.ok(name, found[0]+"; the answers carry no usage to compare with")
		return
	}

	expected, how := r.expected(local, chat)
	switch {
	case expected >= 0 && expected == int(usage):
		found = append(found, fmt.Sprintf("usage counts %d prompt tokens, exactly %s", usage, how))
	case expected >= 0:
		r.warn(name, CauseTokensDiffer, fmt.Sprintf("usage counts %d prompt tokens, %s gives %d", usage, how, expected),
			"the server renders or counts otherwise (another chat template or tokenizer, a system prompt of its own): lengths that this tool makes to measure are off by that much")
		return
	case int(usage) < plain:
		r.warn(name, CauseTokensDiffer, fmt.Sprintf("usage counts %d prompt tokens, fewer than the %d of the text alone by %s", usage, plain, witness),
			"usage leaves out a part (cached tokens?), or this is another model's tokenizer")
		return
	default:
		found = append(found, fmt.Sprintf("usage counts %d prompt tokens: %d of the text by %s and %d that the %s adds", usage, plain, witness, int(usage)-plain, cmp.Or(map[bool]string{true: "chat template"}[chat], "server")))
	}
	r.ok(name, strings.Join(found, "; "))
}

// expected is the number of prompt tokens that the local tokenizer gives for the
// sample as the server will see it, -1 where that cannot be said.
func (r *run) expected(local *tokenizer.Tokenizer, chat bool) (n int, how string) {
	if local == nil {
		return -1, ""
	}
	if !chat {
		return len(local.Encode(sample, true)), "the local tokenizer with the model's special tokens"
	}
	cfg := local.Config()
	tpl, err := chattemplate.New(cfg.ChatTemplate, chattemplate.Tokens{BOS: cfg.BOS, EOS: cfg.EOS, PAD: cfg.PAD, UNK: cfg.UNK})
	if err != nil {
		return -1, ""
	}
	text, err := tpl.Chat([]chattemplate.Message{{Role: "user", Content: sample}})
	if err != nil {
		return -1, ""
	}
	n = len(local.Encode(text, false))
	return n, fmt.Sprintf("the local tokenizer with the model's chat template (which adds %d)", n-local.Count(sample))
}

// localTokenizer finds the tokenizer on disk. note says what is wrong with one
// that was named and cannot be used; one that was not named may be missing.
func (r *run) localTokenizer(ctx context.Context) (local *tokenizer.Tokenizer, note string) {
	named := cmp.Or(r.Tokenizer, r.Config.Path)
	name := named
	if name == "" {
		for _, m := range r.served {
			if m.ID == r.model {
				name = cmp.Or(m.Root, m.ID)
			}
		}
		name = cmp.Or(name, r.model)
	}
	var err error
	r.tok, err = tokenizer.Resolve(ctx, name, tokenizer.ModeLocal, tokenizer.Options{Getenv: r.Getenv})
	if err != nil && named != "" {
		return nil, err.Error()
	}
	return r.tok.Local, ""
}

func firstDifference(a, b []int) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
