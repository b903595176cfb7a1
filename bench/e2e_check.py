"""Checks runs against a real engine from outside: asks the server the same questions again, whole instead of
streamed, and compares the server's own usage with the token counts that ais_bench recorded.

Where the server reports usage, the counts must be equal. A server that sends no usage in its streams leaves the
input tokens of a streamed run unknown; the output tokens are then counted by the server's tokenizer from the text,
which can join what the model wrote as two tokens: such a count may differ from usage by up to 2 %.

usage: e2e_check.py BASE_URL WORK_DIR ...
"""
import csv
import glob
import json
import sys
import urllib.request


def ask(base, messages, max_tokens):
    body = {"model": "smollm2", "messages": messages, "max_tokens": max_tokens, "temperature": 0}
    req = urllib.request.Request(base + "/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(req, timeout=600) as r:
        return json.load(r)


def main():
    base, bad = sys.argv[1], 0
    cache = {}
    for work in sys.argv[2:]:
        rows = [json.loads(line) for f in glob.glob(work + "/*/predictions/*/*.jsonl") for line in open(f)]
        counted = {}
        for f in glob.glob(work + "/*/performances/*/*.csv"):
            for r in csv.DictReader(open(f)):
                counted[r["request_id"]] = r
        failed = [r for r in rows if not r["success"]]
        tally = dict.fromkeys(["input equal", "input unknown", "input differs", "output equal", "output recounted within 2 %", "output differs", "answered differently"], 0)
        for r in rows:
            messages = [{"role": m["role"], "content": m["prompt"]} for m in r["origin_prompt"]]
            key = json.dumps(messages)
            if key not in cache:
                cache[key] = ask(base, messages, 256)
            usage, text = cache[key]["usage"], cache[key]["choices"][0]["message"]["content"]
            ours = counted[r["uuid"]]
            if ours["input_tokens"] == "":
                tally["input unknown"] += 1
            else:
                tally["input equal" if int(ours["input_tokens"]) == usage["prompt_tokens"] else "input differs"] += 1
            if text != r["prediction"]:
                tally["answered differently"] += 1  # another answer has another length
            elif ours["output_tokens"] and int(ours["output_tokens"]) == usage["completion_tokens"]:
                tally["output equal"] += 1
            elif ours["token_source"] == "server_tokenize" and abs(int(ours["output_tokens"]) - usage["completion_tokens"]) <= 0.02 * usage["completion_tokens"]:
                tally["output recounted within 2 %"] += 1
            else:
                tally["output differs"] += 1
                print("  output tokens: usage", usage["completion_tokens"], "recorded", ours["output_tokens"] or "unknown", "sample", r["sample_id"])
        sources = sorted({c["token_source"] for c in counted.values()})
        print(f"{work.rsplit('/', 1)[-1]}: {len(rows)} requests, {len(failed)} failed, tokens from {', '.join(sources)}; "
              + ", ".join(f"{k} {v}" for k, v in tally.items() if v))
        bad += len(failed) + tally["input differs"] + tally["output differs"] + (len(rows) == 0) + (tally["output equal"] == 0)
    sys.exit(1 if bad else 0)


main()
