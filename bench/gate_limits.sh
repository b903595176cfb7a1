#!/usr/bin/env bash
# How often does `ais_bench gate` say PASS, FAIL and INCONCLUSIVE when the true value
# is at the limit, 5 % better, 5 % worse? Runs one configuration against the
# simulator again and again; what all runs together say is taken as the true
# value, and every run is judged alone, then three at a time.
#
#	bench/gate_limits.sh [RUNS=20] [PROMPTS=800] [SCALE=1] [JOBS=1]
#
# SCALE multiplies the simulator's times, so that a busy machine disturbs it less;
# JOBS runs, each with a simulator of its own, go on at once. The simulator's
# prefix cache is off: it would make every run faster as it goes on. AIS_BENCH is
# the program (default: ais_bench in PATH). Prints a Markdown table.
set -euo pipefail
runs=${1:-20} prompts=${2:-800} scale=${3:-1} jobs=${4:-1} bench=${AIS_BENCH:-ais_bench}
work=$(mktemp -d)
trap 'kill $(cat "$work"/*.pid) 2>/dev/null || true; wait || true; rm -rf "$work"' EXIT # without its simulator a run ends

worker() { # number: every JOBS-th run
	local out=$work/sim$1 url sim
	: >"$out"
	"$bench" sim --port 0 --max-num-seqs 32 --preset h100-70b-tp8 --no-enable-prefix-caching --time-scale "$scale" >"$out" 2>"$out.err" &
	sim=$!
	echo $sim >"$out.pid"
	until url=$(sed -n 's/^listening on //p' "$out") && [ -n "$url" ]; do sleep 0.1; done
	for ((i = $1; i <= runs; i += jobs)); do
		"$bench" bench serve --base-url "$url" --backend openai-chat --endpoint /v1/chat/completions --random-input-len 64 --random-output-len 32 --random-range-ratio 0.3 \
			--num-prompts "$prompts" --max-concurrency 32 --seed "$i" --num-warmups 8 --work-dir "$work/runs$1" --disable-tqdm >"$work/log$1" 2>&1 || { cat "$work/log$1" >&2; break; }
		mv "$work/runs$1"/20* "$work/run$i"
	done
	kill $sim
}
pids=()
for ((j = 1; j <= jobs; j++)); do
	worker "$j" &
	pids+=($!)
done
wait "${pids[@]}" || true

gate() { # contract, runs… → verdict
	local contract=$1
	shift
	"$bench" gate "$@" --work-dir "$work" --contract "$contract" --json - 2>/dev/null | sed -n 's/^  "verdict": "\(.*\)",$/\1/p'
}
value() { # metric, runs…: what they say together
	printf 'clauses:\n  - {name: a, expr: %s > -1}\n' "$1" >"$work/value.yaml"
	shift
	"$bench" gate "$@" --work-dir "$work" --contract "$work/value.yaml" --json - 2>/dev/null | sed -n 's/^ *"value": \([0-9.e+-]*\),$/\1/p'
}
all=$(seq -f 'run%g' "$runs")

echo "| runs judged together | clause | true value | PASS | FAIL | INCONCLUSIVE |"
echo "|---|---|---|---|---|---|"
for together in 1 3; do
	for clause in "perf.output_throughput >= up" "perf.request_throughput >= up" "perf.ttft.mean_ms <= down" "perf.ttft.p95_ms <= down" "perf.tpot.mean_ms <= down" "perf.e2el.p99_ms <= down"; do
		read -r metric op good <<<"$clause"
		truth=$(value "$metric" $all || true) # its exit code is a verdict
		for place in "at the limit:1:1" "5 % better:0.95:1.05" "5 % worse:1.05:0.95"; do
			IFS=: read -r name up down <<<"$place"
			factor=${!good}
			limit=$(awk "BEGIN{printf \"%.9g\", $truth*$factor}")
			printf 'clauses:\n  - {name: a, expr: %s %s %s}\n' "$metric" "$op" "$limit" >"$work/clause.yaml"
			declare -A n=([PASS]=0 [FAIL]=0 [INCONCLUSIVE]=0)
			for ((i = 1; i + together - 1 <= runs; i += together)); do
				v=$(gate "$work/clause.yaml" $(seq -f 'run%g' "$i" $((i + together - 1))) || true)
				n[$v]=$((n[$v] + 1))
			done
			echo "| $together | \`$metric $op L\` | $name | ${n[PASS]} | ${n[FAIL]} | ${n[INCONCLUSIVE]} |"
		done
	done
done
