"""Configurations by name: the cases of kube-scheduler's own tests, and cases of
how text is read. Which of them are valid, kube-scheduler itself decides.

In upstream's cases, plugins of its tests are replaced by plugins that
kube-scheduler has.
"""

import json
from typing import Any, Optional

TYPE = {"apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration"}
HEAD = "".join(f"{key}: {value}\n" for key, value in TYPE.items())


def to_yaml(value: Any, indent: str = "") -> str:
    """Writes a value in block style."""
    if isinstance(value, dict) and value:
        lines = []
        for key, item in value.items():
            text = to_yaml(item, indent + "  ")
            nested = isinstance(item, (dict, list)) and item
            lines.append(f"{indent}{key}:" + (f"\n{text}" if nested else f" {text}"))
        return "\n".join(lines)
    if isinstance(value, list) and value:
        lines = []
        for item in value:
            text = to_yaml(item, indent + "  ")
            lines.append(f"{indent}- {text.lstrip(' ')}")
        return "\n".join(lines)
    return json.dumps(value)


def config(**fields: Any) -> str:
    return to_yaml({**TYPE, **fields}) + "\n"


def profile(**fields: Any) -> str:
    return config(profiles=[fields])


def with_plugins(plugins: Optional[dict]) -> str:
    return profile(plugins=plugins)


def with_args(name: str, args: Any) -> str:
    return profile(pluginConfig=[{"name": name, "args": args}])


def names(*plugins: Any) -> list:
    """The entries of a list: names, or pairs of a name and a weight."""
    return [{"name": p} if isinstance(p, str) else {"name": p[0], "weight": p[1]}
            for p in plugins]


