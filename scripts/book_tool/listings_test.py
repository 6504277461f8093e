from pathlib import Path

from .listings import check_listings
from .testing import RepositoryTest, faults

FILE = "steps/01-poll/scheduler.cc"


class ListingsTest(RepositoryTest):
    def faults_of(
        self, *lines: str, fence: str = f'cpp title="{FILE}"'
    ) -> list[str]:
        text = "\n".join([f"```{fence}", *lines, "```", ""])
        return faults(
            lambda page, report: check_listings(
                self.root, Path("p.md"), page, report
            ),
            text,
        )

    def test_accepts_consecutive_lines(self) -> None:
        self.assertEqual(self.faults_of("    ScheduleOne();", "  }"), [])

    def test_accepts_a_dedented_listing(self) -> None:
        self.assertEqual(self.faults_of("  ScheduleOne();", "}"), [])
        self.assertNotEqual(self.faults_of("  ScheduleOne();", "  }"), [])

    def test_accepts_elisions(self) -> None:
        self.assertEqual(
            self.faults_of(
                "namespace minisched {",
                "",
                "// …",
                "    ScheduleOne();",
                "…",
                "}",
            ),
            [],
        )

    def test_rejects_parts_in_the_wrong_order(self) -> None:
        self.assertTrue(
            self.faults_of(
                "    ScheduleOne();", "// …", "namespace minisched {"
            )[0].startswith(
                f"p.md:4: not in {FILE}, or not in this order:"
            )
        )

    def test_shows_both_lines_of_a_difference(self) -> None:
        output = self.faults_of("    ScheduleOne();", "  };")
        self.assertTrue(output[0].startswith(f"p.md:3: not in {FILE}"))
        self.assertEqual(output[1:], ["    listing:   };", "    line 8:   }"])

    def test_code_needs_a_title(self) -> None:
        self.assertIn(
            "a cpp block without a title", self.faults_of(fence="cpp")[0]
        )
        self.assertIn("a fence without a language", self.faults_of(fence="")[0])
        for fence in ("text", "diff", 'sh title="not in the repository"'):
            self.assertEqual(self.faults_of("x", fence=fence), [])

    def test_rejects_a_missing_file_and_an_empty_listing(self) -> None:
        self.assertEqual(
            self.faults_of("x", fence='cpp title="steps/none.cc"'),
            ["p.md:1: no such file: steps/none.cc"],
        )
        self.assertIn("an empty listing", self.faults_of("")[0])
