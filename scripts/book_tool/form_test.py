from .page import Page
from .testing import CHAPTER as TEXT
from .testing import RepositoryTest

CHAPTER = "docs/02-watch.md"


class FormTest(RepositoryTest):
    def assert_reports(self, line: int, message: str) -> None:
        self.assert_fault(line, message, "--no-run")

    def line_of(self, text: str) -> int:
        return (self.root / CHAPTER).read_text().split("\n").index(text) + 1

    def add_words(self, count: int, before: str) -> None:
        self.edit(CHAPTER, before, "word\n" * count + "\n" + before)

    def test_reports_a_missing_reading_time(self) -> None:
        self.edit(CHAPTER, "**5 minutes.** Skip", "Skip")
        self.assert_reports(1, "expected one line **5 minutes.** … before")
        self.edit(CHAPTER, "None.", "**5 minutes.**")
        self.assert_reports(1, "expected one line **5 minutes.** … before")

    def test_reports_two_reading_times(self) -> None:
        self.edit(CHAPTER, "Skip", "Skip\n\n**5 minutes.**")
        self.assert_reports(1, "expected one line **5 minutes.** … before")

    def test_reports_a_reading_time_in_the_wrong_place(self) -> None:
        message = "the reading time must be below the first paragraph"
        self.edit(CHAPTER, "\n\n**5", "\n**5")
        self.assert_reports(5, message)
        self.write(CHAPTER, TEXT.replace("**5 minutes.** Skip", "Skip"))
        self.edit(CHAPTER, "From", "**5 minutes.**\n\nFrom")
        self.assert_reports(3, message)

    def test_reports_a_wrong_reading_time(self) -> None:
        self.edit(CHAPTER, "**5 m", "**10 m")
        self.assert_reports(6, "expected **5 minutes.**, found **10 minutes.**")

    def test_rounds_the_reading_time(self) -> None:
        words = len(TEXT.partition("## Why it is right")[0].split())
        self.add_words(899 - words, "## Exercises")
        self.assertEqual(self.check("--no-run")[0], 0)
        self.add_words(1, "## Exercises")
        self.assert_reports(6, "expected **10 minutes.**, found **5 minutes.**")

    def test_does_not_count_the_proofs(self) -> None:
        self.add_words(6000, "A first reading")
        self.assertEqual(self.check("--no-run")[0], 0)
        self.edit(CHAPTER, "## Why it is right", "## More")
        self.assert_reports(6, "expected **50 minutes.**, found **5 minutes.**")

    def test_fix_corrects_the_reading_time_and_the_counts(self) -> None:
        self.edit(CHAPTER, "**5 m", "**10 m")
        self.edit(CHAPTER, "new, 2", "new, 3")
        self.assertEqual(self.check("--no-run", "--fix")[0], 0)
        self.assertEqual((self.root / CHAPTER).read_text(), TEXT)

    def test_reports_too_many_words(self) -> None:
        self.add_words(5100, "## Exercises")
        self.assert_reports(1, "expected at most 5100 words before")

    def test_reports_proofs_that_are_not_last(self) -> None:
        line = self.line_of("## Why it is right")
        self.edit(CHAPTER, "A first reading", "## More\n\nA first reading")
        self.assert_reports(
            line, '"## Why it is right" must be the last section: "## More" is'
        )

    def test_reports_questions_in_the_wrong_place(self) -> None:
        line = self.line_of("## Questions")
        self.edit(CHAPTER, "## Exercises", "## More")
        self.assert_reports(line, '"## Questions" must be directly before')
        self.edit(CHAPTER, "## Questions", "## Why?")
        self.assert_reports(1, 'expected one section "## Questions", found 0')

    def test_reports_a_wrong_number_of_questions(self) -> None:
        line = self.line_of("## Questions")
        page = Page(TEXT)
        start = page.lines.index("<details>")
        del page.lines[start : page.lines.index("</details>") + 1]
        page.write(self.root / CHAPTER)
        self.assert_reports(line, 'expected 3 <details> blocks in "## Quest')

    def test_chapter_00_needs_no_questions(self) -> None:
        self.write("docs/00-start.md", "# 00\n\nText.\n\n**5 minutes.**\n")
        self.assertEqual(self.check("--no-run")[0], 0)

    def test_other_pages_have_no_form(self) -> None:
        for name in ("docs/index.md", "docs/reference/02-x.md"):
            self.write(name, "# Title\n\n## Why it is right\n\n## Questions\n")
        self.assertEqual(self.check("--no-run")[0], 0)
