//go:build unix

package engine

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func shell(command string) *exec.Cmd { return exec.Command("/bin/sh", "-c", command) }

// ownGroup makes the command the leader of a new process group.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// A signal to a group that is gone already is no error worth a word.
func terminate(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
func kill(c *exec.Cmd)      { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// groupAlive reports whether any process of the group is left. One that has ended
// and waits for its parent to take note (a container's first process may never
// do) is not.
func groupAlive(c *exec.Cmd) bool {
	group := c.Process.Pid
	if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) {
		return false
	}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	if len(files) == 0 {
		return true
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		// pid (name) state ppid pgrp …; the name may hold anything.
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) > 2 && fields[2] == strconv.Itoa(group) && fields[0] != "Z" && fields[0] != "X" {
			return true
		}
	}
	return false
}

// guard ends the group when this program is no more.
type guard struct {
	cmd  *exec.Cmd
	hold io.Closer // the end of the pipe that closes with this program
}

// guardScript waits for the end of its input, then ends the group of $1, and on
// Linux every process that has $2 in its environment: one that made a group of its
// own. This is the one spelling of a group that all shells' kill understands. The
// script ignores what ends this program's own session, a hang-up among it.
const guardScript = `trap '' HUP INT TERM
read -r _
marked() { for e in /proc/[0-9]*/environ; do grep -q "$1" "$e" 2>/dev/null && p=${e#/proc/} && kill "-$2" "${p%/environ}" 2>/dev/null; done; }
kill -TERM "-$1" 2>/dev/null
marked "$2" TERM
i=0
while [ $i -lt 50 ] && kill -0 "-$1" 2>/dev/null; do sleep 0.1; i=$((i+1)); done
kill -KILL "-$1" 2>/dev/null
marked "$2" KILL`

func startGuard(group int, mark string) (*guard, error) {
	r, w, err := os.Pipe() // close-on-exec: no other child keeps it open
	if err != nil {
		return nil, err
	}
	c := exec.Command("/bin/sh", "-c", guardScript, "engine-guard", strconv.Itoa(group), markVariable+"="+mark)
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

// killMarked kills the processes that have the mark in their environment and
// gives their number. Where there is no /proc it does nothing.
func killMarked(mark string) int {
	n := 0
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is right
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), append([]byte{0}, mark...)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}
