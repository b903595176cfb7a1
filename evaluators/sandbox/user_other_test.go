//go:build !linux

package sandbox

import (
	"os/exec"
	"testing"
)

func runAsNobody(*exec.Cmd) {}

func withoutMaybeChild(t *testing.T) { t.Skip("only Linux re-executes") }
