from .testing import RepositoryTest

INDEX = "docs/index.md"
TEXT = """\
# Map

| chapter | minutes |
| --- | --- |
| [02 watch](02-watch.md) | 5 |
| **To come** | |
| [reference](reference/trace.md#x) | |
| [a page](life.md) | 15 |
| all | 20 |

| other | time |
| --- | --- |
| [02](02-watch.md) | 7 |
"""


class TimesTest(RepositoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("docs/life.md", "# Life\n\nText.\n\n**15 minutes.** Skip.\n")
        self.write("docs/reference/trace.md", "# Trace\n\n## X\n")
        self.write(INDEX, TEXT)

    def assert_reports(self, *messages: str) -> None:
        code, output = self.check("--no-run")
        self.assertEqual(output.splitlines()[:-1], list(messages))
        self.assertEqual(code, 1)

    def test_accepts_the_times_of_the_pages(self) -> None:
        self.assertEqual(self.check("--no-run")[0], 0)

    def test_reports_a_wrong_time(self) -> None:
        self.edit(INDEX, "| 5 |", "| 10 |")
        self.assert_reports(
            f"{INDEX}:5: [02 watch](02-watch.md): expected 5 minutes, found 10"
        )

    def test_reports_a_wrong_sum(self) -> None:
        self.edit(INDEX, "| 20 |", "| 25 |")
        self.assert_reports(f"{INDEX}:9: all: expected 20 minutes, found 25")

    def test_fix_corrects_times_and_the_sum(self) -> None:
        self.edit(INDEX, "| 15 |", "| 5 |")
        self.edit(INDEX, "| 20 |", "| |")
        self.assertEqual(self.check("--no-run", "--fix")[0], 0)
        self.assertEqual((self.root / INDEX).read_text(), TEXT)
