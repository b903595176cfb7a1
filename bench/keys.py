#!/usr/bin/env python3
"""Sets the result files of `vllm bench serve` and `ais_bench bench serve` side by side, key by key.

    keys.py files DIR                                     the data sets that bench/vllm_keys.sh asks
    keys.py table [--over] --vllm BASE --ais-bench BASE   Markdown; BASE.json is a tool's result, BASE.jsonl the log of its simulator

Lists are compared by their length and, of numbers, by their mean. The true figures are the simulator's: from a request read to the
writes of its payloads. --over leaves out the keys that agree within 1 %.
"""
import argparse
import json
import math
import random
import re

DRAWN = "the lengths are drawn, with other random numbers"


def files(out):
    rng = random.Random(7)
    words = ("harbour boat sound baker window smell bread street school bridge railway station letter winter coin price apple map copper wire book "
             "engineer river morning seven depth speed colour number folder flood water glass light bee home iron train planet whale").split()

    def text(n):
        return " ".join(rng.choice(words) for _ in range(n))

    rows = [{"id": str(i), "conversations": [{"from": "human", "value": text(rng.randint(6, 120))}, {"from": "gpt", "value": text(rng.randint(6, 120))}]} for i in range(120)]
    with open(f"{out}/sharegpt.json", "w") as f:
        json.dump(rows, f)
    with open(f"{out}/custom.jsonl", "w") as f:
        f.writelines(json.dumps({"prompt": text(rng.randint(6, 60)), "output_tokens": rng.randint(10, 60)}) + "\n" for _ in range(60))
    with open(f"{out}/sonnet.txt", "w") as f:
        f.writelines(text(rng.randint(7, 11)) + "\n" for _ in range(200))


def read(base):
    with open(base + ".json") as f:
        return json.loads(f.read().splitlines()[-1])


def percentile(values, q):
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = math.floor(at)
    return ordered[low] + (ordered[min(low + 1, len(ordered) - 1)] - ordered[low]) * (at - low)


def truth(base):
    """The log's own figures under the names of the result's keys, in ms, and how long the load lasted."""
    lists = {"ttft": [], "tpot": [], "itl": [], "e2el": []}
    first, last = [], []
    with open(base + ".jsonl") as f:
        for line in f:
            r = json.loads(line)
            at = [c["at_ns"] / 1e6 for c in r["chunks"] if c["kind"] in ("content", "reasoning", "tool")]
            if len(at) < 2:
                continue  # the readiness check
            lists["ttft"].append(at[0])
            lists["e2el"].append(at[-1])
            lists["tpot"].append((at[-1] - at[0]) / (len(at) - 1))
            lists["itl"] += [b - a for a, b in zip(at, at[1:])]
            first.append(r["arrived_wall_ns"])
            last.append(r["arrived_wall_ns"] + at[-1] * 1e6)
    out = {}
    for name, v in lists.items():
        mean = sum(v) / len(v)
        out |= {f"mean_{name}_ms": mean, f"median_{name}_ms": percentile(v, .5), f"std_{name}_ms": math.sqrt(sum((x - mean) ** 2 for x in v) / len(v)),
                f"p50_{name}_ms": percentile(v, .5), f"p99_{name}_ms": percentile(v, .99)}
    out["duration"] = (max(last) - min(first)) / 1e9
    return out


def flat(value):
    for v in value:
        if isinstance(v, list):
            yield from flat(v)
        else:
            yield v


def number(v):
    if isinstance(v, list):
        inner = [x for x in flat(v) if isinstance(x, (int, float))]
        return sum(inner) / len(inner) if inner else None
    return v if isinstance(v, (int, float)) and not isinstance(v, bool) else None


def show(v):
    if v is None or v == "–":
        return "–" if v == "–" else "null"
    if isinstance(v, list):
        n = number(v)
        return f"{len(v)} × mean {n:.6g}" if n is not None else f"{len(v)} entries"
    if isinstance(v, float):
        return f"{v:.6g}"
    return json.dumps(v, ensure_ascii=False)


