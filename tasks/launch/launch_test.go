package launch

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ais_bench/models"
	"ais_bench/tasks"
)

// TestForPlanRefuses: what one engine cannot serve is the caller's mistake, found
// before anything is started.
func TestForPlanRefuses(t *testing.T) {
	at := func(name string, port int) *tasks.Task {
		return &tasks.Task{Model: tasks.ModelChoice{Name: name, Config: models.Config{Type: "openai_chat", HostIP: "127.0.0.1", HostPort: port}}}
	}
	sim := at("sim", 1)
	sim.Model.Config.Type = "sim_chat"
	for _, c := range []struct {
		says  string
		mode  tasks.Mode
		tasks []*tasks.Task
	}{
		{"--mode viz only reads", tasks.ModeViz, []*tasks.Task{at("a", 8000)}},
		{"sim is the built-in simulator", tasks.ModeAll, []*tasks.Task{sim}},
		{"at different addresses", tasks.ModeAll, []*tasks.Task{at("a", 8000), at("b", 8001)}},
		{"placeholder {nonsense}", tasks.ModeAll, []*tasks.Task{at("a", 8000)}},
	} {
		o := tasks.Options{Mode: c.mode, Observer: tasks.Quiet{}}
		e, err := ForPlan(context.Background(), Spec{Command: "exit {nonsense}", WorkDir: t.TempDir()}, &tasks.Plan{Tasks: c.tasks}, &o, Choice{})
		var env *tasks.EnvironmentError
		if e != nil || err == nil || errors.As(err, &env) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want a usage error with %q", err, c.says)
		}
	}
}

// TestForPlanEngineEnds: an engine that ends at once is the environment's affair; it
// was given the port that was chosen, and no credential is in the error.
func TestForPlanEngineEnds(t *testing.T) {
	task := &tasks.Task{Model: tasks.ModelChoice{Name: "a", Config: models.Config{Type: "openai_chat", HostIP: "10.0.0.1", HostPort: 9}}}
	o := tasks.Options{Mode: tasks.ModeAll, Observer: tasks.Quiet{}}
	_, err := ForPlan(context.Background(), Spec{Command: "echo --api-key secret-of-the-engine {port}; exit 3", WorkDir: t.TempDir()}, &tasks.Plan{Tasks: []*tasks.Task{task}}, &o, Choice{Host: true, Port: true})
	var env *tasks.EnvironmentError
	if !errors.As(err, &env) || !strings.HasPrefix(err.Error(), "--launch: ") || strings.Contains(err.Error(), "secret-of-the-engine") {
		t.Error(err)
	}
	if m := task.Model.Config; m.HostIP != "127.0.0.1" || m.HostPort == 9 || m.HostPort == 0 {
		t.Errorf("the model is asked at %s:%d", m.HostIP, m.HostPort)
	}
}

func TestBlame(t *testing.T) {
	err := errors.New("connection refused")
	if got := Blame("", err); got != err {
		t.Errorf("an engine that lived: %v", got)
	}
	if got := Blame("exit status 9", err).Error(); got != "the engine ended during the run: exit status 9; connection refused" {
		t.Error(got)
	}
}
