"""`book check`, and the pictures of `book build`. Needs only Python: MkDocs
makes the rest of the site."""

from __future__ import annotations

import argparse
import io
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

from . import console
from .details import check_details
from .form import check_form
from .links import check_links
from .listings import check_listings
from .page import Page
from .pictures import Gallery, check_pictures, is_picture
from .report import Report
from .run import Runner
from .tables import check_table
from .times import check_times


def main(arguments: list[str], out: TextIO = sys.stdout) -> int:
    options = _parse(arguments)
    root = options.root.resolve()
    try:
        paths = _pages(root, options.page)
    except ValueError as error:
        print(f"book: {error}", file=sys.stderr)
        return 1
    pages = {path: Page.read(root / path) for path in paths}
    book = {p: page for p, page in pages.items() if _is_of_the_book(p)}
    if options.has_commands:
        found = any(
            console.is_run(fence) or is_picture(fence)
            for page in book.values()
            for fence in page.fences
        )
        return 0 if found else 1

    report = Report(out)
    gallery = Gallery(root, options.binaries.resolve())
    if options.pictures:
        for path, page in book.items():
            check_pictures(root, path, page, report)
        gallery.play_all(book, report, only_stale=True)
        return report.finish() if report.failed else 0
    runner = None
    if not options.no_run:
        runner = Runner(root, options.binaries.resolve(), options.deadline)
    for path, page in pages.items():
        _check(root, path, page, options.fix, report)
    if runner:
        # Commands wait most of the time, so the pages run in parallel.
        with ThreadPoolExecutor() as executor:
            runs = {
                path: executor.submit(_run, runner, path, page)
                for path, page in book.items()
            }
            gallery.play_all(book, report)
        for path, run in runs.items():
            result = run.result()  # Raises the exceptions of the run.
            if result.failed:
                # On a busy machine, a page can miss a deadline.
                report.note(f"{result.text()}{path}: running it again, alone")
                result = _run(runner, path, book[path])
            report.add(result)
    return report.finish()


def _run(runner: Runner, path: Path, page: Page) -> Report:
    """Runs the commands of a page, and returns a report of its own."""
    report = Report(io.StringIO())
    runner.check_page(path, page, report)
    return report


def _check(
    root: Path,
    path: Path,
    page: Page,
    fix: bool,
    report: Report,
) -> None:
    check_links(root, path, page, report)
    if not _is_of_the_book(path):
        return
    check_listings(root, path, page, report)
    check_details(path, page, report)
    check_form(root, path, page, report, fix)
    check_table(root, path, page, report, fix)
    check_times(root, path, page, report, fix)
    check_pictures(root, path, page, report)


def _is_of_the_book(path: Path) -> bool:
    """Returns false for README.md and the like: only their links are checked."""
    return path.parts[0] == "docs"


def _pages(root: Path, names: list[str]) -> list[Path]:
    """Returns the named pages, relative to the root, or all pages."""
    if not names:
        found = [
            page
            for pattern in ("*.md", "docs/**/*.md", "steps/*/README.md")
            for page in root.glob(pattern)
        ]
        return sorted(page.relative_to(root) for page in found)
    paths = []
    for name in names:
        file = Path(name).resolve()
        if not file.is_file():
            raise ValueError(f"no such page: {name}")
        if not file.is_relative_to(root):
            raise ValueError(f"{name} is not in {root}")
        paths.append(file.relative_to(root))
    return paths


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="book check", add_help=False)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument(
        "--binaries", type=Path, default=Path(os.devnull), metavar="FOLDER"
    )
    parser.add_argument("--deadline", type=float, default=60.0)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--has-commands", action="store_true")
    parser.add_argument("--pictures", action="store_true")
    parser.add_argument("page", nargs="*")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
