"""Compares minisched-explain with the schedulers that it stands for."""

import collections
import concurrent.futures
import copy
import json
import os
import pathlib
import re

import explain_cluster
import explain_rules
import explain_volumes
from embedded import ROOT
from explain_run import Original, explain, nominated_by


def rejections_of_record(attempt: dict) -> dict:
    return {each["node"]: [(one["plugin"], one["reasons"])
                           for one in each["rejections"]]
            for each in attempt.get("rejected", [])}


def rejections_of_answer(answer: dict) -> dict:
    return {each["node"]: [(one.get("plugin", ""), one["reasons"])
                           for one in each["rejections"]]
            for each in answer["nodes"] if "rejections" in each}


def scores_of_record(attempt: dict) -> dict:
    return {node: {column["plugin"]: column["normalized"][i] * column["weight"]
                   for column in attempt.get("scores", [])}
            for i, node in enumerate(attempt.get("fits", []))}


def scores_of_answer(answer: dict) -> dict:
    return {each["node"]: each["scores"] for each in answer["nodes"]
            if "scores" in each}


def wrong_amounts(answer: dict, objects: list[dict]) -> list[str]:
    """Counts what is free again. Returns what differs."""
    wrong = []
    form = re.compile(r"([a-z./]+): requests (\S+)(?: \([^)]*\))?, "
                      r"free (\S+) of (\S+)")
    for each in answer["nodes"]:
        causes = [cause for one in each.get("rejections", [])
                  for cause in one["causes"]]
        for cause in causes:
            match = form.match(cause)
            if not match:
                continue
            resource, _, free, _ = match.groups()
            shown = explain_cluster.amount(free)
            real = max(0, explain_cluster.free(objects, each["node"],
                                               resource))
            if abs(shown - real) > 1e-9 * max(1, real):
                wrong.append(f"{each['node']}: {cause}: {real} is free")
    return wrong


def problems(answer: dict, result: dict, objects: list[dict]) -> list[str]:
    """Compares an answer with what the step did on the original."""
    attempt = result["attempt"]
    nominated = nominated_by(attempt)
    state = ("preempts" if nominated else
             "unschedulable" if attempt.get("failure") else "fits")
    node = nominated or result["node"]
    pairs = [
        ("state", answer["state"], state),
        ("exit code", answer["exit"], 0 if node else 1),
        ("node", answer.get("node", ""), node),
        ("rejections", rejections_of_answer(answer),
         rejections_of_record(attempt)),
        ("scores", scores_of_answer(answer), scores_of_record(attempt)),
    ]
    if attempt.get("failure"):
        pairs.append(("sentence", answer["sentence"], result["note"]))
    found = [f"{what}: {have}, but the step has {want}"
             for what, have, want in pairs if have != want]
    return (found + wrong_amounts(answer, objects)
            + explain_rules.wrong_rules(answer, objects)
            + explain_volumes.wrong_causes(answer, objects)
            + wrong_victims(answer, result, objects))


def wrong_victims(answer: dict, result: dict,
                  objects: list[dict]) -> list[str]:
    """Compares the victims with the pods that are gone from the original."""
    gone = set(result["gone"])
    named = {each["pod"]: each["priority"]
             for each in answer.get("victims", [])}
    real = {name: pod["spec"].get("priority", 0) for pod in objects
            if pod["kind"] == "Pod"
            and (name := explain_rules.name_of(pod)) in gone}
    return [] if named == real else [f"victims: {named}, but {real} are gone"]


def idle_suggestions(answer: dict, objects: list[dict],
                     directory: pathlib.Path) -> list[str]:
    """Carries out the suggestions. Returns those that don't help."""
    idle = []
    for number, suggestion in enumerate(answer["suggestions"]):
        with Original(objects, directory / f"suggestion-{number}") as original:
            original.play(json.loads(suggestion["step"]))
            node = original.schedule()["node"]
        if node != suggestion["node"]:
            idle.append(f"{suggestion['text']}: gets the pod the node "
                        f"\"{node}\", not {suggestion['node']}")
    return idle


def causes_of(answer: dict) -> list[str]:
    return [cause for each in answer["nodes"]
            for one in each.get("rejections", []) for cause in one["causes"]]


def more(pattern: str, text: str, plus: int = 1) -> str:
    """Adds to the first number that is the pattern's group."""
    match = re.search(pattern, text)
    if not match:
        return text
    return (text[:match.start(1)] + str(int(match[1]) + plus)
            + text[match.end(1):])


def planted(answer: dict) -> list[dict]:
    """Returns copies of an answer, each with one fault."""
    text = json.dumps(answer)
    wrong = [re.sub(r"free (\d)", lambda match:
                    f"free {int(match.group(1)) + 1}", text),
             text.replace("Insufficient", "Enough"),
             more(r"has (\d+) pod", text), more(r"may have (\d+)", text),
             more(r" and (\d+) more", text), more(r"\((\d+) more", text),
             more(r"\(\w+ (\d+)[,;]", text),
             more(r"has \S+/bound-(\d+)", text, 1000),
             more(r"(?:pd|Pod\)) is in use by \S+/bound-(\d+)", text, 1000),
             more(r"volume disk-\w+ [^(]*\(node-(\d+)", text, 1000),
             re.sub(r"(disk-\w+ in zone) [abc]\b", r"\1 q", text),
             more(r'"pod": "\S+/bound-(\d+)"', text, 1000),
             text.replace("1 node(s) were", "2 node(s) were")]
    return [json.loads(each) for each in wrong if each != text]


