"""Tests that `book check` reports a fault of each kind."""

import io
import os
from pathlib import Path
from unittest import mock, skipUnless

from .page import Page
from .report import Report
from .run import Runner
from .testing import ROOT, RepositoryTest

CHAPTER = "docs/02-watch.md"
BINARIES = Path(os.environ.get("MINISCHED_BIN") or ROOT / "build/bin")


class CheckTest(RepositoryTest):
    def assert_reports(self, line: int, message: str) -> None:
        self.assert_fault(line, message, "--no-run")

    def test_no_fault(self) -> None:
        code, output = self.check("--no-run")
        self.assertEqual((code, output), (0, "16 passed, 0 failed\n"))

    def test_reports_a_changed_line_of_a_listing(self) -> None:
        self.edit(
            "steps/01-poll/scheduler.cc", "while (!stop", "while (!stopped"
        )
        self.edit("steps/02-watch/scheduler.cc", "ScheduleOne", "ScheduleOne")
        self.assert_reports(18, "not in steps/01-poll/scheduler.cc")

    def test_reports_a_dead_link(self) -> None:
        (self.root / "steps/01-poll/scheduler.cc").unlink()
        self.assert_reports(3, "dead link: ../steps/01-poll/scheduler.cc")

    def test_reports_a_dead_link_in_an_answer(self) -> None:
        self.edit(CHAPTER, "[queue](../steps/02-watch/", "[queue](")
        self.assert_reports(41, "dead link: queue.h")

    def test_reports_an_incomplete_details_block(self) -> None:
        self.edit(CHAPTER, "</details>", "")
        self.assert_reports(31, "<details> without </details>")

    def test_reports_a_dead_anchor(self) -> None:
        self.edit(CHAPTER, "## What changes", "## What has changed")
        self.assert_reports(4, "dead anchor: no heading here for #what-changes")

    def test_reports_a_file_that_the_table_lacks(self) -> None:
        self.edit(CHAPTER, "| `queue.h` | the queue | new, 2 |\n", "")
        self.assert_reports(10, "queue.h is missing in the table (new, 2)")

    def test_reports_unchanged_and_duplicate_files_in_the_table(self) -> None:
        self.edit(CHAPTER, "`queue.h`", "`stack.h`")
        self.assert_reports(14, "stack.h is the same in 01-poll and 02-watch")
        self.edit(CHAPTER, "`stack.h`", "[`scheduler.cc`](x)")
        self.assert_reports(14, "scheduler.cc is in the table twice")

    def test_reports_a_wrong_count(self) -> None:
        self.edit(CHAPTER, "+1 −3", "+1 −4")
        self.assert_reports(13, "scheduler.cc: expected +1 −3, found +1 −4")

    def test_fix_corrects_only_counts(self) -> None:
        before = (self.root / CHAPTER).read_text(encoding="utf-8")
        self.edit(CHAPTER, "+1 −3", "+1 −4")
        self.edit(CHAPTER, "new, 2", "new, 3")
        self.assertEqual(self.check("--no-run", "--fix")[0], 0)
        self.assertEqual(
            (self.root / CHAPTER).read_text(encoding="utf-8"), before
        )

    def test_accepts_other_forms_of_counts(self) -> None:
        self.edit(CHAPTER, "+1 −3", "+1 -3")
        self.edit("steps/02-watch/queue.h", "once", "twice")
        self.assertEqual(self.check("--no-run")[0], 0)

    def test_reports_a_missing_table(self) -> None:
        self.edit(CHAPTER, "<!-- changed-files -->", "")
        self.assert_reports(1, "expected one table of changed files")
        self.edit(CHAPTER, "## What changes", "<!-- changed-files -->")
        self.assert_reports(8, "expected a table")

    def test_reports_a_chapter_without_a_step(self) -> None:
        (self.root / CHAPTER).rename(self.root / "docs/03-filter.md")
        code, output = self.check("--no-run")
        self.assertIn(
            "docs/03-filter.md:1: no step 03, or none before it", output
        )
        self.assertEqual(code, 1)

    def test_reports_code_without_a_title(self) -> None:
        self.edit(CHAPTER, ' title="steps/01-poll/scheduler.cc"', "")
        self.assert_reports(17, "a cpp block without a title")

    def test_checks_only_the_named_pages(self) -> None:
        self.write("docs/index.md", "[dead](link)\n")
        self.assertEqual(self.check("--no-run", str(self.root / CHAPTER))[0], 0)
        self.assertEqual(self.check("--no-run")[0], 1)
        self.assertEqual(self.check("--no-run", "docs/none.md")[0], 1)

    def test_checks_the_links_of_readmes(self) -> None:
        self.write("steps/02-watch/README.md", "[dead](link)\n```sh\nx\n```\n")
        code, output = self.check("--no-run")
        self.assertIn("steps/02-watch/README.md:1: dead link", output)
        self.assertEqual(output.count("README"), 1)
        self.assertEqual(code, 1)


