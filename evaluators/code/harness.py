# Runs one job: a solution, then test steps or one call, and prints a verdict
# with the job's nonce as the last line. The solution's own output goes nowhere.
import json
import os
import sys
import types

job = json.loads(sys.stdin.readline())
report = os.dup(1)
null = os.open(os.devnull, os.O_RDWR)
for fd in (0, 1, 2):
    os.dup2(null, fd)
sys.stdin = open(os.devnull)
sys.set_int_max_str_digits(0) if hasattr(sys, "set_int_max_str_digits") else None


def finish(status, detail="", passed=0, value=None):
    line = {"nonce": job["nonce"], "status": status, "detail": detail[:500], "passed": passed, "value": value}
    data = ("\n" + json.dumps(line) + "\n").encode()
    while data:
        data = data[os.write(report, data):]
    os._exit(0)


def describe(error, step):
    text = str(error).strip().split("\n")[0]
    where = ""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in ("<solution>", "<tests>"):
            where = "%s line %d" % (trace.tb_frame.f_code.co_filename.strip("<>"), trace.tb_lineno)
        trace = trace.tb_next
    if isinstance(error, AssertionError) and not text:
        text = step.strip().split("\n")[0] if step.count("\n") < 2 else ""
    return "%s%s%s" % (type(error).__name__, ": " + text if text else "", " (%s)" % where if where else "")


module = types.ModuleType("solution")
sys.modules["solution"] = module
scope = module.__dict__
try:
    exec(compile(job["source"], "<solution>", "exec"), scope)
except BaseException as error:
    finish("error", describe(error, ""))
passed = 0
for step in job.get("steps") or []:
    try:
        exec(compile(step, "<tests>", "exec"), scope)
    except AssertionError as error:
        finish("fail", describe(error, step), passed)
    except BaseException as error:
        finish("error", describe(error, step), passed)
    passed += 1
if job.get("call"):
    try:
        owner = scope["Solution"]() if "Solution" in scope else None
        function = getattr(owner, job["call"], None) or scope.get(job["call"])
        if function is None:
            finish("error", "no function " + job["call"])
        value = function(*[json.loads(a) for a in job["args"]])
    except BaseException as error:
        finish("error", describe(error, ""))
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        finish("fail", "the result is not JSON: " + type(value).__name__)
    finish("pass", "", passed, value)
finish("pass", "", passed)
