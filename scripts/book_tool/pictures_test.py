"""Tests pictures.py with fake programs in place of scripts/run."""

from __future__ import annotations

import io
from pathlib import Path

from .page import Page
from .pictures import MAX_BYTES, Gallery, frame, pictures
from .report import Report
from .testing import RepositoryTest

PICTURE = """\
```console title="picture"
$ scripts/run 02 --live testdata/scenarios/02-idle.yaml
```
"""

# Takes its exit code and the size of the page from $MINISCHED_BIN.
RUN = """\
#!/bin/sh
echo "$@" >>"$MINISCHED_BIN/calls"
echo 'red: it failed'
size=$(cat "$MINISCHED_BIN/size")
while [ "$1" != --export ]; do shift; done
[ "$size" = none ] || head -c "$size" /dev/zero >"$2"
exit "$(cat "$MINISCHED_BIN/status")"
"""


class PicturesTest(RepositoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("testdata/scenarios/02-idle.yaml", "title: T\nsince: 2\n")
        self.write("scripts/run", RUN)
        (self.root / "scripts/run").chmod(0o755)
        self.binaries = self.root / "build/bin"
        for name in ("02", "01", "live", "scenario"):
            self.write(f"build/bin/minisched-{name}", "")
        self.run_prints(0, "10")

    def run_prints(self, status: int, size: str) -> None:
        self.write("build/bin/status", str(status))
        self.write("build/bin/size", size)

    def play(self, text: str = PICTURE, only_stale: bool = False) -> str:
        """Returns the output of the check of a page with this text."""
        report = Report(io.StringIO())
        Gallery(self.root, self.binaries).play_all(
            {Path("docs/02-watch.md"): Page(text)}, report, only_stale
        )
        assert isinstance(report.out, io.StringIO)
        self.assertEqual(report.failed, 1 if report.out.getvalue() else 0)
        return report.out.getvalue()

    def add_picture(self) -> None:
        self.edit(
            "docs/02-watch.md", "## Questions", f"{PICTURE}\n## Questions"
        )

    def calls(self) -> int:
        calls = self.binaries / "calls"
        return len(calls.read_text().splitlines()) if calls.exists() else 0

    def page(self) -> Path:
        return self.root / "build/book/pictures/02-idle.02.html"

    def test_a_picture_is_red_before_since_and_green_from_it_on(self) -> None:
        self.assertEqual(self.play(), "")
        self.run_prints(1, "10")
        self.assertEqual(self.play(PICTURE.replace("run 02", "run 01")), "")

    def test_reports_red_where_green_is_expected(self) -> None:
        self.run_prints(1, "10")
        output = self.play()
        self.assertIn("docs/02-watch.md:1: expected green, because of", output)
        self.assertIn("found red: scripts/run 02 --live testdata", output)
        self.assertIn("red: it failed", output)
        self.assertFalse(self.page().exists())

    def test_reports_green_where_red_is_expected(self) -> None:
        output = self.play(PICTURE.replace("run 02", "run 01"))
        self.assertIn("expected red, because of since: 2, found green", output)

    def test_reports_a_page_that_is_too_large(self) -> None:
        self.run_prints(0, str(MAX_BYTES))
        self.assertEqual(self.play(), "")
        self.run_prints(0, str(MAX_BYTES + 1))
        self.assertIn("the picture has 300001 bytes", self.play())
        self.assertFalse(self.page().exists())

    def test_reports_a_scenario_that_cannot_be_played(self) -> None:
        for status, size in ((2, "10"), (1, "none"), (0, "none")):
            self.run_prints(status, size)
            self.assertIn("could not be played: scripts/run", self.play())

    def test_a_build_plays_only_stale_pictures(self) -> None:
        for _ in range(2):
            self.assertEqual(self.play(only_stale=True), "")
        self.assertEqual(self.calls(), 1)
        (self.binaries / "minisched-02").touch()
        self.play(only_stale=True)
        self.assertEqual(self.calls(), 2)
        self.play()
        self.assertEqual(self.calls(), 3)

    def test_plays_equal_pictures_once(self) -> None:
        self.play(PICTURE + PICTURE)
        self.assertEqual(self.calls(), 1)

    def test_rejects_other_commands(self) -> None:
        for text, error in (
            ("run 02", "a picture is one command"),
            ("run 2 --live testdata/scenarios/02-idle.yaml", "one command"),
            (
                "run 02 --live testdata/scenarios/02-idle.yaml --once a",
                "one command",
            ),
            ("run 02 --live testdata/none.yaml", "no such scenario: testdata"),
        ):
            page = Page(f'\n```console title="picture"\n$ scripts/{text}\n```')
            with self.assertRaisesRegex(ValueError, f"^2: .*{error}"):
                pictures(self.root, page)

    def test_reads_the_moment(self) -> None:
        text = PICTURE.replace(".yaml", ".yaml --before web-1:in")
        (picture,) = pictures(self.root, Page(text))
        self.assertEqual(picture.name, "02-idle.02-web-1-in.html")
        self.assertEqual(picture.command[-2:], ["--before", "web-1:in"])

    def test_a_frame_is_lazy_and_sandboxed_and_has_a_title(self) -> None:
        (picture,) = pictures(self.root, Page(PICTURE))
        html = frame(picture, "../pictures/a.html")
        self.assertIn(' sandbox="allow-scripts"', html)
        self.assertIn(' loading="lazy"', html)
        self.assertIn(' title="Recording: step 02 passes 02-idle.yaml"', html)
        self.assertIn('class="book-picture book-green"', html)

    def test_the_check_of_a_page_plays_its_pictures(self) -> None:
        self.add_picture()
        self.run_prints(1, "10")
        code, output = self.check("--binaries", str(self.binaries))
        self.assertEqual(code, 1)
        self.assertIn("expected green, because of since: 2, found red", output)
        code, _ = self.check("--no-run")
        self.assertEqual(code, 0)
        self.edit("docs/02-watch.md", "run 02 --live", "run 02 --lively")
        code, output = self.check("--no-run")
        self.assertIn("a picture is one command", output)

    def test_a_build_reports_wrong_pictures(self) -> None:
        self.add_picture()
        arguments = ["--binaries", str(self.binaries), "--pictures"]
        self.assertEqual(self.check(*arguments), (0, ""))
        self.run_prints(0, str(MAX_BYTES + 1))
        (self.binaries / "minisched-02").touch()
        code, output = self.check(*arguments)
        self.assertEqual(code, 1)
        self.assertIn("may have 300000", output)
