import unittest
from pathlib import Path

from .details import check_details, enable_markdown, find_details
from .page import Page
from .testing import faults

BLOCK = "<details>\n<summary>Why?</summary>\n\nBecause.\n\n</details>\n"


def faults_of(text: str) -> list[str]:
    return faults(
        lambda page, report: check_details(Path("p.md"), page, report), text
    )


class DetailsTest(unittest.TestCase):
    def test_accepts_whole_blocks(self) -> None:
        self.assertEqual(faults_of(BLOCK + "\n" + BLOCK), [])
        self.assertEqual(
            faults_of(BLOCK.replace("Why?", "Why\nis <code>a</code> b?")), []
        )

    def test_finds_the_lines_of_blocks(self) -> None:
        page = Page(f"# One\n\n{BLOCK}\n```text\n{BLOCK}```\n`<details>`\n")
        self.assertEqual([block.line for block in find_details(page)], [3])

    def test_rejects_incomplete_blocks(self) -> None:
        for old, new, expected in (
            ("</details>", "", "1: <details> without </details>"),
            ("</details>", BLOCK, "1: <details> without </details>"),
            ("<details>", "", "2: <summary> outside of a <details> block"),
            ("<summary>Why?</summary>", "", "1: expected one <summary>"),
            ("</summary>", "", "1: expected one <summary>"),
        ):
            output = faults_of(BLOCK.replace(old, new, 1))
            self.assertTrue(output[0].startswith(f"p.md:{expected}"), output)

    def test_rejects_what_forges_or_the_site_would_not_show(self) -> None:
        for old, new, expected in (
            ("<details>", "- <details>", "1: <details> must have its own line"),
            ("</details>", "  </details>", "6: </details> must have its own"),
            ("summary>\n\n", "summary>\n", "2: no blank line after </summary>"),
            ("\n\n</details>", "\n</details>", "5: no blank line before"),
            ("Why?", "Why `a`?", "2: forges show Markdown in a <summary>"),
            ("Why?", "Why [a](b)?", "2: forges show Markdown in a <summary>"),
        ):
            output = faults_of(BLOCK.replace(old, new, 1))
            self.assertEqual(len(output), 1, new)
            self.assertTrue(output[0].startswith(f"p.md:{expected}"), output)

    def test_enables_markdown_outside_of_fences(self) -> None:
        fence = f"```text\n{BLOCK}```\n"
        enabled = BLOCK.replace("<details>", '<details markdown="1">')
        self.assertEqual(
            enable_markdown(BLOCK + fence + BLOCK), enabled + fence + enabled
        )
