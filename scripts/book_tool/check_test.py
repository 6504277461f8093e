"""Plants a fault of each kind in a repository that has none."""

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
    def assert_says(self, line: int, message: str) -> None:
        self.assert_fault(line, message, "--no-run")

    def test_no_fault(self) -> None:
        code, said = self.check("--no-run")
        self.assertEqual((code, said), (0, "8 passed, 0 failed\n"))

    def test_a_line_that_has_changed_in_a_listed_file(self) -> None:
        self.edit(
            "steps/01-poll/scheduler.cc", "while (!stop", "while (!stopped"
        )
        self.edit("steps/02-watch/scheduler.cc", "ScheduleOne", "ScheduleOne")
        self.assert_says(16, "not in steps/01-poll/scheduler.cc")

    def test_a_dead_link(self) -> None:
        (self.root / "steps/01-poll/scheduler.cc").unlink()
        self.assert_says(3, "dead link: ../steps/01-poll/scheduler.cc")

    def test_a_dead_anchor(self) -> None:
        self.edit(CHAPTER, "## What changes", "## What has changed")
        self.assert_says(4, "no heading here for the link to #what-changes")

    def test_a_file_that_is_missing_in_the_table(self) -> None:
        self.edit(CHAPTER, "| `queue.h` | the queue | new, 2 |\n", "")
        self.assert_says(8, "queue.h is missing in the table (new, 2)")

    def test_a_file_too_many_in_the_table(self) -> None:
        self.edit(CHAPTER, "`queue.h`", "`stack.h`")
        self.assert_says(12, "stack.h is the same in 01-poll and 02-watch")
        self.edit(CHAPTER, "`stack.h`", "[`scheduler.cc`](x)")
        self.assert_says(12, "scheduler.cc is in the table twice")

    def test_a_wrong_count(self) -> None:
        self.edit(CHAPTER, "+1 −3", "+1 −4")
        self.assert_says(11, "scheduler.cc: +1 −3, and not +1 −4")

    def test_fix_mends_counts_and_nothing_else(self) -> None:
        before = (self.root / CHAPTER).read_text(encoding="utf-8")
        self.edit(CHAPTER, "+1 −3", "+1 −4")
        self.edit(CHAPTER, "new, 2", "new, 3")
        self.assertEqual(self.check("--no-run", "--fix")[0], 0)
        self.assertEqual(
            (self.root / CHAPTER).read_text(encoding="utf-8"), before
        )

    def test_other_ways_to_count(self) -> None:
        self.edit(CHAPTER, "+1 −3", "+1 -3")
        self.edit("steps/02-watch/queue.h", "once", "twice")
        self.assertEqual(self.check("--no-run")[0], 0)

    def test_no_table(self) -> None:
        self.edit(CHAPTER, "<!-- changed-files -->", "")
        self.assert_says(1, "one table of changed files")
        self.edit(CHAPTER, "## What changes", "<!-- changed-files -->")
        self.assert_says(6, "no table after this")

    def test_a_chapter_without_a_step(self) -> None:
        (self.root / CHAPTER).rename(self.root / "docs/03-filter.md")
        code, said = self.check("--no-run")
        self.assertIn(
            "docs/03-filter.md:1: no step 03, or none before it", said
        )
        self.assertEqual(code, 1)

    def test_code_without_a_title(self) -> None:
        self.edit(CHAPTER, ' title="steps/01-poll/scheduler.cc"', "")
        self.assert_says(15, "a cpp block without a title")

    def test_only_the_pages_that_are_named(self) -> None:
        self.write("docs/index.md", "[dead](link)\n")
        self.assertEqual(self.check("--no-run", str(self.root / CHAPTER))[0], 0)
        self.assertEqual(self.check("--no-run")[0], 1)
        self.assertEqual(self.check("--no-run", "docs/none.md")[0], 1)

    def test_readmes_have_their_links_checked(self) -> None:
        self.write("steps/02-watch/README.md", "[dead](link)\n```sh\nx\n```\n")
        code, said = self.check("--no-run")
        self.assertIn("steps/02-watch/README.md:1: dead link", said)
        self.assertEqual(said.count("README"), 1)
        self.assertEqual(code, 1)


@skipUnless((BINARIES / "minisched-apiserver").exists(), "not built")
class RunTest(RepositoryTest):
    def setUp(self) -> None:
        super().setUp()
        nodes = "testdata/manifests/nodes.yaml"
        self.write(nodes, (ROOT / nodes).read_text(encoding="utf-8"))
        self.options = ("--binaries", str(BINARIES))

    def assert_says(self, line: int, message: str) -> None:
        self.assert_fault(line, message, *self.options)

    def test_no_fault(self) -> None:
        code, said = self.check(*self.options)
        self.assertEqual((code, said), (0, "9 passed, 0 failed\n"))

    def test_output_that_has_changed(self) -> None:
        self.edit(CHAPTER, "one\n…\n", "one\nthree\n")
        self.assert_says(24, "prints something else: echo one; echo two\n")
        self.edit(CHAPTER, "one\nthree\n", "one\n")
        self.assert_says(22, "prints something else: echo one; echo two\n")

    def test_a_failure_that_is_not_shown(self) -> None:
        self.edit(CHAPTER, "$ echo", "$ false\n$ echo")
        self.assert_says(22, "fails with status 1: false\n")

    def test_a_failure_that_is_shown(self) -> None:
        self.edit(CHAPTER, "$ echo one", "$ false || ! echo one")
        self.assertEqual(self.check(*self.options)[0], 0)

    def test_the_end_of_the_shell(self) -> None:
        self.edit(CHAPTER, "$ echo", "$ exit\n$ echo")
        self.assert_says(22, "ended the shell: exit\n")

    def test_a_server_of_its_own(self) -> None:
        self.edit(
            CHAPTER,
            "$ echo one; echo two\none\n…",
            "$ grep -c 'server: http://127.0.0.1:' $KUBECONFIG\n1",
        )
        self.assertEqual(self.check(*self.options)[0], 0)

    def test_without_programs(self) -> None:
        self.options = ("--binaries", str(self.root))
        self.assert_says(22, "cannot start ")

    def test_a_page_that_needs_kubectl_is_skipped_without(self) -> None:
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
            f"skipped: {CHAPTER} (its commands need kubectl, which is not here)\n"
            "0 passed, 0 failed\n",
        )
