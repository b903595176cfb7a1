#!/usr/bin/env python3
"""Sets what a benchmark tool reported beside what the simulator really did.

    compare.py row   --tool NAME --result FILE --truth FILE --usage FILE --tokens N   one JSON object on stdout
    compare.py table FILE...                                                          Markdown of such objects

The truth is `ais_bench sim truth`'s output. Server-side TTFT is the write of the first payload minus the moment the
request had been read, ITL the gap of two payload writes. Requests with another number of payload events than N
(connection tests, warm-ups) are left out. Percentiles interpolate linearly.

Tools whose "inter-token latency" is one mean a request (guidellm) are compared with the truth of exactly that.
"""
import argparse
import glob
import json
import math
import os
import sys

PAYLOAD = {"content", "reasoning", "tool"}
PER_REQUEST_ITL = {"guidellm"}


def percentile(ordered, q):
    at = q * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def spread(values):
    ordered = sorted(values)
    return {"mean": sum(ordered) / len(ordered), "p50": percentile(ordered, .5), "p99": percentile(ordered, .99)}


def truth_of(path, tokens, per_request):
    ttft, itl, first, last = [], [], [], []
    with open(path) as f:
        for line in f:
            r = json.loads(line)
            at = [c["at_ns"] for c in r["chunks"] if c["kind"] in PAYLOAD]
            if len(at) != tokens:
                continue
            first.append(r["arrived_wall_ns"])
            last.append(r["arrived_wall_ns"] + at[-1])
            ttft.append(at[0] / 1e6)
            gaps = [(b - a) / 1e6 for a, b in zip(at, at[1:])]
            itl += [sum(gaps) / len(gaps)] if per_request else gaps
    if not ttft:
        sys.exit(f"{path}: no request with {tokens} payload events: the tool's load never reached the simulator")
    return {"requests": len(ttft), "ttft": spread(ttft), "itl": spread(itl), "start": min(first), "end": max(last)}


def named(d, mean, p50, p99):
    return {"mean": d[mean], "p50": d[p50], "p99": d[p99]}


def one(pattern):
    found = sorted(glob.glob(pattern, recursive=True))
    if len(found) != 1:
        sys.exit(f"{pattern}: {len(found)} files, want 1")
    with open(found[0]) as f:
        return json.load(f)


def read_ais_bench(path):
    d = one(os.path.join(path, "*/performances/*/*.json"))
    return {k: named(d[k], "mean_ms", "p50_ms", "p99_ms") for k in ("ttft", "itl")} | {
        "rate": d["request_throughput"], "completed": d["requests"]["success"], "failed": d["requests"]["failed"]}


def read_vllm(path):
    with open(path) as f:
        d = json.loads(f.read().splitlines()[-1])
    return {k: named(d, f"mean_{k}_ms", f"median_{k}_ms", f"p99_{k}_ms") for k in ("ttft", "itl")} | {
        "rate": d["request_throughput"], "completed": d["completed"], "failed": d.get("failed")}


def read_evalscope(path):
    summary, rows = one(path + "/**/benchmark_summary.json"), one(path + "/**/benchmark_percentile.json")

    def find(d, *words):
        keys = [k for k in d if all(w in k.lower() for w in words)]
        if not keys:
            sys.exit(f"evalscope: no {words} among {sorted(d)}")
        return d[keys[0]]

    def row(p):
        return next(r for r in rows if str(find(r, "percentile")).rstrip("%") == str(p))

    out = {}
    for k in ("ttft", "itl"):
        scale = 1 if any("ms" in key.lower() for key in rows[0] if k in key.lower()) else 1000
        scale_mean = 1 if any("ms" in key.lower() for key in summary if k in key.lower()) else 1000
        out[k] = {"mean": scale_mean * find(summary, k), "p50": scale * find(row(50), k), "p99": scale * find(row(99), k)}
    return out | {"rate": find(summary, "req", "throughput"), "completed": find(summary, "succ"), "failed": find(summary, "fail")}


def read_guidellm(path):
    b = one(path + "/guidellm.json")["benchmarks"][0]["metrics"]

    def of(name):
        d = b[name]["successful"]
        return {"mean": d["mean"], "p50": d["percentiles"]["p50"], "p99": d["percentiles"]["p99"]}

    return {"ttft": of("time_to_first_token_ms"), "itl": of("inter_token_latency_ms"), "rate": b["requests_per_second"]["successful"]["mean"],
            "completed": b["request_totals"]["successful"], "failed": b["request_totals"]["errored"]}


