"""Counts again what minisched-explain counts for rules about other pods."""

import re

HOSTNAME = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def labels(thing: dict) -> dict:
    return thing["metadata"].get("labels", {})


def matches(selector: dict, pod: dict) -> bool:
    """True for a pod that a label selector of the random clusters selects."""
    own = labels(pod)
    if any(own.get(key) != value
           for key, value in selector.get("matchLabels", {}).items()):
        return False
    return all((own.get(each["key"]) in each["values"])
               == (each["operator"] == "In")
               for each in selector.get("matchExpressions", []))


class Cluster:
    """The objects of a random cluster."""

    def __init__(self, objects: list[dict]):
        self.namespaces = {each["metadata"]["name"]: labels(each)
                           for each in objects if each["kind"] == "Namespace"}
        self.namespaces.setdefault("default", {})
        self.nodes = {each["metadata"]["name"]: each
                      for each in objects if each["kind"] == "Node"}
        pods = [each for each in objects if each["kind"] == "Pod"]
        self.target = pods[-1]
        self.bound = pods[:-1]

    def node_of(self, pod: dict) -> dict:
        return self.nodes[pod["spec"]["nodeName"]]

    def selects(self, owner: dict, term: dict, pod: dict) -> bool:
        """True if the term of `owner` selects the pod."""
        namespace = pod["metadata"]["namespace"]
        if "namespaceSelector" in term:
            wanted = term["namespaceSelector"].get("matchLabels", {})
            own = self.namespaces[namespace]
            is_there = (namespace in term.get("namespaces", [])
                        or wanted.items() <= own.items())
        else:
            names = term.get("namespaces") or [owner["metadata"]["namespace"]]
            is_there = namespace in names
        return is_there and matches(term["labelSelector"], pod)

    def in_domain(self, key: str, value: str | None) -> list[dict]:
        return [pod for pod in self.bound
                if value and labels(self.node_of(pod)).get(key) == value]

    def terms(self, pod: dict, kind: str) -> list[dict]:
        affinity = pod["spec"].get("affinity", {})
        return affinity.get(kind, {}).get(REQUIRED, [])

    def avoided(self, node: dict) -> list[tuple]:
        """For each anti-affinity term of the target that rejects the node: the
        domain, and the names of its pods."""
        found = []
        for term in self.terms(self.target, "podAntiAffinity"):
            key = term["topologyKey"]
            value = labels(node).get(key)
            pods = [name_of(pod) for pod in self.in_domain(key, value)
                    if self.selects(self.target, term, pod)]
            if pods:
                found.append((domain_of(key, value), sorted(pods)))
        return sorted(found)

    def repelling(self, node: dict) -> dict[str, list[str]]:
        """The pods whose anti-affinity keeps the target away, by domain."""
        found: dict[str, set[str]] = {}
        for pod in self.bound:
            for term in self.terms(pod, "podAntiAffinity"):
                key = term["topologyKey"]
                value = labels(node).get(key)
                if (value and labels(self.node_of(pod)).get(key) == value
                        and self.selects(pod, term, self.target)):
                    found.setdefault(domain_of(key, value),
                                     set()).add(name_of(pod))
        return {domain: sorted(pods) for domain, pods in found.items()}

    def required(self, key: str) -> dict[str, list[str]]:
        """The pods that match all affinity terms of the target, by domain."""
        found: dict[str, list[str]] = {}
        terms = self.terms(self.target, "podAffinity")
        for pod in self.bound:
            value = labels(self.node_of(pod)).get(key)
            if value and all(self.selects(self.target, term, pod)
                             for term in terms):
                found.setdefault(value, []).append(name_of(pod))
        return found

    def spread(self, node: dict) -> list[tuple]:
        """For each violated constraint: the key, the pods that the domain would
        have, those that it may have, and the pods of each domain."""
        found = []
        rules = self.target["spec"].get("topologySpreadConstraints", [])
        counted = [each for each in self.nodes.values()
                   if all(rule["topologyKey"] in labels(each)
                          for rule in rules)]
        for rule in rules:
            key = rule["topologyKey"]
            if key not in labels(node):
                found.append((key, None, None, None))
                continue
            counts: dict[str, int] = {}
            for each in counted:
                if self.leaves_out(rule, each):
                    continue
                name = each["metadata"]["name"]
                counts[labels(each)[key]] = counts.get(
                    labels(each)[key], 0) + sum(
                        pod["spec"]["nodeName"] == name
                        and pod["metadata"]["namespace"] == "default"
                        and matches(rule["labelSelector"], pod)
                        for pod in self.bound)
            least = min(counts.values(), default=0)
            if len(counts) < rule.get("minDomains", 1):
                least = 0
            would = (counts.get(labels(node)[key], 0)
                     + matches(rule["labelSelector"], self.target))
            if would - least > rule["maxSkew"]:
                found.append((key, would, least + rule["maxSkew"], counts))
        return found

    def leaves_out(self, rule: dict, node: dict) -> bool:
        """True if the constraint does not count the node."""
        if rule.get("nodeTaintsPolicy") == "Honor" and self.untolerated(node):
            return True
        return (rule.get("nodeAffinityPolicy") != "Ignore"
                and not self.fits_affinity(node))

    def untolerated(self, node: dict) -> bool:
        tolerated = [each["key"]
                     for each in self.target["spec"].get("tolerations", [])]
        return any(taint["effect"] != "PreferNoSchedule"
                   and taint["key"] not in tolerated
                   for taint in node["spec"].get("taints", []))

    def fits_affinity(self, node: dict) -> bool:
        spec = self.target["spec"]
        if not spec.get("nodeSelector", {}).items() <= labels(node).items():
            return False
        required = spec.get("affinity", {}).get("nodeAffinity", {}).get(
            REQUIRED)
        name = {"metadata.name": node["metadata"]["name"]}
        return required is None or any(
            all(meets(labels(node), each)
                for each in term.get("matchExpressions", []))
            and all(meets(name, each) for each in term.get("matchFields", []))
            for term in required["nodeSelectorTerms"])


