package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// MaybeChild must be the first statement of main and of TestMain in every
// program that uses the native kind. In the re-executed process it sets up the
// isolation, runs the untrusted program and never returns; in any other process
// it returns at once.
func MaybeChild() {
	if len(os.Args) == 0 || os.Args[0] != "ais_bench-sandbox" || os.Getenv("AIS_BENCH_SANDBOX_INIT") != "1" || os.Getpid() != 1 {
		childReady.Store(true)
		return
	}
	// Privileges and filters belong to a thread; the program must be forked from
	// the one that gave them up.
	runtime.LockOSThread()
	rep := report{}
	if err := isolateAndRun(&rep); err != nil {
		rep = report{Error: err.Error()}
	}
	out := os.NewFile(fdReport, "report")
	json.NewEncoder(out).Encode(rep)
	out.Close()
	os.Exit(0)
}

// isolateAndRun is the life of the first process of the new PID namespace.
func isolateAndRun(rep *report) error {
	sealDescriptors()
	in := os.NewFile(fdConfig, "config")
	encoded, err := io.ReadAll(in)
	in.Close()
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	var cfg config
	if err := json.Unmarshal(encoded, &cfg); err != nil {
		return fmt.Errorf("decode configuration: %w", err)
	}
	// The program may send signals to this process; none but the kernel's own
	// kill may end it. Handlers, unlike ignored signals, are not inherited.
	signal.Notify(make(chan os.Signal, 1))
	if err := unix.Sethostname([]byte("sandbox")); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	if err := buildRoot(cfg); err != nil {
		return err
	}
	if err := writeFiles("/work", cfg.Files); err != nil {
		return err
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	return runLimited(cfg, rep)
}

// sealDescriptors keeps every descriptor beyond the standard three from the
// programs this process starts, also those it inherited itself.
func sealDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	for fd := 3; fd < 4096; fd++ { // before Linux 5.11
		unix.CloseOnExec(fd)
	}
}

// dropPrivileges leaves the thread without any capability its children could
// regain, and with the system calls filtered that could build a way out.
func dropPrivileges() error {
	for c := 0; c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil {
			if err == unix.EINVAL {
				break // beyond the last capability of this kernel
			}
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	const secureBits = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<6 | 1<<7 // noroot, no_setuid_fixup, no_cap_ambient_raise, each locked
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, secureBits, 0, 0, 0); err != nil {
		return fmt.Errorf("set secure bits: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	// Not dumpable: the program sees nothing of this process in /proc.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide from the program: %w", err)
	}
	return filterSyscalls()
}

// runLimited starts the program stopped, gives it its limits and lets it go.
// The limits cannot be set before the fork: this process needs more addresses
// than the program may have.
func runLimited(cfg config, rep *report) error {
	cmd := exec.Command(cfg.Argv[0], cfg.Argv[1:]...)
	cmd.Env = cfg.Env
	cmd.Dir = "/work"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", cfg.Argv[0], err)
	}
	// Nothing of the program's input may stay open here, or it never ends.
	os.Stdin.Close()
	os.Stdout.Close()
	os.Stderr.Close()
	pid := cmd.Process.Pid
	if err := release(pid, cfg); err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		var usage syscall.Rusage
		got, err := syscall.Wait4(-1, &status, 0, &usage)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return fmt.Errorf("wait for the program: %w", err)
		case got != pid: // an orphan of the program
			continue
		}
		rep.Exit, rep.Signal = exitOf(status)
		rep.User, rep.System = time.Duration(usage.Utime.Nano()), time.Duration(usage.Stime.Nano())
		rep.MaxRSS = int64(usage.Maxrss) << 10
		return nil // and the kernel kills whatever it left running
	}
}

func exitOf(status syscall.WaitStatus) (exit, signal int) {
	if status.Signaled() {
		return -1, int(status.Signal())
	}
	return status.ExitStatus(), 0
}

// release waits for the program to stop at its first instruction, limits it
// and detaches.
func release(pid int, cfg config) error {
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait for the program to start: %w", err)
		}
		break
	}
	if !status.Stopped() {
		return fmt.Errorf("the program ended before it started (status %d)", status)
	}
	if err := setLimits(pid, cfg); err != nil {
		return err
	}
	if err := syscall.PtraceDetach(pid); err != nil {
		return fmt.Errorf("let the program go: %w", err)
	}
	return nil
}

// setLimits sets the resource limits of a process.
func setLimits(pid int, cfg config) error {
	limits := []struct {
		name      string
		resource  int
		soft, max uint64
	}{
		{"cpu", unix.RLIMIT_CPU, uint64(cfg.CPU), uint64(cfg.CPU) + 1},
		{"file size", unix.RLIMIT_FSIZE, uint64(cfg.FileSize), uint64(cfg.FileSize)},
		{"processes", unix.RLIMIT_NPROC, uint64(cfg.Procs) + ownThreads, uint64(cfg.Procs) + ownThreads},
		{"open files", unix.RLIMIT_NOFILE, 256, 256},
		{"core file", unix.RLIMIT_CORE, 0, 0},
		{"data", unix.RLIMIT_DATA, uint64(cfg.Memory), uint64(cfg.Memory)},
		{"locked memory", unix.RLIMIT_MEMLOCK, 1 << 16, 1 << 16},
		{"message queues", unix.RLIMIT_MSGQUEUE, 1 << 16, 1 << 16},
		{"pending signals", unix.RLIMIT_SIGPENDING, 256, 256},
	}
	if cfg.Address > 0 {
		limits = append(limits, struct {
			name      string
			resource  int
			soft, max uint64
		}{"address space", unix.RLIMIT_AS, uint64(cfg.Address), uint64(cfg.Address)})
	}
	for _, l := range limits {
		var old unix.Rlimit
		if err := unix.Prlimit(pid, l.resource, nil, &old); err != nil {
			return fmt.Errorf("read limit on %s: %w", l.name, err)
		}
		set := unix.Rlimit{Cur: min(l.soft, old.Max), Max: min(l.max, old.Max)}
		if err := unix.Prlimit(pid, l.resource, &set, nil); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}

// ownThreads is room for the threads of this process, which count as processes
// of the same user.
const ownThreads = 12
