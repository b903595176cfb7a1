#!/usr/bin/env python3
"""Runs a command and samples the CPU time and memory of all of its processes.

    usage.py FILE COMMAND...

FILE gets a JSON line a sample: wall time in ns, CPU seconds (user + system) so far of every process of the
command's session, resident MiB of those alive. A last line has the exit code, the seconds it took and the CPU
seconds the kernel counted in the end. Processes that ended are counted through the parent that waited for them.
Linux only (/proc).
"""
import json
import os
import resource
import subprocess
import sys
import time

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def sample(session):
    ticks = pages = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", "rb") as f:
                stat = f.read()
        except OSError:
            continue  # it has just ended
        fields = stat[stat.rindex(b")") + 2:].split()
        if int(fields[3]) == session:
            ticks += sum(int(x) for x in fields[11:15])
            pages += int(fields[21])
    return {"wall_ns": time.time_ns(), "cpu_s": ticks / TICK, "rss_mib": round(pages * PAGE / 2**20, 1)}


def main():
    path, command = sys.argv[1], sys.argv[2:]
    start = time.monotonic()
    p = subprocess.Popen(command, start_new_session=True)
    with open(path, "w") as out:
        while p.poll() is None:
            print(json.dumps(sample(p.pid)), file=out, flush=True)
            time.sleep(0.25)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(json.dumps({"exit": p.returncode, "seconds": round(time.monotonic() - start, 2),
                          "total_cpu_s": round(used.ru_utime + used.ru_stime, 2)}), file=out)
    return p.returncode if p.returncode >= 0 else 128 - p.returncode


if __name__ == "__main__":
    sys.exit(main())
