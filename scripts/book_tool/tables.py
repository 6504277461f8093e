"""Checks a chapter's table of changed files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .page import Page
from .report import Report
from .steps import Change, changes, chapter_number, pairs

_MARK = "<!-- changed-files -->"
_HEADER = ["file", "what changes", "lines"]
_NAME = re.compile(r"\[?`([^`]+)`\]?(?:\([^)]*\))?$")


@dataclass(frozen=True)
class Row:
    line: int
    file: str
    lines: str


def check_table(
    root: Path, path: Path, page: Page, report: Report, fix: bool = False
) -> None:
    """Checks docs/NN-title.md from 02 on. With `fix`, corrects wrong counts in
    the file."""
    chapter = chapter_number(path)
    if chapter is None or chapter < 2:
        return
    pair = next((p for p in pairs(root) if int(p[1][:2]) == chapter), None)
    if not pair:
        report.fault(path, 1, f"no step {chapter:02}, or none before it")
        return
    marks = [i for i, line in enumerate(page.lines) if line.strip() == _MARK]
    if len(marks) != 1:
        report.fault(
            path,
            1,
            f"expected one table of changed files after {_MARK}, "
            f"found {len(marks)}",
        )
        return
    try:
        rows = _read(page.lines, marks[0] + 1)
    except ValueError as error:
        report.fault(path, marks[0] + 1, str(error))
        return
    real = {
        change.file: change
        for change in changes(root, *pair)
        if not change.is_test and change.file != "README.md"
    }
    fixes = _compare(pair, path, marks[0] + 1, rows, real, report, fix)
    if fixes:
        set_last_cells(page.lines, fixes)
        page.write(root / path)


def _read(lines: list[str], start: int) -> list[Row]:
    if start + 1 >= len(lines) or cells_of(lines[start]) != _HEADER:
        raise ValueError(
            f"expected a table with columns {' | '.join(_HEADER)} after this"
        )
    rows = []
    for index in range(start + 2, len(lines)):
        cells = cells_of(lines[index])
        if not cells:
            break
        name = _NAME.match(cells[0])
        if len(cells) != 3 or not name:
            raise ValueError(
                f"line {index + 1} is not | `file` | what changes | lines |"
            )
        rows.append(Row(index + 1, name[1], cells[2]))
    return rows


def cells_of(line: str) -> list[str]:
    """Returns the cells of a table's row; for any other line, an empty list."""
    if not line.lstrip().startswith("|"):
        return []
    inner = line.strip().strip("|")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", inner)]


def _compare(
    pair: tuple[str, str],
    path: Path,
    at: int,
    rows: list[Row],
    real: dict[str, Change],
    report: Report,
    fix: bool,
) -> dict[int, str]:
    """Reports faults and returns the corrected counts by line."""
    fixes: dict[int, str] = {}
    seen = set()
    for row in rows:
        file = re.sub(rf"^steps/({pair[0]}|{pair[1]})/", "", row.file)
        change = real.get(file)
        if file in seen:
            report.fault(path, row.line, f"{file} is in the table twice")
        elif not change:
            report.fault(
                path, row.line, f"{file} is the same in {pair[0]} and {pair[1]}"
            )
        elif _meaning(row.lines) == _meaning(change.lines):
            report.ok()
        elif fix:
            fixes[row.line] = change.lines
            report.ok()
        else:
            report.fault(
                path,
                row.line,
                f"{file}: expected {change.lines}, found {row.lines}",
            )
        seen.add(file)
    for file, change in real.items():
        if file not in seen:
            report.fault(
                path, at, f"{file} is missing in the table ({change.lines})"
            )
    return fixes


def _meaning(lines: str) -> tuple[str, ...] | str:
    """Normalises a count: a minus may be a hyphen, and zeros are optional."""
    if lines == "gone" or re.fullmatch(r"new, \d+", lines):
        return lines
    counts = re.fullmatch(r"(?:\+(\d+))?\s*(?:[−-](\d+))?", lines)
    if not counts or not lines:
        return f"neither: {lines}"
    return tuple(count or "0" for count in counts.groups())


def set_last_cells(lines: list[str], fixes: dict[int, str]) -> None:
    """Replaces the last cells of rows. The keys are line numbers, from 1."""
    for number, text in fixes.items():
        head, _, _ = lines[number - 1].rstrip().rstrip("|").rpartition("|")
        lines[number - 1] = f"{head}| {text} |"
