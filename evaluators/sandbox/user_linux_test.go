package sandbox

import (
	"os/exec"
	"syscall"
	"testing"
)

// runAsNobody makes a command run as a user without privileges.
func runAsNobody(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

func withoutMaybeChild(t *testing.T) {
	childReady.Store(false)
	t.Cleanup(func() { childReady.Store(true) })
}
