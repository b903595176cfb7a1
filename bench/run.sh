#!/usr/bin/env bash
# Every measurement of docs/benchmarks.md, as one Markdown report on stdout. Needs Go and python3, and Linux for most of it; no network.
#
#   bench/run.sh [SECTION…]     all sections without arguments:
#     start      size of the binary, start to --help
#     errors     measured − true against the simulator's own log, at several loads
#     client     CPU per chunk beside a bare socket reader; memory of a stream at 10,000
#     lag        schedule lag at 100, 1,000 and 5,000 requests/s
#     faults     the class that each fault of the simulator is given
#     metrics    250,000 requests × 4,096 tokens through the metric path
#     reports    1,000,000 records to Parquet, Excel and HTML
#     scoring    12,032 MMLU-Pro answers
#     profiles   one run's figures as strict, vllm and aisbench define them
#     peers      other tools at the same simulator; only with BENCH_PEERS_DIR (see bench/peers.sh install)
#
# BENCH_SECONDS=60     length of the longest load; the others follow. 5 is a smoke test.
# BENCH_PEERS_DIR=DIR  environments that `bench/peers.sh install DIR` made
# BENCH_PEERS_INSTALL=1  make them first, in BENCH_PEERS_DIR or a directory that is thrown away (network, 17 GB)
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
bin=${AIS_BENCH:-$PWD/bin/ais_bench}
seconds=${BENCH_SECONDS:-60}
short=$((seconds / 3 > 2 ? seconds / 3 : 2))
all="start errors client lag faults metrics reports scoring profiles peers"
wanted=${*:-$all}
for s in $wanted; do
  case " $all " in *" $s "*) ;; *) echo "run.sh: unknown section $s; there are: $all" >&2; exit 2 ;; esac
done
[ -x "$bin" ] || { echo "run.sh: build first: make build" >&2; exit 3; }
tmp=$(mktemp -d)
sim=
cleanup() {
  if [ -n "$sim" ]; then kill "$sim" 2>/dev/null || true; wait "$sim" 2>/dev/null || true; fi
  rm -rf "$tmp"
}
trap cleanup EXIT
ulimit -n "$(ulimit -H -n)"
failed=0

# gobench PACKAGE NAME BENCHTIME: the metrics of a benchmark, one a line
gobench() {
  echo '```'
  "$GO" test -run '^$' -bench "$2" -benchtime "$3" "$1" | awk '/^Benchmark/ {
    name = $1; sub(/-[0-9]+$/, "", name); printf "%s", name
    for (i = 3; i < NF; i += 2) if ($(i + 1) != "ns/op" || $i > 0) printf "  %s %s", $i, $(i + 1)
    print "" } /^(FAIL|---)/' || return 1
  echo '```'
}

section_start() {
  echo "$(stat -c %s "$bin") bytes, $(file -b "$bin" 2>/dev/null | grep -o 'statically linked' || echo 'linkage unknown'). Start to \`--help\`, 40 times:"
  python3 - "$bin" <<'PY'
import subprocess, sys, time
took = []
for _ in range(40):
    t = time.perf_counter()
    subprocess.run([sys.argv[1], "--help"], stdout=subprocess.DEVNULL, check=True)
    took.append((time.perf_counter() - t) * 1e3)
took.sort()
print(f"median {took[20]:.1f} ms, slowest {took[-1]:.1f} ms")
PY
}

# The streams share about 20,000 chunks/s from 1,000 on: what a simulator and a client on two cores can carry.
section_errors() {
  python3 - "$bin" "$seconds" "$short" <<'PY'
import json, subprocess, sys
binary, long, short = sys.argv[1], sys.argv[2], sys.argv[3]
print("| load | chunks | chunks/s | stamp error p50 / p99 / max | ITL error p50 / p99 / max | TTFT error p50 / p99 / max | E2E error p50 / p99 / max | schedule lag p50 / p99 / max | CPU µs a chunk | failed | stamps |")
print("|---|---|---|---|---|---|---|---|---|---|---|")
for streams, rate, length in ((100, 20, short), (1000, 20, long), (5000, 4, short), (10000, 2, short)):
    p = subprocess.run([binary, "calibrate", "--streams", str(streams), "--rate", str(rate), "--duration", length + "s", "--no-limit", "--json"], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"calibrate ended with {p.returncode}: {p.stderr}")
    d = json.loads(p.stdout)
    spread = lambda k: " / ".join("–" if d[k][q] is None else f"{d[k][q]:.1f}" for q in ("p50", "p99", "max"))
    print(f"| {streams:,} × {rate}/s, {length} s | {d['chunks']:,} | {d['chunks_per_second']:,.0f} | " + " | ".join(spread(k) for k in ("stamp_error_us", "itl_error_us", "ttft_error_us", "e2e_error_us", "schedule_lag_us"))
          + f" | {d['cpu_us_per_chunk'] or 0:.1f} | {d['failed_streams'] + d['unmatched_streams']} | {d['stamp_source']} {d['kernel_stamped_share']:.1%} |", flush=True)
print("\nErrors and lag in µs. Stamp error: arrival stamp − the simulator's write; TTFT and E2E error also hold the way of the request to the simulator's handler (docs/calibrate.md).")
PY
}

