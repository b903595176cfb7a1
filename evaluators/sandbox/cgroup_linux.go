package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// memoryOverhead is room for the isolating process itself.
const memoryOverhead = 48 << 20

// cgroup holds the control groups of one run, where this process may create
// any; without them the resource limits hold alone. The zero value does nothing.
type cgroup struct {
	dirs   []string
	memory string // the group that counts memory
	v2     bool
}

// newCgroup creates groups for memory and processes below the caller's own.
func newCgroup(o Options) *cgroup {
	g := &cgroup{}
	name := fmt.Sprintf("ais_bench-%d-%d", os.Getpid(), runNumber.Add(1))
	procs := strconv.Itoa(o.Procs + ownThreads)
	memory := strconv.FormatInt(o.Memory+memoryOverhead, 10)
	for controller, own := range ownGroups() {
		dir := filepath.Join(own, name)
		if controller == "" {
			if !strings.Contains(readTrimmed(filepath.Join(own, "cgroup.subtree_control")), "memory") || os.Mkdir(dir, 0o755) != nil {
				continue
			}
			g.dirs = append(g.dirs, dir)
			if write(dir, "memory.max", memory) == nil {
				write(dir, "memory.swap.max", "0")
				g.memory, g.v2 = dir, true
			}
			write(dir, "pids.max", procs)
			continue
		}
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		g.dirs = append(g.dirs, dir)
		switch controller {
		case "memory":
			if write(dir, "memory.limit_in_bytes", memory) == nil {
				write(dir, "memory.memsw.limit_in_bytes", memory)
				g.memory = dir
			}
		case "pids":
			write(dir, "pids.max", procs)
		}
	}
	return g
}

// ownGroups maps "memory" and "pids" (version 1) or "" (version 2) to the
// directory of the caller's own group.
func ownGroups() map[string]string {
	groups := map[string]string{}
	f, err := os.Open("/proc/self/cgroup")
	if err != nil {
		return groups
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		parts := strings.SplitN(s.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, c := range strings.Split(parts[1], ",") {
			switch c {
			case "":
				groups[""] = filepath.Join("/sys/fs/cgroup", parts[2])
			case "memory", "pids":
				groups[c] = filepath.Join("/sys/fs/cgroup", parts[1], parts[2])
			}
		}
	}
	return groups
}

func write(dir, file, value string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(value), 0)
}

func readTrimmed(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// add moves a process, which has not started its work yet, into the groups.
func (g *cgroup) add(pid int) {
	for _, dir := range g.dirs {
		write(dir, "cgroup.procs", strconv.Itoa(pid))
	}
}

// killedForMemory reports whether the kernel killed for this group's limit.
func (g *cgroup) killedForMemory() bool {
	if g.memory == "" {
		return false
	}
	file := "memory.oom_control"
	if g.v2 {
		file = "memory.events"
	}
	for _, line := range strings.Split(readTrimmed(filepath.Join(g.memory, file)), "\n") {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
			return n != "0"
		}
	}
	return false
}

// remove deletes the groups; the kernel empties them a moment after the last
// process has died.
func (g *cgroup) remove() {
	for _, dir := range g.dirs {
		for range 50 {
			if err := os.Remove(dir); err == nil || os.IsNotExist(err) {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
}
