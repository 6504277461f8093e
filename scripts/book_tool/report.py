"""The results of a check."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import TextIO


@dataclass
class Report:
    """Counts checks, and prints each fault at once. Thread-safe."""

    out: TextIO
    passed: int = 0
    failed: int = 0
    skipped: list[str] = field(default_factory=list)  # Pages and reasons.
    lock: Lock = field(default_factory=Lock)

    def ok(self) -> None:
        with self.lock:
            self.passed += 1

    def fault(self, path: Path | str, line: int, message: str) -> None:
        """The first line of `message` is the error; the others are details."""
        first, *rest = message.splitlines()
        lines = [f"{path}:{line}: {first}"]
        lines += [f"    {text}".rstrip() for text in rest]
        with self.lock:
            self.failed += 1
            print("\n".join(lines), file=self.out, flush=True)

    def note(self, message: str) -> None:
        print(message, file=self.out, flush=True)

    def text(self) -> str:
        """What was printed so far, if `out` is a StringIO."""
        return self.out.getvalue() if isinstance(self.out, StringIO) else ""

    def add(self, other: Report) -> None:
        """Adds the results of another report, and prints its text."""
        with self.lock:
            self.passed += other.passed
            self.failed += other.failed
            self.skipped += other.skipped
            print(other.text(), end="", file=self.out, flush=True)

    def finish(self) -> int:
        """Prints the totals and returns the exit code."""
        if self.skipped:
            self.note(f"skipped: {'; '.join(self.skipped)}")
        print(f"{self.passed} passed, {self.failed} failed", file=self.out)
        return 1 if self.failed else 0
