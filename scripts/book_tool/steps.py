"""The steps, and the changes between them as scripts/diff shows them."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path


_CHAPTER = re.compile(r"(\d\d)-[^/]+\.md")


@dataclass(frozen=True)
class Change:
    kind: str  # "new", "changed" or "gone"
    added: int
    removed: int
    file: str

    @property
    def is_test(self) -> bool:
        return self.file.startswith("tests/")

    @property
    def lines(self) -> str:
        """The counts in the format of the book's tables."""
        if self.kind == "gone":
            return "gone"
        if self.kind == "new":
            return f"new, {self.added}"
        return f"+{self.added} −{self.removed}"


def chapter_number(path: Path) -> int | None:
    """Returns the NN of docs/NN-title.md, or None for any other page."""
    match = _CHAPTER.fullmatch(path.name)
    return int(match[1]) if match and path.parent == Path("docs") else None


def list_steps(root: Path) -> list[str]:
    found = (root / "steps").glob("[0-9][0-9]-*/")
    return sorted(step.name for step in found)


def pairs(root: Path) -> list[tuple[str, str]]:
    """Returns each step with the next one."""
    steps = list_steps(root)
    return list(zip(steps, steps[1:]))


def linked_diff(root: Path, name: str, anchor: str) -> tuple[str, str] | None:
    """Returns the two steps that a link to steps/02-watch#diff compares, or None
    for any other link. `name` is the link's path, seen from the root. On a forge such a
    link leads to the step's folder, on the site to the page of the diff."""
    if anchor != "diff":
        return None
    for before, after in pairs(root):
        if name == f"steps/{after}":
            return before, after
    return None


def changes(root: Path, before: str, after: str) -> list[Change]:
    found = []
    for line in scripts_diff(root, "--porcelain", before, after).splitlines():
        kind, added, removed, file = line.split("\t")
        found.append(Change(kind, _count(added), _count(removed), file))
    return found


def scripts_diff(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        [str(root / "scripts/diff"), *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def _count(text: str) -> int:
    return 0 if text == "-" else int(text)
