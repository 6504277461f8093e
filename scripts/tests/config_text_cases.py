"""Configurations as text that is read in a particular way, and random ones.
See config_cases.py."""

import json
import random
from typing import Any

from config_cases import HEAD, TYPE, to_yaml
from config_plugin_cases import POINTS

JSON_HEAD = json.dumps(TYPE)[:-1]

TEXTS = {
    "arguments are absent": "profiles: [{pluginConfig: [{name: NodeAffinity}]}]",
    "arguments are null":
        "profiles: [{pluginConfig: [{name: NodeAffinity, args: null}]}]",
    "arguments of a plugin without any":
        "profiles: [{pluginConfig: [{name: NodeName, args: {foo: [1, a]}}]}]",
    "arguments are a number":
        "profiles: [{pluginConfig: [{name: NodeName, args: 5}]}]",
    "known arguments are a number":
        "profiles: [{pluginConfig: [{name: NodeAffinity, args: 5}]}]",
    "arguments of another kind": "profiles: [{pluginConfig: [{name: "
        "NodeAffinity, args: {kind: InterPodAffinityArgs}}]}]",
    "arguments of another version": "profiles: [{pluginConfig: [{name: "
        "NodeAffinity, args: {apiVersion: v1}}]}]",
    "an unknown argument": "profiles: [{pluginConfig: [{name: NodeAffinity, "
        "args: {added: {}}}]}]",
    "invalid arguments of a plugin that is off": "profiles: [{plugins: "
        "{multiPoint: {disabled: [{name: NodeResourcesFit}]}}, pluginConfig: "
        "[{name: NodeResourcesFit, args: {scoringStrategy: {type: Foo}}}]}]",
    "invalid arguments of another plugin that is off": "profiles: [{plugins: "
        "{multiPoint: {disabled: [{name: InterPodAffinity}]}}, pluginConfig: "
        "[{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}]}]",
    "an empty selector": "profiles: [{pluginConfig: [{name: NodeAffinity, args: "
        "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "{}}}}]}]",
    "an empty term": "profiles: [{pluginConfig: [{name: NodeAffinity, args: "
        "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "{nodeSelectorTerms: [{}]}}}}]}]",
    "a term without a weight": "profiles: [{pluginConfig: [{name: NodeAffinity,"
        " args: {addedAffinity: {preferredDuringSchedulingIgnoredDuring"
        "Execution: [{weight: 0, preference: {matchExpressions: [{key: a, "
        "operator: Exits}]}}]}}}]}]",
    "an empty affinity": "profiles: [{pluginConfig: [{name: NodeAffinity, args: "
        "{addedAffinity: {}}}]}]",
    "more fields of a constraint": "profiles: [{pluginConfig: [{name: "
        "PodTopologySpread, args: {defaultingType: List, defaultConstraints: "
        "[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, "
        "minDomains: 0, nodeAffinityPolicy: Foo, matchLabelKeys: [b]}]}}]}]",
    "a profile is null": "profiles: [null]",
    "profiles are null": "profiles: null",
    "profiles are empty": "profiles: []",
    "profiles are a map": "profiles: {}",
    "a plugin is null": "profiles: [{plugins: {score: {enabled: [null]}}}]",
    "extenders are empty": "extenders: []",
    "a name is empty": "profiles: [{schedulerName: ''}]",
    "a name is null": "profiles: [{schedulerName: null}]",
    "a name is a number": "profiles: [{schedulerName: 5}]",
    "a duration is null": "leaderElection: {leaseDuration: null}",
    "a duration is a number": "leaderElection: {leaseDuration: 15}",
    "a duration without a unit": "leaderElection: {leaseDuration: '15'}",
    "a duration of zero": "leaderElection: {leaseDuration: '0'}",
    "a negative duration": "leaderElection: {leaseDuration: -5s}",
    "two documents": "---\nfoo: 1",
    "an empty second document": "---",
    "a tab": "\tparallelism: 1",
    "a float without a fraction": "parallelism: 1.0",
    "a float": "parallelism: 1.5",
    "an exponent": "parallelism: 1e1",
    "an underscore": "parallelism: 1_0",
    "an octal number": "parallelism: 010",
    "a hexadecimal number": "parallelism: 0x10",
    "a number that doesn't fit": "parallelism: 4294967296",
    "a large number": "podMaxBackoffSeconds: 9223372036854775808",
    "a rate of a tenth": "clientConnection: {qps: 0.1}",
    "a rate of a third": "clientConnection: {qps: 0.333333333333}",
    "a small rate": "clientConnection: {qps: 1e-7}",
    "a large rate": "clientConnection: {qps: 123456789}",
    "a negative rate": "clientConnection: {qps: -1}",
    "a rate that doesn't fit": "clientConnection: {qps: 1e39}",
    "a rate in quotes": "clientConnection: {qps: '5'}",
    "yes": "enableProfiling: yes",
    "true in quotes": "enableProfiling: 'true'",
    "quoted keys": "'parallelism': 3\n\"percentageOfNodesToScore\": 5",
    "a key of another case": "Parallelism: 3",
    "a null key": "~: 1",
    "a repeated field": "parallelism: 1\nparallelism: 2",
    "a repeated field in arguments":
        "profiles: [{pluginConfig: [{name: Foo, args: {a: 1, a: 2}}]}]",
    "a merged map": "clientConnection:\n  <<: {qps: 1}\n  burst: 3",
    "an overridden merged map": "clientConnection:\n  <<: {qps: 1}\n  qps: 3",
    "an alias": "profiles:\n- schedulerName: &n foo\n- schedulerName: *n",
    "several unknown fields":
        "foo: 1\nprofiles: [{bar: 2, plugins: {scores: {}}}]",
    "a typing error in a plugin":
        "profiles:\n- plugins:\n    score:\n      enabled:\n"
        "      - name: ImageLocality\n        wieght: 2",
    "a comment": "# a comment\nparallelism: 5 # another one",
    "a name with special characters": "profiles: [{schedulerName: 'a: b #c'}]",
    "a name that is a word": "profiles: [{schedulerName: 'true'}]",
}


