"""Runs the console blocks of a page on its own embedded API server."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from . import console
from .console import Command
from .page import Page
from .report import Report
from .session import Result, Session, SessionEnded

_SHOWN = 40  # The number of lines to print of different output.


class Runner:
    """`binaries` is the folder with minisched-apiserver and the steps."""

    def __init__(self, root: Path, binaries: Path, seconds: float) -> None:
        self._root = root
        self._binaries = binaries
        self._seconds = seconds
        cluster = os.environ.get(
            "MINISCHED_CLUSTER_DIR", str(root / ".cluster")
        )
        # scripts/cluster builds a kubectl for users without one.
        self._path = os.pathsep.join(
            [
                str(binaries),
                os.environ.get("PATH", os.defpath),
                cluster + "/bin",
            ]
        )

    def check_page(self, path: Path, page: Page, report: Report) -> None:
        try:
            commands = console.commands(page)
        except ValueError as error:
            line, _, message = str(error).partition(": ")
            report.fault(path, int(line), message)
            return
        if not commands:
            return
        missing = self.missing(commands)
        if missing:
            report.skipped.append(
                f"{path} ({missing} is not installed)"
            )
            return
        with tempfile.TemporaryDirectory() as home:
            self._run_all(path, commands, Path(home), report)

    def missing(self, commands: list[Command]) -> str | None:
        needed = any(re.search(r"\bkubectl\b", c.text) for c in commands)
        if needed and not shutil.which("kubectl", path=self._path):
            return "kubectl"
        return None

    def _run_all(
        self, path: Path, commands: list[Command], home: Path, report: Report
    ) -> None:
        with Session(self._root, self._environment(home)) as session:
            reason = self._start_server(session, home)
            if reason:
                report.fault(path, commands[0].line, reason)
                return
            for index, command in enumerate(commands):
                left = len(commands) - index - 1
                if not self._run(path, command, session, report):
                    if left:
                        report.note(
                            f"{path}: {left} more commands were not run"
                        )
                    return

    def _environment(self, home: Path) -> dict[str, str]:
        return {
            "HOME": str(home),
            "KUBECONFIG": str(home / "kubeconfig"),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "PATH": self._path,
            "TERM": "dumb",
        }

    def _start_server(self, session: Session, home: Path) -> str | None:
        """Starts a server in the session. Returns an error or None."""
        program = self._binaries / "minisched-apiserver"
        nodes = self._root / "testdata/manifests/nodes.yaml"
        log = home / ".apiserver.log"
        arguments: list[str | Path] = ["--simulate", "--load", nodes]
        arguments += ["--kubeconfig-out", home / "kubeconfig"]
        try:
            ready = session.start([program, *arguments], log)
        except OSError as error:
            reason = f"{error.strerror}; build it first"
            return f"failed to start {program}: {reason}"
        if ready:
            return None
        return f"failed to start {program}:\n{log.read_text()}"

    def _run(
        self, path: Path, command: Command, session: Session, report: Report
    ) -> bool:
        """Returns false if the remaining commands can't run."""
        try:
            result = session.run(command, self._seconds)
        except SessionEnded:
            report.fault(path, command.line, f"ended the shell: {command.text}")
            return False
        fault = _judge(command, result)
        if fault:
            report.fault(path, *fault)
        else:
            report.ok()
        return result.status is not None


def _judge(command: Command, result: Result) -> tuple[int, str] | None:
    shown = result.output[:_SHOWN]
    if len(result.output) > _SHOWN:
        shown.append(f"… and {len(result.output) - _SHOWN} more lines")
    printed = "\n".join(shown) or "(nothing)"
    if result.status is None:
        return command.line, (
            f"still running at the deadline: {command.text}\n{printed}"
        )
    if result.status and not command.expected:
        return command.line, (
            f"failed with status {result.status}: {command.text}\n{printed}"
        )
    mismatch = console.compare(command.output, result.output)
    if not mismatch:
        return None
    expected, actual = "(nothing more)", "(nothing more)"
    line = command.line
    if mismatch.expected < len(command.output):
        expected = command.output[mismatch.expected]
        line = command.page_line(mismatch.expected)
    if mismatch.actual < len(result.output):
        actual = result.output[mismatch.actual]
    message = f"output differs: {command.text}\nexpected: {expected}\n"
    return line, f"{message}actual:   {actual}\nwhole output:\n{printed}"