@skipUnless((BINARIES / "minisched-apiserver").exists(), "not built")
class RunTest(RepositoryTest):
    def setUp(self) -> None:
        super().setUp()
        nodes = "testdata/manifests/nodes.yaml"
        self.write(nodes, (ROOT / nodes).read_text(encoding="utf-8"))
        self.options = ("--binaries", str(BINARIES))

    def assert_reports(self, line: int, message: str) -> None:
        self.assert_fault(line, message, *self.options)

    def test_no_fault(self) -> None:
        code, output = self.check(*self.options)
        self.assertEqual((code, output), (0, "18 passed, 0 failed\n"))

    def test_reports_different_output(self) -> None:
        self.edit(CHAPTER, "one\n…\n", "one\nthree\n")
        self.assert_reports(26, "output differs: echo one; echo two\n")
        self.edit(CHAPTER, "one\nthree\n", "one\n")
        self.assert_reports(24, "output differs: echo one; echo two\n")

    def test_reports_an_unexpected_failure(self) -> None:
        self.edit(CHAPTER, "$ echo", "$ false\n$ echo")
        self.assert_reports(24, "failed with status 1: false\n")

    def test_runs_the_commands_in_an_answer(self) -> None:
        self.edit(CHAPTER, "stop\n```", "started\n```")
        self.assert_reports(52, "output differs: echo stop\n")

    def test_accepts_a_failure_whose_output_is_shown(self) -> None:
        self.edit(CHAPTER, "$ echo one", "$ false || ! echo one")
        self.assertEqual(self.check(*self.options)[0], 0)

    def test_reports_the_end_of_the_shell(self) -> None:
        self.edit(CHAPTER, "$ echo", "$ exit\n$ echo")
        self.assert_reports(24, "ended the shell: exit\n")

    def test_runs_a_page_again_if_it_fails(self) -> None:
        self.edit(
            CHAPTER,
            "$ echo one; echo two\none\n…",
            "$ cat once-more || ! touch once-more",
        )
        code, output = self.check(*self.options)
        self.assertEqual(code, 0)
        self.assertIn(f"{CHAPTER}: running it again, alone\n", output)

    def test_runs_commands_on_an_embedded_server(self) -> None:
        self.edit(
            CHAPTER,
            "$ echo one; echo two\none\n…",
            "$ grep -c 'server: http://127.0.0.1:' $KUBECONFIG\n1",
        )
        self.assertEqual(self.check(*self.options)[0], 0)

    def test_reports_missing_programs(self) -> None:
        self.options = ("--binaries", str(self.root))
        self.assert_reports(24, "failed to start ")

    def test_skips_a_page_with_kubectl_if_there_is_none(self) -> None:
        self.edit(CHAPTER, "$ echo one; ", "$ kubectl get nodes; ")
        page = Page.read(self.root / CHAPTER)
        nowhere = {"PATH": "/nowhere", "MINISCHED_CLUSTER_DIR": "/nowhere"}
        with mock.patch.dict(os.environ, nowhere):
            runner = Runner(self.root, BINARIES, 60)
        out = io.StringIO()
        report = Report(out)
        runner.check_page(Path(CHAPTER), page, report)
        self.assertEqual(report.finish(), 0)
        self.assertEqual(
            out.getvalue(),
            f"skipped: {CHAPTER} (kubectl is not installed)\n"
            "0 passed, 0 failed\n",
        )
