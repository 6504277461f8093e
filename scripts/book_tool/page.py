"""A parser for the parts of Markdown pages that the checks need."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Callable, Iterator

_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})[ \t]*([^\s`{]*)[ \t]*([^`]*)$")
_TITLE = re.compile(r'title="([^"]*)"')
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_ID = re.compile(r"""<[a-z]+\s[^>]*\b(?:id|name)=["']([^"']+)["']""")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", re.S)
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_INLINE_LINK = re.compile(
    r"\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))*)>?(?:\s+[\"'][^)]*)?\s*\)"
)
_REFERENCE = re.compile(r"^ {0,3}\[([^\]]+)\]:[ \t]*<?(\S+?)>?(?:\s.*)?$", re.M)
_REFERENCED = re.compile(r"\]\[([^\]\n]+)\]")
_AUTOLINK = re.compile(r"<(https?:[^>]*)>")
_HTML_LINK = re.compile(
    r"""<(?:a|img|source)\s[^>]*\b(?:href|src|srcset)=["']([^"']*)["']"""
)


@dataclass(frozen=True)
class Fence:
    """A fenced block without its indentation."""

    language: str
    title: str | None
    line: int  # Of the opening fence, counted from 1.
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Mention:
    """A link's target or the text between backticks, with its line."""

    line: int
    text: str


@dataclass(frozen=True)
class Heading:
    line: int
    level: int
    text: str


def slug(heading: str) -> str:
    """Returns the anchor of a heading, as forges and the site do."""
    text = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", heading)
    text = re.sub(r"<[^>]+>", "", text).replace("*", "").replace("`", "")
    text = unicodedata.normalize("NFC", text).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


class Page:
    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.fences: list[Fence] = []
        self.unclosed: int | None = None  # The line of an unclosed fence.
        self._prose = list(self._take_fences_out())

    @staticmethod
    def read(path: Path) -> Page:
        return Page(path.read_text(encoding="utf-8"))

    def _take_fences_out(self) -> Iterator[str]:
        lines = enumerate(self.lines, 1)
        for number, line in lines:
            opening = _FENCE.match(line)
            if not opening:
                yield line
                continue
            yield ""
            indent, marks, language, attributes = opening.groups()
            closing = re.compile(rf"\s*{marks[0]}{{{len(marks)},}}\s*$")
            body: list[str] = []
            for _, inner in lines:
                yield ""
                if closing.match(inner):
                    break
                body.append(_dedent(inner, len(indent)))
            else:
                self.unclosed = number
            title = _TITLE.search(attributes)
            self.fences.append(
                Fence(
                    language, title[1] if title else None, number, tuple(body)
                )
            )

    @cached_property
    def prose(self) -> str:
        """The text with empty lines in place of fenced blocks."""
        return "\n".join(self._prose)

    @cached_property
    def headings(self) -> list[Heading]:
        return [
            Heading(number, len(m[1]), m[2])
            for number, m in enumerate(map(_HEADING.match, self._prose), 1)
            if m
        ]

    @cached_property
    def anchors(self) -> set[str]:
        found = {slug(heading.text) for heading in self.headings}
        return found | set(_ID.findall(self.prose))

    @cached_property
    def code_spans(self) -> list[Mention]:
        text = _COMMENT.sub(_blank, self.prose)
        return [
            Mention(_line(text, m.start(2)), " ".join(m[2].split()))
            for m in _SPAN.finditer(text)
        ]

    @cached_property
    def no_code(self) -> str:
        """The prose with blanks in place of code spans and comments."""
        return _SPAN.sub(_blank, _COMMENT.sub(_blank, self.prose))

    @cached_property
    def links(self) -> list[Mention]:
        text = self.no_code
        found = [
            Mention(_line(text, m.start(1)), m[1])
            for pattern in (_INLINE_LINK, _AUTOLINK, _HTML_LINK)
            for m in pattern.finditer(text)
        ]
        found += [
            Mention(_line(text, m.start(2)), m[2])
            for m in _REFERENCE.finditer(text)
        ]
        return sorted(found, key=lambda link: link.line)

    @cached_property
    def undefined_references(self) -> list[Mention]:
        text = self.no_code
        defined = {m[1].lower() for m in _REFERENCE.finditer(text)}
        return [
            Mention(_line(text, m.start(1)), m[1])
            for m in _REFERENCED.finditer(text)
            if m[1].lower() not in defined
        ]

    def write(self, file: Path) -> None:
        """Writes `lines`, which may have been changed."""
        file.write_text("\n".join(self.lines) + "\n", encoding="utf-8")

    def replace_links(self, replace: Callable[[str], str]) -> str:
        """Returns the page with new targets for inline and reference links."""
        text, result, at = self.no_code, [], 0
        source = "\n".join(self.lines)
        # Blanks replace code of the same length, but the lines of fences are
        # empty. So translate positions line by line.
        starts = _starts(self.lines)
        blank_starts = _starts(self._prose)
        spots = []
        for pattern, group in ((_INLINE_LINK, 1), (_REFERENCE, 2)):
            for m in pattern.finditer(text):
                line = _line(text, m.start(group)) - 1
                offset = m.start(group) - blank_starts[line]
                spots.append((starts[line] + offset, m[group]))
        for start, target in sorted(spots):
            result += [source[at:start], replace(target)]
            at = start + len(target)
        return "".join(result) + source[at:] + "\n"


def _dedent(line: str, width: int) -> str:
    blanks = len(line) - len(line.lstrip())
    return line[min(width, blanks) :]


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _starts(lines: list[str]) -> list[int]:
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return starts
