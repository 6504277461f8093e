"""Checks links, and paths between backticks."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from .page import Page
from .report import Report
from .steps import linked_diff

_PATH = re.compile(r"(steps|minisched|lab|scripts|testdata|docs)/")
_PLACEHOLDER = re.compile(r"[…<>$]|\b(NN|MM)\b|NN-")
_LINE = re.compile(r"L(\d+)(?:-L(\d+))?$")


@lru_cache(maxsize=None)
def _anchors(file: Path) -> frozenset[str]:
    return frozenset(Page.read(file).anchors)


def check_links(root: Path, path: Path, page: Page, report: Report) -> None:
    """`path` is the page's path relative to `root`."""
    for link in page.links:
        problem = _link_problem(root, path, page, link.text)
        if problem:
            report.fault(path, link.line, problem)
        else:
            report.ok()
    for reference in page.undefined_references:
        report.fault(
            path, reference.line, f"undefined reference [{reference.text}]"
        )
    for span in page.code_spans:
        if not _PATH.match(span.text):
            continue
        missing = _missing_path(root, span.text)
        if missing:
            report.fault(path, span.line, f"no file or folder {missing}")
        else:
            report.ok()


def _link_problem(
    root: Path, path: Path, page: Page, target: str
) -> str | None:
    try:
        url = urlsplit(target)
    except ValueError as error:
        return f"not a link: {target}: {error}"
    if url.scheme in ("http", "https"):
        fine = re.fullmatch(r"[\w.-]+(:\d+)?", url.netloc)
        return None if fine else f"not a URL: {target}"
    if url.scheme == "mailto":
        return None
    if url.scheme or url.netloc:
        return f"links must be relative or http(s): {target}"
    if target.startswith("/"):
        return f"links must be relative to the page: {target}"
    anchor = unquote(url.fragment)
    if not url.path:
        if anchor and anchor in page.anchors:
            return None
        return f"dead anchor: no heading here for #{anchor}"

    name = os.path.normpath(path.parent / unquote(url.path))
    if name.startswith(".."):
        return f"dead link: {target} leaves the repository"
    file = root / name
    if linked_diff(root, name, anchor):
        return None
    if not file.exists():
        return f"dead link: {target} (no {name})"
    return _anchor_problem(file, name, anchor) if anchor else None


def _anchor_problem(file: Path, name: str, anchor: str) -> str | None:
    if file.suffix == ".md":
        if anchor in _anchors(file):
            return None
        return f"dead anchor: no heading in {name} for #{anchor}"
    lines = _LINE.match(anchor)
    if not lines or not file.is_file():
        return f"dead anchor: {name} has no anchor #{anchor}"
    last = len(file.read_text(encoding="utf-8").splitlines())
    if max(int(number) for number in lines.groups() if number) > last:
        return f"dead anchor: {name} has {last} lines, not #{anchor}"
    return None


def _missing_path(root: Path, text: str) -> str | None:
    """Returns the missing path, or None. The path is the first word of a text
    such as "scripts/run 01 --once", and may be a pattern such as
    steps/*/scheduler.{h,cc}."""
    word = re.sub(r"(:\d+)?[:,;.]*$", "", text.split()[0])
    if _PLACEHOLDER.search(word):
        return None
    for name in _expand(word):
        if not any(root.glob(name.rstrip("/") or ".")):
            return name
    return None


def _expand(word: str) -> list[str]:
    braces = re.search(r"\{([^{}]*)\}", word)
    if not braces:
        return [word]
    before, after = word[: braces.start()], word[braces.end() :]
    return [
        name
        for choice in braces[1].split(",")
        for name in _expand(before + choice + after)
    ]
