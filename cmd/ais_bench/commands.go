package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"ais_bench/registry"
)

// commands are the sub-commands in the order of --help.
func commands() []*cli.Command {
	return []*cli.Command{
		modelsCommand(),
		datasetsCommand(),
		scoreCommand(),
		reportCommand(),
		gateCommand(),
		compareCommand(),
		verifyCommand(),
		profilesCommand(),
		checkCommand(),
		calibrateCommand(),
		benchCommand(),
		simCommand(),
		completionCommand(),
	}
}

// completionCommand prints a script that makes a shell complete commands and flags.
func completionCommand() *cli.Command {
	scripts := map[string]string{
		"bash": `_ais_bench_complete() {
  local cur words
  cur="${COMP_WORDS[COMP_CWORD]}"
  words=("${COMP_WORDS[@]:0:COMP_CWORD}")
  COMPREPLY=($(compgen -W "$("${words[@]}" ${cur:+"$cur"} --generate-bash-completion 2>/dev/null | cut -d: -f1)" -- "$cur"))
}
complete -o default -F _ais_bench_complete ais_bench
`,
		"zsh": `#compdef ais_bench
_ais_bench() {
  local -a opts
  opts=("${(@f)$(${words[@]:0:#words[@]-1} ${words[-1]} --generate-bash-completion 2>/dev/null)}")
  _describe 'values' opts || _files
}
compdef _ais_bench ais_bench
`,
		"fish": `function __ais_bench_complete
  set -l tokens (commandline -opc) (commandline -ct)
  $tokens --generate-bash-completion 2>/dev/null
end
complete -c ais_bench -f -a '(__ais_bench_complete)'
`,
	}
	return &cli.Command{
		Name: "completion", Usage: "print a completion script for bash, zsh or fish", ArgsUsage: "SHELL",
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			script, ok := scripts[shell]
			if !ok {
				return usagef("completion: unknown shell %q%s; give bash, zsh or fish", shell, registry.DidYouMean(shell, []string{"bash", "zsh", "fish"}))
			}
			fmt.Fprint(c.App.Writer, script)
			return nil
		},
	}
}

// createFile makes a file that a flag names, and the folder it lies in.
func createFile(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.Create(path)
}

// writeLines writes n JSON lines to a file.
func writeLines(path string, n int, line func(i int, enc *json.Encoder) error) error {
	f, err := createFile(path)
	if err != nil {
		return fmt.Errorf("write details: %w", err)
	}
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range n {
		if err := line(i, enc); err != nil {
			f.Close()
			return fmt.Errorf("write details %s: %w", path, err)
		}
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return fmt.Errorf("write details %s: %w", path, err)
	}
	return f.Close()
}
