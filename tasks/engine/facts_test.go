//go:build unix

package engine

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ais_bench/outputs"
)

func TestExpand(t *testing.T) {
	values := map[string]string{"port": "8000", "x": "16", "mnbt": "2048"}
	for in, want := range map[string]string{
		"vllm serve m --port {port} --max-num-seqs {x}":                  "vllm serve m --port 8000 --max-num-seqs 16",
		`serve ${HOME} {a,b} '{"k": {"n": 1}}' --n {x}`:                  `serve ${HOME} {a,b} '{"k": {"n": 1}}' --n 16`,
		`serve --config '{"max_num_seqs": {x}}'`:                         `serve --config '{"max_num_seqs": 16}'`,
		"awk {{print}} {port}{x}":                                        "awk {print} 800016",
		`serve --speculative-config '{"num_speculative_tokens":{mnbt}}'`: `serve --speculative-config '{"num_speculative_tokens":2048}'`,
	} {
		if got, err := Expand(in, values); err != nil || got != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", in, got, err, want)
		}
	}
	if _, err := Expand("serve {prot} {max}", values); err == nil || !strings.Contains(err.Error(), `{prot}, {max}`) || !strings.Contains(err.Error(), `did you mean "port"`) {
		t.Errorf("unknown placeholders: %v", err)
	}
	if _, err := Expand("serve {x}", values, "x", "mnbt"); err == nil || !strings.Contains(err.Error(), "does not use mnbt") {
		t.Errorf("a value that is not used: %v", err)
	}
	if !Uses("a {port}", "port") || Uses("a {{port}}", "port") || Uses("a ${port}", "port") {
		t.Error("Uses takes something else for a placeholder")
	}
}

