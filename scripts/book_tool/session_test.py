import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from .console import commands
from .page import Page
from .session import Session, SessionEnded

SECONDS = 60.0


class SessionTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.session = Session(self.folder, {"PATH": os.environ["PATH"]})
        self.session.__enter__()
        self.ended = False
        self.addCleanup(self.end)

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self.session.__exit__()

    def run_block(self, *lines: str, seconds: float = SECONDS):
        page = Page("\n".join(["```console", *lines, "```", ""]))
        return [self.session.run(c, seconds) for c in commands(page)]

    def test_one_shell_runs_all_commands(self) -> None:
        *_, last = self.run_block("$ cd /", "$ x=5", "$ echo $x in $PWD; false")
        self.assertEqual((last.output, last.status), (["5 in /"], 1))

    def test_keeps_the_order_of_output_and_errors(self) -> None:
        (result,) = self.run_block("$ echo 1; echo 2 >&2; printf 3")
        self.assertEqual(result.output, ["1", "2", "3"])

    def test_shows_errors_of_the_shell_as_a_terminal_does(self) -> None:
        (result,) = self.run_block("$ no-such-program")
        self.assertEqual(
            result.output, ["bash: no-such-program: command not found"]
        )

    def test_commands_get_no_input(self) -> None:
        (result, after) = self.run_block("$ cat", "$ echo still here")
        self.assertEqual(result.output, [])
        self.assertEqual(after.output, ["still here"])

    def test_interrupts_after_the_output_before_it(self) -> None:
        first, second = self.run_block(
            "$ bash -c 'trap \"echo bye; exit 3\" INT; echo ready; sleep 600'",
            *("ready", "^C", "bye"),
            *("$ echo next", "next"),
        )
        self.assertEqual((first.output, first.status), (["ready", "bye"], 3))
        self.assertEqual(second.output, ["next"])

    def test_an_interrupt_spares_background_jobs(self) -> None:
        *_, last = self.run_block(
            "$ sleep 600 &", "$ sleep 601", "^C", "$ jobs -r | wc -l"
        )
        self.assertEqual(last.output, ["1"])

    def test_waits_for_the_output_of_background_jobs(self) -> None:
        first, second = self.run_block(
            *("$ (sleep 0.3; echo late; sleep 600) &", "late"),
            "$ kill %1; wait",
        )
        self.assertEqual(first.output, ["late"])
        self.assertEqual(second.output, [])

    def test_stops_at_the_deadline(self) -> None:
        (result,) = self.run_block("$ echo x; sleep 600", seconds=0.5)
        self.assertEqual((result.output, result.status), (["x"], None))

    def test_raises_when_the_shell_ends(self) -> None:
        with self.assertRaises(SessionEnded):
            self.run_block("$ exit 3")

    def test_the_exit_ends_all_processes(self) -> None:
        mark = self.folder / "pid"
        self.run_block(f"$ setsid bash -c 'echo $$ >{mark}; sleep 600' &")
        self.run_block(f"$ until [ -s {mark} ]; do sleep 0.02; done")
        self.end()
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", mark.read_text().strip()],
            capture_output=True,
            encoding="utf-8",
            check=False,
        ).stdout
        self.assertRegex(state, r"^(Z.*)?\s*$")