def texts() -> dict[str, str]:
    cases = {name: f"{HEAD}{text}\n" for name, text in TEXTS.items()}
    cases.update({
        "nothing": "", "a comment only": "# nothing\n", "a list": "[]",
        "a scalar": "5", "null": "null\n", "an empty first document":
            f"---\n---\n{HEAD}", "not YAML": f"{HEAD}a: [", "CRLF":
            HEAD.replace("\n", "\r\n"), "a byte order mark": f"\ufeff{HEAD}",
        "JSON": f'{JSON_HEAD}, "parallelism": 5}}',
        "JSON with a float": f'{JSON_HEAD}, "parallelism": 5.0}}',
        "JSON with a repeated field":
            f'{JSON_HEAD}, "parallelism": 1, "parallelism": 2}}',
        "JSON with an unknown field": f'{JSON_HEAD}, "x": 1}}',
        "JSON with a tail": f"{JSON_HEAD}}} {{}}",
        "JSON with an escape":
            f'{JSON_HEAD}, "profiles": [{{"schedulerName": "\\ud83d\\ude00"}}]}}',
        "YAML that begins like JSON": "{apiVersion: kubescheduler.config.k8s.io"
                                      "/v1, kind: KubeSchedulerConfiguration}"})
    return {f"text: {name}": text for name, text in cases.items()}


PLUGINS = ("SchedulingGates PrioritySort NodeName NodeUnschedulable "
           "TaintToleration NodeAffinity NodePorts NodeResourcesFit "
           "VolumeRestrictions VolumeBinding VolumeZone PodTopologySpread "
           "InterPodAffinity DefaultPreemption NodeResourcesBalancedAllocation "
           "ImageLocality DefaultBinder").split()
# Plugins at whose points others are unlikely to be errors.
SCORERS = ("TaintToleration NodeAffinity NodeResourcesFit PodTopologySpread "
           "InterPodAffinity VolumeBinding ImageLocality "
           "NodeResourcesBalancedAllocation").split()
FILTERS = ("NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts "
           "NodeResourcesFit VolumeRestrictions VolumeZone").split()


