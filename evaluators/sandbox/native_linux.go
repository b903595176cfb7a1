package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// initMarker is the only environment variable of the re-executed process.
const initMarker = "AIS_BENCH_SANDBOX_INIT=1"

// Descriptors of the re-executed process beyond the standard three.
const (
	fdConfig = 3
	fdReport = 4
)

// childReady is set by MaybeChild in an ordinary process.
var childReady atomic.Bool

// config is what the parent tells the process inside.
type config struct {
	Argv     []string
	Env      []string
	Files    map[string]string
	Binds    []bind
	Memory   int64
	Address  int64 // 0: no limit on the address space
	CPU      int64 // seconds
	Procs    int64
	FileSize int64
	Scratch  int64 // bytes of the writable file systems
}

// bind makes a host path visible, read-only. Link is set when the host's path
// is a symbolic link, which is recreated instead (/bin → usr/bin).
type bind struct {
	Path string
	Link string
	Dev  bool // a device node, which "nodev" would make useless
}

// report is what the process inside tells the parent at the end.
type report struct {
	Error  string // setting up the isolation failed
	Exit   int
	Signal int
	User   time.Duration
	System time.Duration
	MaxRSS int64
}

// systemPaths are the read-only parts of the host a program sees: system
// libraries and toolchains, the loader's cache and nothing else of /etc.
var systemPaths = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/nix/store"}

var deviceNodes = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// mapBase is the first host user the untrusted program runs as when the caller
// is root: an unprivileged number that owns nothing, a different one for
// programs that run at the same time.
const mapBase, mapRange = 200_000, 20_000

var runNumber atomic.Uint32

func runNative(ctx context.Context, o Options, p Program) (Result, error) {
	if !childReady.Load() {
		return Result{}, errors.New("sandbox: MaybeChild was not called at the start of main, so the native kind cannot re-execute the program")
	}
	o = o.forProgram(p)
	binds, argv, err := hostBinds(p.Argv)
	if err != nil {
		return Result{}, err
	}
	cfg := config{
		Argv: argv, Files: p.Files, Binds: binds, Env: environment("/work", "/tmp", p.Env),
		Memory: o.Memory, CPU: int64((o.CPU + time.Second - 1) / time.Second), Procs: int64(o.Procs), FileSize: o.FileSize,
		Scratch: max(4*o.FileSize, 64<<20),
	}
	if !p.LargeAddressSpace {
		cfg.Address = o.Memory
	} else {
		cfg.Scratch = max(cfg.Scratch, 1<<30) // a compiler's cache
	}
	encoded, err := json.Marshal(cfg)
	if err != nil {
		return Result{}, fmt.Errorf("sandbox: encode configuration: %w", err)
	}
	configR, configW, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("sandbox: %w", err)
	}
	defer configR.Close()
	defer configW.Close()
	reportR, reportW, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("sandbox: %w", err)
	}
	defer reportR.Close()
	defer reportW.Close()

	group := newCgroup(o)
	defer group.remove()

	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		uid = mapBase + int(runNumber.Add(1)+uint32(os.Getpid()))%mapRange
		gid = uid
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"ais_bench-sandbox"}
	cmd.Env = []string{initMarker}
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(p.Stdin)
	cmd.ExtraFiles = []*os.File{configR, reportW}
	cmd.WaitDelay = 2 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}},
		Credential:  &syscall.Credential{Uid: 0, Gid: 0, NoSetGroups: true},
		Setsid:      true,
	}
	var flooded atomic.Bool
	flood := func() { flooded.Store(true); cmd.Process.Kill() }
	stdout, stderr := &capture{limit: o.Output, flood: flood}, &capture{limit: o.Output, flood: flood}
	cmd.Stdout, cmd.Stderr = stdout, stderr

	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return Result{}, isolationError(err)
	}
	configR.Close()
	reportW.Close()
	group.add(cmd.Process.Pid)

	// Killing the first process of the PID namespace kills every other one in
	// it, whatever they did to escape their process group.
	var timedOut atomic.Bool
	timer := time.AfterFunc(o.Wall, func() { timedOut.Store(true); cmd.Process.Kill() })
	defer timer.Stop()
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()

	var rep report
	var reported bool
	var readers sync.WaitGroup
	readers.Go(func() {
		b, err := io.ReadAll(io.LimitReader(reportR, 1<<16))
		reported = err == nil && len(b) > 0 && json.Unmarshal(b, &rep) == nil
	})
	_, writeErr := io.Copy(configW, bytes.NewReader(encoded))
	configW.Close()
	waitErr := cmd.Wait()
	readers.Wait()
	wall := time.Since(begin)
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("sandbox: run cancelled: %w", err)
	}
	if rep.Error != "" {
		return Result{}, isolationError(errors.New(rep.Error))
	}
	r := Result{Exit: rep.Exit, Signal: rep.Signal, Stdout: stdout.String(), Stderr: stderr.String(), Wall: wall,
		Truncated: stdout.truncated || stderr.truncated, TimedOut: timedOut.Load(), OOM: group.killedForMemory(),
		Usage: Usage{User: rep.User, System: rep.System, MaxRSS: rep.MaxRSS}}
	if !reported {
		// The whole namespace was killed: by us, or for memory.
		if !r.TimedOut && !flooded.Load() && !r.OOM && writeErr != nil {
			return Result{}, isolationError(fmt.Errorf("the isolated process ended early: %w", errors.Join(waitErr, writeErr)))
		}
		r.Signal = int(syscall.SIGKILL)
	}
	if r.Signal == int(syscall.SIGXCPU) {
		r.TimedOut = true
	}
	return r, nil
}

