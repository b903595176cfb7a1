//go:build unix

package engine

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func shell(command string) *exec.Cmd { return exec.Command("/bin/sh", "-c", command) }

// ownGroup makes the command the leader of a new process group.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// A signal to a group that is gone already is no error worth a word.
func terminate(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
func kill(c *exec.Cmd)      { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// groupAlive reports whether any process of the group is left.
func groupAlive(c *exec.Cmd) bool {
	return !errors.Is(syscall.Kill(-c.Process.Pid, 0), syscall.ESRCH)
}

// guard ends the group when this program is no more.
type guard struct {
	cmd  *exec.Cmd
	hold io.Closer // the end of the pipe that closes with this program
}

// guardScript waits for the end of its input, then ends the group of $1. This
// is the one spelling of a group that all shells' kill understands.
const guardScript = `read -r _; kill -TERM "-$1" 2>/dev/null || exit 0; sleep 5; kill -KILL "-$1" 2>/dev/null`

func startGuard(group int) (*guard, error) {
	r, w, err := os.Pipe() // close-on-exec: no other child keeps it open
	if err != nil {
		return nil, err
	}
	c := exec.Command("/bin/sh", "-c", guardScript, "engine-guard", strconv.Itoa(group))
	c.Stdin = r
	ownGroup(c)
	if err := c.Start(); err != nil {
		r.Close()
		w.Close()
		return nil, err
	}
	r.Close()
	return &guard{c, w}, nil
}

// dismiss ends the guard without its doing anything.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	kill(g.cmd)
	_ = g.cmd.Wait() // it was killed
	g.hold.Close()
}
