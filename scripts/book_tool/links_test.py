from pathlib import Path

from .links import check_links
from .testing import RepositoryTest, faults


class LinksTest(RepositoryTest):
    def faults_of(self, text: str) -> list[str]:
        return faults(
            lambda page, report: check_links(
                self.root, Path("docs/reference/p.md"), page, report
            ),
            text,
        )

    def test_accepts_existing_targets(self) -> None:
        self.write("docs/a b.md", "# One (1)\n# Two\n")
        for target in (
            *(
                "../a%20b.md",
                "../a%20b.md#one-1",
                "../../steps/01-poll/",
                "#here",
            ),
            *("../../steps/01-poll/poll.h#L1", "../"),
            *("../../steps/02-watch#diff", "../../steps/02-watch/#diff"),
            *(
                "https://example.com/x?y#z",
                "http://127.0.0.1:80",
                "mailto:a@b.c",
            ),
        ):
            self.assertEqual(
                self.faults_of(f"# Here\n[x]({target})\n"), [], target
            )

    def test_rejects_dead_and_invalid_links(self) -> None:
        for target, message in {
            "none.md": "dead link: none.md (no docs/reference/none.md)",
            "#none": "dead anchor: no heading here for #none",
            "../02-watch.md#none": "dead anchor: no heading in docs/02-watch.md",
            "../../steps/01-poll/poll.h#L2": "dead anchor: steps/01-poll/poll.h has 1",
            "../../steps/01-poll#x": "dead anchor",
            "../diffs/01-02.md": "dead link",
            "../../steps/01-poll#diff": "dead anchor: steps/01-poll has no anchor #diff",
            "../../steps/02-watch/queue.h#diff": "dead anchor",
            "../../../x": "leaves the repository",
            "/docs/index.md": "links must be relative to the page",
            "https://": "not a URL",
            "ftp://example.com": "links must be relative or http(s)",
        }.items():
            output = self.faults_of(f"\n[x]({target})\n")
            self.assertEqual(len(output), 1, target)
            self.assertTrue(output[0].startswith("docs/reference/p.md:2: "), output)
            self.assertIn(message, output[0])

    def test_checks_paths_between_backticks(self) -> None:
        for text in (
            *("scripts/diff 01 --stat", "steps/", "steps/*/scheduler.{cc,h}"),
            *("steps/NN-title/", "steps/…", "minisched-demo/web", "x/y"),
        ):
            output = self.faults_of(f"`{text}`\n")
            missing = "steps/*/scheduler.h" if "{" in text else None
            expected = [f"docs/reference/p.md:1: no file or folder {missing}"]
            self.assertEqual(output, expected if missing else [], text)
        self.assertIn(
            "no file or folder scripts/no", self.faults_of("`scripts/no`")[0]
        )

    def test_rejects_undefined_references(self) -> None:
        self.assertIn("undefined reference [b]", self.faults_of("[a][b]\n")[0])
