"""Checks what minisched-explain reads, and what it leaves behind."""

import os
import pathlib
import re
import signal
import subprocess
import time

import explain_cluster
from explain_run import (EXPLAIN, LAST, NODE, PATIENCE, Original, explain,
                         listed, pod_with)


def check_requests(directory: pathlib.Path) -> list[str]:
    """Explains a pod of a running cluster. Returns what it did besides
    listing."""
    objects = explain_cluster.make(1)
    with Original(objects, directory / "requests") as original:
        before = original.server.call("GET", "/minisched/requests")["items"]
        explain("target", env={"KUBECONFIG": str(original.server.kubeconfig)})
        after = original.server.call("GET", "/minisched/requests")["items"]
    sent = [each for each in after if each not in before
            and each["userAgent"].startswith("minisched-explain")]
    if not sent:
        return ["the server has counted no requests of minisched-explain"]
    return [f"it sent {each}" for each in sent
            if each["verb"] != "list"
            or each["resource"] in ("secrets", "configmaps", "events")]


def check_traces(directory: pathlib.Path) -> list[str]:
    """Looks for what minisched-explain leaves behind: the scheduler keeps the
    copy's objects in its recording, without the values of the original."""
    (directory / "traces").mkdir()
    objects = explain_cluster.make(2)
    record = directory / "traces" / "copy.jsonl"
    with Original(objects, directory / "traces" / "original") as original:
        dump = original.dump()
    text = dump.read_text("utf-8")
    scheduler = (f"'{LAST}' --record \"$RECORD\" --seed 1 "
                 f"& p=$!; trap 'kill $p' TERM; wait $p; wait $p; "
                 f"cp \"$RECORD\" '{record}'")
    temporary = directory / "traces" / "tmp"
    temporary.mkdir()
    explain("target", "-f", dump, "--no-suggestions", "--scheduler", scheduler,
            env={"TMPDIR": str(temporary)})
    seen = record.read_text("utf-8")
    found = [f"the copy has {marker}" for marker in
             re.findall(r"marker-[a-z]+", seen)]
    if '"target"' not in seen:
        found.append("the recording of the copy has no target")
    for marker in ("env", "command", "args", "annotation"):
        if f"marker-{marker}" not in text:
            found.append(f"the dump has no marker-{marker}")
    return found + [f"{path} is left" for path in temporary.iterdir()]


def is_alive(pid: int) -> bool:
    status = pathlib.Path(f"/proc/{pid}/status")
    try:
        return "State:\tZ" not in status.read_text("ascii")
    except FileNotFoundError:
        return False


def check_ends(directory: pathlib.Path) -> list[str]:
    """After SIGINT, and after SIGKILL of the scheduler, the program and all
    processes of the scheduler end."""
    return (check_end(directory / "interrupt", "wait", signal.SIGINT, 130)
            + check_end(directory / "kill", "kill -9 $$", None, 2))


def check_end(directory: pathlib.Path, end: str, sent: int | None,
              expected: int) -> list[str]:
    """Returns what is left of a run whose scheduler ends with this command."""
    temporary = directory / "tmp"
    temporary.mkdir(parents=True)
    dump = directory / "dump"
    dump.write_text(listed(NODE, pod_with()))
    pids = directory / "pids"
    command = f"sleep 600 & echo $$ $! >'{pids}'; {end}"
    with subprocess.Popen(
            [EXPLAIN, "web", "-f", dump, "--scheduler", command],
            env={**os.environ, "TMPDIR": str(temporary)},
            stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + PATIENCE
        while not (pids.exists() and pids.read_text().strip()):
            if time.monotonic() > deadline:
                return ["the scheduler has not started"]
            time.sleep(0.01)
        if sent:
            process.send_signal(sent)
        code = process.wait(PATIENCE)
    found = [] if code == expected else [f"exit code {code}"]
    # The kernel may need a moment to end a process that has been killed.
    while time.monotonic() < deadline and any(
            map(is_alive, map(int, pids.read_text().split()))):
        time.sleep(0.01)
    found += [f"process {pid} is left" for pid in pids.read_text().split()
              if is_alive(int(pid))]
    return found + [f"{path} is left" for path in temporary.iterdir()]


def await_match(log: pathlib.Path, pattern: str) -> str:
    """Waits for a line of a log. Returns the first group, if there is one."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = re.search(pattern, log.read_text("utf-8"))
        if found:
            return found[found.re.groups]
        time.sleep(0.01)
    raise TimeoutError(f"the log has no {pattern}: {log.read_text('utf-8')}")


def check_trace(directory: pathlib.Path) -> list[str]:
    """Explains a pod, with what the trace of a scheduler has of it."""
    pod = pod_with({"schedulerName": "minisched",
                    "nodeSelector": {"disk": "ssd"}})
    folder = directory / "trace"
    with Original([NODE, pod], folder) as original:
        log = folder / "scheduler.log"
        with open(log, "wb") as output, subprocess.Popen(
                [LAST, "--kubeconfig", original.server.kubeconfig,
                 "--metrics-port", "0"],
                stdout=output, stderr=output) as scheduler:
            try:
                url = await_match(log, r"health checks at (\S+)\s")
                # The trace has the pod once the first attempt has failed.
                await_match(log, "0/1 nodes are available")
                answer = explain("web", "-f", original.dump(), "--trace", url,
                                 "--no-suggestions")
            finally:
                scheduler.kill()
    form = (rf"the running scheduler {LAST.name}: default/web is "
            r"unschedulable since \S+, attempts: 1, next attempt at \S+ at the "
            r"latest\n  rejected by: NodeAffinity\n  events that may wake it: "
            r".*Node")
    running = "\n".join(answer["running"])
    return [] if re.match(form, running) else [running]
