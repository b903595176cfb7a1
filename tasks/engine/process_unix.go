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

// groupAlive reports whether any process of the group but its guard (nil = none) is
// left. One that has ended and waits for its parent to take note (a container's
// first process may never do) is not.
func groupAlive(c *exec.Cmd, g *guard) bool {
	group := c.Process.Pid
	holder := ""
	if g != nil {
		holder = strconv.Itoa(g.cmd.Process.Pid)
	}
	if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) {
		return false
	}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	if len(files) == 0 {
		return true
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || filepath.Base(filepath.Dir(f)) == holder {
			continue
		}
		// pid (name) state ppid pgrp …; the name may hold anything.
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) > 2 && fields[2] == strconv.Itoa(group) && !ended(fields) {
			return true
		}
	}
	return false
}

// ended tells from a process's stat, its state first, whether it has ended. One whose
// first thread ended before the others is called a zombie as well, but still holds
// its port.
func ended(stat []string) bool {
	const threads = 17 // num_threads
	return stat[0] == "X" || stat[0] == "Z" && (len(stat) <= threads || stat[threads] == "1" || stat[threads] == "0")
}

// guard ends the group when this program is no more.
type guard struct {
	cmd    *exec.Cmd
	hold   io.Closer // the end of the pipe that closes with this program
	inside bool      // it is in the group
}

// holds reports whether the guard keeps the group's number from being given to
// other processes: it is in the group, and as long as it was not dismissed it is
// there, alive or not yet reaped.
func (g *guard) holds() bool { return g != nil && g.inside }

// guardScript waits for the end of its input, then ends the group of $1, and on
// Linux every process that has $2 in its environment: one that made a group of its
// own. This is the one spelling of a group that all shells' kill understands. The
// script ignores what ends this program's own session, a hang-up among it. It is in
// the group itself, so that its last kill ends it, too; others looks for processes
// of the group beside it.
const guardScript = `trap '' HUP INT TERM
read -r _
g=$1
marked() { for e in /proc/[0-9]*/environ; do grep -q "$1" "$e" 2>/dev/null && p=${e#/proc/} && kill "-$2" "${p%/environ}" 2>/dev/null; done; }
others() {
  [ -r /proc/self/stat ] || { kill -0 "-$g" 2>/dev/null; return; }
  for s in /proc/[0-9]*/stat; do
    { read -r l < "$s"; } 2>/dev/null || continue
    [ "${l%% *}" = "$$" ] && continue
    set -- x ${l##*) }
    [ "$4" = "$g" ] && [ "$2" != Z ] && return 0
  done
  return 1
}
kill -TERM "-$g" 2>/dev/null
marked "$2" TERM
i=0
while [ $i -lt 50 ] && others; do sleep 0.1; i=$((i+1)); done
marked "$2" KILL
kill -KILL "-$g" 2>/dev/null`

func startGuard(group int, mark string) (*guard, error) {
	r, w, err := os.Pipe() // close-on-exec: no other child keeps it open
	if err != nil {
		return nil, err
	}
	c := exec.Command("/bin/sh", "-c", guardScript, "engine-guard", strconv.Itoa(group), markVariable+"="+mark)
	c.Stdin = r
	// Without /proc the guard could not be told from the engine's processes.
	_, err = os.Stat("/proc/self/stat")
	inside := err == nil
	if inside {
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	} else {
		ownGroup(c)
	}
	if err := c.Start(); err != nil {
		r.Close()
		w.Close()
		return nil, err
	}
	r.Close()
	return &guard{c, w, inside}, nil
}

// dismiss ends the guard without its doing anything.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	_ = g.cmd.Process.Kill() // it alone; what it has begun (a sleep) ends by itself
	_ = g.cmd.Wait()         // it was killed
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
