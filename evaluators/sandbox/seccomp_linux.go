//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forbidden system calls answer EPERM: each is a way to new namespaces, mounts,
// other processes' memory, kernel keys or large kernel attack surface, and none
// is needed by a program that solves a task.
var forbidden = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOUNT_SETATTR, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_ACCT, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
}

// socketFamilies that a program may open. The network namespace is empty, but
// some families (AF_VSOCK) ignore it.
var socketFamilies = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// filterSyscalls installs the filter on the calling thread; its children keep it.
func filterSyscalls() error {
	const (
		allow   = unix.SECCOMP_RET_ALLOW
		deny    = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		missing = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	)
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	equal := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	give := func(k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}
	}
	// struct seccomp_data: nr at 0, arch at 4, low half of argument i at 16+8i.
	const nr, arch, arg0 = 0, 4, 16
	auditArch := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		auditArch = unix.AUDIT_ARCH_AARCH64
	}
	f := []unix.SockFilter{
		load(arch), equal(auditArch, 1, 0), give(deny),
		load(nr),
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jt: 0, Jf: 1, K: 0x40000000}, give(missing), // the x32 numbers
		equal(unix.SYS_CLONE3, 0, 1), give(missing), // its flags are in memory; libc falls back to clone
	}
	for _, n := range forbidden {
		f = append(f, equal(n, 0, 1), give(deny))
	}
	f = append(f, equal(unix.SYS_CLONE, 0, 4),
		load(arg0), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jt: 0, Jf: 1, K: newNamespaces}, give(deny), give(allow))
	// ptrace: only what starting and releasing the program takes.
	f = append(f, equal(unix.SYS_PTRACE, 0, 5), load(arg0), equal(unix.PTRACE_TRACEME, 2, 0), equal(unix.PTRACE_DETACH, 1, 0), give(deny), give(allow))
	f = append(f, equal(unix.SYS_SOCKET, 0, uint8(len(socketFamilies)+3)), load(arg0))
	for i, family := range socketFamilies {
		f = append(f, equal(family, uint8(len(socketFamilies)-i), 0))
	}
	f = append(f, give(deny), give(allow))
	f = append(f, give(allow))
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if _, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return fmt.Errorf("install the system call filter: %w", errno)
	}
	return nil
}
