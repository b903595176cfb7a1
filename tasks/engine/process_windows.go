package engine

import (
	"os/exec"
	"strconv"
)

func shell(command string) *exec.Cmd { return exec.Command("cmd", "/C", command) }

func ownGroup(*exec.Cmd) {}

// terminate ends the tree of processes below the shell; Windows has no milder
// way for programs without a window.
func terminate(c *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(c.Process.Pid)).Run() // gone already
}

func kill(c *exec.Cmd) { _ = c.Process.Kill() }

// groupAlive: taskkill returns when the tree is gone.
func groupAlive(*exec.Cmd, *guard) bool { return false }

// guard does not exist here: an engine outlives a killed ais_bench.
type guard struct{}

func startGuard(int, string) (*guard, error) { return nil, nil }

func (*guard) holds() bool { return false }

func (*guard) dismiss() {}

// killMarked: taskkill has ended the tree already.
func killMarked(string) int { return 0 }
