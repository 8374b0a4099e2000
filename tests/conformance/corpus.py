"""Programs that nobody here wrote: how one is built, run and judged.

A program passes when it ends with status 0 and its own check says so; a program without a check has merely run.
"""

import ctypes
import dataclasses
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

PASSED = re.compile(
    r"\bpass(ed)?\b|\bsuccess(ful|fully)?\b|\bverified\b|\bverification (ok|succeeded)|\bresults? (is|are) correct"
    r"|\bcorrect( result)?\b|\bno errors?\b|\btest(s)? ok\b|^ok$|results? match|resulted in 0 errors",
    re.IGNORECASE | re.MULTILINE,
)
FAILED = re.compile(
    r"\bfail(ed|ure|s)?\b|\bmis-?match|\bincorrect\b|\bwrong\b|\bnot (correct|verified|equal)\b|\bunsuccessful"
    r"|cuda error|invalid result",
    re.IGNORECASE,
)
# Words of failure in reports of none.
NO_FAILURE = re.compile(
    r"(fail(ed|ures?)?|mis-?match(es|ed)?|incorrect|wrong|errors?)( \w+)?( *[:=] *| is )"
    r"(0(\.0+)?(e[+-]?\d+)?%?|none|no)\b"
    r"|\b(0|no|zero) (\w+ )?(fail(ed|ures?)?|mis-?match(es)?|errors?|wrong)\b|threshold[^\n]*",
    re.IGNORECASE,
)


@dataclasses.dataclass
class Program:
    name: str
    folder: Path  # where it is built and run; made by prepare()
    build: list  # shell lines
    run: list = dataclasses.field(default_factory=list)  # shell lines
    prepare: object = None  # called before the build
    find_run: object = None  # called after the build: gives the shell lines
    skip: str = ""  # reason
    checked: bool = False  # the exit status is the program's own check
    expected: str = ""  # the program's words of success, where they are special
    waived: int | None = None  # exit status by which it says that it cannot run on this device


@dataclasses.dataclass
class Result:
    name: str
    status: str  # passed, ran, failed, skipped
    reason: str = ""
    build_seconds: float = 0
    run_seconds: float = 0
    output: str = ""


def die_with_parent():
    """In the child: an interrupted runner leaves nothing behind (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Runner:
    def __init__(self, work, build_limit, run_limit, keep=False):
        self.work = Path(work).resolve()
        self.build_limit = build_limit
        self.run_limit = run_limit
        self.keep = keep
        self.work.mkdir(parents=True, exist_ok=True)
        tools = self.work / "bin"
        tools.mkdir(exist_ok=True)
        compiler = tools / "nvcc"
        compiler.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m treadle cc "$@"\n')
        compiler.chmod(0o755)
        self.compiler = str(compiler)
        cache = os.environ.get("TREADLE_CACHE_DIR", str(self.work / "cache"))
        self.environment = {
            **os.environ,
            "PATH": f"{tools}:{os.environ['PATH']}",
            "TREADLE_CACHE_DIR": cache,
            "TREADLE_DEVICE": "soft",
            "OMP_NUM_THREADS": "2",
        }

    def shell(self, line, folder, limit):
        """(status, output, seconds); status None after the time limit.

        The limit is processor time, so that a busy machine fails nothing; waiting may take longer.
        """
        start = time.monotonic()
        line = f"ulimit -t {int(limit)}; exec sh -c {shlex.quote(line)}"
        child = subprocess.Popen(
            ["sh", "-c", line],
            cwd=folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        try:
            output, _ = child.communicate(timeout=10 * limit)
            status = child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            output, _ = child.communicate()
            status = None
        if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGKILL):
            status = None
        return status, output[-200000:].decode(errors="replace"), time.monotonic() - start

    def __call__(self, program):
        result = Result(program.name, "skipped", program.skip)
        if program.skip:
            return result
        try:
            if program.prepare:
                program.prepare()
            self.build_and_run(program, result)
        finally:
            if not self.keep and program.prepare:
                shutil.rmtree(program.folder, ignore_errors=True)
        return result

    def build_and_run(self, program, result):
        for line in program.build:
            status, output, seconds = self.shell(line, program.folder, self.build_limit)
            result.build_seconds += seconds
            result.output += output
            if status != 0:
                result.status = "failed"
                result.reason = "build: " + first_error(output, status)
                return
        result.output = ""
        lines = program.find_run() if program.find_run else program.run
        for line in lines:
            status, output, seconds = self.shell(line, program.folder, self.run_limit)
            result.run_seconds += seconds
            result.output += f"$ {line}\n{output}"
            result.status, result.reason = judge(status, output, program)
            if result.status in ("failed", "skipped"):
                if status is None:
                    result.reason = f"run: more than {self.run_limit:g} s of processor time"
                return
        if not lines:
            result.status, result.reason = "failed", "no command runs it"


def judge(status, output, program):
    if status is None:
        return "failed", "time"
    if status == program.waived:
        lines = [line for line in output.splitlines() if re.search(r"waiv|not support", line, re.I)]
        return "skipped", "says: " + (lines or [f"status {status}"])[0].strip()[:160]
    if status != 0:
        return "failed", f"run: status {status}: " + first_error(output, status)
    if program.expected:
        found = re.search(program.expected, output)
        return ("passed", "") if found else ("failed", f"run: does not say '{program.expected}'")
    words = NO_FAILURE.sub(" ", output)
    if match := FAILED.search(words):
        line = next(x for x in words.splitlines() if match.group(0) in x)
        return "failed", "run: " + line.strip()[:160]
    if program.checked or PASSED.search(output):
        return "passed", ""
    return "ran", ""


def first_error(output, status):
    """The line that says most about a failure."""
    for pattern in (
        r"treadle: .*",
        r".*\berror\b:.*",
        r".*undefined reference.*",
        r".*(CUDA|cuda|Error|error).*",
    ):
        if match := re.search(pattern, output):
            return match.group(0).strip()[:240]
    if status is None:
        return "took too long"
    if status < 0 or status > 128:
        number = -status if status < 0 else status - 128
        return f"signal {number}"
    lines = output.strip().splitlines()
    return lines[-1][:200] if lines else f"status {status}"
