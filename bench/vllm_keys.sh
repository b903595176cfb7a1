#!/usr/bin/env bash
# Runs the same `bench serve` command line with vLLM and with ais_bench against simulators that behave alike, and sets every key of
# the two result files side by side, with the reason for each difference over 1 %.
#
#   bench/peers.sh install DIR vllm     once
#   bench/vllm_keys.sh DIR [CASE…]      Markdown on stdout; cases: random random_rate sharegpt sharegpt_rate prefix custom sonnet
#                                       (of the first two every key, of the others those that differ by more than 1 %)
#
# KEYS_OUT=DIR    keep result files, truth and logs there
# KEYS_RATE=50    tokens/s of a stream; the first token is due after 50 ms, every answer has the length asked for
# DIR/tokenizer must hold a Hugging Face tokenizer.json (peers.sh install fetches one).
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${AIS_BENCH:-$PWD/bin/ais_bench}
here=$PWD/bench
[ $# -gt 0 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2; }
[ -x "$bin" ] || { echo "vllm_keys.sh: build first: make build" >&2; exit 3; }
[ -x "$1/vllm/bin/vllm" ] || { echo "vllm_keys.sh: no vLLM in $1; install it: bench/peers.sh install $1 vllm" >&2; exit 3; }
dir=$(cd "$1" && pwd)
shift
cases=("$@")
[ ${#cases[@]} -gt 0 ] || cases=(random random_rate sharegpt sharegpt_rate prefix custom sonnet)
out=${KEYS_OUT:-}
if [ -z "$out" ]; then out=$(mktemp -d); drop=$out; else mkdir -p "$out"; out=$(cd "$out" && pwd); drop=; fi
sim=
cleanup() {
  if [ -n "$sim" ]; then kill "$sim" 2>/dev/null || true; wait "$sim" 2>/dev/null || true; fi
  if [ -n "$drop" ]; then rm -rf "$drop"; fi
}
trap cleanup EXIT
ulimit -n "$(ulimit -H -n)"
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 HF_DATASETS_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
export VLLM_LOGGING_LEVEL=WARNING TOKENIZERS_PARALLELISM=false

python3 "$here/keys.py" files "$out"
ln -sfn "$dir/tokenizer" "$out/tokenizer"

# command CASE: what stands behind `bench serve`, but for address and result file
command() {
  local chat="--backend openai-chat --endpoint /v1/chat/completions"
  case $1 in
  random) echo "$chat --dataset-name random --random-input-len 256 --random-output-len 100 --num-prompts 96 --max-concurrency 16 --request-rate inf" ;;
  random_rate) echo "--backend vllm --dataset-name random --random-input-len 128 --random-output-len 50 --random-range-ratio 0.2 --num-prompts 100 --request-rate 10 --goodput ttft:60 tpot:25" ;;
  sharegpt) echo "$chat --dataset-name sharegpt --dataset-path $out/sharegpt.json --disable-shuffle --num-prompts 60 --max-concurrency 8" ;;
  sharegpt_rate) echo "--backend vllm --dataset-name sharegpt --dataset-path $out/sharegpt.json --disable-shuffle --sharegpt-output-len 40 --num-prompts 80 --request-rate 8 --burstiness 2 --max-concurrency 64" ;;
  prefix) echo "--backend openai --dataset-name prefix_repetition --prefix-repetition-prefix-len 64 --prefix-repetition-suffix-len 64 --prefix-repetition-num-prefixes 4 --prefix-repetition-output-len 50 --num-prompts 40 --max-concurrency 8" ;;
  custom) echo "$chat --dataset-name custom --dataset-path $out/custom.jsonl --custom-output-len -1 --skip-chat-template --disable-shuffle --num-prompts 40 --max-concurrency 8" ;;
  sonnet) echo "$chat --dataset-name sonnet --dataset-path $out/sonnet.txt --sonnet-input-len 256 --sonnet-output-len 50 --num-prompts 20 --max-concurrency 4" ;;
  *) echo "vllm_keys.sh: no case $1" >&2; exit 2 ;;
  esac
}

common="--model sim --tokenizer tokenizer --seed 1024 --temperature 0 --ignore-eos --percentile-metrics ttft,tpot,itl,e2el,client_queue_time,e2el_including_client_queue --metric-percentiles 50,99 --save-result --save-detailed --disable-tqdm"

# one TOOL CASE: the tool against a simulator of its own
one() {
  local tool=$1 name=$2 url code=0 program=("$bin")
  [ "$tool" = ais_bench ] || program=("$dir/vllm/bin/vllm")
  rm -rf "$out/$name.$tool".* "$out/url"
  "$bin" sim --port 0 --tokens-per-second "${KEYS_RATE:-50}" --output-len-sigma 0 --truth "$out/$name.$tool.truth" >"$out/url" 2>"$out/$name.$tool.sim" &
  sim=$!
  for _ in $(seq 100); do [ ! -s "$out/url" ] || break; sleep 0.1; done
  url=$(sed -n '1s/.* //p' "$out/url")
  # shellcheck disable=SC2086,SC2046
  (cd "$out" && "${program[@]}" bench serve $(command "$name") $common --base-url "$url" --result-dir "$out" --result-filename "$name.$tool.json") >"$out/$name.$tool.log" 2>&1 || code=$?
  kill "$sim" && wait "$sim" || true
  sim=
  "$bin" sim truth "$out/$name.$tool.truth" >"$out/$name.$tool.jsonl"
  return $code
}

printf 'vLLM %s, %s.\n' "$("$dir/vllm/bin/python" -c 'import importlib.metadata as m; print(m.version("vllm"))')" "$("$bin" --version)"
for name in "${cases[@]}"; do
  echo "vllm_keys.sh: $name" >&2
  printf '\n### %s\n\n`bench serve %s`\n' "$name" "$(command "$name" | sed "s#$out/##g")"
  if ! one ais_bench "$name"; then
    echo "vllm_keys.sh: ais_bench failed; the end of its log:" >&2
    tail -n 15 "$out/$name.ais_bench.log" >&2
    exit 1
  fi
  if ! one vllm "$name"; then
    printf '\nvLLM did not run it: `%s`\n' "$(grep -v '^[[:space:]]*$' "$out/$name.vllm.log" | tail -n 1 | cut -c 1-300)"
    continue
  fi
  flags=()
  [ "$name" = random ] || [ "$name" = random_rate ] || flags+=(--over)
  [ "$name" != random_rate ] || flags+=(--drawn)
  python3 "$here/keys.py" table "${flags[@]}" --vllm "$out/$name.vllm" --ais-bench "$out/$name.ais_bench"
done
