"""Checks <details> blocks, and prepares them for the site."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .page import Page
from .report import Report

_TAG = re.compile(r"<(/?)(details|summary)\b[^>]*>")
_MARKDOWN = re.compile(r"[`*\[]")


@dataclass(frozen=True)
class Details:
    """A block from <details> to </details>."""

    line: int
    problem: tuple[int, str] | None = None  # A line, and the error.


def check_details(path: Path, page: Page, report: Report) -> None:
    for block in find_details(page):
        if block.problem:
            report.fault(path, *block.problem)
        else:
            report.ok()


def find_details(page: Page) -> list[Details]:
    """Returns the blocks in the order of their lines."""
    found: list[Details] = []
    tags: list[tuple[int, str]] = []  # Those of the block, with their lines.
    for number, line in enumerate(page.no_code.split("\n"), 1):
        for tag in _TAG.finditer(line):
            name = tag[1] + tag[2]
            if name == "details" and tags:
                found.append(Details(tags[0][0], _problem(page, tags)))
                tags = []
            tags.append((number, name))
            if name == "/details":
                found.append(Details(tags[0][0], _problem(page, tags)))
                tags = []
    if tags:
        found.append(Details(tags[0][0], _problem(page, tags)))
    return found


def enable_markdown(text: str) -> str:
    """Makes the site read the Markdown inside <details> blocks, as forges do.
    Changes nothing in fenced blocks."""
    page = Page(text)
    lines = [
        line.replace("<details", '<details markdown="1"', 1)
        if prose.startswith("<details")
        else line
        for line, prose in zip(page.lines, page.prose.split("\n"))
    ]
    return "\n".join(lines) + "\n"


def _problem(
    page: Page, tags: list[tuple[int, str]]
) -> tuple[int, str] | None:
    lines = [line for line, _ in tags]
    names = [name for _, name in tags]
    if names[0] != "details":
        return lines[0], f"<{names[0]}> outside of a <details> block"
    if names[-1] != "/details":
        return lines[0], "<details> without </details>"
    if names != ["details", "summary", "/summary", "/details"]:
        return lines[0], "expected one <summary> in this <details> block"
    for line, tag in ((lines[0], "<details>"), (lines[3], "</details>")):
        if page.lines[line - 1] != tag:
            return line, f"{tag} must have its own line, without indentation"
    # Otherwise, forges show the answer's Markdown as it is.
    if page.lines[lines[2]].strip():
        return lines[2], "no blank line after </summary>"
    if page.lines[lines[3] - 2].strip():
        return lines[3], "no blank line before </details>"
    summary = "\n".join(page.lines[lines[1] - 1 : lines[2]])
    if _MARKDOWN.search(summary):
        return lines[1], (
            "forges show Markdown in a <summary> as it is: write <code>…</code>"
        )
    return None
