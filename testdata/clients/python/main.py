"""Everyday use of the Python client.

Works in the namespace $NS and prints the server's answers. The transcript is
the same on every API server: the program chooses all names and leaves out uids,
versions and times.
"""

import json
import threading
from datetime import datetime, timedelta, timezone

from kubernetes import client, dynamic, watch
from kubernetes.informer import ADDED, DELETED, MODIFIED, SharedInformer
from kubernetes.leaderelection.electionconfig import Config
from kubernetes.leaderelection.leaderelection import LeaderElection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

from support import (NS, bind, core, create_pods, eventually, is_gone, names,
                     new_pod, refused, run_pod, runs, say)

apps = client.AppsV1Api()
coordination = client.CoordinationV1Api()
policy = client.PolicyV1Api()


def discovery():
    version = client.VersionApi().get_code()
    say(f"server version: {version.major}.{version.minor}")
    served = {g.name for g in client.ApisApi().get_api_versions().groups}
    say("apps is served:", "apps" in served)
    dyn = dynamic.DynamicClient(client.ApiClient())
    for api, kind in [("v1", "Pod"), ("v1", "Node"), ("apps/v1", "Deployment"),
                      ("coordination.k8s.io/v1", "Lease")]:
        resource = dyn.resources.get(api_version=api, kind=kind)
        say(f"{api} {kind}: {resource.name}, namespaced={resource.namespaced},",
            f"short={resource.short_names}, verbs={sorted(resource.verbs)},",
            [s for s in ["binding", "eviction", "scale", "status"]
             if s in resource.subresources])
    try:
        dyn.resources.get(api_version="v1", kind="Nonsense")
    except dynamic.exceptions.ResourceNotFoundError:
        say("Nonsense: no such resource")


def access():
    review = client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(
            resource_attributes=client.V1ResourceAttributes(
                namespace=NS, verb="create", resource="pods")))
    answer = client.AuthorizationV1Api().create_self_subject_access_review(
        review)
    say("may create pods:", answer.status.allowed)


def dynamic_client():
    dyn = dynamic.DynamicClient(client.ApiClient())
    maps = dyn.resources.get(api_version="v1", kind="ConfigMap")
    body = {"metadata": {"name": "settings"}, "data": {"color": "red"}}
    say("dynamic create:", maps.create(body, namespace=NS).data.color)
    patch = {"data": {"color": "blue", "size": "big"}}
    patched = maps.patch(name="settings", namespace=NS, body=patch,
                         content_type="application/merge-patch+json")
    say("dynamic patch:", patched.data.to_dict())
    listed = maps.get(namespace=NS, field_selector="metadata.name=settings")
    say("dynamic list:", listed.kind, names(listed.items))
    say("dynamic delete:", maps.delete(name="settings", namespace=NS).status)


def create_and_list():
    pod = core.create_namespaced_pod(NS, new_pod("web-1", app="web", tier="a"))
    say("created:", pod.metadata.name, pod.status.phase, pod.spec.node_name,
        pod.spec.restart_policy, pod.status.qos_class,
        pod.spec.containers[0].image_pull_policy)
    create_pods("web-2", app="web", tier="b")
    create_pods("job-1", app="job")
    pod = core.read_namespaced_pod("web-2", NS)
    say("got:", pod.metadata.name, pod.metadata.labels)
    for selector in ["app=web", "app in (web,job),tier!=a", "!tier"]:
        pods = core.list_namespaced_pod(NS, label_selector=selector)
        say(f"labels {selector}:", names(pods.items))
    for selector in ["metadata.name=web-1", "spec.nodeName=,status.phase="
                     "Pending", "spec.schedulerName!=nobody"]:
        pods = core.list_namespaced_pod(NS, field_selector=selector)
        say(f"fields {selector}:", names(pods.items))
    nodes = core.list_node(label_selector="topology.kubernetes.io/zone=zone-b")
    say("nodes in zone-b:", names(nodes.items))


def pages():
    page = core.list_namespaced_pod(NS, limit=2)
    while True:
        say("page:", names(page.items), page.metadata.remaining_item_count)
        if not page.metadata._continue:
            break
        page = core.list_namespaced_pod(
            NS, limit=2, _continue=page.metadata._continue)