READERS = {"ais_bench": read_ais_bench, "vllm": read_vllm, "evalscope": read_evalscope, "guidellm": read_guidellm}


def cpu_between(path, start, end):
    """CPU seconds of the load itself, without the tool's start and reports; and the peak memory."""
    samples, last = [], {}
    with open(path) as f:
        for line in f:
            s = json.loads(line)
            if "wall_ns" in s:
                samples.append(s)
            else:
                last = s

    def at(wall):
        before = [s for s in samples if s["wall_ns"] <= wall] or samples[:1]
        after = [s for s in samples if s["wall_ns"] > wall] or samples[-1:]
        a, b = before[-1], after[0]
        if b["wall_ns"] <= a["wall_ns"]:
            return a["cpu_s"]
        return a["cpu_s"] + (b["cpu_s"] - a["cpu_s"]) * (wall - a["wall_ns"]) / (b["wall_ns"] - a["wall_ns"])

    return {"load_cpu_s": at(end) - at(start), "total_cpu_s": last.get("total_cpu_s"), "seconds": last.get("seconds"),
            "peak_mib": max(s["rss_mib"] for s in samples)}


def row(a):
    truth = truth_of(a.truth, a.tokens, a.tool in PER_REQUEST_ITL)
    said = READERS[a.tool](a.result)
    used = cpu_between(a.usage, truth["start"], truth["end"])
    used["cpu_us_per_chunk"] = used["load_cpu_s"] * 1e6 / (truth["requests"] * a.tokens)
    truth["rate"] = truth["requests"] / ((truth["end"] - truth["start"]) / 1e9)
    print(json.dumps({"tool": a.tool, "load": a.load, "said": said, "true": truth, "used": used}))


def table(files):
    rows = []
    for path in files:
        with open(path) as f:
            rows += [json.loads(line) for line in f if line.strip()]

    def pair(r, k, s):
        said, true = r["said"][k][s], r["true"][k][s]
        return f"{said:.2f} / {true:.2f} ({said - true:+.2f})"

    for load in dict.fromkeys(r["load"] for r in rows):
        print(f"\n**{load}** — reported / true (difference), ms\n")
        print("| tool | TTFT mean | TTFT p50 | TTFT p99 | ITL mean | ITL p50 | ITL p99 |")
        print("|---|---|---|---|---|---|---|")
        chosen = [r for r in rows if r["load"] == load]
        for r in chosen:
            mark = " ¹" if r["tool"] in PER_REQUEST_ITL else ""
            print(f"| {r['tool']}{mark} | " + " | ".join(pair(r, k, s) for k in ("ttft", "itl") for s in ("mean", "p50", "p99")) + " |")
        ours = next((r["used"]["cpu_us_per_chunk"] for r in chosen if r["tool"] == "ais_bench"), None)
        print("\n| tool | succeeded / sent | req/s reported / true | CPU-s of the load | CPU µs a chunk | × ais_bench | CPU-s in all | wall s in all | peak MiB |")
        print("|---|---|---|---|---|---|---|---|---|")
        for r in chosen:
            u = r["used"]
            times = f"{u['cpu_us_per_chunk'] / ours:.1f}" if ours else "–"
            print(f"| {r['tool']} | {r['said']['completed']} / {r['true']['requests']} | {r['said']['rate']:.2f} / {r['true']['rate']:.2f} | {u['load_cpu_s']:.2f} "
                  f"| {u['cpu_us_per_chunk']:.0f} | {times} | {u['total_cpu_s']:.1f} | {u['seconds']:.1f} | {u['peak_mib']:.0f} |")
    if any(r["tool"] in PER_REQUEST_ITL for r in rows):
        print("\n¹ its inter-token latency is one mean a request; the truth beside it is that of the same figure")


def main():
    p = argparse.ArgumentParser()
    sub = p.add_subparsers(dest="command", required=True)
    r = sub.add_parser("row")
    for flag in ("--tool", "--result", "--truth", "--usage", "--load"):
        r.add_argument(flag, required=True)
    r.add_argument("--tokens", type=int, required=True)
    t = sub.add_parser("table")
    t.add_argument("files", nargs="+")
    a = p.parse_args()
    table(a.files) if a.command == "table" else row(a)


if __name__ == "__main__":
    main()