def validation() -> dict[str, str]:
    """validation_test.go, TestValidateKubeSchedulerConfigurationV1."""
    def valid(**changes: Any) -> dict:
        base: dict = {
            "parallelism": 8,
            "clientConnection": {"acceptContentTypes": "application/json",
                                 "contentType": "application/json", "qps": 10,
                                 "burst": 10},
            "leaderElection": {"resourceLock": "leases", "leaderElect": True,
                               "leaseDuration": "30s", "renewDeadline": "15s",
                               "retryPeriod": "5s", "resourceNamespace": "name",
                               "resourceName": "name"},
            "podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1,
            "profiles": [me(), other()]}
        return {**base, **changes}

    def me(**changes: Any) -> dict:
        return {"schedulerName": "me", "percentageOfNodesToScore": 35,
                "plugins": {"queueSort": {"enabled": names("PrioritySort")},
                            "score": {"disabled": names("*")}},
                "pluginConfig": [{"name": "DefaultPreemption", "args": {
                    "minCandidateNodesPercentage": 10,
                    "minCandidateNodesAbsolute": 100}}], **changes}

    def other(**changes: Any) -> dict:
        return {"schedulerName": "other", "percentageOfNodesToScore": 35,
                "plugins": {"queueSort": {"enabled": names("PrioritySort")},
                            "bind": {"enabled": names("DefaultBinder")}},
                **changes}

    def election(**changes: Any) -> dict:
        return valid(leaderElection={**valid()["leaderElection"], **changes})

    def profiles(*items: dict) -> dict:
        return valid(profiles=list(items))

    def extenders(*items: dict) -> dict:
        return valid(extenders=list(items))

    def score(*plugins: Any) -> dict:
        return {"queueSort": {"enabled": names("PrioritySort")},
                "score": {"disabled": names("*"), "enabled": names(*plugins)}}

    def sort(name: str, *plugins: str, args: str = "") -> dict:
        changed = {"schedulerName": name,
                   "plugins": {"queueSort": {"enabled": names(*plugins)}}}
        if args:
            changed["pluginConfig"] = [{"name": args}]
        return changed

    extender = {"urlPrefix": "http://127.0.0.1:1", "prioritizeVerb": "prioritize",
                "weight": 1}
    cases = {
        "good": valid(),
        "good, with an extender": extenders(extender),
        "bad-parallelism-invalid-value": valid(parallelism=0),
        "bad-resource-name-not-set": election(resourceName=""),
        "bad-resource-namespace-not-set": election(resourceNamespace=""),
        "bad-resource-lock-not-leases": election(resourceLock="configmap"),
        "content-profiling-without-profiling": valid(
            enableProfiling=False, enableContentionProfiling=True),
        "bad-percentage-of-nodes-to-score": valid(percentageOfNodesToScore=101),
        "negative-percentage-of-nodes-to-score":
            valid(percentageOfNodesToScore=-1),
        "scheduler-name-not-set": profiles(me(), other(schedulerName="")),
        "scheduler-name-absent": profiles(me(), {}),
        "repeated-scheduler-name":
            profiles(me(schedulerName="other"), other()),
        "greater-than-100-profile-percentage-of-nodes-to-score":
            profiles(me(), other(percentageOfNodesToScore=101)),
        "negative-profile-percentage-of-nodes-to-score":
            profiles(me(), other(percentageOfNodesToScore=-1)),
        "different-queue-sort": profiles(me(), sort("other", "ImageLocality")),
        "one-empty-queue-sort": profiles({"schedulerName": "me"}, other()),
        "extender-negative-weight": extenders({**extender, "weight": -1}),
        "extender-largest-weight": extenders({**extender, "weight": 2**31 - 1}),
        "extender-larger-weight": extenders({**extender, "weight": 2**31}),
        "extender-duplicate-managed-resources": extenders(
            {**extender, "managedResources": names("example.com/foo",
                                                   "example.com/foo")}),
        "extender-duplicate-bind": extenders({**extender, "bindVerb": "foo"},
                                             {**extender, "bindVerb": "bar"}),
        "extender-all-fields": extenders({
            **extender, "filterVerb": "filter", "preemptVerb": "preempt",
            "bindVerb": "bind", "httpTimeout": "1m30s", "ignorable": True,
            "nodeCacheCapable": True, "managedResources": [
                {"name": "example.com/a", "ignoredByScheduler": True},
                {"name": "example.com/b"}]}),
        "extender-ignored-resource-without-fit": {**extenders({
            **extender, "managedResources": [
                {"name": "example.com/a", "ignoredByScheduler": True}]}),
            "profiles": [{"plugins": {"multiPoint": {
                "disabled": names("NodeResourcesFit")}}}]},
        "extender-with-tls": extenders({
            "urlPrefix": "https://127.0.0.1:1", "enableHTTPS": True,
            "tlsConfig": {"insecure": True, "serverName": "a"}}),
        "extender-without-a-certificate": extenders({
            "urlPrefix": "https://127.0.0.1:1", "enableHTTPS": True}),
        "extender-empty-tls": extenders({"urlPrefix": "a", "tlsConfig": {}}),
        "extender-data-is-not-base64": extenders({
            "tlsConfig": {"insecure": True, "keyData": "_"}}),
        "extender-empty": extenders({}),
        "extender-weight-without-verb": extenders({"urlPrefix": "a",
                                                   "weight": -1}),
        "extender-wrong-types": extenders({"urlPrefix": 1, "weight": "1",
                                           "httpTimeout": 5}),
        "extender-unknown-field": extenders({"urlPrefix": "a",
                                             "filterverb": "b"}),
        **{f"extender-resource {name}": extenders({
            **extender, "managedResources": names(name)})
           for name in ("cpu", "", "a/b/c", "kubernetes.io/x", "requests.a/b",
                        "a.kubernetes.io/x", "nvidia.com/gpu", "a", "A/b",
                        f"{'a' * 63}.{'b' * 63}.{'c' * 63}.{'d' * 61}/e",
                        f"{'a' * 63}.{'b' * 63}.{'c' * 63}.{'d' * 50}/e")},
        "invalid-node-percentage": profiles(me(pluginConfig=[{
            "name": "DefaultPreemption",
            "args": {"minCandidateNodesPercentage": 200,
                     "minCandidateNodesAbsolute": 100}}]), other()),
        "invalid-plugin-args": profiles(me(pluginConfig=[{
            "name": "DefaultPreemption",
            "args": {"kind": "InterPodAffinityArgs"}}]), other()),
        "duplicated-plugin-config":
            profiles(me(pluginConfig=names("config", "config")), other()),
        "mismatch-queue-sort":
            profiles(sort("me", "PrioritySort", args="PrioritySort"),
                     sort("other", "CustomSort", args="CustomSort")),
        "mismatch-queue-sort-args":
            profiles({**sort("me", "PrioritySort"), "pluginConfig": [
                {"name": "PrioritySort", "args": {"a": 1}}]},
                sort("other", "PrioritySort")),
        "invalid-plugins": profiles(me(plugins=score(
            "AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")),
            other()),
        "valid-plugins":
            profiles(me(plugins=score(("PodTopologySpread", 2))), other()),
    }
    return {f"validation: {name}": config(**case) for name, case in cases.items()}