def meets(own: dict, requirement: dict) -> bool:
    key, operator = requirement["key"], requirement["operator"]
    return {"In": own.get(key) in requirement.get("values", []),
            "NotIn": own.get(key) not in requirement.get("values", []),
            "Exists": key in own, "DoesNotExist": key not in own}[operator]


def name_of(pod: dict) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def domain_of(key: str, value: str) -> str:
    return "the node" if key == HOSTNAME else f"{key}={value}"


AVOIDED = re.compile(r"keeps away from pods with .*, (the node|\S+=\S+) has "
                     r"(\S+/[^ ,]+)(?: on [^ ,]+)?(?: and (\d+) more)?"
                     r"(, which keeps? this pod away, too)?$")
REPELLING = re.compile(r"(\S+/\S+) on \S+ keeps pods with .* out of "
                       r"(the node|\S+=\S+?)(?: \((\d+) more pods do so\))?$")
SPREAD = re.compile(r"spread by (\S+): (?:with this pod, )?\S+ has (\d+) pods?"
                    r".*, and may have (\d+) \((.*?); maxSkew \d+.*\)$")
MISSING = re.compile(r"spread by (\S+): the node has no label \S+$")
PLACE = re.compile(r"requires .*, (\S+)=(\S+) has (\S+/\S+) on \S+?"
                   r"(?: and (\d+) more)?$")