section_client() {
  echo "1,000 streams × 20 tokens/s, then 10,000 × 2:"
  AIS_BENCH_STREAMS="1000 20 $((20 * short))" gobench ./models ClientPerChunk 1x || return 1
  AIS_BENCH_STREAMS="10000 2 $((2 * short))" gobench ./models ClientPerChunk 1x || return 1
  printf '\nWhat is left to win, 1,000 and 100 streams × 20 tokens/s: a goroutine a stream against one thread in epoll_wait, both reading only:\n'
  AIS_BENCH_STREAMS="1000 20 $((10 * short))" gobench ./models ReadersFloor 1x || return 1
  AIS_BENCH_STREAMS="100 20 $((10 * short))" gobench ./models ReadersFloor 1x || return 1
  printf '\nThe whole program, all streams begun at once:\n'
  BENCH_STREAMS=10000 BENCH_RATE=2 BENCH_TOKENS=$((2 * short)) BENCH_WAVES=1 BENCH_OUT="$tmp/whole" bench/peers.sh run "$tmp" ais_bench
}

section_lag() { gobench ./tasks/load ScheduleLag 3x; }

section_faults() {
  "$GO" test -count=1 -run '^TestFaultMatrix$' -v ./models >"$tmp/faults" || { cat "$tmp/faults"; return 1; }
  python3 bench/faults.py "$tmp/faults"
}

section_metrics() {
  local n=250000
  if [ "$seconds" -lt 30 ]; then n=$((seconds * 500)); fi
  echo "$n requests × 4,096 tokens:"
  gobench ./summarizers/metrics '^BenchmarkAccumulate$' "${n}x"
}

section_reports() { gobench ./outputs Report1M 1x; }

section_scoring() { gobench ./evaluators MMLUPro 5x; }

section_profiles() {
  "$bin" sim --port 0 --preset h100-8b --max-num-seqs 64 --fault reset:0.02,mid --fault close:0.02,mid --fault error:0.02,mid --reasoning-tokens 8 >"$tmp/url" 2>/dev/null &
  sim=$!
  for _ in $(seq 100); do [ ! -s "$tmp/url" ] || break; sleep 0.1; done
  "$bin" --models vllm_api_stream_chat --url "$(sed -n '1s/.* //p' "$tmp/url")" --model sim --mode perf --datasets demo_gsm8k_gen_0_shot_cot_str_perf \
    --duration "$short" --batch-size 48 --work-dir "$tmp/run" >"$tmp/run.log" 2>&1 || [ $? -eq 1 ] || { cat "$tmp/run.log"; return 1; }
  kill "$sim" && wait "$sim" || true
  sim=
  echo "$short s of 48 clients at the simulator's engine (preset h100-8b, 64 sequences, 8 reasoning tokens), 2 % of the streams reset half-way, 2 % closed and 2 % ended with an error event:"
  echo '```'
  "$bin" profiles --work-dir "$tmp/run" latest || return 1
  echo '```'
}

section_peers() {
  local dir=${BENCH_PEERS_DIR:-}
  if [ -n "${BENCH_PEERS_INSTALL:-}" ]; then
    : "${dir:=$tmp/peers}"
    bench/peers.sh install "$dir"
  fi
  if [ -z "$dir" ]; then echo "Skipped: BENCH_PEERS_DIR names no environments (\`bench/peers.sh install DIR\`)."; return; fi
  if [ "$seconds" -lt 30 ]; then
    BENCH_STREAMS=${BENCH_STREAMS:-50} BENCH_TOKENS=${BENCH_TOKENS:-60} bench/peers.sh run "$dir"
  else
    bench/peers.sh run "$dir"
  fi
}

echo "# Benchmarks"
echo
echo "$(date -u +%Y-%m-%d), $(uname -s -m) $(uname -r), $(nproc) cores of $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -1), $(awk '/MemTotal/ {printf "%.0f GiB", $2/1048576}' /proc/meminfo 2>/dev/null)," \
  "$("$GO" env GOVERSION), commit $(git describe --always --dirty 2>/dev/null || echo unknown), load average at the start $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown), longest load $seconds s"
for s in $wanted; do
  began=$(date +%s)
  printf '\n## %s\n\n' "$s"
  if ! "section_$s"; then
    printf '\n**%s failed.**\n' "$s"
    failed=1
  fi
  echo "run.sh: $s took $(($(date +%s) - began)) s" >&2
done
exit $failed
