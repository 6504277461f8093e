"""Configurations of kube-scheduler's tests of defaults, of merging and expanding
plugins, and of options. See config_cases.py."""

from typing import Any

from config_cases import (HEAD, config, names, profile, to_yaml, with_args,
                          with_plugins)

POINTS = ("preEnqueue queueSort preFilter filter postFilter preScore score "
          "reserve permit preBind bind postBind multiPoint").split()


def on(*plugins: Any) -> dict:
    return {"enabled": names(*plugins)}


def off(*plugins: str) -> dict:
    return {"disabled": names(*plugins)}


def merging() -> dict[str, str]:
    """default_plugins_test.go, TestMergePlugins."""
    cases: dict[str, dict] = {
        "AppendCustomPlugin": {"filter": on("NodePorts")},
        "InsertAfterDefaultPlugins2": {"multiPoint": {
            **on("ImageLocality", "NodeName"), **off("NodeName")}},
        "InsertBeforeAllPlugins": {"filter": {
            **on("NodePorts", "NodeName", "NodeUnschedulable"), **off("*")}},
        "ReorderDefaultPlugins": {"filter": {
            **on("NodeUnschedulable", "NodeName"), **off("*")}},
        "CustomPluginOverrideDefaultPlugin": {
            "multiPoint": on(("TaintToleration", 2), ("ImageLocality", 3))},
        "OrderPreserveAfterOverride": {
            "multiPoint": on(("ImageLocality", 2), ("TaintToleration", 1))},
        "RepeatedCustomPlugin": {"multiPoint": on(
            "NodeName", ("NodeAffinity", 2), "NodePorts", ("NodeAffinity", 4))},
        "Append disabled Multipoint plugins": {
            "multiPoint": {**on("ImageLocality", "NodePorts"),
                           **off("NodeName")}, "score": off("ImageLocality")},
        "override default MultiPoint plugins with custom value":
            {"multiPoint": on(("PodTopologySpread", 5))},
        "multipoint with only disabled gets merged":
            {"multiPoint": off("NodeName")},
        "a missing plugin is disabled":
            {"multiPoint": off("NodeVolumeLimits", "DynamicResources"),
             "filter": off("NodeDeclaredFeatures")},
        "a missing plugin is enabled": {"filter": on("NodeVolumeLimits")},
        "an unknown plugin is disabled": {"filter": off("NodeNam")},
        "disabled plugins have weights": {"score": {"disabled": [
            {"name": "ImageLocality", "weight": 3}]}},
        "everything is disabled": {"multiPoint": off("*")},
        "everything is disabled, and needed plugins are enabled": {
            "multiPoint": {**off("*"), **on("PrioritySort", "DefaultBinder")}},
        "no queue sort": {"queueSort": off("*")},
        "no queue sort by name": {"queueSort": off("PrioritySort")},
        "no bind": {"bind": off("DefaultBinder")},
        "a placement score": {"placementScore": on("NodeResourcesFit")},
    }
    result = {f"merging: {name}": with_plugins(case)
              for name, case in cases.items()}
    result["merging: ApplyNilCustomPlugin"] = with_plugins(None)
    for point in POINTS:
        result[f"merging: an unknown plugin at {point}"] = with_plugins(
            {point: on("NodeNmae")})
        result[f"merging: NodeResourcesFit at {point}"] = with_plugins(
            {point: on("NodeResourcesFit")})
        result[f"merging: * is disabled at {point}"] = with_plugins(
            {point: off("*")})
    return result


