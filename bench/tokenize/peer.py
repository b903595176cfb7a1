#!/usr/bin/env python3
"""The same as main.go with Hugging Face's tokenizers (Rust) and vLLM's random data set.

    peer.py encode DIR FILE SECONDS
    peer.py generate DIR PROMPTS TOKENS SEED
"""
import hashlib
import json
import os
import struct
import sys
import time

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def chunks(data):
    at = 0
    while at < len(data):
        end = min(at + 2048, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        yield data[at:end].decode("utf-8")
        at = end


def encode(folder, file, seconds):
    from tokenizers import Tokenizer

    began = time.perf_counter()
    tok = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    load = time.perf_counter() - began
    with open(file, "rb") as f:
        data = f.read()
    parts = list(chunks(data))
    total, tokens = hashlib.sha256(), 0
    for p in parts:
        ids = tok.encode(p, add_special_tokens=False).ids
        total.update(struct.pack(f"<{len(ids)}I", *ids))
        tokens += len(ids)

    def rate(call, per_call):
        size, i, began = 0, 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            some = [parts[(i + k) % len(parts)] for k in range(per_call)]
            call(some)
            size += sum(len(p.encode()) for p in some)
            i += per_call
        return size / 1e6 / (time.perf_counter() - began)

    one = rate(lambda some: tok.encode(some[0], add_special_tokens=False).ids, 1)
    batch = rate(lambda some: [e.ids for e in tok.encode_batch_fast(some, add_special_tokens=False)], 64)
    return {"mb_per_s": max(one, batch), "one_by_one": one, "in_batches": batch, "load_s": load, "bytes": len(data), "tokens": tokens, "ids": total.hexdigest()}


def generate(folder, prompts, tokens, seed):
    from vllm.benchmarks.datasets import RandomDataset
    from vllm.tokenizers import get_tokenizer

    began = time.perf_counter()
    tok = get_tokenizer(folder)
    load = time.perf_counter() - began
    began = time.perf_counter()
    samples = RandomDataset(random_seed=seed).sample(tokenizer=tok, num_requests=prompts, input_len=tokens, output_len=128)
    took = time.perf_counter() - began
    checked = samples[:: max(len(samples) // 500, 1)]
    exact = sum(len(tok(s.prompt).input_ids) == tokens for s in checked)
    return {"seconds": took, "load_s": load, "prompts": len(samples), "bytes": sum(len(s.prompt.encode()) for s in samples), "checked": len(checked), "exact": exact, "cpus": 1}


if __name__ == "__main__":
    if sys.argv[1] == "encode":
        print(json.dumps(encode(sys.argv[2], sys.argv[3], float(sys.argv[4]))))
    else:
        print(json.dumps(generate(sys.argv[2], *map(int, sys.argv[3:6]))))
