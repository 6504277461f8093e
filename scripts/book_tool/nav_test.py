import tempfile
import unittest
from pathlib import Path
from typing import Any

from .nav import nav


class NavTest(unittest.TestCase):
    def nav_of(self, *names: str) -> list[Any]:
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                page = Path(folder, name)
                page.parent.mkdir(exist_ok=True)
                page.touch()
            return nav(Path(folder), [{"01 → 02": "diffs/01-02.md"}])

    def test_orders_the_pages(self) -> None:
        self.assertEqual(
            self.nav_of(
                *("02-watch.md", "01-poll.md", "glossary.md", "index.md"),
                *("maintaining/benchmarks.md", "maintaining/writing.md"),
                *("maintaining/architecture.md", "one-pods-life.md"),
                *("questions/a.md", "questions/why-not.md"),
                *("questions/my-pod-is-pending.md", "reference/trace.md"),
            ),
            [
                {"Start": "index.md"},
                *("01-poll.md", "02-watch.md", "one-pods-life.md"),
                {
                    "Questions": [
                        "questions/my-pod-is-pending.md",
                        "questions/why-not.md",
                        "questions/a.md",
                    ]
                },
                "glossary.md",
                {"Reference": ["reference/trace.md"]},
                {
                    "For maintainers": [
                        "maintaining/architecture.md",
                        "maintaining/writing.md",
                        "maintaining/benchmarks.md",
                    ]
                },
                {"From step to step": [{"01 → 02": "diffs/01-02.md"}]},
            ],
        )

    def test_leaves_out_what_does_not_exist(self) -> None:
        self.assertEqual(
            self.nav_of("01-poll.md"),
            [
                {"Start": "index.md"},
                "01-poll.md",
                {"From step to step": [{"01 → 02": "diffs/01-02.md"}]},
            ],
        )
