"""Checks a run against a real engine from outside: asks the server the same questions again, whole instead of
streamed, and compares the server's own usage with what ais_bench recorded.

usage: e2e_check.py BASE_URL WORK_DIR ...
"""
import glob
import json
import sys
import urllib.request

ROLES = {"system": "system", "user": "user", "assistant": "assistant"}


def ask(base, messages, max_tokens):
    body = {"model": "smollm2", "messages": messages, "max_tokens": max_tokens, "temperature": 0, "ignore_eos": False}
    req = urllib.request.Request(base + "/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(req, timeout=600) as r:
        return json.load(r)


def main():
    base, bad = sys.argv[1], 0
    for work in sys.argv[2:]:
        rows = [json.loads(l) for f in glob.glob(work + "/*/predictions/*/*.jsonl") for l in open(f)]
        failed = [r for r in rows if not r["success"]]
        prompt_same = output_same = output_diff = text_diff = 0
        for r in rows:
            messages = [{"role": ROLES[m["role"]], "content": m["prompt"]} for m in r["origin_prompt"]]
            answer = ask(base, messages, 256)
            usage, text = answer["usage"], answer["choices"][0]["message"]["content"]
            prompt_same += usage["prompt_tokens"] == r["input_tokens"]
            if text.strip() != r["prediction"].strip():
                text_diff += 1  # batching changes the arithmetic; another answer has another length
            elif usage["completion_tokens"] == r["output_tokens"]:
                output_same += 1
            else:
                output_diff += 1
                print("output tokens differ:", usage["completion_tokens"], r["output_tokens"], r["sample_id"])
        print(f"{work.rsplit('/', 1)[-1]}: {len(rows)} requests, {len(failed)} failed; input tokens equal the server's usage in "
              f"{prompt_same} of {len(rows)}; output tokens equal in {output_same}, differ in {output_diff}; answered differently when asked again: {text_diff}")
        bad += len(failed) + (len(rows) - prompt_same) + output_diff + (len(rows) == 0)
    sys.exit(1 if bad else 0)


main()