def expansion() -> dict[str, str]:
    """framework_test.go, TestNewFrameworkMultiPointExpansion."""
    base = ("PrioritySort", "DefaultBinder")

    def only(*plugins: Any, **points: Any) -> dict:
        return {"multiPoint": {**off("*"), **on(*base, *plugins)}, **points}

    taint, image, fit = "TaintToleration", "ImageLocality", "NodeResourcesFit"
    cases = {
        "plugin expansion": only((taint, 5)),
        "disable MultiPoint plugin at some extension points":
            only(taint, preScore=off(taint), score=off(taint)),
        "Multiple MultiPoint plugins": only(taint, image, "VolumeBinding"),
        "disable MultiPoint extension": only(taint, image, preScore=off("*")),
        "Reorder MultiPoint plugins (specified extension takes precedence)":
            only(fit, taint, image, score=on(image, taint)),
        "Reorder MultiPoint plugins (only when it exists in MultiPoint)":
            only(taint, image, score=on(fit, image, taint)),
        "Override MultiPoint plugins weights":
            only(taint, image, score=on((image, 5), (taint, 3))),
        "Override with no weight": only((taint, 4), image, score=on(taint)),
        "disable and enable MultiPoint plugins with '*'": only(image),
        "disable and enable MultiPoint plugin by name": {"multiPoint": {
            **on("DefaultBinder", "PrioritySort", image), **off(image)}},
        "Expect 'already registered' error": only(taint, taint),
        "repeated, but off at its only point":
            only(image, image, score=off(image)),
        "repeated, but overridden at its only point":
            only(image, image, score=on(image)),
        "repeated at a point": only(score=on(image, image)),
        "weights, and a plugin that is loaded once": only(
            taint, image, score=on((image, 5), (fit, 5), (taint, 3))),
        "a negative weight at the end": {"score": on((image, -1))},
        "a negative weight after others": {"multiPoint": on((image, -1))},
        "a negative weight after a larger one":
            {"multiPoint": on(("NodeAffinity", -3))},
        "a negative weight, and a smaller one before":
            {"multiPoint": on(("NodeAffinity", -4))},
        "a weight that doesn't fit": {"score": on((image, 2**31))},
        "the largest weights": {"score": on((image, 2**31 - 1),
                                            (taint, 2**31 - 1))},
        "enabled and disabled at a point": {"score": {**on(image),
                                                      **off(image)}},
        "enabled where all are disabled": {"score": {**on(fit, image),
                                                     **off("*")}},
    }
    return {f"expansion: {name}": with_plugins(case)
            for name, case in cases.items()}


def defaults() -> dict[str, str]:
    """defaults_test.go, TestSchedulerDefaults and TestPluginArgsDefaults."""
    cases = {
        "empty config": config(),
        "no scheduler name": profile(),
        "two profiles": config(profiles=[
            {"pluginConfig": names("FooPlugin")},
            {"schedulerName": "custom-scheduler", "plugins": {
                "bind": {**on("BarPlugin"), **off("DefaultBinder")}}}]),
        "two profiles with names": config(profiles=[
            {"schedulerName": "a", "pluginConfig": names("FooPlugin")},
            {"schedulerName": "b", "plugins": {
                "bind": {**on("DefaultBinder"), **off("DefaultBinder")}}}]),
        "set non default parallelism": config(parallelism=8),
        "set non default delayCacheUntilActive":
            config(delayCacheUntilActive=True),
        "delayCacheUntilActive false": config(delayCacheUntilActive=False),
        "set non default global percentageOfNodesToScore":
            config(percentageOfNodesToScore=50),
        "set non default profile percentageOfNodesToScore":
            profile(percentageOfNodesToScore=50),
        "set non default global and profile percentageOfNodesToScore":
            config(percentageOfNodesToScore=10,
                   profiles=[{"percentageOfNodesToScore": 50}]),
        "zeros": config(percentageOfNodesToScore=0, clientConnection={
            "qps": 0, "burst": 0, "contentType": ""}, profiles=[
                {"percentageOfNodesToScore": 0}]),
        "unknown plugin config": profile(
            plugins={"bind": on("DefaultBinder")},
            pluginConfig=names("FooPlugin")),
        "profiling off": config(enableProfiling=False),
        "profiling off, contention on":
            config(enableProfiling=False, enableContentionProfiling=True),
        "contention off": config(enableContentionProfiling=False),
        "no backoff": config(podInitialBackoffSeconds=0),
        "backoffs": config(podInitialBackoffSeconds=5, podMaxBackoffSeconds=60),
        "backoffs in the wrong order":
            config(podInitialBackoffSeconds=5, podMaxBackoffSeconds=4),
        "a large backoff": config(podMaxBackoffSeconds=2**63 - 1),
        "a negative burst": config(clientConnection={"burst": -1}),
        "leases": config(leaderElection={"leaseDuration": "1m30s",
                                         "renewDeadline": "1500ms"}),
        "a lease that is too short":
            config(leaderElection={"leaseDuration": "5s"}),
        "a lease that is too short, without election":
            config(leaderElection={"leaderElect": False,
                                   "leaseDuration": "5s"}),
        "a lease of half a second":
            config(leaderElection={"leaseDuration": "500ms",
                                   "renewDeadline": "400ms",
                                   "retryPeriod": "100ms"}),
        "a lease as short as the deadline":
            config(leaderElection={"leaseDuration": "10s"}),
        # Both refuse this only when the election begins.
        "a long retry period": config(leaderElection={"retryPeriod": "9s"}),
        "a lease of zero": config(leaderElection={"leaseDuration": "0s"}),
        "a negative deadline": config(leaderElection={"renewDeadline": "-1s"}),
        "another lease": config(leaderElection={
            "leaderElect": True, "resourceName": "mine",
            "resourceNamespace": "here", "retryPeriod": "1s"}),
        "an empty lease name": config(leaderElection={
            "resourceName": "", "resourceNamespace": "", "resourceLock": ""}),
        "another lock": config(leaderElection={"resourceLock": "endpoints"}),
        "no election": config(leaderElection={"leaderElect": False,
                                              "resourceLock": "x"}),
    }
    for name, plugin, args in (
            ("DefaultPreemptionArgs empty", "DefaultPreemption", {}),
            ("DefaultPreemptionArgs with value", "DefaultPreemption",
             {"minCandidateNodesPercentage": 50}),
            ("InterPodAffinityArgs empty", "InterPodAffinity", {}),
            ("InterPodAffinityArgs explicit 0", "InterPodAffinity",
             {"hardPodAffinityWeight": 0}),
            ("InterPodAffinityArgs with value", "InterPodAffinity",
             {"hardPodAffinityWeight": 5,
              "ignorePreferredTermsOfExistingPods": True}),
            ("resources empty", "NodeResourcesBalancedAllocation", {}),
            ("with scalar resource", "NodeResourcesBalancedAllocation",
             {"resources": [{"name": "scalar-resource", "weight": 1}]}),
            ("resource no weight", "NodeResourcesBalancedAllocation",
             {"resources": [{"name": "cpu"}, {"name": "memory", "weight": 1}]}),
            ("PodTopologySpreadArgs empty", "PodTopologySpread", {}),
            ("NodeResourcesFitArgs not set", "NodeResourcesFit", {}),
            ("NodeResourcesFitArgs Resources empty", "NodeResourcesFit",
             {"scoringStrategy": {"type": "MostAllocated"}}),
            ("VolumeBindingArgs empty", "VolumeBinding", {}),
            ("DynamicResourcesArgs", "DynamicResources", {})):
        cases[name] = with_args(plugin, args)
    return {f"defaults: {name}": text for name, text in cases.items()}