def patches():
    def patch(body):
        pod = core.patch_namespaced_pod("web-1", NS, body)
        return pod.metadata.labels, pod.spec.containers[0].image

    say("strategic:", *patch({"spec": {"containers": [
        {"name": "main", "image": "nginx:2"}]}}))
    say("json:", *patch([
        {"op": "test", "path": "/metadata/labels/tier", "value": "a"},
        {"op": "add", "path": "/metadata/labels/color", "value": "red"},
        {"op": "remove", "path": "/metadata/labels/tier"}]))
    pod = core.patch_namespaced_pod(
        "web-1", NS, {"metadata": {"labels": {"color": None, "size": "big"}}},
        _content_type="application/merge-patch+json")
    say("merge:", pod.metadata.labels)
    condition = {"type": "PodScheduled", "status": "False",
                 "reason": "Unschedulable", "message": "no room"}
    for body in [condition, {"type": "example.com/Fed", "status": "True"}]:
        pod = core.patch_namespaced_pod_status(
            "web-1", NS, {"status": {"conditions": [body]}})
    say("status:", sorted((c.type, c.status, c.reason)
                          for c in pod.status.conditions))


def errors():
    refused("get", core.read_namespaced_pod, "nobody", NS)
    refused("create again", core.create_namespaced_pod, NS, new_pod("web-1"))
    refused("bad name", core.create_namespaced_pod, NS, new_pod("Web_1"))
    pod = core.read_namespaced_pod("web-2", NS)
    core.patch_namespaced_pod("web-2", NS, {"metadata": {"labels": {"a": "b"}}})
    pod.metadata.labels["a"] = "c"
    refused("stale update", core.replace_namespaced_pod, "web-2", NS, pod)
    refused("new node", core.patch_namespaced_pod, "web-2", NS,
            {"spec": {"nodeName": "node-2"}})
    refused("bad test", core.patch_namespaced_pod, "web-2", NS,
            [{"op": "test", "path": "/metadata/labels/a", "value": "c"}])
    refused("bad selector", core.list_namespaced_pod, NS,
            field_selector="spec.color=red")
    refused("other uid", core.delete_namespaced_pod, "web-2", NS,
            body=client.V1DeleteOptions(
                preconditions=client.V1Preconditions(uid="another")))


def watching():
    start = core.list_namespaced_pod(NS).metadata.resource_version
    create_pods("seen", app="seen")
    core.patch_namespaced_pod("seen", NS, {"metadata": {"labels": {"a": "b"}}})
    core.delete_namespaced_pod("seen", NS)
    w = watch.Watch()
    for event in w.stream(core.list_namespaced_pod, NS, resource_version=start,
                          label_selector="app=seen", timeout_seconds=30):
        pod = event["object"]
        say("watch:", event["type"], pod.metadata.name, pod.metadata.labels)
        if event["type"] == "DELETED":
            w.stop()


def informing():
    informer = SharedInformer(core.list_namespaced_pod, NS,
                              label_selector="app=told")
    events = []
    for event_type in [ADDED, MODIFIED, DELETED]:
        informer.add_event_handler(
            event_type, lambda pod, t=event_type: events.append(
                f"{t} {pod.metadata.name} {pod.metadata.labels}"))
    create_pods("told-1", app="told")
    informer.start()
    eventually(lambda: len(events) == 1, "the initial list")
    create_pods("told-2", app="told")
    eventually(lambda: len(events) == 2, "the second pod")
    say("informer's cache:", sorted(informer.cache.list_keys())
        == [f"{NS}/told-1", f"{NS}/told-2"])
    core.patch_namespaced_pod("told-1", NS, {"metadata": {"labels":
                                                          {"app": "else"}}})
    core.delete_namespaced_pod("told-2", NS)
    eventually(lambda: len(events) == 5, "the end of both")
    for event in events:
        say("informer:", event)
    say("informer's cache:", informer.cache.list_keys())
    informer.stop()
    core.delete_namespaced_pod("told-1", NS)


def binding():
    answer = json.loads(bind("web-1", "node-1").data)
    say("bind:", answer["kind"], answer["status"], answer["code"])
    runs("web-1")
    pod = core.read_namespaced_pod("web-1", NS)
    say("bound:", pod.spec.node_name, pod.status.phase,
        [(s.name, s.ready) for s in pod.status.container_statuses])
    refused("bind again", bind, "web-1", "node-2")
    refused("bind nobody", bind, "nobody", "node-2")


def evicting():
    def evict(name):
        eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name=name))
        return core.create_namespaced_pod_eviction(
            name, NS, eviction, _preload_content=False).status

    run_pod("precious", app="precious")
    policy.create_namespaced_pod_disruption_budget(
        NS, client.V1PodDisruptionBudget(
            metadata=client.V1ObjectMeta(name="precious"),
            spec=client.V1PodDisruptionBudgetSpec(
                min_available=1,
                selector=client.V1LabelSelector(
                    match_labels={"app": "precious"}))))
    def counts():
        budget = policy.read_namespaced_pod_disruption_budget("precious", NS)
        return budget.status is not None and budget.status.current_healthy == 1

    eventually(counts, "the budget counts")
    refused("evict precious", evict, "precious")
    policy.delete_namespaced_pod_disruption_budget("precious", NS)
    say("evict precious:", evict("precious"))
    eventually(lambda: is_gone("precious"), "precious goes")
    refused("evict nobody", evict, "nobody")


