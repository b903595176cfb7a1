#!/usr/bin/env bash
# The tokenizer beside Hugging Face's Rust library, and making random prompts beside vLLM's own generator.
#
#   bench/peers.sh install DIR vllm   once
#   bench/tokenizer.sh DIR            Markdown on stdout
#
# TOKENIZER_SECONDS=5       of each encoding measurement, one thread
# TOKENIZER_PROMPTS=100000  prompts that ais_bench makes       TOKENIZER_PEER_PROMPTS=1000  that vLLM makes: it takes minutes for some thousands
# TOKENIZER_TOKENS=8192     tokens of a prompt
# TOKENIZER_TEXTS=DIR       with en.txt, zh.txt, code.txt; else prose of this repository's pages and Go's own sources
# DIR/tokenizer must hold a Hugging Face tokenizer.json (peers.sh install fetches one).
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2; }
[ -x "$1/vllm/bin/python" ] || { echo "tokenizer.sh: no vLLM in $1; install it: bench/peers.sh install $1 vllm" >&2; exit 3; }
dir=$(cd "$1" && pwd)
python=$dir/vllm/bin/python
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1 VLLM_LOGGING_LEVEL=ERROR
go build -trimpath -o "$tmp/tokenize" ./bench/tokenize
texts=${TOKENIZER_TEXTS:-}
if [ -z "$texts" ]; then
  texts=$tmp
  cat ./*.md docs/*.md >"$tmp/en.txt"
  grep -ohP '[\x{4e00}-\x{9fff}，。；：！？、（）“”]+' README.zh-CN.md outputs/terms_*.go | tr '\n' ' ' >"$tmp/zh.txt"
  cat "$(go env GOROOT)"/src/net/http/*.go >"$tmp/code.txt"
fi
field() { "$python" -c 'import json, sys; v = json.loads(sys.argv[1])[sys.argv[2]]; print(f"{v:.2f}" if isinstance(v, float) else v)' "$1" "$2"; }
ratio() { "$python" -c 'import sys; print(f"{float(sys.argv[1]) / float(sys.argv[2]):.1f}")' "$1" "$2"; }

"$python" -c 'import importlib.metadata as m; print("tokenizers %s, vLLM %s." % (m.version("tokenizers"), m.version("vllm")))'
printf '\n| text | bytes | tokens | Rust library, MB/s (one by one, in batches of 64) | ais_bench, MB/s | × | same ids |\n|---|---|---|---|---|---|---|\n'
for kind in en zh code; do
  ours=$("$tmp/tokenize" encode "$dir/tokenizer" "$texts/$kind.txt" "${TOKENIZER_SECONDS:-5}")
  peer=$("$python" bench/tokenize/peer.py encode "$dir/tokenizer" "$texts/$kind.txt" "${TOKENIZER_SECONDS:-5}")
  same=no
  [ "$(field "$ours" ids)" != "$(field "$peer" ids)" ] || same=yes
  printf '| %s | %s | %s | %s (%s, %s) | %s | %s | %s |\n' "$kind" "$(field "$ours" bytes)" "$(field "$ours" tokens)" "$(field "$peer" mb_per_s)" "$(field "$peer" one_by_one)" \
    "$(field "$peer" in_batches)" "$(field "$ours" mb_per_s)" "$(ratio "$(field "$ours" mb_per_s)" "$(field "$peer" mb_per_s)")" $same
done
printf '\nLoading: Rust library %s s, ais_bench %s s.\n' "$(field "$peer" load_s)" "$(field "$ours" load_s)"

tokens=${TOKENIZER_TOKENS:-8192}
printf '\n| random prompts of %s tokens | prompts | seconds | prompts/s | peak MiB | of the length asked for, among those checked |\n|---|---|---|---|---|---|\n' "$tokens"
row() { # row NAME RESULT USAGE
  printf '| %s | %s | %s | %s | %s | %s of %s |\n' "$1" "$(field "$2" prompts)" "$(field "$2" seconds)" "$(ratio "$(field "$2" prompts)" "$(field "$2" seconds)")" \
    "$("$python" -c 'import json, sys; print(round(max(json.loads(l).get("rss_mib", 0) for l in open(sys.argv[1]))))' "$3")" "$(field "$2" exact)" "$(field "$2" checked)"
}
peer=$(python3 bench/usage.py "$tmp/peer.usage" "$python" bench/tokenize/peer.py generate "$dir/tokenizer" "${TOKENIZER_PEER_PROMPTS:-1000}" "$tokens" 0 2>/dev/null | tail -n 1)
row "vLLM" "$peer" "$tmp/peer.usage"
ours=$(python3 bench/usage.py "$tmp/ours.usage" "$tmp/tokenize" generate "$dir/tokenizer" "${TOKENIZER_PEER_PROMPTS:-1000}" "$tokens" 0)
row "ais_bench" "$ours" "$tmp/ours.usage"
ours=$(python3 bench/usage.py "$tmp/ours.usage" "$tmp/tokenize" generate "$dir/tokenizer" "${TOKENIZER_PROMPTS:-100000}" "$tokens" 0)
row "ais_bench" "$ours" "$tmp/ours.usage"
