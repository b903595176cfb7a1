package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	MaybeChild()
	os.Setenv("AIS_BENCH_SECRET", "hunter2")
	os.Exit(m.Run())
}

// box returns a sandbox of the kind, or skips where the host cannot have one.
func box(t *testing.T, o Options) *Sandbox {
	t.Helper()
	if _, err := findCommand("python3"); err != nil {
		t.Skip("python3 is not on this host")
	}
	b, err := New(o)
	if err != nil {
		t.Skipf("this host cannot isolate: %v", err)
	}
	return b
}

func python(code string) Program { return Program{Argv: []string{"python3", "-I", "-c", code}} }

func TestRun(t *testing.T) {
	for _, kind := range []Kind{Native, Bwrap, Runsc, None} {
		t.Run(string(kind), func(t *testing.T) {
			b := box(t, Options{Kind: kind, Wall: 2 * time.Minute})
			ctx := context.Background()
			for _, c := range []struct {
				name string
				p    Program
				want func(Result) bool
			}{
				{"output and exit", python(`import sys;print("out");print("err",file=sys.stderr);sys.exit(3)`), func(r Result) bool { return r.Exit == 3 && r.Stdout == "out\n" && r.Stderr == "err\n" }},
				{"stdin", Program{Argv: []string{"cat"}, Stdin: "héllo\n"}, func(r Result) bool { return r.Exit == 0 && r.Stdout == "héllo\n" }},
				{"files", Program{Argv: []string{"python3", "main.py"}, Files: map[string]string{"main.py": "import lib.m;print(lib.m.x)", "lib/m.py": "x=7"}}, func(r Result) bool { return r.Stdout == "7\n" }},
				{"signal", python(`import os,signal;os.kill(os.getpid(),signal.SIGSEGV)`), func(r Result) bool { return r.Signal == 11 }},
				{"environment", Program{Argv: []string{"sh", "-c", "echo $GREETING"}, Env: []string{"GREETING=hi"}}, func(r Result) bool { return r.Stdout == "hi\n" }},
				{"large stdin unread", Program{Argv: []string{"true"}, Stdin: strings.Repeat("x", 1<<20)}, func(r Result) bool { return r.Exit == 0 && r.Signal == 0 }},
				{"working directory is writable", python(`open("a","w").write("1");print(open("a").read())`), func(r Result) bool { return r.Stdout == "1\n" }},
			} {
				r, err := b.Run(ctx, c.p)
				if err != nil || !c.want(r) {
					t.Errorf("%s: %+v, %v", c.name, r, err)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	if _, err := New(Options{Kind: "docker"}); err == nil || !strings.Contains(err.Error(), "native, bwrap, runsc or none") {
		t.Errorf("unknown kind: %v", err)
	}
	b := box(t, Options{})
	ctx := context.Background()
	for _, p := range []Program{{}, {Argv: []string{"no-such-command-here"}}, {Argv: []string{"true"}, Files: map[string]string{"../x": ""}}, {Argv: []string{"true"}, Files: map[string]string{"/etc/x": ""}}} {
		if r, err := b.Run(ctx, p); err == nil {
			t.Errorf("%+v ran: %+v", p, r)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := b.Run(cancelled, python("while True: pass")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run gives %v", err)
	}
	// A process that never called MaybeChild must not run anything.
	withoutMaybeChild(t)
	if _, err := New(Options{}); err == nil || !strings.Contains(err.Error(), "MaybeChild") {
		t.Errorf("without MaybeChild: %v", err)
	}
}

// hostilePrograms try to get out, to take everything, or to stay. want tells
// whether the attempt was contained; each prints ESCAPED when it succeeds.
var hostilePrograms = []struct {
	name, code string
	wall       time.Duration
	want       func(Result) bool
}{
	{"endless loop", `while True: pass`, time.Second, timedOut},
	{"endless sleep", `import time; time.sleep(1e6)`, time.Second, timedOut},
	{"signals ignored", "import signal,time\nfor s in range(1,32):\n  try: signal.signal(s, signal.SIG_IGN)\n  except Exception: pass\nwhile True: time.sleep(1)", time.Second, timedOut},
	{"processor time in children", "import os\nfor _ in range(4): os.fork()\nwhile True: pass", time.Second, timedOut},
	{"memory", "x=[]\nwhile True: x.append(bytearray(1<<24))", 0, failed},
	{"memory in one piece", `b=bytearray(1<<36); print("ESCAPED")`, 0, failed},
	{"shared memory", "import mmap\nx=[]\nfor i in range(4096):\n  m=mmap.mmap(-1,1<<24); m.write(b'x'*(1<<24)); x.append(m)\nprint('ESCAPED')", 0, failed},
	{"memory in many processes", "import os,time\nfor i in range(40):\n  if os.fork()==0:\n    b=bytearray(1<<27)\n    for j in range(0,len(b),4096): b[j]=1\n    time.sleep(100)\ntime.sleep(1.5)\nprint(open('/proc/meminfo').read() and 'alive')", 3 * time.Second, func(r Result) bool { return true }},
	{"fork bomb", "import os,time\nn=0\nwhile True:\n  try:\n    if os.fork()==0: time.sleep(1000)\n    n+=1\n  except OSError: break\nprint('forked',n)\nif n>200: print('ESCAPED')", 0, contained},
	{"thread bomb", "import threading,time\nn=0\ntry:\n  while n<5000:\n    threading.Thread(target=time.sleep,args=(100,),daemon=True).start(); n+=1\n  print('ESCAPED')\nexcept RuntimeError: print('stopped',n)\nimport os; os._exit(0)", 0, contained},
	{"daemon", "import os,time\nif os.fork()==0:\n  os.setsid()\n  if os.fork()==0:\n    os.closerange(0,3); time.sleep(100000)\n  os._exit(0)\nprint('left')", 0, contained},
	{"output flood", "import sys\nwhile True: sys.stdout.write('A'*65536)", 0, func(r Result) bool { return len(r.Stdout) <= 64<<10 && r.Truncated }},
	{"error output flood", "import sys\nwhile True: sys.stderr.write('A'*65536)", 0, func(r Result) bool { return len(r.Stderr) <= 64<<10 && r.Truncated }},
	{"write everywhere", "import os\nfor d in ['/','/etc','/usr','/usr/bin','/usr/local/bin','/bin','/lib','/root','/home','/var','/dev','/proc','/sys','/proc/sys/kernel']:\n  try:\n    open(d+'/ais_bench_escape','w').write('x'); print('ESCAPED',d)\n  except OSError: pass", 0, contained},
	{"overwrite system files", "for f in ['/usr/bin/python3','/etc/passwd','/etc/hosts','/bin/sh','/proc/sys/kernel/hostname','/proc/sys/user/max_user_namespaces','/proc/self/oom_score_adj']:\n  try:\n    open(f,'r+').write('x'); print('ESCAPED' if 'oom' not in f else 'oom',f)\n  except OSError: pass", 0, contained},
	{"huge file", "f=open('big','wb')\ntry:\n  for i in range(1000): f.write(b'x'*(1<<20)); f.flush()\n  print('ESCAPED')\nexcept OSError as e: print(e)", 0, contained},
	{"many files", "import os\ntry:\n  for i in range(200): open('f%d'%i,'wb').write(b'x'*(1<<20))\n  print('ESCAPED')\nexcept OSError as e: print(e)", 0, contained},
	{"read secrets", "import os\nfor f in ['/etc/shadow','/root/.bashrc','/root/.ssh/id_rsa','/home','/root','/var','/proc/1/cwd/go.mod','/run','/opt','/srv','/sys']:\n  try:\n    (os.listdir if os.path.isdir(f) else open)(f); print('ESCAPED',f)\n  except OSError: pass", 0, contained},
	{"read the caller's environment and files", "import os\nprint(os.environ.get('AIS_BENCH_SECRET','none'), 'ESCAPED' if 'AIS_BENCH_SECRET' in os.environ else '')\nfor p in os.listdir('/proc'):\n  if p.isdigit():\n    for n in ['environ','mem','maps','fd','root','cwd']:\n      if int(p)!=os.getpid():\n        try:\n          x=[os.readlink('/proc/%s/fd/%s'%(p,f)) for f in os.listdir('/proc/%s/fd'%p)] if n=='fd' else os.listdir('/proc/%s/%s'%(p,n)) if n in('root','cwd') else open('/proc/%s/%s'%(p,n),'rb').read(10)\n          if x: print('ESCAPED',p,n)\n        except OSError: pass\n", 0, contained},
	{"other processes", "import os\nn=[p for p in os.listdir('/proc') if p.isdigit()]\nprint(n)\nif len(n)>3: print('ESCAPED')", 0, contained},
	{"network", "import socket\nfor a in [('127.0.0.1',22),('1.1.1.1',53),('169.254.169.254',80)]:\n  try:\n    socket.create_connection(a,timeout=1); print('ESCAPED',a)\n  except OSError as e: print(e)\nfor fam in (40,38,17):\n  try: socket.socket(fam,socket.SOCK_STREAM if fam==40 else socket.SOCK_RAW if fam==17 else socket.SOCK_SEQPACKET); print('ESCAPED family',fam)\n  except OSError as e: print(e)", 0, contained},
	{"abstract sockets of the host", "import socket\nfor name in ['\\0/tmp/.X11-unix/X0','\\0/run/dbus']:\n  try:\n    s=socket.socket(socket.AF_UNIX); s.connect(name); print('ESCAPED')\n  except OSError: pass", 0, contained},
	{"kill the parent", "import os,signal,time\nfor p in (1,os.getppid(),-1):\n  for s in (15,2,1,3,9,6,11,19):\n    try: os.kill(p,s)\n    except OSError: pass\nprint('still here')", 2 * time.Second, func(r Result) bool { return true }},
	{"mount", mountAttempt("libc.mount(b'none',b'/work',b'tmpfs',0,b'')", "libc.mount(b'/',b'/work',b'',4096,b'')", "libc.umount2(b'/usr',2)"), 0, contained},
	{"unshare", mountAttempt("libc.unshare(0x10000000)", "libc.unshare(0x20000)", "libc.unshare(0x40000000)", "libc.setns(3,0)"), 0, contained},
	{"clone into a new user namespace", mountAttempt("libc.syscall(56,0x10000000|17,0,0,0,0)", "libc.syscall(435,0,0)"), 0, contained},
	{"chroot", mountAttempt("libc.chroot(b'/work')", "libc.pivot_root(b'/work',b'/work')"), 0, contained},
	{"ptrace", mountAttempt("libc.ptrace(16,1,0,0)", "libc.ptrace(0x4206,1,0,0)", "libc.process_vm_readv(1,0,0,0,0,0)-1"), 0, contained},
	{"rm -rf /", "import os\nos.system('rm -rf --no-preserve-root / 2>/dev/null')\nprint('usr' if os.path.exists('/usr/bin/env') else 'ESCAPED')", 0, contained},
	{"segmentation fault", "import ctypes; ctypes.string_at(0)", 0, func(r Result) bool { return r.Signal == 11 }},
	{"abort", "import os; os.abort()", 0, func(r Result) bool { return r.Signal == 6 }},
	{"symbolic link out", "import os\nos.symlink('/proc/1/root/etc/shadow','l')\nos.symlink('../../../../../../etc/shadow','m')\nfor f in 'lm':\n  try: open(f).read(); print('ESCAPED')\n  except OSError: pass", 0, contained},
	{"device nodes", "import os,stat\nfor kind,dev in ((stat.S_IFBLK,os.makedev(8,0)),(stat.S_IFCHR,os.makedev(1,1))):\n  try:\n    os.mknod('d%d'%kind,kind|0o600,dev); open('d%d'%kind,'rb').read(1); print('ESCAPED')\n  except OSError: pass\nfor d in ('/dev/mem','/dev/kmem','/dev/sda','/dev/vda','/dev/kvm','/dev/fuse'):\n  if os.path.exists(d): print('ESCAPED',d)", 0, contained},
	{"setuid", "import os\nfor f in (lambda:os.setuid(1),lambda:os.setgid(1),lambda:os.setgroups([1]),lambda:os.setresuid(5,5,5),lambda:os.chown('/work',1,1)):\n  try: f(); print('ESCAPED')\n  except OSError: pass\nos.system('su -c id 2>/dev/null; sudo -n id 2>/dev/null')", 0, contained},
	{"capabilities", "for l in open('/proc/self/status'):\n  if l.startswith('Cap') and int(l.split()[1],16): print('ESCAPED',l)\n  if l.startswith('NoNewPrivs') and l.split()[1]!='1': print('ESCAPED',l)", 0, contained},
	{"raise its own limits", "import resource\nfor r in (resource.RLIMIT_AS,resource.RLIMIT_CPU,resource.RLIMIT_NPROC,resource.RLIMIT_FSIZE):\n  try: resource.setrlimit(r,(resource.RLIM_INFINITY,resource.RLIM_INFINITY)); print('ESCAPED',r)\n  except (ValueError,OSError): pass", 0, contained},
	{"open descriptors", "import os\nfds=[f for f in os.listdir('/proc/self/fd')]\nprint(fds)\nif any(int(f)>4 for f in fds): print('ESCAPED')\nfor f in (3,4,5):\n  try: os.write(f,b'{\"Exit\":0}'); print('ESCAPED',f)\n  except OSError: pass", 0, contained},
	{"kernel keys and programs", mountAttempt("libc.syscall(250,0,-3,1)", "libc.syscall(321,0,0,0)", "libc.syscall(425,1,0)", "libc.syscall(323,0)"), 0, contained},
}

// bwrapDiffers are programs that look at details in which bubblewrap is
// different without being open: its own first process has the program's user
// and so may be read (it holds nothing), it filters no system calls but leaves
// no capability to make use of them, and it has a loopback device.
var bwrapDiffers = map[string]bool{"read the caller's environment and files": true, "other processes": true, "network": true, "open descriptors": true, "ptrace": true, "kernel keys and programs": true, "clone into a new user namespace": true}

// runscDiffers are programs that ask gVisor's own kernel for what it may give:
// its emulated /sys and /dev/fuse, namespaces and calls inside it.
var runscDiffers = map[string]bool{"read secrets": true, "unshare": true, "clone into a new user namespace": true, "device nodes": true, "kernel keys and programs": true}

func mountAttempt(calls ...string) string {
	code := "import ctypes\nlibc=ctypes.CDLL(None,use_errno=True)\n"
	for _, c := range calls {
		code += fmt.Sprintf("try:\n  r=%s\n  print('ESCAPED' if r>=0 else ctypes.get_errno())\nexcept AttributeError: pass\n", c)
	}
	return code
}

func timedOut(r Result) bool { return r.TimedOut }

// failed: it did not get what it asked for.
func failed(r Result) bool {
	return (r.Exit != 0 || r.Signal != 0) && !strings.Contains(r.Stdout, "ESCAPED")
}

// contained: it ran and found no way out.
func contained(r Result) bool {
	return !strings.Contains(r.Stdout, "ESCAPED") && r.Exit == 0 && r.Signal == 0
}

// traces lists what of earlier runs is still on the host: processes by the
// marker in their arguments, directories of control groups and of /tmp.
func traces(t *testing.T, marker string) (left []string) {
	t.Helper()
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range lines {
		b, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(b), marker) && !strings.Contains(string(b), "-test.") {
			left = append(left, f)
		}
	}
	for _, pattern := range []string{os.TempDir() + "/ais_bench-*", fmt.Sprintf("/sys/fs/cgroup/*/ais_bench-%d-*", os.Getpid()), fmt.Sprintf("/sys/fs/cgroup/*/*/ais_bench-%d-*", os.Getpid()), "/ais_bench_escape", "/*/ais_bench_escape"} {
		names, _ := filepath.Glob(pattern)
		left = append(left, names...)
	}
	return left
}

func TestHostile(t *testing.T) {
	hostile(t, Native)
}

func TestHostileBwrap(t *testing.T) {
	hostile(t, Bwrap)
}

func TestHostileRunsc(t *testing.T) {
	hostile(t, Runsc)
}

func hostile(t *testing.T, kind Kind) {
	// A directory of temporary files of its own: what other processes leave in the
	// common one is not ours. bubblewrap must be able to pass through it.
	dir, err := os.MkdirTemp("", "hostile-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	b := box(t, Options{Kind: kind, Memory: 256 << 20, Wall: 2 * time.Minute}) // for those that end by themselves, however busy the host
	marker := fmt.Sprintf("hostile-%d", os.Getpid())
	var wg sync.WaitGroup
	slots := make(chan struct{}, 6) // most of them wait for their time to run out
	for _, h := range hostilePrograms {
		if kind == Bwrap && bwrapDiffers[h.name] || kind == Runsc && runscDiffers[h.name] {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			r, err := b.Run(context.Background(), Program{Argv: []string{"python3", "-I", "-c", h.code, marker}, Wall: h.wall})
			if err != nil {
				t.Errorf("%s: %v", h.name, err)
			} else if !h.want(r) {
				t.Errorf("%s is not contained: %+v", h.name, r)
			}
		})
	}
	wg.Wait()
	if left := traces(t, marker); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestOrdinaryUser repeats the hostile programs as a user without privileges.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is one already")
	}
	box(t, Options{})
	cmd := exec.Command("/proc/self/exe", "-test.run=^(TestHostile|TestRefusals)$", "-test.v")
	runAsNobody(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("an ordinary user cannot isolate here:\n%s", out)
	}
}

func TestConcurrent(t *testing.T) {
	b := box(t, Options{Wall: 2 * time.Minute})
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			r, err := b.Run(context.Background(), python(fmt.Sprintf("print(%d**2)", i)))
			if want := fmt.Sprintf("%d\n", i*i); err != nil || r.Stdout != want {
				t.Errorf("run %d: %+v, %v", i, r, err)
			}
		})
	}
	wg.Wait()
}

func BenchmarkNative(b *testing.B) {
	s, err := New(Options{})
	if err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		if _, err := s.Run(context.Background(), python("pass")); err != nil {
			b.Fatal(err)
		}
	}
}
