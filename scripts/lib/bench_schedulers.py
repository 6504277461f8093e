"""Measures schedulers on kube-apiserver: ours, and kube-scheduler beside them.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import bench_report as report
import bench_run
from api_server import positive
from bench_control_plane import ControlPlane
from bench_run import Case, Scheduler, Size
from embedded import ROOT, fail, program_of

PAGE = ROOT / "docs" / "maintaining" / "benchmarks.md"
LOADS = ("backlog", "arrival")
PODS = ("plain", "mix")
NODES = (100, 1000, 5000)
DEFAULT = ("backlog/plain/100", "backlog/plain/1000", "backlog/plain/5000",
           "backlog/mix/1000", "arrival/plain/1000", "arrival/plain/5000",
           "arrival/mix/1000")
LAST_STEP = max(path.name[:2] for path in (ROOT / "steps").glob("[0-9][0-9]-*"))


def parse_case(text: str) -> Case:
    load, pods, nodes = text.split("/")
    if load not in LOADS or pods not in PODS:
        raise ValueError
    return Case(load, pods, positive(nodes))


def cases(text: str) -> list[Case]:
    """Parses "backlog/plain/1000,arrival/mix/100" or "all"."""
    if text == "all":
        return [Case(load, pods, nodes)
                for load in LOADS for pods in PODS for nodes in NODES]
    return [parse_case(each) for each in text.split(",")]


def steps(text: str) -> list[str]:
    """Parses "03,13", "all" or "none"."""
    every = sorted(path.name[:2]
                   for path in (ROOT / "steps").glob("[0-9][0-9]-*"))
    if text in ("all", "none"):
        return every if text == "all" else []
    chosen = [f"{int(each):02}" for each in text.split(",")]
    if unknown := set(chosen) - set(every):
        raise argparse.ArgumentTypeError(
            f"no such step: {min(unknown)}; the steps are {' '.join(every)}")
    return chosen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = __doc__ + """ Each run starts etcd and kube-apiserver
        anew, with the nodes of its case, then one scheduler. Prints the
        medians of all rounds as Markdown. A backlog is a number of pods that
        exist when the scheduler starts; in an arrival, pods are created at a
        steady rate. One tenth of a mix of pods fits no node; others have node
        affinity or a toleration. The defaults take about 15 minutes on two
        cores."""
    parser.add_argument("--steps", type=steps, default=[LAST_STEP],
                        help="the steps' numbers: 03,13, or all or none; "
                        f"default: {LAST_STEP}")
    parser.add_argument("--cases", type=cases, default=",".join(DEFAULT),
                        help="the loads, kinds of pods and numbers of nodes: "
                        "backlog/plain/1000,arrival/mix/100, or all twelve; "
                        "default: seven of them")
    parser.add_argument("--rounds", type=positive, default=3,
                        help="how often each case is run; default: "
                        "%(default)s")
    parser.add_argument("--pods", type=positive, default=3000,
                        help="the size of a backlog; default: %(default)s")
    parser.add_argument("--rate", type=positive, default=100,
                        help="arriving pods per second; default: %(default)s")
    parser.add_argument("--seconds", type=positive, default=20,
                        help="how long pods arrive; default: %(default)s")
    parser.add_argument("--patience", type=positive, default=120,
                        help="seconds until all pods must be bound; default: "
                        "%(default)s")
    parser.add_argument("--no-kube-scheduler", action="store_true",
                        help="measure only the steps")
    parser.add_argument("--json-too", action="store_true",
                        help="also measure kube-scheduler with JSON instead "
                        "of protobuf")
    parser.add_argument("--save", type=pathlib.Path, metavar="FILE",
                        help="write the figures as JSON, after each run")
    parser.add_argument("--load", type=pathlib.Path, metavar="FILE",
                        help="report the figures of this file instead of "
                        "measuring")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE",
                        nargs="?", const=PAGE,
                        help="also write the results into this page; default: "
                        f"{PAGE.relative_to(ROOT)}")


def schedulers(arguments: argparse.Namespace, plane: ControlPlane
               ) -> list[Scheduler]:
    result = [Scheduler(f"step {step}", program_of(step), int(step))
              for step in arguments.steps]
    program = plane.program("kube-scheduler")
    if not arguments.no_kube_scheduler:
        result.append(Scheduler(report.REFERENCE, program, None))
    if arguments.json_too:
        result.append(Scheduler(f"{report.REFERENCE}, JSON", program, None,
                                "application/json"))
    if not result:
        fail("no scheduler to measure: leave out --no-kube-scheduler, or "
             "choose --steps")
    return result


def measure(arguments: argparse.Namespace) -> dict:
    """Returns the figures of all runs, and under which conditions."""
    size = Size(arguments.pods, arguments.rate, arguments.seconds,
                arguments.patience)
    with contextlib.closing(ControlPlane()) as plane:
        chosen = schedulers(arguments, plane)
        plane.build()
        result = {"facts": facts(arguments, plane), "runs": []}
        for turn, case, scheduler in turns(arguments, chosen):
            run = bench_run.measure(scheduler, case, size, plane)
            result["runs"].append({"round": turn + 1, **run})
            show_progress(result["runs"][-1], arguments.rounds)
            save(arguments, result)  # for the case that a later run fails
    result["runs"] = in_order(result["runs"], chosen)
    return result


def turns(arguments: argparse.Namespace, chosen: list[Scheduler]
          ) -> Iterator[tuple[int, Case, Scheduler]]:
    """Yields the runs: in each round, another scheduler is first."""
    for turn in range(arguments.rounds):
        for case in arguments.cases:
            start = turn % len(chosen)
            for scheduler in chosen[start:] + chosen[:start]:
                if scheduler.supports(case):
                    yield turn, case, scheduler


def save(arguments: argparse.Namespace, result: dict) -> None:
    if arguments.save:
        arguments.save.write_text(json.dumps(result, indent=1),
                                  encoding="utf-8")


def in_order(runs: list[dict], chosen: list[Scheduler]) -> list[dict]:
    """Returns the runs in the order of their schedulers, for the tables."""
    order = {scheduler.name: i for i, scheduler in enumerate(chosen)}
    return sorted(runs, key=lambda run: order[run["scheduler"]])


def show_progress(run: dict, rounds: int) -> None:
    speed = (f"{run['rate']:,.0f} pods/s" if "rate" in run else
             f"p99 {report.shown(report.latency('p99')(run))} ms")
    print(f"round {run['round']} of {rounds}: {run['case']}, "
          f"{run['scheduler']}: {speed}, {run['cpu']['scheduler']:.1f} CPU-s, "
          f"API server {run['cpu']['server']:.1f}", file=sys.stderr, flush=True)


def facts(arguments: argparse.Namespace, plane: ControlPlane) -> dict[str, str]:
    model = re.search(r"model name\s*: (.*)", pathlib.Path(
        "/proc/cpuinfo").read_text(encoding="utf-8"))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    kubernetes = version(plane.program("kube-scheduler")).split()[-1]
    versions = [f"Kubernetes {kubernetes}",
                version(plane.program("etcd")).replace(" Version:", "")]
    versions += [version(program_of(step)).replace("-", " step ", 1)
                 for step in arguments.steps]
    return {
        "machine": f"{model[1] if model else 'unknown CPU'}, "
                   f"{os.cpu_count()} cores, {memory / 2**30:.0f} GiB",
        "versions": ", ".join(versions),
        "command": command(sys.argv),
        "load": f"A backlog has {arguments.pods:,} pods; "
                f"{arguments.rate:,} pods per second arrive for "
                f"{arguments.seconds:,} s. Rounds: {arguments.rounds}."}


def version(program: pathlib.Path) -> str:
    done = subprocess.run([program, "--version"], capture_output=True,
                          text=True, check=True)
    return done.stdout.splitlines()[0].strip()


def command(words: list[str]) -> str:
    """Returns the command without the names of files."""
    line = shlex.join(["scripts/bench", *words[1:]])
    return re.sub(r" --(save|update)([ =][^-]\S*)?", "", line)


def run(arguments: argparse.Namespace) -> None:
    page = arguments.update
    if page:
        report.read_page(page)  # Fail before the measurement.
    if arguments.load:
        try:
            result = json.loads(arguments.load.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            fail(f"failed to read {arguments.load}: {error}")
    else:
        result = measure(arguments)
    save(arguments, result)
    print(report.markdown(result["runs"], result["facts"]), end="")
    if page:
        report.update_page(page, result["runs"], result["facts"])