def deleting():
    pod = core.delete_namespaced_pod("web-1", NS, grace_period_seconds=5)
    say("delete with grace:", type(pod).__name__,
        pod.metadata.deletion_grace_period_seconds,
        pod.metadata.deletion_timestamp is not None)
    eventually(lambda: is_gone("web-1"), "web-1 goes")
    run_pod("brief")
    pod = core.delete_namespaced_pod("brief", NS, grace_period_seconds=0)
    say("delete at once:", type(pod).__name__, is_gone("brief"))
    create_pods("doomed-1", "doomed-2", app="doomed")
    say("delete a collection:", type(core.delete_collection_namespaced_pod(
        NS, label_selector="app=doomed")).__name__)
    say("left:", names(core.list_namespaced_pod(NS).items))
    refused("delete", core.delete_namespaced_pod, "doomed-1", NS)


def scaling():
    labels = {"app": "shop"}
    pod = new_pod("", scheduler="default-scheduler", **labels)
    deployment = apps.create_namespaced_deployment(NS, client.V1Deployment(
        metadata=client.V1ObjectMeta(name="shop"),
        spec=client.V1DeploymentSpec(
            replicas=2, selector=client.V1LabelSelector(match_labels=labels),
            template=client.V1PodTemplateSpec(
                metadata=client.V1ObjectMeta(labels=labels), spec=pod.spec))))
    say("deployment:", deployment.spec.replicas,
        deployment.spec.strategy.type,
        deployment.spec.strategy.rolling_update.max_surge)
    await_replicas(2)
    for replicas in [3, 1]:
        scale = apps.patch_namespaced_deployment_scale(
            "shop", NS, {"spec": {"replicas": replicas}})
        say("scaled:", scale.kind, scale.spec.replicas, scale.status.selector)
        await_replicas(replicas)
    scale = apps.read_namespaced_deployment_scale("shop", NS)
    say("scale:", scale.spec.replicas, scale.status.replicas)
    status = apps.delete_namespaced_deployment(
        "shop", NS, propagation_policy="Background")
    say("deployment deleted:", status["status"])
    eventually(lambda: not core.list_namespaced_pod(
        NS, label_selector="app=shop").items, "the shop's pods go")


def await_replicas(number):
    def reached():
        status = apps.read_namespaced_deployment_status("shop", NS).status
        return ((status.replicas or 0) == (status.ready_replicas or 0) ==
                (status.updated_replicas or 0) == number)

    eventually(reached, f"{number} replicas")
    say("ready:", number)


def leases():
    now = datetime.now(timezone.utc)
    lease = coordination.create_namespaced_lease(NS, client.V1Lease(
        metadata=client.V1ObjectMeta(name="beat"),
        spec=client.V1LeaseSpec(holder_identity="me", renew_time=now,
                                lease_duration_seconds=15)))
    say("lease:", lease.spec.holder_identity, lease.spec.renew_time == now)
    lease.spec.renew_time = now + timedelta(seconds=5, microseconds=1)
    renewed = coordination.replace_namespaced_lease("beat", NS, lease)
    say("renewed:", renewed.spec.renew_time - now)
    refused("stale renewal", coordination.replace_namespaced_lease,
            "beat", NS, lease)
    coordination.delete_namespaced_lease("beat", NS)
    refused("lease", coordination.read_namespaced_lease, "beat", NS)


def leader_election():
    """Elects a, and then b after the work of a fails."""
    working = {who: threading.Event() for who in "ab"}
    failing = {who: threading.Event() for who in "ab"}
    candidates = []

    def stand(who):
        def work():
            say(who, "leads, the lease is held by", holder())
            working[who].set()
            failing[who].wait()
            raise RuntimeError(f"the work of {who} fails")

        election = LeaderElection(Config(
            LeaseLock("leader", NS, who), lease_duration=4, renew_deadline=3,
            retry_period=1, onstarted_leading=work,
            onstopped_leading=lambda: say(who, "stops leading")))
        candidates.append(threading.Thread(target=election.run))
        candidates[-1].start()

    stand("a")
    working["a"].wait(30)
    stand("b")
    say("b leads beside a:", working["b"].wait(1))
    failing["a"].set()
    working["b"].wait(30)
    failing["b"].set()
    for candidate in candidates:
        candidate.join()


def holder():
    lease = coordination.read_namespaced_lease("leader", NS)
    return lease.spec.holder_identity


for part in [discovery, access, dynamic_client, create_and_list, pages, patches,
             errors, watching, informing, binding, evicting, deleting, scaling,
             leases, leader_election]:
    say(f"# {part.__name__}")
    part()
