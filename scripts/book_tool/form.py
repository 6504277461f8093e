"""Checks the form of a chapter: its reading time, its length, its closing
questions and the place of its proofs."""

from __future__ import annotations

import re
from pathlib import Path

from .details import find_details
from .page import Heading, Page
from .report import Report
from .steps import chapter_number

_PROOFS = "Why it is right"
_QUESTIONS, _AFTER_QUESTIONS = "Questions", "Exercises"
_TIME = re.compile(r"\*\*(\d+) minutes\.\*\*(?=\s|$)")
_MAX_WORDS = 5100
# An estimate for readers who read the listings and type the commands.
_WORDS_PER_MINUTE = 120
_QUESTION_COUNT = 3

_Problem = tuple[int, str] | None  # A line, and the error.


def check_form(
    root: Path, path: Path, page: Page, report: Report, fix: bool = False
) -> None:
    """Checks docs/NN-title.md. With `fix`, corrects the reading time in the
    file."""
    chapter = chapter_number(path)
    if chapter is None:
        return
    sections = [heading for heading in page.headings if heading.level == 2]
    words = _count_words(page, sections)
    problems = [
        _check_time(root / path, page, sections, words, fix),
        _check_length(words),
        _check_proofs(sections),
    ]
    if chapter > 0:
        problems.append(_check_questions(page, sections))
    for problem in problems:
        if problem:
            report.fault(path, *problem)
        else:
            report.ok()


def reading_time(page: Page) -> int | None:
    """Returns the reading time that the page names, in minutes."""
    times = filter(None, map(_TIME.match, page.prose.split("\n")))
    return next((int(time[1]) for time in times), None)


def _count_words(page: Page, sections: list[Heading]) -> int:
    """Counts the words, as wc does, up to the proofs."""
    ends = [section.line - 1 for section in sections if section.text == _PROOFS]
    lines = page.lines[: ends[0] if ends else None]
    return sum(len(line.split()) for line in lines)


def _minutes(words: int) -> int:
    """Rounds to the nearest multiple of 5."""
    step = 5 * _WORDS_PER_MINUTE
    return max(5, 5 * ((words + step // 2) // step))


def _check_time(
    file: Path, page: Page, sections: list[Heading], words: int, fix: bool
) -> _Problem:
    first = sections[0].line if sections else len(page.lines) + 1
    intro = page.prose.split("\n")[: first - 1]
    times = [
        (index, match)
        for index, match in enumerate(map(_TIME.match, intro))
        if match
    ]
    minutes = _minutes(words)
    line = f"**{minutes} minutes.**"
    if len(times) != 1:
        return 1, (
            f"expected one line {line} … before the first section, "
            f"found {len(times)}"
        )
    index, found = times[0]
    above = [text for text in intro[:index] if text and text[0] != "#"]
    if not above or intro[index - 1].strip():
        return index + 1, "the reading time must be below the first paragraph"
    if int(found[1]) == minutes:
        return None
    if not fix:
        return index + 1, f"expected {line}, found {found[0]} ({words} words)"
    page.lines[index] = line + page.lines[index][found.end() :]
    page.write(file)
    return None


def _check_length(words: int) -> _Problem:
    if words <= _MAX_WORDS:
        return None
    return 1, (
        f'expected at most {_MAX_WORDS} words before "## {_PROOFS}", '
        f"found {words}"
    )


def _check_proofs(sections: list[Heading]) -> _Problem:
    for section, after in zip(sections, sections[1:]):
        if section.text == _PROOFS:
            return section.line, (
                f'"## {_PROOFS}" must be the last section: '
                f'"## {after.text}" is below it'
            )
    return None


def _check_questions(page: Page, sections: list[Heading]) -> _Problem:
    names = [section.text for section in sections]
    if names.count(_QUESTIONS) != 1:
        return 1, (
            f'expected one section "## {_QUESTIONS}", '
            f"found {names.count(_QUESTIONS)}"
        )
    at = names.index(_QUESTIONS)
    line = sections[at].line
    if names[at + 1 : at + 2] != [_AFTER_QUESTIONS]:
        return line, (
            f'"## {_QUESTIONS}" must be directly before '
            f'"## {_AFTER_QUESTIONS}"'
        )
    end = sections[at + 1].line
    count = sum(line < block.line < end for block in find_details(page))
    if count == _QUESTION_COUNT:
        return None
    return line, (
        f'expected {_QUESTION_COUNT} <details> blocks in "## {_QUESTIONS}", '
        f"found {count}"
    )
