package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// buildRoot replaces the file system by one that holds the bound system paths,
// read-only, and two empty writable directories, /work and /tmp, in memory.
func buildRoot(cfg config) error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	// Open the sources first: the new root will cover one of the host's
	// directories, perhaps the one that holds them.
	sources := make([]int, len(cfg.Binds))
	for i, b := range cfg.Binds {
		sources[i] = -1
		if b.Link != "" {
			continue
		}
		fd, err := unix.Open(b.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open %s (it must be readable by every user of this host): %w", b.Path, err)
		}
		sources[i] = fd
	}
	root := ""
	var lastErr error
	for _, dir := range [...]string{"/tmp", "/var/tmp", "/mnt", "/run", "/usr"} {
		if lastErr = unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=1m,nr_inodes=2k"); lastErr == nil {
			root = dir
			break
		}
	}
	if root == "" {
		return fmt.Errorf("mount a root in memory: %w", lastErr)
	}
	for i, b := range cfg.Binds {
		if err := addBind(root, b, sources[i]); err != nil {
			return err
		}
	}
	scratch := fmt.Sprintf("mode=0755,size=%d,nr_inodes=50k", cfg.Scratch)
	for _, dir := range [...]string{"work", "tmp"} {
		if err := mountAt(filepath.Join(root, dir), "tmpfs", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, scratch); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "dev"), 0o755); err != nil {
		return fmt.Errorf("create /dev: %w", err)
	}
	if err := mountAt(filepath.Join(root, "dev/shm"), "tmpfs", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=16m"); err != nil {
		return err
	}
	for name, target := range map[string]string{"dev/fd": "/proc/self/fd", "dev/stdin": "/proc/self/fd/0", "dev/stdout": "/proc/self/fd/1", "dev/stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			return fmt.Errorf("create /%s: %w", name, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		return fmt.Errorf("create /etc: %w", err)
	}
	for name, content := range map[string]string{"passwd": "root:x:0:0:sandbox:/work:/bin/sh\n", "group": "root:x:0:\n", "hosts": "127.0.0.1 localhost sandbox\n"} {
		if err := os.WriteFile(filepath.Join(root, "etc", name), []byte(content), 0o444); err != nil {
			return fmt.Errorf("create /etc/%s: %w", name, err)
		}
	}
	if err := addProc(root); err != nil {
		return err
	}
	// The new root becomes /, the old one is gone.
	if err := unix.Chdir(root); err != nil {
		return fmt.Errorf("enter the new root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		return fmt.Errorf("make the root read-only: %w", err)
	}
	return nil
}

func mountAt(dir, source, kind string, flags uintptr, options string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("create %s: %w", dir, err)
	}
	if err := unix.Mount(source, dir, kind, flags, options); err != nil {
		return fmt.Errorf("mount %s: %w", dir, err)
	}
	return nil
}

// addProc mounts the new PID namespace's /proc read-only, after having switched
// further user namespaces off through it. Inside a container that masks /proc
// the kernel refuses; programs then run without /proc, and the system call
// filter alone stops namespaces.
func addProc(root string) error {
	dir := filepath.Join(root, "proc")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("create /proc: %w", err)
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", dir, "proc", flags, ""); err != nil {
		return nil
	}
	os.WriteFile(filepath.Join(dir, "sys/user/max_user_namespaces"), []byte("0"), 0)
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|flags, ""); err != nil {
		return fmt.Errorf("make /proc read-only: %w", err)
	}
	return nil
}

// addBind makes one host path, open as source, visible below root.
func addBind(root string, b bind, source int) error {
	if source >= 0 {
		defer unix.Close(source)
	}
	target := filepath.Join(root, b.Path)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return fmt.Errorf("create %s: %w", filepath.Dir(b.Path), err)
	}
	if b.Link != "" {
		if err := os.Symlink(b.Link, target); err != nil {
			return fmt.Errorf("link %s: %w", b.Path, err)
		}
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(source, &st); err != nil {
		return fmt.Errorf("inspect %s: %w", b.Path, err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return fmt.Errorf("create %s: %w", b.Path, err)
		}
	} else if err := os.WriteFile(target, nil, 0o644); err != nil {
		return fmt.Errorf("create %s: %w", b.Path, err)
	}
	if err := unix.Mount("/proc/self/fd/"+strconv.Itoa(source), target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s: %w", b.Path, err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if !b.Dev {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	err := unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &attr)
	if err == unix.ENOSYS { // before Linux 5.12: the top mount only
		var fs unix.Statfs_t
		if err := unix.Statfs(target, &fs); err != nil {
			return fmt.Errorf("inspect %s: %w", b.Path, err)
		}
		flags := uintptr(fs.Flags)&(unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_NOATIME|unix.MS_NODIRATIME|unix.MS_RELATIME) | unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY | unix.MS_NOSUID
		if !b.Dev {
			flags |= unix.MS_NODEV
		}
		err = unix.Mount("", target, "", flags, "")
	}
	if err != nil {
		return fmt.Errorf("make %s read-only: %w", b.Path, err)
	}
	return nil
}
