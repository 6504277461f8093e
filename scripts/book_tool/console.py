"""Console blocks: commands and their expected output."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .page import Fence, Page
from .pictures import is_picture

INTERRUPT = "^C"
_ANY = "…"


@dataclass(frozen=True)
class Command:
    line: int  # In the page, counted from 1.
    text: str
    expected: tuple[str, ...]  # Includes the lines that are only ^C.
    first_output: int  # The page's line of expected[0].

    @property
    def output(self) -> list[str]:
        return [line for line in self.expected if line != INTERRUPT]

    @property
    def interrupts(self) -> list[list[str]]:
        """Returns the expected output before each ^C."""
        return [
            [line for line in self.expected[:index] if line != INTERRUPT]
            for index, line in enumerate(self.expected)
            if line == INTERRUPT
        ]

    def page_line(self, output_index: int) -> int:
        """Returns the page's line of output[output_index]."""
        for index, line in enumerate(self.expected):
            if line == INTERRUPT:
                continue
            if output_index == 0:
                return self.first_output + index
            output_index -= 1
        return self.first_output + len(self.expected) - 1


def is_run(fence: Fence) -> bool:
    """Returns whether the page's bash runs the commands of this block."""
    if fence.language != "console" or is_picture(fence):
        return False
    return not (fence.title or "").startswith("needs ")


def commands(page: Page) -> list[Command]:
    """Returns all commands to run. Raises ValueError("line: message")."""
    return [c for fence in page.fences if is_run(fence) for c in _parse(fence)]


def _parse(fence: Fence) -> list[Command]:
    found: list[Command] = []
    lines = [line.rstrip() for line in fence.lines]
    index = 0
    while index < len(lines):
        if not lines[index].startswith("$ "):
            number = fence.line + 1 + index
            raise ValueError(f"{number}: no command before: {lines[index]}")
        start = index
        text = [lines[index][2:]]
        index += 1
        while index < len(lines) and (
            lines[index].startswith("> ")
            or lines[index] == ">"
            or text[-1].endswith("\\")
        ):
            text.append(re.sub(r"^>( |$)", "", lines[index]))
            index += 1
        first = index
        while index < len(lines) and not lines[index].startswith("$ "):
            index += 1
        output = lines[first:index]
        while output and not output[-1]:  # Blank lines before the next command.
            output.pop()
        found.append(
            Command(
                fence.line + 1 + start,
                "\n".join(text),
                tuple(output),
                fence.line + 1 + first,
            )
        )
    return found


@dataclass(frozen=True)
class Mismatch:
    expected: int  # The index of the expected line that is missing.
    actual: int  # The index of the line in its place.


def compare(expected: list[str], actual: list[str]) -> Mismatch | None:
    """Returns the first mismatch, or None. Tries all readings of …."""
    states = _skip(expected, {0})
    for index, line in enumerate(actual):
        after = set()
        for state in states:
            if state == len(expected):
                continue
            if expected[state].strip() == _ANY:
                after.add(state)
            elif _line_matches(expected[state], line):
                after.add(state + 1)
        if not after:
            return Mismatch(max(states), index)
        states = _skip(expected, after)
    if len(expected) in states:
        return None
    return Mismatch(max(states), len(actual))


def begins_with(expected: list[str], actual: list[str]) -> bool:
    return compare([*expected, _ANY], actual) is None


def _skip(expected: list[str], states: set[int]) -> set[int]:
    for state in sorted(states):
        while state < len(expected) and expected[state].strip() == _ANY:
            state += 1
            states.add(state)
    return states


def _line_matches(expected: str, actual: str) -> bool:
    pattern = ".*".join(map(re.escape, expected.rstrip().split(_ANY)))
    return re.fullmatch(pattern, actual.rstrip()) is not None
