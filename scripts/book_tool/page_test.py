import unittest

from .page import Heading, Page, slug


class PageTest(unittest.TestCase):
    def test_removes_fences_and_keeps_line_numbers(self) -> None:
        page = Page(
            "# One\n"
            '```cpp title="a.cc" hl_lines="1"\n'
            "# Not a heading, [not a link](x)\n"
            "```\n"
            "[a link](y)\n"
            "- item\n\n"
            "  ~~~~text\n"
            "  ~~~\n"
            "    deeper\n"
            "  ~~~~\n"
        )
        first, second = page.fences
        self.assertEqual(
            (first.language, first.title, first.line), ("cpp", "a.cc", 2)
        )
        self.assertEqual(second.lines, ("~~~", "  deeper"))
        self.assertEqual(page.anchors, {"one"})
        self.assertEqual(page.headings, [Heading(1, 1, "One")])
        self.assertEqual([(m.line, m.text) for m in page.links], [(5, "y")])

    def test_finds_an_unclosed_fence(self) -> None:
        self.assertEqual(Page("text\n```text\nmore\n").unclosed, 2)

    def test_makes_the_anchors_of_forges(self) -> None:
        self.assertEqual(slug("01 · Random bind"), "01--random-bind")
        self.assertEqual(
            slug("What `a_b` [is](x), *really*"), "what-a_b-is-really"
        )
        self.assertIn("here", Page('<a id="here"></a>\n').anchors)

    def test_finds_links_of_all_kinds(self) -> None:
        page = Page(
            '[a](one.md) ![b](two.png "title") [c][ref] `[d](code)`\n'
            "<!-- [e](comment) --> <https://example.com>\n"
            '[ref]: three.md\n<img src="four.png">\n<source srcset="six.png">'
            "\n[g](five(1).md) [x][gone]\n"
        )
        self.assertEqual(
            {link.text for link in page.links},
            {"one.md", "two.png", "three.md", "four.png", "five(1).md"}
            | {"six.png", "https://example.com"},
        )
        self.assertEqual([m.text for m in page.undefined_references], ["gone"])

    def test_code_spans_may_contain_line_breaks(self) -> None:
        page = Page("a `scripts/run\n01` and ``b`c``\n\nno ` span\n\n` here\n")
        self.assertEqual(
            [(m.line, m.text) for m in page.code_spans],
            [(1, "scripts/run 01"), (2, "b`c")],
        )

    def test_replacing_links_keeps_the_rest(self) -> None:
        text = (
            "é [a](x) `[b](x)`\n```text\n[c](x)\n```\n[d](x) [e](x)\n\n[r]: x\n"
        )
        replaced = Page(text).replace_links(lambda target: target + "yz")
        self.assertEqual(
            replaced,
            "é [a](xyz) `[b](x)`\n```text\n[c](x)\n```\n[d](xyz) [e](xyz)\n\n"
            "[r]: xyz\n",
        )
