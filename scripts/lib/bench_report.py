"""The results of scripts/bench schedulers as Markdown, and in a page."""

import dataclasses
import math
import pathlib
import statistics
from collections.abc import Callable, Iterable

import bench_plot
from embedded import fail

REFERENCE = "kube-scheduler"
BEGIN = "<!-- results of scripts/bench schedulers -->"
END = "<!-- end of the results -->"


@dataclasses.dataclass(frozen=True)
class Spread:
    """The median of some rounds, the least and the greatest."""
    median: float
    least: float
    greatest: float


class Results:
    """The runs by case and scheduler, in the order in which they appear."""

    def __init__(self, runs: list[dict]):
        self._runs: dict[tuple[str, str], list[dict]] = {}
        for run in runs:
            self._runs.setdefault((run["case"], run["scheduler"]),
                                  []).append(run)
        self.cases = sorted({run["case"] for run in runs}, key=_order)

    def cases_of(self, load: str) -> list[str]:
        return [case for case in self.cases if case.startswith(load)]

    def schedulers(self, case: str) -> list[str]:
        return [name for of_case, name in self._runs if of_case == case]

    def runs(self, case: str, scheduler: str) -> list[dict]:
        return self._runs[case, scheduler]

    def spread(self, case: str, scheduler: str,
               figure: Callable[[dict], float]) -> Spread:
        values = [figure(run) for run in self._runs[case, scheduler]]
        return Spread(statistics.median(values), min(values), max(values))

    def ratio(self, case: str, scheduler: str,
              figure: Callable[[dict], float]) -> str:
        """Returns the ratio of the medians to kube-scheduler's."""
        if scheduler == REFERENCE or (case, REFERENCE) not in self._runs:
            return ""
        ours = self.spread(case, scheduler, figure).median
        theirs = self.spread(case, REFERENCE, figure).median
        if not theirs or math.inf in (ours, theirs):
            return ""
        return f"{ours / theirs:.2f}"


def _order(case: str) -> tuple[int, int, int]:
    load, pods, nodes = case.split("/")
    return (load == "arrival", pods == "mix", int(nodes))


def latency(name: str) -> Callable[[dict], float]:
    """Returns a percentile in milliseconds. A pod that was never bound counts
    as infinitely late."""
    return lambda run: math.inf if run[name] is None else 1000 * run[name]


def cpu(of: str) -> Callable[[dict], float]:
    """Returns the CPU seconds for 1,000 pods."""
    return lambda run: 1000 * run["cpu"][of] / run["pods"]


def per_pod(*kinds: str) -> Callable[[dict], float]:
    """Returns the requests per pod: all of them, or of some kinds."""
    return lambda run: sum(
        number for kind, number in run["requests"].items()
        if not kinds or kind in kinds) / run["pods"]


def shown(value: float) -> str:
    if value == math.inf:
        return "never"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def shown_spread(spread: Spread) -> str:
    if spread.least == spread.greatest:
        return shown(spread.median)
    return (f"{shown(spread.median)} ({shown(spread.least)} – "
            f"{shown(spread.greatest)})")


def table(heads: list[str], rows: Iterable[Iterable[str]],
          left: int) -> list[str]:
    """Returns a table whose first columns are aligned to the left."""
    align = ["---"] * left + ["---:"] * (len(heads) - left)
    return [f"| {' | '.join(cells)} |" for cells in (heads, align, *rows)]


def case_name(case: str) -> str:
    _, pods, nodes = case.split("/")
    return f"{int(nodes):,} nodes, {pods} pods"


def cost_cells(results: Results, case: str, name: str) -> list[str]:
    cells = []
    for of in ("scheduler", "server"):
        cells += [shown_spread(results.spread(case, name, cpu(of))),
                  results.ratio(case, name, cpu(of))]
    peak = results.spread(case, name, lambda run: run["peak_mib"])
    return [*cells, f"{peak.median:.0f}"]


COSTS = ["CPU, s", "ratio", "server's CPU, s", "ratio", "MiB"]


