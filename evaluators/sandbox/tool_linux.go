package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// hostRun is a program started directly on the host: an isolating tool, or the
// untrusted program itself under the kind None.
type hostRun struct {
	cmd     *exec.Cmd
	limits  *config // set while it is held at its first instruction; nil when it limits itself
	options Options
	kill    func() // ends everything; the process group when nil
}

// run starts the command stopped, limits it, lets it go and waits.
func (h hostRun) run(ctx context.Context) (Result, error) {
	group := newCgroup(h.options)
	defer group.remove()
	kill := h.kill
	if kill == nil {
		kill = func() { syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL) }
	}
	var flooded, timedOut atomic.Bool
	flood := func() { flooded.Store(true); kill() }
	stdout, stderr := &capture{limit: h.options.Output, flood: flood}, &capture{limit: h.options.Output, flood: flood}
	h.cmd.Stdout, h.cmd.Stderr = stdout, stderr
	h.cmd.WaitDelay = 2 * time.Second
	begin := time.Now()
	if err := h.startLimited(group); err != nil {
		return Result{}, err
	}
	timer := time.AfterFunc(h.options.Wall, func() { timedOut.Store(true); kill() })
	defer timer.Stop()
	stop := context.AfterFunc(ctx, kill)
	defer stop()
	err := h.cmd.Wait()
	wall := time.Since(begin)
	syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL) // what it left in its group
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("sandbox: run cancelled: %w", err)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return Result{}, fmt.Errorf("sandbox: %w", err)
	}
	r := Result{Stdout: stdout.String(), Stderr: stderr.String(), Truncated: stdout.truncated || stderr.truncated, TimedOut: timedOut.Load(), OOM: group.killedForMemory(), Wall: wall}
	state := h.cmd.ProcessState
	r.Exit, r.Signal = exitOf(state.Sys().(syscall.WaitStatus))
	r.Usage.User, r.Usage.System = state.UserTime(), state.SystemTime()
	if ru, ok := state.SysUsage().(*syscall.Rusage); ok {
		r.Usage.MaxRSS = int64(ru.Maxrss) << 10
	}
	if r.Signal == int(syscall.SIGXCPU) {
		r.TimedOut = true
	}
	return r, nil
}

