import unittest

from .console import begins_with, commands, compare
from .page import Page


def parse(*lines: str):
    return commands(Page("\n".join(["```console", *lines, "```", ""])))


class ParseTest(unittest.TestCase):
    def test_parses_commands_and_their_output(self) -> None:
        first, second = parse("$ a", "one", "", "two", "", "$ b")
        self.assertEqual((first.line, first.text), (2, "a"))
        self.assertEqual(first.expected, ("one", "", "two"))
        self.assertEqual(first.page_line(2), 5)
        self.assertEqual((second.line, second.expected), (7, ()))

    def test_parses_commands_of_several_lines(self) -> None:
        first, second, third = parse(
            *("$ a \\", "    b", "out"),
            *("$ c \\", "> d"),
            *("$ cat <<E", "> x", "> E", "x"),
        )
        self.assertEqual(
            (first.text, first.expected), ("a \\\n    b", ("out",))
        )
        self.assertEqual(second.text, "c \\\nd")
        self.assertEqual(
            (third.text, third.expected), ("cat <<E\nx\nE", ("x",))
        )

    def test_parses_interrupts(self) -> None:
        (command,) = parse("$ a", "one", "^C", "two")
        self.assertEqual(command.output, ["one", "two"])
        self.assertEqual(command.interrupts, [["one"]])
        self.assertEqual(command.page_line(1), 5)

    def test_skips_other_blocks_and_rejects_bare_output(self) -> None:
        page = Page(
            '```console title="needs kind"\n$ a\n```\n```text\n$ b\n```\n'
        )
        self.assertEqual(commands(page), [])
        with self.assertRaisesRegex(ValueError, "^2: no command before: a"):
            parse("a")


class CompareTest(unittest.TestCase):
    def matches(self, expected: list[str], actual: list[str]) -> bool:
        return compare(expected, actual) is None

    def test_compares_line_by_line(self) -> None:
        self.assertTrue(self.matches(["a ", "b"], ["a", "b  "]))
        self.assertFalse(self.matches(["a"], ["a", "b"]))
        self.assertFalse(self.matches(["a", "b"], ["a"]))
        self.assertTrue(self.matches(["a.c"], ["a.c"]))
        self.assertFalse(self.matches(["a.c"], ["abc"]))

    def test_an_ellipsis_matches_any_text_in_a_line(self) -> None:
        self.assertTrue(self.matches(["a…c…"], ["abbbc"]))
        self.assertFalse(self.matches(["a…c"], ["a", "c"]))

    def test_an_ellipsis_matches_any_lines(self) -> None:
        for actual in (["a", "z"], ["a", "b", "z"], ["a", "z", "z"]):
            self.assertTrue(self.matches(["a", "…", "z"], actual))
        self.assertTrue(self.matches(["…"], []))
        self.assertFalse(self.matches(["…", "z"], ["z", "y"]))

    def test_returns_the_place_of_a_mismatch(self) -> None:
        mismatch = compare(["a", "b", "c"], ["a", "x"])
        assert mismatch
        self.assertEqual((mismatch.expected, mismatch.actual), (1, 1))

    def test_begins_with_matches_a_prefix(self) -> None:
        self.assertTrue(begins_with(["a"], ["a", "b"]))
        self.assertFalse(begins_with(["a", "b"], ["a"]))
        self.assertTrue(begins_with([], []))
