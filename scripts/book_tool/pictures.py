"""Pictures: console blocks whose command plays a scenario with a step. The site
shows the recording above the command."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .page import Fence, Page
from .report import Report

TITLE = "picture"
MAX_BYTES = 300_000
_FORM = "$ scripts/run NN --live testdata/scenarios/NAME.yaml [--before WHAT]"
_SINCE = re.compile(r"^since: (\d+)", re.M)
# Longer than any scenario takes on a busy machine.
_SECONDS = 300.0
_SHOWN = 30  # The number of lines to print of a run that went wrong.
_RED = 1  # The exit code of scripts/run if the step fails the scenario.


@dataclass(frozen=True)
class Picture:
    line: int  # Of the opening fence, counted from 1.
    step: str  # NN
    scenario: str  # The path from the root.
    before: str | None
    since: int  # The first step that passes the scenario.

    @property
    def is_green(self) -> bool:
        return int(self.step) >= self.since

    @property
    def colour(self) -> str:
        return "green" if self.is_green else "red"

    @property
    def name(self) -> str:
        """The file of the exported page."""
        moment = re.sub(r"\W+", "-", f".{self.before}") if self.before else ""
        return f"{Path(self.scenario).stem}.{self.step}{moment}.html"

    @property
    def command(self) -> list[str]:
        moment = ["--before", self.before] if self.before else []
        return ["scripts/run", self.step, "--live", self.scenario, *moment]

    @property
    def programs(self) -> list[str]:
        return [
            f"minisched-{self.step}", "minisched-live", "minisched-scenario"
        ]


def is_picture(fence: Fence) -> bool:
    return fence.language == "console" and fence.title == TITLE


def pictures(root: Path, page: Page) -> list[Picture]:
    """Returns the pictures of a page. Raises ValueError("line: message")."""
    return [_parse(root, f) for f in page.fences if is_picture(f)]


def check_pictures(
    root: Path, path: Path, page: Page, report: Report
) -> None:
    """Checks the form of the pictures."""
    try:
        pictures(root, page)
    except ValueError as error:
        line, _, message = str(error).partition(": ")
        report.fault(path, int(line), message)


def _parse(root: Path, fence: Fence) -> Picture:
    text = "\n".join(fence.lines).strip().replace("\\\n", " ")
    match text.removeprefix("$ ").split():
        case ["scripts/run", step, "--live", scenario]:
            before = None
        case ["scripts/run", step, "--live", scenario, "--before", before]:
            pass
        case _:
            step = scenario = ""
    if not text.startswith("$ ") or not re.fullmatch(r"\d\d", step):
        raise ValueError(f"{fence.line}: a picture is one command: {_FORM}")
    file = root / scenario
    if not file.is_file():
        raise ValueError(f"{fence.line}: no such scenario: {scenario}")
    since = _SINCE.search(file.read_text(encoding="utf-8"))
    if not since:
        raise ValueError(f"{fence.line}: {scenario} has no key since")
    return Picture(fence.line, step, scenario, before, int(since[1]))


class Gallery:
    """Plays pictures, and keeps their exported pages in build/book/pictures.
    `binaries` is the folder with the programs."""

    def __init__(self, root: Path, binaries: Path) -> None:
        self._root = root
        self._binaries = binaries
        self.folder = root / "build/book/pictures"

    def play_all(
        self,
        pages: dict[Path, Page],
        report: Report,
        only_stale: bool = False,
    ) -> None:
        """Plays the pictures of the pages, several at a time. With
        `only_stale`, leaves out those whose exported page is newer than the
        scenario and the programs."""
        self.folder.mkdir(parents=True, exist_ok=True)
        jobs: dict[str, tuple[Path, Picture]] = {}
        for path, page in pages.items():
            try:
                found = pictures(self._root, page)
            except ValueError:
                continue  # check_pictures() reports it.
            for picture in found:
                if not (only_stale and self._is_fresh(picture)):
                    jobs.setdefault(picture.name, (path, picture))
        # Scenarios wait most of the time.
        most = 2 * (os.cpu_count() or 1)
        with ThreadPoolExecutor(max_workers=most) as executor:
            runs = [
                executor.submit(self._play, path, picture, report)
                for path, picture in jobs.values()
            ]
        for run in runs:
            run.result()  # Raises the exceptions of the run.

    def _is_fresh(self, picture: Picture) -> bool:
        page = self.folder / picture.name
        sources = [self._root / picture.scenario]
        sources += [self._binaries / name for name in picture.programs]
        if not page.exists() or not all(file.exists() for file in sources):
            return False
        made = page.stat().st_mtime
        return all(file.stat().st_mtime < made for file in sources)

    def _play(self, path: Path, picture: Picture, report: Report) -> None:
        page = self.folder / picture.name
        page.unlink(missing_ok=True)
        status, output = self._run(picture, page)
        fault = _judge(picture, status, output, page)
        if fault:
            page.unlink(missing_ok=True)
            report.fault(path, picture.line, fault)
        else:
            report.ok()

    def _run(self, picture: Picture, page: Path) -> tuple[int | None, str]:
        """Returns the exit code, or None at the deadline, and the output."""
        command = [*picture.command, "--export", str(page)]
        environment = {"MINISCHED_BIN": str(self._binaries), "NO_COLOR": "1"}
        with subprocess.Popen(
            command,
            cwd=self._root,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGTERM)
                output, _ = process.communicate()
                return None, output
            return process.returncode, output


def _judge(
    picture: Picture, status: int | None, output: str, page: Path
) -> str | None:
    """Returns what is wrong with a run, or None."""
    command = shlex.join(picture.command)
    printed = "\n".join(output.splitlines()[-_SHOWN:])
    if status is None:
        return f"still running after {_SECONDS:.0f} s: {command}\n{printed}"
    if status not in (0, _RED) or not page.exists():
        return f"could not be played: {command}\n{printed}"
    found = "green" if status == 0 else "red"
    if found != picture.colour:
        return (
            f"expected {picture.colour}, because of since: {picture.since}, "
            f"found {found}: {command}\n{printed}"
        )
    size = page.stat().st_size
    if size > MAX_BYTES:
        return (
            f"the picture has {size} bytes, and may have {MAX_BYTES}: "
            f"use a smaller scenario: {command}"
        )
    return None


def frame(picture: Picture, source: str) -> str:
    """Returns the HTML that shows the exported page. `source` is its URL."""
    result = "passes" if picture.is_green else "fails"
    name = Path(picture.scenario).name
    return (
        f'<iframe class="book-picture book-{picture.colour}" src="{source}" '
        f'title="Recording: step {picture.step} {result} {name}" '
        'sandbox="allow-scripts" loading="lazy"></iframe>'
    )
