package tokenizer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ais_bench/registry"
)

// Codec is what Tokenizer and Remote have in common.
type Codec interface {
	Encode(text string, addSpecial bool) []int
	Decode(ids []int, skipSpecial bool) string
	Count(text string) int
	VocabSize() int
	SpecialIDs() []int
	AddedByDefault() int
}

var (
	_ Codec = (*Tokenizer)(nil)
	_ Codec = (*Remote)(nil)
)

// Modes of Resolve (--tokenizer-mode). The first is the default. hf, slow,
// mistral and the model-specific names of vLLM choose an implementation there; the
// files decide it here, so they mean ModeLocal.
const (
	ModeAuto   = "auto"   // folder, hub cache, server, none
	ModeLocal  = "hf"     // folder or hub cache, or an error
	ModeServer = "server" // server, or an error
	ModeNone   = "none"   // no tokenizer
)

var modes = []string{ModeAuto, ModeLocal, "slow", "mistral", "deepseek_v32", "custom", ModeServer, ModeNone}

// Options is what Resolve may use beside the disk.
type Options struct {
	Server Server              // nil = no server to ask
	Getenv func(string) string // nil = os.Getenv; read: HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME, HOME
}

// Resolved is the tokenizer of a model and where it is from.
type Resolved struct {
	Codec  Codec      // nil when there is none
	Local  *Tokenizer // the same when it is from disk (chat template, special tokens)
	Source string     // folder | hub_cache | server | none
	Path   string     // file it was read from; "" unless from disk
	Note   string     // "" or why there is none and what that costs
}

// Resolve finds the tokenizer of name, a folder, a file or a hub id such as
// Qwen/Qwen3-8B. In ModeAuto it looks in turn at the disk, the hub's cache
// ($HF_HUB_CACHE or $HF_HOME/hub, snapshots of refs/main first) and the server,
// and gives a Resolved without a tokenizer and with a note when all fail; that
// needs a name that cannot be a path. A name that can only be a path (it begins
// with / . or ~, or ends in .json, .gz, .model or .tiktoken) and is not there is an
// error in every mode but none and server: to measure with another tokenizer than
// the one asked for would be worse than to stop.
func Resolve(ctx context.Context, name, mode string, opts Options) (Resolved, error) {
	if mode == "" {
		mode = ModeAuto
	}
	if !slices.Contains(modes, mode) {
		return Resolved{}, fmt.Errorf("tokenizer mode %q is not known%s", mode, registry.DidYouMean(mode, modes))
	}
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	switch mode {
	case ModeNone:
		return Resolved{Source: "none", Note: noTokenizer("switched off by --tokenizer-mode none")}, nil
	case ModeServer:
		if opts.Server == nil {
			return Resolved{}, errors.New("tokenizer mode server: there is no server address to ask")
		}
		return fromServer(ctx, opts.Server)
	}
	var why error
	if name != "" {
		r, err := fromDisk(name, opts)
		if err == nil {
			return r, nil
		}
		if why = err; !errors.Is(err, fs.ErrNotExist) || onlyPath(name) {
			return Resolved{}, err
		}
	} else {
		why = errors.New("no tokenizer and no model name given")
	}
	if mode != ModeAuto {
		return Resolved{}, why
	}
	if opts.Server != nil {
		r, err := fromServer(ctx, opts.Server)
		if err == nil {
			return r, nil
		}
		if ctx.Err() != nil {
			return Resolved{}, err
		}
		why = fmt.Errorf("%w; %w", why, err)
	}
	return Resolved{Source: "none", Note: noTokenizer(why.Error())}, nil
}

func noTokenizer(why string) string {
	return "no tokenizer (" + why + "): token counts come from the server's usage alone, figures that need a tokenizer are null; give --tokenizer DIR"
}

func fromServer(ctx context.Context, s Server) (Resolved, error) {
	r, err := NewRemote(ctx, s)
	if err != nil {
		return Resolved{}, err
	}
	return Resolved{Codec: r, Source: "server"}, nil
}

func fromDisk(name string, opts Options) (Resolved, error) {
	at, source, err := locate(name, opts.Getenv)
	if err != nil {
		return Resolved{}, err
	}
	t, err := Load(at)
	if err != nil {
		return Resolved{}, err
	}
	return Resolved{Codec: t, Local: t, Source: source, Path: t.Path()}, nil
}

// Find is the file that the tokenizer called name would be read from, by the rules
// of ModeLocal, without reading it. It costs nothing, so that a name that leads
// nowhere can be refused before a run.
func Find(name string, opts Options) (string, error) {
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	at, _, err := locate(name, opts.Getenv)
	if err != nil {
		return "", err
	}
	return findFile(at)
}

// locate is the folder or file that name stands for on this machine, and its kind.
func locate(name string, getenv func(string) string) (at, source string, err error) {
	path := expandHome(name, getenv)
	if _, err := os.Stat(path); err == nil {
		return path, "folder", nil
	}
	if onlyPath(name) {
		_, err := findFile(path)
		return "", "", err
	}
	cache := hubCache(getenv)
	for _, dir := range snapshots(cache, name) {
		if _, err := findFile(dir); err == nil { // else weights alone
			return dir, "hub_cache", nil
		}
	}
	return "", "", missing(fmt.Sprintf("tokenizer %q is neither a folder nor in the hub cache %s; give the folder of the model (the one with tokenizer.json)", name, cache))
}

// onlyPath tells that name cannot be a hub id (owner/name or name).
func onlyPath(name string) bool {
	return strings.ContainsAny(name[:1], "/.~\\") || filepath.IsAbs(name) || strings.Count(name, "/") > 1 ||
		slices.Contains([]string{".json", ".gz", ".model", ".tiktoken"}, filepath.Ext(name))
}

func expandHome(path string, getenv func(string) string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && getenv("HOME") != "" {
		return filepath.Join(getenv("HOME"), rest)
	}
	return path
}

func hubCache(getenv func(string) string) string {
	for _, key := range []string{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"} {
		if dir := getenv(key); dir != "" {
			return dir
		}
	}
	if home := getenv("HF_HOME"); home != "" {
		return filepath.Join(home, "hub")
	}
	base := getenv("XDG_CACHE_HOME")
	if base == "" {
		home := getenv("HOME")
		if home == "" {
			home, _ = os.UserHomeDir()
		}
		base = filepath.Join(home, ".cache")
	}
	return filepath.Join(base, "huggingface", "hub")
}

// snapshots are the folders of a hub id in the cache: the commit that refs/main
// names first, then the others, newest first.
func snapshots(cache, name string) []string {
	root := filepath.Join(cache, "models--"+strings.ReplaceAll(name, "/", "--"))
	var dirs []string
	if ref, err := os.ReadFile(filepath.Join(root, "refs", "main")); err == nil {
		dirs = append(dirs, filepath.Join(root, "snapshots", strings.TrimSpace(string(ref))))
	}
	entries, _ := os.ReadDir(filepath.Join(root, "snapshots"))
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int {
		ia, errA := a.Info()
		ib, errB := b.Info()
		if errA != nil || errB != nil {
			return 0
		}
		return ib.ModTime().Compare(ia.ModTime())
	})
	for _, e := range entries {
		if dir := filepath.Join(root, "snapshots", e.Name()); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
