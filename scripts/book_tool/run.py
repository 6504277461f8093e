"""Runs the console blocks of a page, on an embedded API server of its own."""

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

_SHOWN = 40  # Lines of output, of a command that printed something else.


class Runner:
    """`binaries` is the folder with minisched-apiserver and the steps."""

    def __init__(self, root: Path, binaries: Path, seconds: float) -> None:
        self._root = root
        self._binaries = binaries
        self._seconds = seconds
        cluster = os.environ.get(
            "MINISCHED_CLUSTER_DIR", str(root / ".cluster")
        )
        # scripts/cluster builds a kubectl for who has none.
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
                f"{path} (its commands need {missing}, which is not here)"
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
        """In the session's name, and so ended with it."""
        program = self._binaries / "minisched-apiserver"
        nodes = self._root / "testdata/manifests/nodes.yaml"
        log = home / ".apiserver.log"
        arguments: list[str | Path] = ["--simulate", "--load", nodes]
        arguments += ["--kubeconfig-out", home / "kubeconfig"]
        try:
            ready = session.start([program, *arguments], log)
        except OSError as error:
            return f"cannot start {program}: {error.strerror}; build it first"
        if ready:
            return None
        return f"{program} does not start:\n{log.read_text()}"

    def _run(
        self, path: Path, command: Command, session: Session, report: Report
    ) -> bool:
        """False if there is no point in going on."""
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
        shown.append(f"… and {len(result.output) - _SHOWN} lines more")
    printed = "\n".join(shown) or "(nothing)"
    if result.status is None:
        return command.line, (
            f"was still running at the deadline: {command.text}\n{printed}"
        )
    if result.status and not command.expected:
        return command.line, (
            f"fails with status {result.status}: {command.text}\n{printed}"
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
    message = f"prints something else: {command.text}\nbook: {expected}\n"
    return line, f"{message}real: {actual}\nall of it:\n{printed}"
