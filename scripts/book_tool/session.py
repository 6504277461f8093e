"""A bash that runs the commands of a page, and the processes that it starts."""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from .console import Command, begins_with, compare

# With set -m, each command is a process group, which gets the ^C. The trap
# keeps bash itself alive when ^C ends a command. It would not work inside a
# loop, so bash reads one command after the other from its input.
_SET_UP = "trap : INT; set -m\n"
_COMMAND = "eval {} </dev/null\necho $? >&{}\n"
_MARK = "MINISCHED_BOOK_SESSION"
_SHELL_ERROR = re.compile(r"^bash: line \d+: ")
_JOB_NOTICE = re.compile(
    r"^(bash: line \d+: +\d+|\[\d+\][-+]?) +"
    r"(Done|Exit \d+|Terminated|Killed|Hangup|Interrupt)\b"
)
# How long to wait for the output of a background job.
_BACKGROUND_DEADLINE = 20.0
# How long a child may look like a copy of bash before its exec. A subshell
# always looks like one.
_FORK_SECONDS = 1.0


@dataclass(frozen=True)
class Result:
    output: list[str]
    status: int | None  # None: still running at the deadline.


class SessionEnded(Exception):
    """Raised when the bash has ended."""


class Session:
    """A context manager. Its exit ends all processes that it has started, even
    those in other sessions."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._mark = f"{_MARK}={uuid.uuid4()}"
        name, value = self._mark.split("=")
        self.environment = {**environment, name: value}
        self._folder = folder
        self._buffer = b""
        self._lines: list[str] = []
        self._servers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Session:
        self._output, output = os.pipe()
        self._statuses, statuses = os.pipe()
        os.set_blocking(self._output, False)
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            pass_fds=[statuses],
            cwd=self._folder,
            env=self.environment,
            start_new_session=True,
            # All commands would inherit an ignored SIGINT.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        os.close(output)
        os.close(statuses)
        self._status_descriptor = statuses  # In bash.
        self._send(_SET_UP)
        return self

    def __exit__(self, *_: object) -> None:
        end_marked(self._mark)
        assert self._bash.stdin
        self._bash.stdin.close()
        self._bash.wait()
        for server in self._servers:
            server.communicate()
        self._servers.clear()
        os.close(self._output)
        os.close(self._statuses)

    def start(self, program: list[str | Path], log: Path) -> str:
        """Starts a server beside the shell. Returns its first line, or "" if it
        ends without output."""
        with log.open("wb") as errors:
            server = subprocess.Popen(
                program,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self._folder,
                env=self.environment,
                start_new_session=True,
            )
        self._servers.append(server)
        assert server.stdout
        return server.stdout.readline().decode()

    def run(self, command: Command, seconds: float) -> Result:
        before = _children(self._bash.pid)
        text = shlex.quote(command.text)
        self._send(_COMMAND.format(text, self._status_descriptor))
        interrupts = command.interrupts
        started = time.monotonic()
        deadline = started + seconds
        status: int | None = None
        settling = False
        while time.monotonic() < deadline:
            if status is None:
                status = self._wait_for_status(0.02)
            else:
                select.select([self._output], [], [], 0.05)
            self._drain()
            if status is None:
                if interrupts and begins_with(interrupts[0], self._lines):
                    if self._interrupt(before, started):
                        interrupts.pop(0)
                continue
            if not settling:
                settling = True
                deadline = min(
                    deadline, time.monotonic() + _BACKGROUND_DEADLINE
                )
            if not self._missing(command) or not _children(self._bash.pid):
                self._drain()
                break
        return Result(self._take(), status)

    def _send(self, text: str) -> None:
        assert self._bash.stdin
        try:
            self._bash.stdin.write(text.encode())
            self._bash.stdin.flush()
        except BrokenPipeError:
            raise SessionEnded from None

    def _missing(self, command: Command) -> bool:
        return compare(command.output, self._lines) is not None

    def _wait_for_status(self, seconds: float) -> int | None:
        ready, _, _ = select.select(
            [self._statuses, self._output], [], [], seconds
        )
        if self._statuses not in ready:
            if (
                self._bash.poll() is not None
            ):  # Its children keep the pipe open.
                raise SessionEnded
            return None
        answer = os.read(self._statuses, 64)
        if not answer:
            self._drain()
            raise SessionEnded
        return int(answer)

    def _drain(self) -> None:
        while True:
            try:
                data = os.read(self._output, 65536)
            except BlockingIOError:
                break
            if not data:
                break
            self._buffer += data
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            self._add(line)

    def _add(self, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip()
        if not _JOB_NOTICE.match(text):  # Notices come at any time.
            self._lines.append(_SHELL_ERROR.sub("bash: ", text))

    def _take(self) -> list[str]:
        if self._buffer:
            self._add(self._buffer)
        lines, self._lines, self._buffer = self._lines, [], b""
        return lines

    def _interrupt(self, before: set[int], started: float) -> bool:
        """Sends SIGINT to the command's processes, as ^C does. Returns false if
        none is ready for it."""
        pids = _children(self._bash.pid) - before
        if time.monotonic() < started + _FORK_SECONDS:
            # A child that is still a copy of bash would run the trap.
            bash = _read(self._bash.pid, "cmdline")
            if any(_read(pid, "cmdline") == bash for pid in pids):
                return False
        groups = {os.getpgid(pid) for pid in pids} - {self._bash.pid}
        for group in groups:
            os.killpg(group, signal.SIGINT)
        return bool(groups)


def _children(parent: int) -> set[int]:
    found = set()
    for pid in _pids():
        stat = _read(pid, "stat")
        if not stat:
            continue
        state, ppid = stat.rpartition(b")")[2].split()[:2]
        if int(ppid) == parent and state != b"Z":
            found.add(pid)
    return found


def end_marked(mark: str) -> None:
    """Ends the processes with `mark` in their environment."""
    for sign, seconds in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        deadline = time.monotonic() + seconds
        pids = _marked(mark)
        for pid in pids:
            try:
                os.kill(pid, sign)
            except ProcessLookupError:
                pass
        while pids and time.monotonic() < deadline:
            time.sleep(0.02)
            pids = _marked(mark)
        if not pids:
            return


def _marked(mark: str) -> list[int]:
    return [
        pid
        for pid in _pids()
        if mark.encode() in _read(pid, "environ").split(b"\0")
    ]


def _read(pid: int, name: str) -> bytes:
    """Reads a file of /proc. Returns b"" if the process is gone or foreign."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]
