"""The plot of scripts/bench schedulers: an SVG with bars.

The plot has its own background, in light and dark, so that it is readable on
any page.
"""

import math
from collections.abc import Callable
from html import escape

WIDTH = 760
LEFT = 190  # the labels' width
RIGHT = 120  # the room for the values
BAR = 15
GAP = 3  # between the bars of a case
CASE_GAP = 12
LIGHT = ["#3f6fb5", "#d1782a", "#3f8f5f", "#8a5fb0", "#b04a5a", "#5f7f8f"]
DARK = ["#7aa5e6", "#f0a35e", "#74c493", "#bb97dd", "#e58896", "#9bbccc"]

# A figure of a run, and what it is of a result: a bar with its spread.
Figure = Callable[[dict], float]


def _style(schedulers: int) -> str:
    def colours(names: list[str]) -> str:
        return "".join(f".s{i} {{ fill: {names[i % len(names)]}; }}\n"
                       for i in range(schedulers))

    return f"""<style>
text {{ font: 12px system-ui, sans-serif; fill: #24292f; }}
.title {{ font-weight: 600; font-size: 14px; }}
.page {{ fill: #ffffff; }}
.axis, .spread {{ stroke: #24292f; stroke-width: 1; }}
.spread {{ stroke-width: 1.5; }}
{colours(LIGHT)}@media (prefers-color-scheme: dark) {{
text {{ fill: #dfe3e8; }}
.page {{ fill: #1c2128; }}
.axis {{ stroke: #dfe3e8; }}
.spread {{ stroke: #ffffff; }}
{colours(DARK)}}}
</style>"""


def _text(x: float, y: float, text: str, kind: str = "",
          anchor: str = "start") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{attribute}>'
            f'{escape(text)}</text>')


class Drawing:
    """Panels below each other."""

    def __init__(self, schedulers: list[str]):
        self.schedulers = schedulers
        self.y = 14.0
        self.parts: list[str] = []
        self._legend()

    def _legend(self) -> None:
        x = 16.0
        for i, name in enumerate(self.schedulers):
            width = 34 + 7 * len(name)
            if x + width > WIDTH:
                x, self.y = 16.0, self.y + 20
            self.parts.append(f'<rect x="{x}" y="{self.y}" width="12" '
                              f'height="12" class="s{i}"/>')
            self.parts.append(_text(x + 17, self.y + 10.5, name))
            x += width
        self.y += 24

    def panel(self, title: str, results, cases: list[str], label,
              figure: Figure) -> None:
        """Draws a bar for each scheduler and case, with its spread."""
        bars = [(case, name, results.spread(case, name, figure))
                for case in cases for name in results.schedulers(case)]
        finite = [spread.greatest for _, _, spread in bars
                  if spread.greatest < math.inf]
        scale = (WIDTH - LEFT - RIGHT) / max(finite, default=1.0)
        self.y += 20
        self.parts.append(_text(16, self.y, title, "title"))
        self.y += 10
        top, before = self.y, None
        for case, name, spread in bars:
            if case != before:
                self.y += CASE_GAP if before else 4
                self.parts.append(_text(LEFT - 8, self.y + BAR - 3,
                                        label(case), anchor="end"))
                before = case
            self._bar(self.schedulers.index(name), spread, scale)
            self.y += BAR + GAP
        self.parts.append(f'<line x1="{LEFT}" y1="{top:.1f}" x2="{LEFT}" '
                          f'y2="{self.y:.1f}" class="axis"/>')

    def _bar(self, colour: int, spread, scale: float) -> None:
        if spread.median == math.inf:
            self.parts.append(_text(LEFT + 6, self.y + BAR - 3, "never"))
            return
        middle = self.y + BAR / 2
        end = LEFT + scale * spread.median
        greatest = min(spread.greatest, (WIDTH - LEFT - RIGHT) / scale)
        far = LEFT + scale * max(spread.median, greatest)
        self.parts += [
            f'<rect x="{LEFT}" y="{self.y:.1f}" width="{end - LEFT:.1f}" '
            f'height="{BAR}" class="s{colour}"/>',
            f'<line x1="{LEFT + scale * spread.least:.1f}" y1="{middle:.1f}" '
            f'x2="{far:.1f}" y2="{middle:.1f}" class="spread"/>',
            _text(far + 6, self.y + BAR - 3, _number(spread.median))]

    def svg(self) -> str:
        height = self.y + 14
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
            f'{height:.0f}" role="img">', _style(len(self.schedulers)),
            f'<rect class="page" width="{WIDTH}" height="{height:.0f}" '
            'rx="6"/>', *self.parts, "</svg>"]) + "\n"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def draw(results) -> str:
    """Returns the SVG of bench_report.Results."""
    names = dict.fromkeys(name for case in results.cases
                          for name in results.schedulers(case))
    drawing = Drawing(list(names))

    def label(case: str) -> str:
        load, pods, nodes = case.split("/")
        kind = f", {pods}" if pods != "plain" else ""
        return f"{load}, {int(nodes):,} nodes{kind}"

    def cpu(of: str) -> Figure:
        return lambda run: 1000 * run["cpu"][of] / run["pods"]

    backlog = results.cases_of("backlog")
    if backlog:
        drawing.panel("Pods bound per second", results, backlog, label,
                      lambda run: run["rate"])
    arrival = results.cases_of("arrival")
    if arrival:
        for name in ("p50", "p99"):
            drawing.panel(
                f"From creation to bind, {name}, ms", results, arrival, label,
                lambda run, name=name: math.inf if run[name] is None else
                1000 * run[name])
    drawing.panel("CPU seconds of the scheduler for 1,000 pods", results,
                  results.cases, label, cpu("scheduler"))
    drawing.panel("CPU seconds of API server and etcd for 1,000 pods", results,
                  results.cases, label, cpu("server"))
    drawing.panel("Peak memory of the scheduler, MiB", results,
                  backlog or arrival, label, lambda run: run["peak_mib"])
    return drawing.svg()
