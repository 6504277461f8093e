"""The order of the site's pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_QUESTIONS = ("my-pod-is-pending.md", "configure-your-scheduler.md",
              "your-own-plugin.md", "why-not.md")
_MAINTAINING = ("architecture.md", "writing.md")


def nav(docs: Path, diffs: list[dict[str, str]]) -> list[Any]:
    """Returns MkDocs' `nav` for the pages that exist."""
    found: list[Any] = [
        {"Start": "index.md"},
        *sorted(page.name for page in docs.glob("[0-9][0-9]-*.md")),
        *_page(docs, "one-pods-life.md"),
        *_section("Questions", _pages(docs, "questions", _QUESTIONS)),
        *_page(docs, "glossary.md"),
        *_section("Reference", _pages(docs, "reference")),
        *_section("For maintainers", _pages(docs, "maintaining", _MAINTAINING)),
        *_section("From step to step", diffs),
    ]
    return found


def _page(docs: Path, name: str) -> list[str]:
    return [name] if (docs / name).exists() else []


def _pages(docs: Path, folder: str, first: tuple[str, ...] = ()) -> list[str]:
    """Returns the folder's pages: those of `first`, then the others."""
    names = {page.name for page in docs.glob(f"{folder}/*.md")}
    known = [name for name in first if name in names]
    return [f"{folder}/{name}" for name in known + sorted(names - set(first))]


def _section(title: str, pages: list[Any]) -> list[dict[str, list[Any]]]:
    return [{title: pages}] if pages else []
