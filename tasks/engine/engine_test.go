//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// This test program plays two more parts: an engine that serves /health, and a
// program that launches an engine and is then killed.
func TestMain(m *testing.M) {
	switch os.Getenv("ENGINE_TEST_PART") {
	case "engine":
		http.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
		fmt.Println(http.ListenAndServe(os.Getenv("ENGINE_TEST_ADDR"), nil))
		os.Exit(1)
	case "launcher":
		addr := os.Getenv("ENGINE_TEST_ADDR")
		_, err := Start(context.Background(), Config{Command: os.Getenv("ENGINE_TEST_COMMAND"), Env: []string{"ENGINE_TEST_PART=engine"}, Server: "http://" + addr})
		fmt.Println("started", err)
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// freeAddr is an address nobody listens at. Where the whole 127.0.0.0/8 is this
// machine (Linux) it is of this process alone: a port of 127.0.0.1 that was given
// back may be another's before the engine takes it.
func freeAddr(t *testing.T) string {
	pid := os.Getpid()
	l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 64+pid>>16&63, pid>>8&255, pid&255))
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// command starts a worker in the background, notes its process id and becomes
// the engine; the worker would outlive a kill of the engine alone.
func command(pidFile string) string {
	return fmt.Sprintf("sleep 300 & echo $! > %s; %s & wait", pidFile, os.Args[0])
}

func readPid(t *testing.T, file string) int {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// running reports whether a process exists and is no zombie.
func running(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func waitGone(t *testing.T, what string, pid int) {
	for range 6000 {
		if !running(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s (process %d) is still running", what, pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func TestStopEndsTheWholeGroup(t *testing.T) {
	addr, pid := freeAddr(t), filepath.Join(t.TempDir(), "pid")
	e, err := Start(t.Context(), Config{Command: command(pid), Env: []string{"ENGINE_TEST_PART=engine", "ENGINE_TEST_ADDR=" + addr}, Server: "http://" + addr, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	worker := readPid(t, pid)
	if !running(worker) {
		t.Fatal("the worker is not running")
	}
	e.Stop()
	e.Stop() // a second time does nothing
	waitGone(t, "the worker", worker)
	if answers(t.Context(), "http://"+addr) {
		t.Error("the engine still answers")
	}
}

func TestGuardEndsTheGroupOfAKilledProgram(t *testing.T) {
	addr, pid := freeAddr(t), filepath.Join(t.TempDir(), "pid")
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "ENGINE_TEST_PART=launcher", "ENGINE_TEST_ADDR="+addr, "ENGINE_TEST_COMMAND="+command(pid))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 100)
	n, _ := out.Read(said)
	if got := strings.TrimSpace(string(said[:n])); got != "started <nil>" {
		t.Fatalf("the launcher said %q", got)
	}
	worker := readPid(t, pid)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed
	waitGone(t, "the worker", worker)
}

// A worker that made a session of its own is no longer in the engine's group.
func TestProcessesThatLeftTheGroup(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid here")
	}
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc here")
	}
	pid := filepath.Join(t.TempDir(), "pid")
	// The engine, and with it the answer that Start waits for, comes after the number.
	escaping := fmt.Sprintf("setsid sh -c 'echo $$ > %s; exec sleep 300' & until [ -s %s ]; do sleep 0.02; done; %s & wait", pid, pid, os.Args[0])
	var notes []string
	addr := freeAddr(t)
	e, err := Start(t.Context(), Config{Command: escaping, Env: []string{"ENGINE_TEST_PART=engine", "ENGINE_TEST_ADDR=" + addr}, Server: "http://" + addr, Grace: time.Second,
		Note: func(s string) { notes = append(notes, s) }})
	if err != nil {
		t.Fatal(err)
	}
	worker := readPid(t, pid)
	e.Stop()
	waitGone(t, "the worker", worker)
	if !strings.Contains(strings.Join(notes, "\n"), "1 processes of the engine had left its group") {
		t.Errorf("notes %q", notes)
	}

	// The same when the launching program is killed.
	if err := os.Remove(pid); err != nil {
		t.Fatal(err)
	}
	addr = freeAddr(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "ENGINE_TEST_PART=launcher", "ENGINE_TEST_ADDR="+addr, "ENGINE_TEST_COMMAND="+escaping)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	worker = readPid(t, pid)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed
	waitGone(t, "the worker", worker)
}

func TestAnEngineThatDies(t *testing.T) {
	addr := freeAddr(t)
	log, now := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "now")
	e, err := Start(t.Context(), Config{Command: os.Args[0] + " & until [ -e " + now + " ]; do sleep 0.02; done; echo out of memory; kill $!; exit 7", Env: []string{"ENGINE_TEST_PART=engine", "ENGINE_TEST_ADDR=" + addr},
		Server: "http://" + addr, Grace: time.Second, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop()
	said := make(chan string, 1)
	stop := make(chan struct{})
	defer close(stop)
	watched := e.Watch(stop, func(s string) { said <- s })
	if err := os.WriteFile(now, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case <-watched:
	case <-time.After(5 * time.Minute):
		t.Fatal("the death was not noticed")
	}
	if got := <-said; !strings.Contains(got, "ended during the run: exit status 7") || !strings.Contains(got, "out of memory") {
		t.Errorf("said %q", got)
	}
	if e.Died() == "" || e.Facts().Died == nil || e.Facts().ReadyAfterS == nil {
		t.Errorf("facts %+v", e.Facts())
	}
}

func TestWatchEndsWithStop(t *testing.T) {
	e := &Engine{ended: make(chan struct{})}
	stop := make(chan struct{})
	both := e.Watch(stop, func(s string) { t.Error(s) })
	close(stop)
	<-both
	if e.Died() != "" {
		t.Error("it died")
	}
}

func TestTail(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	text := "first\n\x1b[32mloading\x1b[0m\n10%|#\r50%|#####\r100%|##########\n\n"
	l, err := newLog(log, logHead, logSegment)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(l, strings.Repeat("x", 100<<10)+"\n"+text)
	e := &Engine{log: l}
	if got := e.tailLines(3); strings.Join(got, ";") != "first;loading;100%|##########" {
		t.Errorf("%q", got)
	}
}

func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	addr := freeAddr(t)
	var notes []string
	_, err := Start(t.Context(), Config{Command: "echo reading DIR; echo no weights in DIR; exit 3", Server: "http://" + addr, Log: filepath.Join(dir, "log"),
		Note: func(s string) { notes = append(notes, s) }})
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "  | reading DIR\n  | no weights in DIR") {
		t.Errorf("the end of the log is not shown: %q", all)
	}
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no weights in DIR") {
		t.Errorf("a command that ends: %v", err)
	}
	_, err = Start(t.Context(), Config{Command: "sleep 300", Server: "http://" + addr, Ready: 300 * time.Millisecond, Grace: time.Second})
	if err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("a command that never serves: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = Start(ctx, Config{Command: "sleep 300", Server: "http://" + addr, Grace: time.Second}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err = Start(t.Context(), Config{Command: "  "}); err == nil {
		t.Error("an empty command was accepted")
	}
}

func TestStartRefusesATakenAddress(t *testing.T) {
	addr := freeAddr(t)
	e, err := Start(t.Context(), Config{Command: os.Args[0], Env: []string{"ENGINE_TEST_PART=engine", "ENGINE_TEST_ADDR=" + addr}, Server: "http://" + addr, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop()
	if _, err := Start(t.Context(), Config{Command: "sleep 1", Server: "http://" + addr}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("taken address: %v", err)
	}
}

// A failed start that said nothing leaves nothing.
func TestFailedStartLeavesNoEmptyLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "engine.out")
	_, err := Start(t.Context(), Config{Command: "exit 3", Server: "http://" + freeAddr(t), Log: log})
	if err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Fatalf("%v", err)
	}
	if _, err := os.Stat(log); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", log, err)
	}
	_, err = Start(t.Context(), Config{Command: "echo no such model; exit 3", Server: "http://" + freeAddr(t), Log: log})
	if err == nil || !strings.Contains(err.Error(), "it last said: no such model") {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(log); string(b) != "no such model\n" {
		t.Errorf("%q %v", b, err)
	}
}

// An engine that died leaves its group's number to nobody until Stop is through with
// it: the guard is in the group. What was given the number afterwards is not signalled.
func TestTheGroupsNumberIsKept(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here")
	}
	addr := freeAddr(t)
	e, err := Start(t.Context(), Config{Command: os.Args[0], Env: []string{"ENGINE_TEST_PART=engine", "ENGINE_TEST_ADDR=" + addr}, Server: "http://" + addr, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	group := e.Pid()
	if err := syscall.Kill(group, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-e.Ended()
	if err := syscall.Kill(-group, 0); err != nil {
		t.Errorf("the group is gone after its leader was reaped: %v", err)
	}
	if !e.ours() {
		t.Error("the number is not known to be the engine's")
	}
	if g, err := syscall.Getpgid(e.guard.cmd.Process.Pid); g != group || err != nil {
		t.Errorf("the guard is in group %d, %v", g, err)
	}
	e.Stop()
	if groupAlive(e.cmd, nil) {
		t.Error("something of the group is left")
	}
	// Without a guard in the group a reaped leader's number may be another's.
	e.guard = nil
	if e.ours() {
		t.Error("a number that nobody of ours has is taken for the engine's")
	}
}
