#!/usr/bin/env python3
"""Turns `go test -run TestFaultMatrix -v ./models` into a Markdown table: the class each fault was given.

A row is a fault and its place, a column a protocol, streamed and not. Fails when a fault was taken for a success
without being one of the two that cannot be told apart from a sound answer.
"""
import re
import sys

LINE = re.compile(r"^\s*([a-z0-9-]+)/(before|start|mid)/stream=(true|false)/(\w+)\s+(\w+)\s*$")
KNOWN = {
    "duplicate": "an event sent twice cannot be told from a text that repeats itself",
    "empty": "half an answer that ends properly is a shorter answer",
}
cells = {}
with open(sys.argv[1]) as f:
    for line in f:
        m = LINE.match(line)
        if m:
            kind, when, stream, protocol, status = m.groups()
            cells[(kind, when), (protocol, stream == "true")] = status
if not cells:
    sys.exit(f"{sys.argv[1]}: no line of the fault matrix in it")
columns = sorted({c for _, c in cells}, key=lambda c: (c[0], not c[1]))
print("| fault | place | " + " | ".join(f"{p}, {'stream' if s else 'whole'}" for p, s in columns) + " |")
print("|---|---|" + "---|" * len(columns))
places = ["before", "start", "mid"]
bad, excused = [], {}
for kind, when in sorted({r for r, _ in cells}, key=lambda r: (r[0], places.index(r[1]))):
    row = [cells.get(((kind, when), c), "–") for c in columns]
    print(f"| {kind} | {when} | " + " | ".join(f"**{v}**" if v == "ok" else v for v in row) + " |")
    for c, v in zip(columns, row):
        if v == "ok" and (kind not in KNOWN or not c[1]):
            bad.append(f"{kind} {when} {c[0]}")
        elif v == "ok":
            excused[kind] = KNOWN[kind]
print(f"\n{len(cells)} combinations, {sum(v == 'ok' for v in cells.values())} counted as a success:")
for kind, why in sorted(excused.items()):
    print(f"- {kind}: {why}")
if bad:
    sys.exit("counted as a success without an excuse: " + ", ".join(bad))