def wrong_pods(cluster: Cluster, node: dict, causes: list[str]) -> list[str]:
    """Compares the causes of InterPodAffinity with what is counted here."""
    wrong = []
    avoided = cluster.avoided(node)
    repelling = cluster.repelling(node)
    seen = []
    for cause in causes:
        if match := AVOIDED.match(cause):
            domain, pod, more, mutual = match.groups()
            pods = [pods for where, pods in avoided if where == domain
                    and pod in pods and len(pods) == int(more or 0) + 1]
            if not pods:
                wrong.append(f"{cause}: {avoided}")
            seen.append(domain)
            if mutual and pods[:1] != [repelling.pop(domain, None)]:
                # Another term of the same domain may have taken it.
                wrong += [] if domain in seen[:-1] else [f"{cause}: mutual"]
        elif match := REPELLING.match(cause):
            pod, domain, more = match.groups()
            pods = repelling.pop(domain, [])
            if pod not in pods or len(pods) != int(more or 0) + 1:
                wrong.append(f"{cause}: {pods}")
        elif match := PLACE.match(cause):
            key, domain, pod, more = match.groups()
            pods = cluster.required(key).get(domain, [])
            if pod not in pods or len(pods) != int(more or 0) + 1:
                wrong.append(f"{cause}: {pods}")
        elif not cause.startswith("requires "):
            wrong.append(f"{cause}: unknown")
    if sorted(seen) != [domain for domain, _ in avoided]:
        wrong.append(f"{causes}: avoided {avoided}")
    return wrong


def wrong_requirement(cluster: Cluster, node: dict,
                      causes: list[str]) -> list[str]:
    """Checks that the required pods are where the causes say."""
    terms = cluster.terms(cluster.target, "podAffinity")
    keys = [term["topologyKey"] for term in terms]
    found = {key: cluster.required(key) for key in keys}
    missing = [key for key in keys if key not in labels(node)]
    is_first = not any(found.values()) and bool(terms) and all(
        cluster.selects(cluster.target, term, cluster.target)
        for term in terms)
    if missing:
        expected = sum("has no label" in cause for cause in causes)
        return [] if expected >= len(missing) else [f"{causes}: no {missing}"]
    unmet = [key for key in keys if labels(node)[key] not in found[key]]
    expected_causes = (0 if is_first else
                       len(unmet) if any(found.values()) else bool(terms))
    given = sum(cause.startswith("requires ") for cause in causes)
    return [] if given == expected_causes else [f"{causes}: unmet {unmet}"]


def wrong_spread(cluster: Cluster, node: dict, causes: list[str]) -> list[str]:
    """Compares the causes of PodTopologySpread with what is counted here."""
    given = []
    for cause in causes:
        if match := SPREAD.match(cause):
            key, would, may, shown = match.groups()
            counts = dict(each.rsplit(" ", 1) for each in shown.split(", ")
                          if "…" not in each)
            given.append((key, int(would), int(may),
                          {name: int(count)
                           for name, count in counts.items()}))
        elif match := MISSING.match(cause):
            given.append((match[1], None, None, None))
        else:
            return [f"{cause}: unknown"]
    expected = cluster.spread(node)
    same = len(given) == len(expected) and all(
        ours[:3] == theirs[:3] and (ours[3] or {}).items()
        <= (theirs[3] or {}).items()
        and len(ours[3] or {}) == min(5, len(theirs[3] or {}))
        for ours, theirs in zip(given, expected))
    return [] if same else [f"{causes}: {expected}"]


def wrong_rules(answer: dict, objects: list[dict]) -> list[str]:
    """Returns the causes that differ from what is counted here."""
    cluster = Cluster(objects)
    wrong = []
    for each in answer["nodes"]:
        node = cluster.nodes[each["node"]]
        for one in each.get("rejections", []):
            if one.get("plugin") == "InterPodAffinity":
                found = (wrong_pods(cluster, node, one["causes"])
                         + wrong_requirement(cluster, node, one["causes"]))
            elif one.get("plugin") == "PodTopologySpread":
                found = wrong_spread(cluster, node, one["causes"])
            else:
                continue
            wrong += [f"{each['node']}: {cause}" for cause in found]
    return wrong
