"""Reads `go test -json` on standard input: prints a line for each package as it ends, then why tests
were skipped, how many ran, and everything that failed tests and packages printed. Exits with 1 if any failed."""
import collections
import json
import sys

run = collections.Counter()
out = collections.defaultdict(list)
skipped, failed = [], []


def said(key):
    return [o for o in out[key] if o.strip() and not o.startswith("=== ")]


for line in sys.stdin:
    try:
        e = json.loads(line)
    except ValueError:
        sys.stdout.write(line)  # make's own lines
        continue
    # What a build prints has an import path and no package.
    package, test, action = e.get("Package") or e.get("ImportPath", ""), e.get("Test"), e["Action"]
    key = (package, test)
    if action in ("output", "build-output"):
        out[key].append(e["Output"])
    elif action in ("fail", "build-fail"):
        failed.append(key)
    elif action == "skip" and test:
        skipped.append(key)
    if action in ("pass", "fail", "skip"):
        if test:
            run[action] += 1
        else:
            last = said(key)[-1:] or [f"{action} {package}\n"]
            print("".join(last), end="", flush=True)

print("\n== what ran and what was skipped")
for package, test in skipped:
    why = [o.strip() for o in said((package, test)) if not o.strip().startswith("---")]
    print(f"skipped {package} {test}: {why[-1] if why else ''}")
print(f"{run['pass']} passed, {run['fail']} failed, {run['skip']} skipped")
for key in failed:
    print(f"\n== FAILED {key[0]} {key[1] or ''}")
    print("".join(said(key)), end="")
sys.exit(1 if failed else 0)
