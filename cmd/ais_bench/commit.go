package main

import (
	"os"
	"path/filepath"
	"strings"
)

// surroundingCommit is the commit of the git repository the command was started
// in, nil outside of one. It reads .git itself, because git need not be
// installed where a service is tested.
func surroundingCommit() *string {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	for {
		git := filepath.Join(dir, ".git")
		if st, err := os.Stat(git); err == nil {
			if !st.IsDir() { // a worktree or submodule: "gitdir: PATH"
				b, err := os.ReadFile(git)
				if err != nil {
					return nil
				}
				git = strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
				if !filepath.IsAbs(git) {
					git = filepath.Join(dir, git)
				}
			}
			return headOf(git)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil
		}
		dir = up
	}
}

func headOf(git string) *string {
	b, err := os.ReadFile(filepath.Join(git, "HEAD"))
	if err != nil {
		return nil
	}
	head := strings.TrimSpace(string(b))
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return &head
	}
	common := git
	if b, err := os.ReadFile(filepath.Join(git, "commondir")); err == nil {
		common = filepath.Join(git, strings.TrimSpace(string(b)))
	}
	if b, err := os.ReadFile(filepath.Join(common, filepath.FromSlash(ref))); err == nil {
		sum := strings.TrimSpace(string(b))
		return &sum
	}
	packed, err := os.ReadFile(filepath.Join(common, "packed-refs"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(packed)) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return &sum
		}
	}
	return nil
}
