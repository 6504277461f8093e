"""Checks listings: fenced blocks that are parts of a file."""

from __future__ import annotations

import re
from pathlib import Path

from .page import Fence, Page
from .report import Report

FREE_STANDING = "not in the repository"
_CODE = {"cpp", "c++", "cc", "h", "yaml", "yml", "sh", "bash", "shell", "cmake"}
_CODE |= {"go", "python", "py"}
_NO_LISTING = {"text", "mermaid", "diff", "console"}
_ELISION = re.compile(r"\s*(//|#)?\s*…\s*$")


def check_listings(root: Path, path: Path, page: Page, report: Report) -> None:
    if page.unclosed:
        report.fault(path, page.unclosed, "unclosed fence")
    for fence in page.fences:
        if fence.language in _NO_LISTING or fence.title == FREE_STANDING:
            continue
        problem = _problem(root, fence)
        if problem:
            report.fault(path, fence.line + problem[0], problem[1])
        else:
            report.ok()


def _problem(root: Path, fence: Fence) -> tuple[int, str] | None:
    """Returns the wrong line (0: the fence itself) and the error."""
    if not fence.language:
        return 0, "a fence without a language: write ```text"
    if fence.title is None:
        if fence.language not in _CODE:
            return None
        return 0, (
            f'a {fence.language} block without a title: add title="FILE" or '
            f'title="{FREE_STANDING}"'
        )
    file = root / fence.title
    if not file.is_file():
        return 0, f"no such file: {fence.title}"
    if not any(line.strip() for line in fence.lines):
        return 0, "an empty listing"
    lines = file.read_text(encoding="utf-8").splitlines()
    return _find(fence, lines)


def _find(fence: Fence, lines: list[str]) -> tuple[int, str] | None:
    parts = _parts(fence.lines)
    misses = []
    for indent in _indents(parts, lines):
        miss = _find_parts(parts, lines, " " * indent)
        if miss is None:
            return None
        misses.append(miss)
    # Report the attempt that matched the most lines.
    at, found_at, found = max(misses, key=lambda miss: miss[0])
    message = f"not in {fence.title}, or not in this order:\n"
    message += f"listing: {fence.lines[at]}"
    if found_at is not None:
        message += f"\nline {found_at + 1}: {found}"
    return at + 1, message


_Parts = list[tuple[int, list[str]]]


def _parts(lines: tuple[str, ...]) -> _Parts:
    """Returns the parts between elisions, each with its first line's index.
    Ignores blank lines next to an elision."""
    parts: _Parts = []
    part: list[str] = []
    for index, line in enumerate([*lines, "…"]):
        if not _ELISION.match(line):
            part.append(line.rstrip())
            continue
        start = index - len(part)
        while part and not part[0]:
            start += 1
            part = part[1:]
        while part and not part[-1]:
            part.pop()
        if part:
            parts.append((start, part))
        part = []
    return parts


def _indents(parts: _Parts, lines: list[str]) -> list[int]:
    """Returns the possible dedents of the listing, 0 first."""
    if not parts:
        return [0]
    first = parts[0][1][0]
    own = len(first) - len(first.lstrip())
    indents = {
        len(line) - len(line.lstrip()) - own
        for line in lines
        if line.strip() == first.strip()
    }
    return [0, *sorted(indent for indent in indents if indent > 0)]


def _find_parts(
    parts: _Parts, lines: list[str], indent: str
) -> tuple[int, int | None, str] | None:
    """Returns None if all parts are found. Otherwise returns the index of the
    listing's first different line, and the index and text of the file's
    line."""
    at = 0
    for start, part in parts:
        expected = [indent + line if line else "" for line in part]
        best, best_at = 0, None
        for position in range(at, len(lines)):
            same = _common(expected, lines, position)
            if same == len(expected):
                at = position + same
                break
            if same > best:
                best, best_at = same, position + same
        else:
            if best_at is None:
                return start, None, ""
            there = lines[best_at] if best_at < len(lines) else "(the end)"
            return start + best, best_at, there
    return None


def _common(expected: list[str], lines: list[str], position: int) -> int:
    count = 0
    for listed, line in zip(expected, lines[position:]):
        if listed != line.rstrip():
            break
        count += 1
    return count
