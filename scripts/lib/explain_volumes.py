"""Claims, volumes and disks for the random clusters of explain_test, and a
second look at what minisched-explain says of them."""

import random

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
SHARE = 0.35  # of the clusters


def claim(name: str, mode: str) -> dict:
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"accessModes": [mode], "storageClassName": "",
                     "resources": {"requests": {"storage": "1Gi"}}}}


def volume_for(name: str, mode: str) -> dict:
    return {"apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": f"disk-{name}", "labels": {}},
            "spec": {"accessModes": [mode], "capacity": {"storage": "1Gi"},
                     "csi": {"driver": "x.io", "volumeHandle": name}},
            "status": {"phase": "Available"}}


def place(rng: random.Random, volume: dict, nodes: list[str]) -> None:
    """Restricts the nodes of a volume: to a zone or to a node, by its node
    affinity, or to zones, by a label."""
    sort = rng.random()
    zone = rng.choice("abcd")
    if sort < 0.3:
        volume["metadata"]["labels"][ZONE] = rng.choice([zone, f"{zone}__a"])
    elif sort < 0.9:
        key, value = rng.choice([(ZONE, zone), (HOSTNAME, rng.choice(nodes))])
        volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": key, "operator": "In",
                                   "values": [value]}]}]}}


def bind(made: dict, volume: dict) -> None:
    made["spec"]["volumeName"] = volume["metadata"]["name"]
    made["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    volume["spec"]["claimRef"] = {"namespace": "default",
                                  "name": made["metadata"]["name"]}
    made["status"] = volume["status"] = {"phase": "Bound"}


def add(rng: random.Random, objects: list[dict]) -> list[dict]:
    """Gives the pending pod, which is the last object, and other pods claims
    and a disk, in a share of the clusters. The nodes get zones."""
    if rng.random() >= SHARE:
        return objects
    nodes = [each for each in objects if each["kind"] == "Node"]
    for each in nodes:
        labels = each["metadata"]["labels"]
        if "zone" in labels:
            labels[ZONE] = labels["zone"]
    made = []
    sources = []
    for name in ["data", "logs"][:rng.choice([0, 1, 1, 2])]:
        mode = rng.choice(["ReadWriteOnce", "ReadWriteOncePod"])
        sources.append({"persistentVolumeClaim": {"claimName": name}})
        one, volume = claim(name, mode), volume_for(name, mode)
        place(rng, volume, [each["metadata"]["name"] for each in nodes])
        if rng.random() < 0.85:
            bind(one, volume)
        else:  # no controller can bind it, even if it is new
            volume["spec"]["capacity"]["storage"] = "1Mi"
        made += [each for each in (volume, one) if rng.random() < 0.95]
    if rng.random() < 0.4:
        sources.append({"gcePersistentDisk": {"pdName": "pd"}})
    for pod in objects[:-1]:
        if pod["kind"] == "Pod" and sources and rng.random() < 0.15:
            use(pod, rng.sample(sources, 1))
    use(objects[-1], sources)
    return [*made, *objects]


def use(pod: dict, sources: list[dict]) -> None:
    pod["spec"]["volumes"] = [{"name": f"v{i}", **source}
                              for i, source in enumerate(sources)]


def fits(volume: dict, node: dict) -> bool:
    labels = node["metadata"]["labels"]
    zones = volume["metadata"]["labels"].get(ZONE)
    if zones and ZONE in labels:
        return labels[ZONE] in zones.split("__")
    affinity = volume["spec"].get("nodeAffinity")
    if not affinity:
        return True
    term = affinity["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]
    return labels.get(term["key"]) in term["values"]


def first_of(names: list[str]) -> str:
    if len(names) <= 3:
        return ", ".join(names)
    return f"{', '.join(names[:2])} and {len(names) - 2} more"


def cause_of_place(name: str, volume: dict, node: dict,
                   nodes: list[dict]) -> str:
    """Returns what the answer should say of a volume that is elsewhere."""
    text = f"claim {name} has its volume {volume['metadata']['name']} "
    zones = volume["metadata"]["labels"].get(ZONE)
    if zones:
        key, place_text = ZONE, "in zone " + " or ".join(
            sorted(set(zones.split("__"))))
    else:
        term = volume["spec"]["nodeAffinity"]["required"][
            "nodeSelectorTerms"][0]["matchExpressions"][0]
        key = term["key"]
        place_text = (("in zone " if key == ZONE else "on ")
                      + term["values"][0])
    there = first_of(sorted(each["metadata"]["name"] for each in nodes
                            if fits(volume, each)))
    text += place_text
    if not there:
        return text + ", and no node is there"
    if place_text != f"on {there}":
        text += f" ({there})"
    if key == ZONE:
        own = node["metadata"]["labels"].get(ZONE)
        text += (f", the node is in zone {own}" if own else
                 f", the node has no label {ZONE}")
    return text


def users(objects: list[dict], source: dict, where: str = "") -> set[str]:
    """Returns the pods that use a claim or a disk."""
    return {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            for pod in objects[:-1] if pod["kind"] == "Pod"
            and where in ("", pod["spec"]["nodeName"])
            and ("gcePersistentDisk" in source
                 or pod["metadata"]["namespace"] == "default")
            and any(source.items() <= each.items()
                    for each in pod["spec"].get("volumes", []))}


def expected(objects: list[dict], node: dict, plugin: str) -> set[str]:
    """Returns the causes of the plugin's rejection of a node."""
    nodes = [each for each in objects if each["kind"] == "Node"]
    by_name = {each["metadata"]["name"]: each for each in objects
               if each["kind"].startswith("PersistentVolume")}
    pods = {f"{each['metadata']['namespace']}/{each['metadata']['name']}": each
            for each in objects if each["kind"] == "Pod"}
    causes = set()
    for each in objects[-1]["spec"].get("volumes", []):
        source = {key: value for key, value in each.items() if key != "name"}
        if "gcePersistentDisk" in source:
            if plugin == "VolumeRestrictions":
                causes |= {f"the disk pd is in use by {user}" for user in
                           users(objects, source, node["metadata"]["name"])}
            continue
        name = source["persistentVolumeClaim"]["claimName"]
        modes = by_name[name]["spec"]["accessModes"]
        volume = by_name[by_name[name]["spec"]["volumeName"]]
        if plugin == "VolumeRestrictions" and modes == ["ReadWriteOncePod"]:
            causes |= {
                f"the claim {name} (ReadWriteOncePod) is in use by {user} on "
                + pods[user]["spec"]["nodeName"]
                for user in users(objects, source)}
        is_zone = ZONE in volume["metadata"]["labels"]
        if not fits(volume, node) and plugin == (
                "VolumeZone" if is_zone else "VolumeBinding"):
            causes.add(cause_of_place(name, volume, node, nodes))
    return causes


def wrong_causes(answer: dict, objects: list[dict]) -> list[str]:
    """Returns what differs from what is looked up here."""
    wrong = []
    for each in answer["nodes"]:
        node = next(one for one in objects if one["kind"] == "Node"
                    and one["metadata"]["name"] == each["node"])
        for one in each.get("rejections", []):
            plugin = one.get("plugin", "")
            if not plugin.startswith("Volume"):
                continue
            causes = expected(objects, node, plugin)
            if set(one["causes"]) != causes:
                wrong.append(f"{each['node']}: {one['causes']}, but expected "
                             f"{causes}")
    return wrong