def backlog_table(results: Results) -> list[str]:
    rows = []
    for case in results.cases_of("backlog"):
        for name in results.schedulers(case):
            rate = results.spread(case, name, lambda run: run["rate"])
            steady = results.spread(case, name, lambda run: run["steady"])
            rows.append([
                case_name(case), name,
                shown_spread(rate) + unfinished(results.runs(case, name)),
                results.ratio(case, name, lambda run: run["rate"]),
                shown(steady.median), *cost_cells(results, case, name)])
    return table(["cluster", "scheduler", "pods/s", "ratio", "steady pods/s",
                  *COSTS], rows, left=2)


def unfinished(runs: list[dict]) -> str:
    bound = min(run["bound"] for run in runs)
    if bound >= runs[0]["feasible"]:
        return ""
    return f", only {bound:,} of {runs[0]['feasible']:,} bound in time"


def arrival_table(results: Results) -> list[str]:
    rows = []
    for case in results.cases_of("arrival"):
        for name in results.schedulers(case):
            cells = [case_name(case), name]
            for part in ("p50", "p99"):
                cells += [
                    shown_spread(results.spread(case, name, latency(part))),
                    results.ratio(case, name, latency(part))]
            rows.append(cells + cost_cells(results, case, name))
    return table(["cluster", "scheduler", "p50, ms", "ratio", "p99, ms",
                  "ratio", *COSTS], rows, left=2)


REQUESTS = {
    "Bindings": ("POST pods/binding",),
    "status patches": ("PATCH pods/status", "PUT pods/status"),
    "event writes": ("POST events", "PATCH events", "PUT events"),
}


def requests_table(results: Results) -> list[str]:
    rows = []
    for case in results.cases:
        for name in results.schedulers(case):
            def median(figure: Callable[[dict], float]) -> float:
                # pylint: disable=cell-var-from-loop
                return results.spread(case, name, figure).median

            parts = [median(per_pod(*kinds)) for kinds in REQUESTS.values()]
            whole = median(per_pod())
            events = median(lambda run: run["events"] / run["pods"])
            rows.append([case.split("/")[0], case_name(case), name,
                         *(f"{each:.3f}" for each in (
                             *parts, max(0.0, whole - sum(parts)), whole,
                             events))])
    return table(["load", "cluster", "scheduler", *REQUESTS, "others", "all",
                  "events stored"], rows, left=3)


def conditions(runs: list[dict], facts: dict) -> list[str]:
    """Returns under which conditions the results were measured."""
    share = {of: [run["cpu"][of] / sum(run["cpu"].values()) for run in runs]
             for of in ("bench", "others")}
    late = max((run["sent_seconds"] for run in runs
                if "sent_seconds" in run), default=None)
    lines = [
        f"- Machine: {facts['machine']}.",
        f"- Versions: {facts['versions']}.",
        f"- Command: `{facts['command']}`. {facts['load']}",
        "- Of all CPU time that was used, the load generator took "
        f"{statistics.median(share['bench']):.0%}, and other programs on the "
        f"machine {statistics.median(share['others']):.0%} (in the worst run "
        f"{max(share['others']):.0%})."]
    if late is not None:
        lines.append(f"- The slowest run took {late:.1f} s to create the "
                     "arriving pods.")
    return lines


def markdown(runs: list[dict], facts: dict) -> str:
    results = Results(runs)
    parts = [conditions(runs, facts)]
    if results.cases_of("backlog"):
        parts += [["### A backlog"], backlog_table(results)]
    if results.cases_of("arrival"):
        parts += [["### Steady arrival"], arrival_table(results)]
    parts += [["### Requests and events for each pod"],
              requests_table(results)]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def read_page(page: pathlib.Path) -> tuple[str, str]:
    """Returns the text before and after the results."""
    try:
        text = page.read_text(encoding="utf-8")
    except OSError as error:
        fail(f"failed to read {page}: {error.strerror}")
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        fail(f"{page} has no place for the results: add the lines {BEGIN} and "
             f"{END}")
    return head, tail


def update_page(page: pathlib.Path, runs: list[dict], facts: dict) -> None:
    """Replaces the results in the page, and the plot beside the page."""
    head, tail = read_page(page)
    plot = page.with_suffix(".svg")
    plot.write_text(bench_plot.draw(Results(runs)), encoding="utf-8")
    alt = "The figures of the tables below as bars"
    page.write_text(
        f"{head}{BEGIN}\n\n![{alt}]({plot.name})\n\n{markdown(runs, facts)}\n"
        f"{END}{tail}", encoding="utf-8")
