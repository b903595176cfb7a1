package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// runRunsc isolates with gVisor: an OCI bundle whose root holds the same
// read-only system paths as the native kind, run without network.
func runRunsc(ctx context.Context, o Options, p Program) (Result, error) {
	tool, err := exec.LookPath("runsc")
	if err != nil {
		return Result{}, errors.New("sandbox: runsc is not in PATH; install gVisor or choose --sandbox native")
	}
	o = o.forProgram(p)
	binds, argv, err := hostBinds(p.Argv)
	if err != nil {
		return Result{}, err
	}
	source, cleanup, err := stage(p)
	if err != nil {
		return Result{}, err
	}
	defer cleanup()
	bundle, err := os.MkdirTemp("", "ais_bench-bundle-")
	if err != nil {
		return Result{}, fmt.Errorf("sandbox: %w", err)
	}
	state := filepath.Join(bundle, "state")
	defer func() {
		// gVisor keeps a network namespace mounted in its state directory.
		unix.Unmount(filepath.Join(state, "null-netns"), unix.MNT_DETACH)
		os.RemoveAll(bundle)
	}()
	limits := limitsOf(o, p)
	if err := writeBundle(bundle, source, binds, argv, environment("/work", "/tmp", p.Env), limits); err != nil {
		return Result{}, fmt.Errorf("sandbox: prepare the gVisor bundle: %w", err)
	}
	id := filepath.Base(bundle)
	global := []string{"--root", state, "--network=none", "--ignore-cgroups"}
	if os.Geteuid() != 0 {
		global = append(global, "--rootless")
	}
	cmd := exec.Command(tool, append(global, "run", "--bundle", bundle, id)...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.Stdin = strings.NewReader(p.Stdin)
	remove := func() {
		exec.Command(tool, append(global, "delete", "--force", id)...).Run()
	}
	defer remove()
	kill := func() {
		remove()
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	group := o // the sentry itself needs memory and threads; the program's limits are in the bundle
	group.Memory, group.Procs = o.Memory+(256<<20), o.Procs+256
	r, err := hostRun{cmd: cmd, options: group, kill: kill}.run(ctx)
	if err == nil && r.Signal == 0 && r.Exit > 128 && r.Exit <= 128+64 {
		r.Signal, r.Exit = r.Exit-128, -1
		r.TimedOut = r.TimedOut || r.Signal == int(syscall.SIGXCPU)
	}
	return r, err
}

type ociMount struct {
	Destination string   `json:"destination"`
	Type        string   `json:"type"`
	Source      string   `json:"source"`
	Options     []string `json:"options,omitempty"`
}

// writeBundle writes the OCI configuration.
func writeBundle(bundle, source string, binds []bind, argv, env []string, c config) error {
	root := filepath.Join(bundle, "rootfs")
	for _, dir := range [...]string{"proc", "dev", "work", "tmp", "src", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	size := fmt.Sprintf("size=%d", c.Scratch)
	mounts := []ociMount{
		{"/proc", "proc", "proc", nil},
		{"/dev", "tmpfs", "tmpfs", nil},
		{"/work", "tmpfs", "tmpfs", []string{"nosuid", "nodev", "mode=1777", size}},
		{"/tmp", "tmpfs", "tmpfs", []string{"nosuid", "nodev", "mode=1777", size}},
		{"/src", "bind", source, []string{"ro", "nosuid", "nodev"}},
	}
	for _, b := range binds {
		target := filepath.Join(root, b.Path)
		switch {
		case b.Dev:
			continue
		case b.Link != "":
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
				return err
			}
			if err := os.Symlink(b.Link, target); err != nil {
				return err
			}
			continue
		}
		info, err := os.Stat(b.Path)
		if err != nil {
			return err
		}
		if info.IsDir() {
			err = os.MkdirAll(target, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(target), 0o755); err == nil {
			err = os.WriteFile(target, nil, 0o644)
		}
		if err != nil {
			return err
		}
		mounts = append(mounts, ociMount{b.Path, "bind", b.Path, []string{"ro", "rbind", "nosuid", "nodev"}})
	}
	limit := func(name string, v int64) map[string]any { return map[string]any{"type": name, "soft": v, "hard": v} }
	rlimits := []any{limit("RLIMIT_CPU", c.CPU), limit("RLIMIT_FSIZE", c.FileSize), limit("RLIMIT_NPROC", c.Procs), limit("RLIMIT_NOFILE", 256), limit("RLIMIT_CORE", 0), limit("RLIMIT_DATA", c.Memory)}
	if c.Address > 0 {
		rlimits = append(rlimits, limit("RLIMIT_AS", c.Address))
	}
	spec := map[string]any{
		"ociVersion": "1.0.2",
		"process": map[string]any{
			"user": map[string]any{"uid": 65534, "gid": 65534}, "cwd": "/", "env": env, "noNewPrivileges": true, "rlimits": rlimits,
			"args": append([]string{"/bin/sh", "-c", `cd /work && cp -R /src/. . && exec "$@"`, "sh"}, argv...),
		},
		"root":     map[string]any{"path": "rootfs", "readonly": true},
		"hostname": "sandbox",
		"mounts":   mounts,
		"linux":    map[string]any{"namespaces": []any{map[string]string{"type": "pid"}, map[string]string{"type": "network"}, map[string]string{"type": "ipc"}, map[string]string{"type": "uts"}, map[string]string{"type": "mount"}}},
	}
	b, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bundle, "config.json"), b, 0o644)
}