func TestSecrets(t *testing.T) {
	got := Secrets(`HF_TOKEN=hf_abcdef vllm serve m --api-key sk-one --admin-api-key=sk-two --max-tokens 128 --tokenizer dir --trust-remote-code --served-model-name key`,
		[]string{"VLLM_API_KEY=sk-three", "OTHER_TOKEN=not-of-an-engine", "HF_HOME=/cache", "HF_TOKEN=hf_env"})
	want := []string{"hf_abcdef", "sk-one", "sk-two", "sk-three", "hf_env"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// What ends a word for the shell is no part of the key that the engine is given.
	for _, command := range []string{"serve --api-key sk-one; exit", "(serve --api-key 'sk-one')", "API_KEY=sk-one&& serve"} {
		if got := Secrets(command, nil); !slices.Contains(got, "sk-one") {
			t.Errorf("%s: %q", command, got)
		}
	}
	env := environment([]string{"HF_TOKEN=hf_env", "VLLM_USE_V1=1", "CUDA_VISIBLE_DEVICES=0,1", "HOME=/root", "VLLM_API_KEY=k"})
	if !maps.Equal(env, map[string]string{"HF_TOKEN": "[redacted]", "VLLM_USE_V1": "1", "CUDA_VISIBLE_DEVICES": "0,1", "VLLM_API_KEY": "[redacted]"}) {
		t.Errorf("environment %v", env)
	}
}

// program writes an executable file and gives its path.
func program(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVersions(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	// A Python that answers the question for packages.
	py := program(t, dir, "python3.11", "#!/bin/sh\necho python 3.11.7\necho vllm 0.11.0\necho torch 2.8.0+cpu\n")
	vllm := program(t, dir, "vllm", "#!"+py+"\nimport sys\n")
	server := program(t, dir, "llama-server", "#!/bin/sh\necho 'version: 4589 (eb7cf15a)'\n")
	for command, want := range map[string]string{
		"vllm serve m --port 1":                         vllm,
		"HF_HOME=/x exec env A=b vllm serve m":          vllm,
		"'" + py + "' -m vllm.entrypoints.api_server":   py,
		"llama-server -m model.gguf":                    server,
		"no-such-program-at-all --port 1 && vllm serve": "",
	} {
		if got := executable(command); got != want {
			t.Errorf("%s: executable %q, want %q", command, got, want)
		}
	}
	if got := versions(t.Context(), vllm); !maps.Equal(got, map[string]string{"python": "3.11.7", "vllm": "0.11.0", "torch": "2.8.0+cpu"}) {
		t.Errorf("versions of a script %v", got)
	}
	if got := versions(t.Context(), server); got["llama-server"] != "4589" {
		t.Errorf("versions of llama-server %v", got)
	}
	env := program(t, dir, "script", "#!/usr/bin/env python3.11\n")
	if got := interpreter(env); got != "python3.11" {
		t.Errorf("interpreter through env: %q", got)
	}
	if got := interpreter(server); got != "" {
		t.Errorf("a shell script has interpreter %q", got)
	}
}

func value(f *float64) float64 {
	if f == nil {
		return -1
	}
	return *f
}

func TestNvidia(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	program(t, dir, "nvidia-smi", `#!/bin/sh
case "$1" in
--query-gpu=*) echo "0, NVIDIA H100 80GB HBM3, GPU-aaa, 81559, 4, 0, 550.54.15"; echo "1, NVIDIA H100 80GB HBM3, GPU-bbb, 81559, [N/A], 97, 550.54.15";;
--query-compute-apps=*) echo "GPU-bbb, 4242, /usr/bin/python3, 40000";;
esac
`)
	list, processes, versions, known := accelerators(t.Context())
	if !known || len(list) != 2 || versions["nvidia driver"] != "550.54.15" {
		t.Fatalf("%v %+v %v", known, list, versions)
	}
	if a := list[1]; a.Index != "1" || a.Name != "NVIDIA H100 80GB HBM3" || a.ID != "GPU-bbb" || value(a.MemoryTotalMiB) != 81559 || a.MemoryUsedMiB != nil || value(a.Utilization) != 97 {
		t.Errorf("%+v", a)
	}
	if len(processes) != 1 || processes[0].Accelerator != "1" || processes[0].PID != 4242 || processes[0].Name != "/usr/bin/python3" || value(processes[0].MemoryMiB) != 40000 {
		t.Errorf("%+v", processes)
	}
	var notes []string
	e := &Engine{cfg: Config{Command: "sleep 1", Note: func(s string) { notes = append(notes, s) }}}
	e.look(t.Context())
	if f := e.Facts(); len(f.Accelerators) != 2 || len(f.OtherProcesses) != 1 {
		t.Errorf("%+v", f)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "process 4242 (/usr/bin/python3) is on accelerator 1 already with 40000 MiB") {
		t.Errorf("notes %q", notes)
	}
}

// The table of npu-smi with one busy chip.
const npuTable = `+------------------------------------------------------------------------------------------------+
| npu-smi 23.0.rc3                 Version: 23.0.rc3                                              |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 92.5        50                0    / 0             |
| 0                         | 0000:C1:00.0  | 12          0    / 0          23336/ 65536         |
+===========================+===============+====================================================+
| 1     910B3               | OK            | 90.0        49                0    / 0             |
| 0                         | 0000:01:00.0  | 0           0    / 0          3336 / 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 1234          | python                   | 20480                   |
+===========================+===============+====================================================+
| No running processes found in NPU 1                                                            |
+===========================+===============+====================================================+
`

func TestAscend(t *testing.T) {
	list, processes, versions := parseAscend(npuTable)
	if len(list) != 2 || versions["ascend driver"] != "23.0.rc3" {
		t.Fatalf("%+v %v", list, versions)
	}
	if a := list[0]; a.Index != "0.0" || a.Name != "910B3" || a.ID != "0000:C1:00.0" || value(a.MemoryUsedMiB) != 23336 || value(a.MemoryTotalMiB) != 65536 || value(a.Utilization) != 12 {
		t.Errorf("%+v", a)
	}
	if a := list[1]; a.Index != "1.0" || value(a.MemoryUsedMiB) != 3336 {
		t.Errorf("%+v", a)
	}
	if len(processes) != 1 || processes[0] != (outputs.AcceleratorProcess{Accelerator: "0.0", PID: 1234, Name: "python", MemoryMiB: processes[0].MemoryMiB}) || value(processes[0].MemoryMiB) != 20480 {
		t.Errorf("%+v", processes)
	}
}
