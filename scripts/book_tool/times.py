"""Checks the reading times in a table of chapters."""

from __future__ import annotations

import re
from pathlib import Path

from .form import reading_time
from .page import Page
from .report import Report
from .tables import cells_of, set_last_cells

_TITLE = "minutes"  # Of the last column.
_SUM = "all"  # The first cell of the row with the sum.
_LINK = re.compile(r"\]\(([^)#]+\.md)\)")


def check_times(
    root: Path, path: Path, page: Page, report: Report, fix: bool = False
) -> None:
    """Checks the number in each row whose first cell links to a page with a
    reading time, and the sum. With `fix`, corrects them in the file."""
    fixes: dict[int, str] = {}
    total: int | None = None  # None outside of tables with reading times.
    for line, text in enumerate(page.prose.split("\n"), 1):
        cells = cells_of(text)
        if not cells or cells[-1] == _TITLE:
            total = 0 if cells else None
        if total is None:
            continue
        if cells[0] == _SUM:
            minutes = total
        else:
            minutes = _linked_time(root / path.parent, cells[0])
            total += minutes or 0
        if minutes is None:
            continue
        if cells[-1] == str(minutes):
            report.ok()
        elif fix:
            fixes[line] = str(minutes)
            report.ok()
        else:
            report.fault(
                path,
                line,
                f"{cells[0]}: expected {minutes} minutes, found {cells[-1]}",
            )
    if fixes:
        set_last_cells(page.lines, fixes)
        page.write(root / path)


def _linked_time(folder: Path, cell: str) -> int | None:
    link = _LINK.search(cell)
    file = folder / link[1] if link else None
    if not file or not file.is_file():
        return None
    return reading_time(Page.read(file))