def reason(key, v, o, tv, to, drawn):
    """Why the two differ; every text is about what this run shows, or a rule that docs/bench-serve.md states."""
    if key == "date":
        return "another moment"
    if key == "start_times":
        return "seconds of two monotonic clocks with different zeros"
    if key == "generated_texts":
        return "the simulator answers other prompts with other texts"
    if key == "errors":
        return "an error's text"
    if key == "ais_bench":
        return "the one key of our own"
    if key in tv and key in to and isinstance(v.get(key), float):
        a, b = v[key] - tv[key], o[key] - to[key]
        if key == "duration":
            return f"from first arrival to last write {tv[key]:.5g} and {to[key]:.5g} s: vLLM {a * 1e3:+.0f}, ais_bench {b * 1e3:+.0f} ms"
        text = f"by the simulator's logs {tv[key]:.4g} and {to[key]:.4g}: vLLM {a:+.2g}, ais_bench {b:+.2g} ms"
        if drawn and "e2el" in key:
            text += "; " + DRAWN
        return text
    m = re.match(r"(ttft|itl|latencie)s$", key)
    if m:
        return "as mean_" + {"ttft": "ttft", "itl": "itl", "latencie": "e2el"}[m[1]] + "_ms"
    if key in ("queue_times",) or "client_queue_time" in key or "including_client_queue" in key:
        if number(v.get("queue_times")) is not None and number(v["queue_times"]) > 0.01:
            return "slots of the cap are free earlier or later, as E2EL differs"
        return "vLLM counts from where its loop came to the request, ais_bench from when it was due: the client's own lag is in it"
    if "throughput" in key or key == "request_goodput":
        why = "follows from duration"
        if key == "request_goodput":
            why += " and TTFT"
        if drawn and key != "request_throughput":
            why += "; " + DRAWN
        return why
    if key in ("total_input_tokens", "total_output_tokens", "input_lens", "output_lens") and drawn:
        return DRAWN
    if key in ("max_output_tokens_per_s", "max_concurrent_requests"):
        return "whole seconds from the first start: arrivals and gaps fall otherwise" + (" (" + DRAWN + ")" if drawn else "")
    return "?"


def table(a):
    v, o = read(a.vllm), read(a.ais_bench)
    tv, to = truth(a.vllm), truth(a.ais_bench)
    drawn = a.drawn
    rows, same = [], 0
    for k in list(v) + [k for k in o if k not in v]:
        x, y = v.get(k, "–"), o.get(k, "–")
        n, m = number(x), number(y)
        delta, why = "", ""
        if k == "ais_bench":
            y, delta = "…", "only here"
        elif x != y:
            delta = f"{100 * (m - n) / n:+.2f} %" if n and m is not None else "differs"
        if delta and not (delta.endswith("%") and abs(float(delta[:-2])) <= 1):
            why = reason(k, v, o, tv, to, drawn)
        else:
            same += 1
            if a.over:
                continue
        rows.append(f"| {k} | {show(x) if not isinstance(x, str) or x == '–' else json.dumps(x)} | {show(y)} | {delta} | {why} |")
    missing = [k for k in v if k not in o]
    order = [k for k in o if k in v] == [k for k in v if k in o]
    print(f"\n{len(v)} keys, {'none' if not missing else ', '.join(missing)} missing here, {'in the same order' if order else 'in another order'}; {same} agree within 1 %"
          + (", the others:" if a.over else "."))
    print("\n| key | vLLM | ais_bench | difference | reason, where over 1 % |\n|---|---|---|---|---|")
    print("\n".join(rows))


def main():
    p = argparse.ArgumentParser()
    sub = p.add_subparsers(dest="command", required=True)
    f = sub.add_parser("files")
    f.add_argument("dir")
    t = sub.add_parser("table")
    t.add_argument("--over", action="store_true")
    t.add_argument("--drawn", action="store_true", help="lengths are drawn from a range")
    t.add_argument("--vllm", required=True)
    t.add_argument("--ais-bench", required=True)
    a = p.parse_args()
    files(a.dir) if a.command == "files" else table(a)


if __name__ == "__main__":
    main()