def options() -> dict[str, str]:
    """options_test.go and configfile_test.go."""
    def typed(version: str) -> str:
        return to_yaml({"apiVersion": version,
                        "kind": "KubeSchedulerConfiguration"})

    election = HEAD + "leaderElection:\n  leaderElect: true\n"
    return {f"options: {name}": text for name, text in {
        "v1 config file": election,
        "componentconfig/v1alpha1": typed("componentconfig/v1alpha1"),
        "unknown version": typed("kubescheduler.config.k8s.io/unknown"),
        "too old": typed("kubescheduler.config.k8s.io/v1alpha1"),
        "no version": "kind: KubeSchedulerConfiguration\n",
        "no kind": "apiVersion: kubescheduler.config.k8s.io/v1\n",
        "another kind": HEAD.replace("KubeSchedulerConfiguration",
                                     "NodeAffinityArgs"),
        "plugin config": profile(
            plugins={"preEnqueue": on("DefaultPreemption"),
                     "reserve": off("VolumeBinding"),
                     "preBind": off("VolumeBinding")},
            pluginConfig=[{"name": "InterPodAffinity",
                           "args": {"hardPodAffinityWeight": 2}},
                          {"name": "foo", "args": {"bar": "baz"}}]),
        "multiple profiles": config(profiles=[
            {"schedulerName": "foo-profile", "plugins": {"reserve": {
                **on("VolumeBinding"), **off("VolumeBinding")}}},
            {"schedulerName": "bar-profile", "plugins": {
                "preBind": off("VolumeBinding")}, "pluginConfig": names("foo")}]),
        "unknown field": election + "foo: bar\n",
        "duplicate fields": election + "  leaderElect: false\n",
        "high throughput profile": profile(
            schedulerName="high-throughput-profile",
            plugins={"preScore": on("InterPodAffinity")},
            pluginConfig=[{"name": "InterPodAffinity", "args": {
                "ignorePreferredTermsOfExistingPods": True}}]),
    }.items()}