class Check:
    """The results of all clusters."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self.counts: collections.Counter[str] = collections.Counter()

    def run(self, seed: int, directory: pathlib.Path) -> None:
        objects = explain_cluster.make(seed)
        directory.mkdir()
        with Original(objects, directory / "original") as original:
            dump = original.dump()
            answer = explain("target", "-f", dump)
            result = original.schedule()
        found = problems(answer, result, objects)
        found += idle_suggestions(answer, objects, directory)
        self.failures += [f"seed {seed}: {each}" for each in found]
        self.counts[answer["state"]] += 1
        self.counts["suggestions"] += len(answer["suggestions"])
        self.counts["pairs"] += sum(each["changes"] == 2
                                    for each in answer["suggestions"])
        for cause in causes_of(answer):
            for start in ("keeps away", "requires pods", "spread by"):
                self.counts[start] += cause.startswith(start)
            for part in ("has its volume", "no node is there", "is in use by"):
                self.counts[part] += part in cause
            self.counts["kept out"] += " keeps pods with " in cause
        for faulty in planted(answer):
            self.counts["planted"] += 1
            if not problems(faulty, result, objects):
                self.failures.append(f"seed {seed}: a planted fault is missed")
        self.plant_suggestion(answer, objects, directory, seed)

    def plant_suggestion(self, answer: dict, objects: list[dict],
                         directory: pathlib.Path, seed: int) -> None:
        """A suggestion that nobody has played must be found out."""
        if answer["state"] != "unschedulable" or self.counts["unplayed"] == 3:
            return
        self.counts["unplayed"] += 1
        faulty = copy.deepcopy(answer)
        faulty["suggestions"] = [{
            "text": "a label", "node": "node-0",
            "step": json.dumps({"patch": {"node": "node-0", "merge": {
                "metadata": {"labels": {"unplayed": "yes"}}}}})}]
        (directory / "planted").mkdir()
        if not idle_suggestions(faulty, objects, directory / "planted"):
            self.failures.append(f"seed {seed}: an unplayed suggestion is "
                                 "missed")


def check_clusters(seeds: range, directory: pathlib.Path) -> Check:
    """Makes the clusters, and compares the answers with the step."""
    check = Check()
    with concurrent.futures.ThreadPoolExecutor(
            max_workers=os.cpu_count()) as pool:
        runs = {seed: pool.submit(check.run, seed, directory / str(seed))
                for seed in seeds}
        for seed, run in runs.items():
            error = run.exception()
            if error:
                check.failures.append(f"seed {seed}: {error!r}")
    return check


def check_what_if(seeds: range, directory: pathlib.Path) -> list[str]:
    """Each suggestion is a step for --what-if, and a new pod has the answer of
    the same pod in the dump."""
    found = []
    tried = 0
    dump = directory / "what-if.json"
    new = directory / "new.json"
    for seed in seeds:
        objects = explain_cluster.make(seed)
        dump.write_text(json.dumps({"kind": "List", "items": objects}))
        answer = explain("target", "-f", dump)
        for suggestion in answer["suggestions"]:
            tried += 1
            after = explain("target", "-f", dump, "--no-suggestions",
                            "--what-if", suggestion["step"])
            if after.get("node") != suggestion["node"]:
                found.append(f"seed {seed}: {suggestion['text']}: "
                             f"{after['sentence']}")
        dump.write_text(json.dumps({"kind": "List", "items": objects[:-1]}))
        new.write_text(json.dumps(objects[-1]))
        created = explain("-f", dump, "--new", new)
        # The server has added tolerations to the new pod, and so to the steps.
        for each in answer["suggestions"] + created["suggestions"]:
            del each["step"]
        if created != answer:
            found.append(f"seed {seed}: the answer for the new pod differs")
    return found if tried else ["no suggestion was tried"]


def before_post_filter(sentence: str) -> str:
    # If PreFilter rejects the pod, kube-scheduler's DefaultPreemption finds no
    # nodes to try, and returns "not found".
    return sentence.split(" preemption:")[0].removesuffix(" not found")


def check_real(scheduler: str, seeds: range,
               directory: pathlib.Path) -> list[str]:
    """Compares the states and the sentences of the last step and of
    kube-scheduler, up to what its PostFilter plugins say."""
    found = []
    compared = 0
    for seed in seeds:
        dump = directory / f"real-{seed}.json"
        dump.write_text(json.dumps({"kind": "List",
                                    "items": explain_cluster.make(seed)}))
        ours = explain("target", "-f", dump, "--no-suggestions")
        real = explain("target", "-f", dump, "--no-suggestions", "--scheduler",
                       f"exec '{ROOT}/scripts/lib/kube_scheduler'",
                       env={"KUBE_SCHEDULER": scheduler})
        answers = [(each["state"], before_post_filter(each["sentence"]))
                   for each in (ours, real)]
        if ours["state"] == "fits" == real["state"]:
            continue
        compared += 1
        if answers[0] != answers[1]:
            found.append(f"seed {seed}: {answers[0]}, but kube-scheduler "
                         f"says {answers[1]}")
    return found if compared else ["no sentence was compared"]