// hostBinds lists what the program may see and resolves its command.
func hostBinds(argv []string) (binds []bind, resolved []string, err error) {
	command, err := findCommand(argv[0])
	if err != nil {
		return nil, nil, err
	}
	paths := append([]string(nil), systemPaths...)
	if dirs, err := filepath.Glob("/etc/java-*"); err == nil {
		paths = append(paths, dirs...)
	}
	if prefix, real := toolPrefix(command); prefix != "" {
		paths = append(paths, prefix)
		command = real
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			continue // not on this host
		}
		b := bind{Path: path}
		if info.Mode()&os.ModeSymlink != 0 {
			if b.Link, err = os.Readlink(path); err != nil {
				return nil, nil, fmt.Errorf("sandbox: %w", err)
			}
		}
		binds = append(binds, b)
	}
	for _, path := range deviceNodes {
		if _, err := os.Stat(path); err == nil {
			binds = append(binds, bind{Path: path, Dev: true})
		}
	}
	return binds, append([]string{command}, argv[1:]...), nil
}

// findCommand prefers the system's own commands, which every user can execute,
// to what a version manager put in front of them in PATH.
func findCommand(name string) (string, error) {
	if !strings.Contains(name, "/") {
		for _, dir := range [...]string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/go/bin"} {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("sandbox: command %q is %w: install it or add its directory to PATH", name, ErrNoCommand)
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", fmt.Errorf("sandbox: %w", err)
	}
	return path, nil
}

// toolPrefix finds the installation directory of a command that is not part of
// the system (/opt/python/bin/python3 → /opt/python), and its real path.
func toolPrefix(command string) (prefix, real string) {
	real, err := filepath.EvalSymlinks(command)
	if err != nil {
		return "", command
	}
	for _, root := range [...]string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/nix/store/"} {
		if strings.HasPrefix(real, root) {
			return "", command
		}
	}
	dir := filepath.Dir(real)
	if filepath.Base(dir) == "bin" && strings.Count(filepath.Dir(dir), "/") >= 2 {
		return filepath.Dir(dir), real // deep enough not to be a home directory or a root
	}
	return dir, real
}

// isolationError adds to a failure what the host forbids and what to do.
func isolationError(err error) error {
	const instead = "or ask for --sandbox bwrap or runsc, or for --sandbox none to run model-written code unprotected"
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	switch {
	case read("/proc/sys/user/max_user_namespaces") == "0":
		return fmt.Errorf("sandbox: user namespaces are switched off (user.max_user_namespaces = 0); set it to 10000 with sysctl, %s: %w", instead, err)
	case read("/proc/sys/kernel/unprivileged_userns_clone") == "0" && os.Geteuid() != 0:
		return fmt.Errorf("sandbox: user namespaces are for root only (kernel.unprivileged_userns_clone = 0); set it to 1 with sysctl, %s: %w", instead, err)
	case read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" && os.Geteuid() != 0:
		return fmt.Errorf("sandbox: AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns = 1); set it to 0 with sysctl, %s: %w", instead, err)
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("sandbox: this host does not allow new namespaces (inside a container, start it with a seccomp profile that allows unshare and mount), %s: %w", instead, err)
	}
	return fmt.Errorf("sandbox: %w", err)
}
