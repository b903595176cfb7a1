package calibrate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ais_bench/models/simulator"
)

// Process starts program (this program's own executable) as `sim` in paced
// mode. It is the usual Config.Start.
func Process(program string) func(ctx context.Context, tokensPerSecond float64) (Server, error) {
	return func(ctx context.Context, tokensPerSecond float64) (Server, error) {
		dir, err := os.MkdirTemp("", "ais_bench-calibrate-")
		if err != nil {
			return nil, err
		}
		p := &process{truth: filepath.Join(dir, "truth"), dir: dir}
		p.cmd = exec.Command(program, "sim", "--port", "0", "--tokens-per-second", strconv.FormatFloat(tokensPerSecond, 'g', -1, 64),
			"--ttft", "50ms", "--truth", p.truth)
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			os.RemoveAll(dir)
			return nil, err
		}
		if err := p.cmd.Start(); err != nil {
			os.RemoveAll(dir)
			return nil, err
		}
		first := make(chan string, 1)
		go func() {
			sc := bufio.NewScanner(out)
			if sc.Scan() {
				first <- sc.Text()
			}
			close(first)
			for sc.Scan() { // keep the pipe empty
			}
		}()
		select {
		case line := <-first:
			url, ok := strings.CutPrefix(line, "listening on ")
			if !ok {
				p.kill()
				return nil, fmt.Errorf("the simulator said %q instead of its address", line)
			}
			p.url = url
			return p, nil
		case <-time.After(20 * time.Second):
			p.kill()
			return nil, errors.New("the simulator did not start within 20 s")
		case <-ctx.Done():
			p.kill()
			return nil, ctx.Err()
		}
	}
}

type process struct {
	cmd        *exec.Cmd
	url        string
	dir, truth string
}

func (p *process) URL() string { return p.url }

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	_ = p.cmd.Wait()
	os.RemoveAll(p.dir)
}

// Stop implements Server.
func (p *process) Stop() ([]simulator.TruthRequest, error) {
	defer os.RemoveAll(p.dir)
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		p.kill()
		return nil, fmt.Errorf("stop the simulator: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case <-done: // an interrupt's exit status says nothing new
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill() // it may just have ended
		<-done
	}
	f, err := os.Open(p.truth)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return simulator.ReadTruth(f)
}
