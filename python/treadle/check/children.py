"""Child processes with a time limit, for everything that may hang or end the process that does it.

A driver's ``cuInit`` can sleep for ever, abort, or write to standard output. It therefore runs in a child, which
reports each step as one record (a JSON text sequence, RFC 7464: ``\\x1e{…}\\n``) before and after it takes it. What a
child said before it died is kept, and the way it ended is a fact like any other. Output goes to memory files, not to
pipes: nobody has to read while the child runs.
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

MAX_OUTPUT = 4 << 20  # that is read
MAX_FILE = 256 << 20  # that a child may write: memory files are memory
FINISHED, TIMED_OUT, KILLED, FAILED, NOT_STARTED = (
    "finished", "timed out", "killed", "failed", "not started",
)  # fmt: skip


@dataclass
class Outcome:
    """What became of a child: its records, its text, and how it ended."""

    ended: str
    detail: str = (
        ""  # "no answer within 5 s", "signal SIGABRT", "exit status 3: last line of stderr"
    )
    records: list = field(default_factory=list)
    text: str = ""

    @property
    def step(self):
        """The step that was begun last and not ended, '' when there is none."""
        begun = ""
        for record in self.records:
            if "begin" in record:
                begun = record["begin"]
            elif record.get("end") == begun:
                begun = ""
        return begun

    @property
    def facts(self):
        """The records' facts, later ones over earlier ones."""
        facts = {}
        for record in self.records:
            facts.update(record.get("facts", {}))
        return facts

    @property
    def problem(self):
        """A sentence about an end that was not a good one; '' for a good one."""
        if self.ended == FINISHED:
            return ""
        return f"{self.step or 'the child process'}: {self.detail or self.ended}"


def _memory_file():
    try:
        return os.fdopen(os.memfd_create("treadle-check"), "w+b")
    except (OSError, AttributeError):
        return tempfile.TemporaryFile()


def _read(file):
    try:
        return os.pread(file.fileno(), MAX_OUTPUT, 0).decode(errors="replace")
    except OSError:
        return ""


def bound_files(pid):
    """A child that writes without end ends by SIGXFSZ, not by taking all memory."""
    with contextlib.suppress(OSError, ValueError):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        if soft == resource.RLIM_INFINITY or soft > MAX_FILE:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (MAX_FILE, hard))


def records_of(text):
    """The records in a child's output; whatever a library printed between them is passed over."""
    records = []
    for part in text.split("\x1e")[1:]:
        try:
            record = json.loads(part.partition("\n")[0])
        except ValueError:  # cut off in the middle
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


class Child:
    """Starts ``command`` at once; ``outcome()`` waits for it, at most until ``limit`` seconds after its start (or after
    ``tell``, which gives a child that was started with ``talk`` one line to read)."""

    def __init__(self, command, environ, limit, talk=False):
        self._limit = limit
        self._out, self._err = _memory_file(), _memory_file()
        self._process, self._outcome = None, None
        self._started = time.monotonic()
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE if talk else subprocess.DEVNULL, stdout=self._out, stderr=self._err,
                env=dict(environ), start_new_session=True,
            )  # fmt: skip
            bound_files(self._process.pid)
        except (OSError, ValueError) as error:
            self._outcome = Outcome(NOT_STARTED, str(error))

    def tell(self, line):
        """Sends the one line, and starts the time again."""
        self._started = time.monotonic()
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):  # it has ended already
                self._process.stdin.write(line.encode() + b"\n")
            self._close_input()

    def _close_input(self):
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def outcome(self):
        if self._outcome is None:
            self._outcome = self._wait()
            self._out.close()
            self._err.close()
        return self._outcome

    def _wait(self):
        left = self._started + self._limit - time.monotonic()
        try:
            status = self._process.wait(max(left, 0))
        except subprocess.TimeoutExpired:
            detail = f"no answer within {self._limit:g} s" + self.end()
            return self._of(TIMED_OUT, detail)
        except BaseException:
            self.end()
            raise
        if status < 0:
            return self._of(KILLED, f"ended by signal {signal_name(-status)}")
        if status > 0:
            last = _read(self._err).strip().rpartition("\n")[2]
            return self._of(FAILED, f"exit status {status}" + (f": {last[:300]}" if last else ""))
        return self._of(FINISHED, "")

    def _of(self, ended, detail):
        text = _read(self._out)
        return Outcome(ended, detail, records_of(text), text)

    def end(self):
        """Ends the child and what it started. A process that hangs inside the kernel cannot be ended: it is left
        behind, and that is said."""
        self._close_input()
        if self._process is None or self._process.poll() is not None:
            return ""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.returncode = -int(signal.SIGKILL)  # nobody waits for it again
            return ", and it cannot be ended: it hangs inside the kernel"
        return ""


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def python_command(script, *arguments):
    """A command line that runs a file with this interpreter, isolated from PYTHON* variables and user folders."""
    site = ["-S"] if sys.flags.no_site else []
    return [sys.executable, "-I", *site, "-X", "utf8", script, *arguments]