// startLimited holds the program at its first instruction until its limits are
// set; tracing is bound to a thread.
func (h hostRun) startLimited(group *cgroup) error {
	sealDescriptors()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if h.cmd.SysProcAttr == nil {
		h.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	h.cmd.SysProcAttr.Ptrace = h.limits != nil
	h.cmd.SysProcAttr.Setpgid = true
	if err := h.cmd.Start(); err != nil {
		return fmt.Errorf("sandbox: start %s: %w", h.cmd.Path, err)
	}
	group.add(h.cmd.Process.Pid)
	if h.limits == nil {
		return nil
	}
	if err := release(h.cmd.Process.Pid, *h.limits); err != nil {
		h.cmd.Process.Kill()
		h.cmd.Wait()
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// limitsOf is the part of a configuration that setLimits reads.
func limitsOf(o Options, p Program) config {
	c := config{Memory: o.Memory, CPU: int64((o.CPU + time.Second - 1) / time.Second), Procs: int64(o.Procs), FileSize: o.FileSize, Scratch: max(4*o.FileSize, 64<<20)}
	if p.LargeAddressSpace {
		c.Scratch = max(c.Scratch, 1<<30)
	} else {
		c.Address = o.Memory
	}
	return c
}

// unprivileged is a host user that owns nothing, for a caller that is root.
func unprivileged() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	id := uint32(mapBase + int(runNumber.Add(1)+uint32(os.Getpid()))%mapRange)
	return &syscall.Credential{Uid: id, Gid: id}
}

// stage puts the program's files into a fresh host directory.
func stage(p Program) (dir string, cleanup func(), err error) {
	dir, err = os.MkdirTemp("", "ais_bench-sandbox-")
	if err != nil {
		return "", nil, fmt.Errorf("sandbox: %w", err)
	}
	cleanup = func() { os.RemoveAll(dir) }
	if err := writeFiles(dir, p.Files); err != nil {
		cleanup()
		return "", nil, fmt.Errorf("sandbox: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		cleanup()
		return "", nil, fmt.Errorf("sandbox: %w", err)
	}
	return dir, cleanup, nil
}

// runBwrap isolates with bubblewrap.
func runBwrap(ctx context.Context, o Options, p Program) (Result, error) {
	tool, err := exec.LookPath("bwrap")
	if err != nil {
		return Result{}, errors.New("sandbox: bwrap is not in PATH; install the package bubblewrap or choose --sandbox native")
	}
	o = o.forProgram(p)
	binds, argv, err := hostBinds(p.Argv)
	if err != nil {
		return Result{}, err
	}
	dir, cleanup, err := stage(p)
	if err != nil {
		return Result{}, err
	}
	defer cleanup()
	limits := limitsOf(o, p)
	args := []string{"--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL", "--clearenv"}
	if bwrapDisablesUserns(tool) {
		args = append(args, "--disable-userns")
	}
	for _, kv := range environment("/work", "/tmp", p.Env) {
		k, v, _ := strings.Cut(kv, "=")
		args = append(args, "--setenv", k, v)
	}
	for _, b := range binds {
		switch {
		case b.Dev:
		case b.Link != "":
			args = append(args, "--symlink", b.Link, b.Path)
		default:
			args = append(args, "--ro-bind", b.Path, b.Path)
		}
	}
	size := strconv.FormatInt(limits.Scratch, 10)
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--size", size, "--tmpfs", "/work", "--size", size, "--tmpfs", "/tmp", "--ro-bind", dir, "/src", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/work",
		"--", "/bin/sh", "-c", `cp -R /src/. . && exec "$@"`, "sh")
	// Another user's limits cannot be set from outside without a capability that
	// even root may lack, so a shell of that user sets them.
	const limit = `ulimit -c 0; ulimit -n 256; ulimit -t "$1"; ulimit -f "$2"; ulimit -d "$3"; ulimit -v "$4"; ulimit -u "$5" 2>/dev/null || ulimit -p "$5"; shift 5; exec "$@"`
	address := "unlimited"
	if limits.Address > 0 {
		address = strconv.FormatInt(limits.Address>>10, 10)
	}
	shell := []string{"-c", limit, "sh", strconv.FormatInt(limits.CPU, 10), strconv.FormatInt(limits.FileSize/512, 10), strconv.FormatInt(limits.Memory>>10, 10), address, strconv.FormatInt(limits.Procs+4, 10), tool}
	cmd := exec.Command("/bin/sh", append(append(shell, args...), argv...)...)
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(p.Stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: unprivileged()}
	r, err := hostRun{cmd: cmd, options: o}.run(ctx)
	if err == nil && r.Signal == 0 && r.Exit > 128 && r.Exit <= 128+64 { // the shell's way to report a signal
		r.Signal, r.Exit = r.Exit-128, -1
		r.TimedOut = r.TimedOut || r.Signal == int(syscall.SIGXCPU)
	}
	return r, err
}

// bwrapDisablesUserns asks whether this bubblewrap (0.8 or newer) can switch
// nested user namespaces off.
func bwrapDisablesUserns(tool string) bool {
	out, err := exec.Command(tool, "--help").CombinedOutput()
	return err == nil && strings.Contains(string(out), "--disable-userns")
}

// runNone runs without isolation: limits, an empty environment and a scratch
// directory are all there is.
func runNone(ctx context.Context, o Options, p Program) (Result, error) {
	o = o.forProgram(p)
	command, err := findCommand(p.Argv[0])
	if err != nil {
		return Result{}, err
	}
	dir, cleanup, err := stage(p)
	if err != nil {
		return Result{}, err
	}
	defer cleanup()
	cmd := exec.Command(command, p.Argv[1:]...)
	cmd.Dir = dir
	cmd.Env = environment(dir, dir, p.Env)
	cmd.Stdin = strings.NewReader(p.Stdin)
	limits := limitsOf(o, p)
	limits.Procs = 1 << 14 // counts the caller's own processes too
	return hostRun{cmd: cmd, limits: &limits, options: o}.run(ctx)
}