def plugin_args() -> dict[str, str]:
    """validation_pluginargs_test.go."""
    cases: dict[str, str] = {}

    def add(plugin: str, **by_name: Any) -> None:
        for name, args in by_name.items():
            cases[f"args: {plugin}: {name.replace('_', ' ')}"] = with_args(
                plugin, args)

    def preemption(percentage: int, absolute: int) -> dict:
        return {"minCandidateNodesPercentage": percentage,
                "minCandidateNodesAbsolute": absolute}

    add("DefaultPreemption", valid_args=preemption(10, 100),
        negative_minCandidateNodesPercentage=preemption(-1, 100),
        minCandidateNodesPercentage_over_100=preemption(900, 100),
        negative_minCandidateNodesAbsolute=preemption(20, -1),
        all_zero=preemption(0, 0), both_negative=preemption(-1, -1))
    add("InterPodAffinity", valid_args={"hardPodAffinityWeight": 10},
        less_than_min={"hardPodAffinityWeight": -1},
        more_than_max={"hardPodAffinityWeight": 101})

    def constraint(skew: int, key: str, action: str, **more: Any) -> dict:
        return {"maxSkew": skew, "topologyKey": key,
                "whenUnsatisfiable": action, **more}

    def spread(*constraints: dict, defaulting: str = "List") -> dict:
        return {"defaultConstraints": list(constraints),
                "defaultingType": defaulting}

    hard, soft = "DoNotSchedule", "ScheduleAnyway"
    add("PodTopologySpread",
        valid_config=spread(constraint(1, "node", hard),
                            constraint(2, "zone", soft)),
        maxSkew_less_than_zero=spread(constraint(-1, "node", hard)),
        empty_topology_key=spread(constraint(1, "", hard)),
        whenUnsatisfiable_is_empty=spread(constraint(1, "node", "")),
        unsupported_action=spread(constraint(1, "node", "unknown action")),
        duplicated_constraints=spread(constraint(1, "node", hard),
                                      constraint(2, "node", hard)),
        label_selector_present=spread(constraint(
            1, "key", hard, labelSelector={"matchLabels": {"a": "b"}})),
        no_constraints={"defaultingType": "List"},
        system_default_constraints={"defaultingType": "System"},
        wrong_constraints={"defaultingType": "unknown"},
        system_but_has_constraints=spread(constraint(1, "key", hard),
                                          defaulting="System"))

    def resources(*pairs: tuple) -> list:
        return [{"name": name, "weight": weight} for name, weight in pairs]

    add("NodeResourcesBalancedAllocation",
        valid_config={"resources": resources(("cpu", 1), ("memory", 1))},
        invalid_config={"resources": resources(("cpu", 2), ("memory", 1))},
        repeated_resources={"resources": resources(("cpu", 1), ("cpu", 1))})

    def expressions(key: str, *values: str) -> dict:
        return {"matchExpressions": [
            {"key": key, "operator": "In", "values": list(values)}]}

    def fields(*values: str) -> dict:
        return {"matchFields": [{"key": "metadata.name", "operator": "In",
                                 "values": list(values)}]}

    def affinity(term: dict, preference: dict) -> dict:
        during = "DuringSchedulingIgnoredDuringExecution"
        return {"addedAffinity": {
            f"required{during}": {"nodeSelectorTerms": [term]},
            f"preferred{during}": [{"weight": 1, "preference": preference}]}}

    add("NodeAffinity", empty={},
        valid_added_affinity=affinity(expressions("label-1", "label-1-val"),
                                      fields("node-1")),
        invalid_added_affinity=affinity(
            expressions("invalid/label/key", "label-1-val"),
            fields("node-1", "node-2")))

    def points(*pairs: tuple) -> list:
        return [{"utilization": u, "score": s} for u, s in pairs]

    def binding(timeout: int, *pairs: tuple) -> dict:
        return {"bindTimeoutSeconds": timeout, "shape": points(*pairs)}

    add("VolumeBinding", zero=binding(0, (0, 0), (100, 10)),
        positive_value=binding(10, (0, 0), (100, 10)),
        negative_value=binding(-10, (0, 0), (100, 10)),
        shape_is_empty=binding(10), not_sorted=binding(10, (3, 3), (1, 1)),
        invalid_utilization_and_score=binding(
            10, (-1, 1), (10, -1), (20, 11), (101, 1)))

    def ignored(*resource_names: str) -> dict:
        return {"ignoredResources": list(resource_names)}

    def groups(*group_names: str) -> dict:
        return {"ignoredResourceGroups": list(group_names)}

    def strategy(kind: str, *pairs: tuple, shape: Optional[list] = None) -> dict:
        built: dict = {"type": kind, "resources": resources(*pairs)}
        if shape is not None:
            built["requestedToCapacityRatio"] = {"shape": shape}
        return {"scoringStrategy": built}

    ratio = "RequestedToCapacityRatio"
    add("NodeResourcesFit", ignored_too_long=ignored("longvalue" + "a" * 64),
        ignored_name_is_empty=ignored("example.com/"),
        ignored_too_many_slashes=ignored("example.com/aaa/bbb"),
        ignored_valid=ignored("example.com"),
        groups_valid=groups("example.com"), groups_illegal=groups("example.com/"),
        groups_too_long=groups("a" * 64), groups_slash=groups("example.com/aa"),
        strategy_null={"scoringStrategy": None},
        type_is_unsupported=strategy("Invalid"), type_is_absent={
            "scoringStrategy": {"resources": resources(("cpu", 1))}},
        ratio_is_missing=strategy(ratio),
        ratio_of_another_type=strategy("MostAllocated", shape=points((0, 0))))
    for kind in ("LeastAllocated", "MostAllocated"):
        for name, pairs in {
                "default config": (), "multi valid resources":
                (("cpu", 1), ("memory", 10)), "weight less than min":
                (("cpu", 0),), "negative weight": (("cpu", -1),),
                "weight greater than max": (("cpu", 101),),
                "multi invalid resources": (("cpu", 0), ("memory", 101))}.items():
            cases[f"args: NodeResourcesFit: {kind}: {name}"] = with_args(
                "NodeResourcesFit", strategy(kind, *pairs))
    default = points((30, 3))
    for name, (pairs, shape) in {
            "no shapes": ((), []), "weight greater than max":
            ((("cpu", 101),), default), "weight less than min":
            ((("cpu", 0),), default), "valid shapes": ((), default),
            "utilization less than min": ((), points((-1, 3))),
            "utilization greater than max": ((), points((101, 3))),
            "duplicated utilization values": ((), points((10, 3), (10, 3))),
            "increasing utilization values":
            ((), points((10, 3), (20, 3), (30, 3))),
            "non-increasing utilization values":
            ((), points((10, 3), (20, 3), (15, 3))),
            "score less than min": ((), points((10, -1))),
            "score greater than max": ((), points((10, 11)))}.items():
        cases[f"args: NodeResourcesFit: ratio: {name}"] = with_args(
            "NodeResourcesFit", strategy(ratio, *pairs, shape=shape))
    add("DynamicResources", valid_args={"filterTimeout": "10s",
                                        "bindingTimeout": "10m"},
        empty={}, negative_filterTimeout={"filterTimeout": "-1s"},
        valid_bindingTimeout={"bindingTimeout": "30s"},
        bindingTimeout_zero={"bindingTimeout": "0s"},
        bindingTimeout_below_a_second={"bindingTimeout": "500ms"},
        negative_bindingTimeout={"bindingTimeout": "-1s"})
    return cases