class RandomConfiguration:
    """Makes a configuration, mostly a valid one, from a random generator."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def maybe(self, share: float) -> bool:
        return self.rng.random() < share

    def some(self, share: float = 0.3, **makers: Any) -> dict:
        """Each field with a probability."""
        return {name: make() for name, make in makers.items()
                if self.maybe(share)}

    def number(self, low: int, high: int) -> int:
        """A number in the range, rarely outside of it."""
        if self.maybe(0.03):
            return self.rng.choice([low - 1, high + 1])
        return self.rng.randint(low, high)

    def plugin(self, name: str) -> dict:
        entry: dict = {"name": name}
        if self.maybe(0.4):
            entry["weight"] = self.number(0, 10)
        return entry

    def plugin_set(self, point: str) -> dict:
        pool = {"score": SCORERS, "filter": FILTERS, "preFilter": FILTERS,
                "multiPoint": PLUGINS, "preScore": SCORERS[:5]}.get(point, [])
        if self.maybe(0.03) or not pool:
            pool = PLUGINS
        enabled = self.rng.sample(pool, self.rng.randint(0, min(4, len(pool))))
        disabled = self.rng.sample(pool, self.rng.randint(0, min(3, len(pool))))
        if point not in ("score", "filter", "preFilter", "multiPoint",
                         "preScore") and not self.maybe(0.05):
            enabled = []
            disabled = []
        if self.maybe(0.03):
            enabled += enabled[:1]
        if self.maybe(0.15) and point not in ("queueSort", "bind", "multiPoint"):
            disabled = ["*"]
        result: dict = {}
        if enabled or self.maybe(0.1):
            result["enabled"] = [self.plugin(name) for name in enabled]
        if disabled:
            result["disabled"] = [{"name": name} for name in disabled]
        return result

    def plugins(self) -> dict:
        chosen = [point for point in POINTS if self.maybe(0.25)]
        return {point: self.plugin_set(point) for point in chosen}

    def resources(self) -> list:
        pool = ["cpu", "memory", "ephemeral-storage", "example.com/gpu"]
        return [{"name": name, **self.some(0.8, weight=lambda:
                                           self.number(1, 100))}
                for name in self.rng.sample(pool, self.rng.randint(0, 4))]

    def shape(self) -> list:
        marks = sorted(self.rng.sample(range(101), self.rng.randint(1, 4)))
        if self.maybe(0.05):
            marks.reverse()
        return [{"utilization": mark, "score": self.number(0, 10)}
                for mark in marks]

    def strategy(self) -> dict:
        kind = self.rng.choice(["LeastAllocated", "MostAllocated",
                                "RequestedToCapacityRatio"])
        strategy: dict = {"type": kind, **self.some(
            0.7, resources=self.resources)}
        if (kind == "RequestedToCapacityRatio") != self.maybe(0.03):
            strategy["requestedToCapacityRatio"] = {"shape": self.shape()}
        return strategy

    def constraint(self) -> dict:
        return {"maxSkew": self.number(1, 5), "topologyKey": self.rng.choice(
                    ["zone", "kubernetes.io/hostname", "rack"]),
                "whenUnsatisfiable": self.rng.choice(
                    ["DoNotSchedule", "ScheduleAnyway"]),
                **self.some(0.2, minDomains=lambda: self.number(1, 3),
                            nodeTaintsPolicy=lambda: "Honor",
                            matchLabelKeys=lambda: ["a"])}

    def term(self) -> dict:
        operator = self.rng.choice(["In", "NotIn", "Exists", "DoesNotExist",
                                    "Gt", "Lt"])
        values = {"In": ["a", "b"], "NotIn": ["c"], "Gt": ["1"], "Lt": ["9"]}
        requirement: dict = {"key": self.rng.choice(["a", "x.org/b"]),
                             "operator": operator}
        if operator in values or self.maybe(0.05):
            requirement["values"] = values.get(operator, ["z"])
        return {"matchExpressions": [requirement]}

    def args(self, name: str) -> dict:
        during = "DuringSchedulingIgnoredDuringExecution"
        makers = {
            "DefaultPreemption": lambda: self.some(
                0.6, minCandidateNodesPercentage=lambda: self.number(0, 100),
                minCandidateNodesAbsolute=lambda: self.number(0, 200)),
            "InterPodAffinity": lambda: self.some(
                0.6, hardPodAffinityWeight=lambda: self.number(0, 100),
                ignorePreferredTermsOfExistingPods=lambda: self.maybe(0.5)),
            "NodeAffinity": lambda: self.some(0.8, addedAffinity=lambda: (
                self.some(0.6, **{
                    f"required{during}": lambda: {"nodeSelectorTerms": [
                        self.term() for _ in range(self.rng.randint(0, 2))]},
                    f"preferred{during}": lambda: [
                        {"weight": self.rng.randint(1, 100),
                         "preference": self.term()}]}))),
            "NodeResourcesBalancedAllocation": lambda: {"resources": [
                {"name": item["name"], "weight": self.number(1, 1)}
                for item in self.resources()]},
            "NodeResourcesFit": lambda: self.some(
                0.5, ignoredResources=lambda: ["example.com/foo"],
                ignoredResourceGroups=lambda: ["example.com"],
                scoringStrategy=self.strategy),
            "PodTopologySpread": lambda: {
                "defaultingType": "List", "defaultConstraints": [
                    self.constraint() for _ in range(self.rng.randint(0, 3))]},
            "VolumeBinding": lambda: self.some(
                0.6, bindTimeoutSeconds=lambda: self.number(0, 900),
                shape=self.shape)}
        return makers[name]() if name in makers else {"a": [1, None, "b"]}

    def profile(self, name: str) -> dict:
        configured = [plugin for plugin in PLUGINS if self.maybe(0.15)]
        return {"schedulerName": name, **self.some(
            0.5, plugins=self.plugins,
            percentageOfNodesToScore=lambda: self.number(0, 100),
            pluginConfig=lambda: [{"name": plugin, "args": self.args(plugin)}
                                  for plugin in configured])}

    def make(self) -> dict:
        count = self.rng.choice([0, 1, 1, 1, 1, 2, 3])
        fields = self.some(
            0.25, parallelism=lambda: self.number(1, 64),
            percentageOfNodesToScore=lambda: self.number(0, 100),
            podInitialBackoffSeconds=lambda: self.number(1, 10),
            podMaxBackoffSeconds=lambda: self.number(10, 100),
            enableProfiling=lambda: self.maybe(0.5),
            enableContentionProfiling=lambda: self.maybe(0.5),
            delayCacheUntilActive=lambda: self.maybe(0.5),
            clientConnection=lambda: self.some(
                0.5, qps=lambda: self.rng.choice([10, 12.5, -1, 0.3]),
                burst=lambda: self.number(0, 99),
                contentType=lambda: "application/json"),
            leaderElection=lambda: self.some(
                0.4, leaderElect=lambda: self.maybe(0.5),
                leaseDuration=lambda: f"{self.rng.randint(5, 30)}s",
                retryPeriod=lambda: "1500ms", resourceName=lambda: "mine"))
        if count:
            fields["profiles"] = [self.profile(f"p{i}") for i in range(count)]
        return {**TYPE, **fields}


def damage(text: str, rng: random.Random) -> str:
    """Makes a typing error in a line."""
    lines = text.splitlines()
    at = rng.randrange(2, len(lines)) if len(lines) > 2 else 0
    key, colon, value = lines[at].partition(":")
    choice = rng.randrange(5)
    if choice == 0 and len(key.strip(" -")) > 3:
        lines[at] = key[:-2] + key[-1] + key[-2] + colon + value
    elif choice == 1:
        lines.insert(at, lines[at])
    elif choice == 2 and value.strip():
        lines[at] = f'{key}: "{value.strip(" ").strip(chr(34))}"'
    elif choice == 3:
        lines[at] = f"{key}: null"
    else:
        lines[at] = f"{key}: []"
    return "\n".join(lines) + "\n"


def random_cases(count: int, seed: int) -> dict[str, str]:
    cases = {}
    for index in range(count):
        rng = random.Random(f"{seed}:{index}")
        made = RandomConfiguration(rng).make()
        is_json = rng.random() < 0.15
        text = json.dumps(made, indent=1) if is_json else to_yaml(made) + "\n"
        if not is_json and rng.random() < 0.25:
            text = damage(text, rng)
        cases[f"random: {seed}:{index}"] = text
    return cases
