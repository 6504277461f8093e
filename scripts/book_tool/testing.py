"""A small repository for tests."""

from __future__ import annotations

import io
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Callable

from .__main__ import main
from .page import Page
from .report import Report

ROOT = Path(__file__).resolve().parents[2]

SCHEDULER = """\
#include "scheduler.h"

namespace minisched {

void Scheduler::Run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    ScheduleOne();
  }
}

}  // namespace minisched
"""

CHAPTER = """\
# 02 · Watch

From [the last step](../steps/01-poll/scheduler.cc#L5) to
[this one](../steps/02-watch#diff): [what changes](#what-changes), in `steps/02-watch/`.

**5 minutes.** Skip nothing.

## What changes

<!-- changed-files -->
| file | what changes | lines |
| --- | --- | --- |
| `scheduler.cc` | no loop | +1 −3 |
| `queue.h` | the queue | new, 2 |
| `poll.h` | the poller | gone |

```cpp title="steps/01-poll/scheduler.cc"
while (!stop.stop_requested()) {
  // …
}
```

```console
$ echo one; echo two
one
…
```

## Questions

<details>
<summary>What waits in the queue?</summary>

Pods.

</details>

<details>
<summary>What does <code>Run</code> wait for?</summary>

The [queue](../steps/02-watch/queue.h).

</details>

<details>
<summary>What ends it?</summary>

The stop token:

```console
$ echo stop
stop
```

</details>

## Exercises

None.

## Why it is right

A first reading may skip this.
"""


class RepositoryTest(unittest.TestCase):
    """A fixture with a chapter without faults in self.root."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.write("docs/02-watch.md", CHAPTER)
        self.write("steps/01-poll/scheduler.cc", SCHEDULER)
        self.write("steps/01-poll/poll.h", "#pragma once\n")
        self.write(
            "steps/02-watch/scheduler.cc",
            SCHEDULER.replace(
                "  while (!stop.stop_requested()) {\n", ""
            ).replace("    ScheduleOne();\n  }\n", "  ScheduleOne();\n"),
        )
        self.write("steps/02-watch/queue.h", "#pragma once\n\n")
        self.write("steps/02-watch/tests/queue_test.cc", "// A test.\n")
        self.write("steps/02-watch/tests/queue_testing.h", "// For tests.\n")
        self.write("steps/02-watch/tests/queue_benchmark.cc", "// Measures.\n")
        self.write("steps/02-watch/README.md", "# 02\n")
        shutil.copytree(ROOT / "scripts/lib", self.root / "scripts/lib")
        shutil.copy(ROOT / "scripts/diff", self.root / "scripts/diff")

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        self.write(name, text.replace(old, new, 1))

    def check(self, *arguments: str) -> tuple[int, str]:
        """Returns the exit code and the output of `book check`."""
        out = io.StringIO()
        code = main(["--root", str(self.root), *arguments], out)
        return code, out.getvalue()

    def assert_fault(self, line: int, message: str, *arguments: str) -> None:
        code, output = self.check(*arguments)
        self.assertIn(f"docs/02-watch.md:{line}: {message}", output)
        self.assertEqual(code, 1)


def faults(check: Callable[[Page, Report], None], text: str) -> list[str]:
    """Returns the output lines of a check of a page."""
    report = Report(out=io.StringIO())
    check(Page(text), report)
    assert isinstance(report.out, io.StringIO)
    return report.out.getvalue().splitlines()
