"""Checks what minisched-explain says of pods with claims, volumes and disks."""

import pathlib
import re
import subprocess

from explain_run import EXPLAIN, PATIENCE, listed, pod_with
from explain_volumes import HOSTNAME, ZONE

STATIC = "kubernetes.io/no-provisioner"
DELAYED = "WaitForFirstConsumer"
FAST = {"storageClassName": "fast"}
ONE_POD = {"accessModes": ["ReadWriteOncePod"]}


def node(name: str, zone: str) -> dict:
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {ZONE: zone, HOSTNAME: name}},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi",
                                       "pods": "9"}}}


def claim(spec: dict | None = None, volume: str = "", phase: str = "",
          **metadata: object) -> dict:
    """Returns the claim data, which is bound to the volume, if there is one."""
    made = {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": "default", "uid": "c",
                         **metadata},
            "spec": {"accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": "5Gi"}},
                     **(spec or {})},
            "status": {"phase": phase or ("Bound" if volume else "Pending")}}
    if volume:
        made["spec"]["volumeName"] = volume
        made["metadata"]["annotations"] = {
            "pv.kubernetes.io/bind-completed": "yes"}
    return made


def volume(spec: dict | None = None, phase: str = "Bound", size: str = "5Gi",
           name: str = "disk", **place: str) -> dict:
    """Returns a volume. `place` is its zone, or its host."""
    made: dict = {
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"],
                 "capacity": {"storage": size}, **(spec or {})},
        "status": {"phase": phase}}
    if phase == "Bound":
        made["spec"]["claimRef"] = {"namespace": "default", "name": "data",
                                    "uid": "c"}
    for each, value in place.items():
        key = {"zone": ZONE, "host": HOSTNAME}[each]
        made["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": key, "operator": "In",
                                   "values": [value]}]}]}}
    return made


def storage_class(provisioner: str, mode: str, **fields: object) -> dict:
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": "fast"}, "provisioner": provisioner,
            "volumeBindingMode": mode, **fields}


def storage_left(size: str, host: str) -> list[dict]:
    """Returns the driver x.io, and how much storage is left on a node."""
    return [{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
             "metadata": {"name": "x.io"}, "spec": {"storageCapacity": True}},
            {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
             "metadata": {"name": "left", "namespace": "default"},
             "storageClassName": "fast", "capacity": size,
             "nodeTopology": {"matchLabels": {HOSTNAME: host}}}]


def pod(name: str = "web", source: dict | None = None, uid: str = "p",
        **spec: object) -> dict:
    used = source or {"persistentVolumeClaim": {"claimName": "data"}}
    made = pod_with({"volumes": [{"name": "v", **used}], **spec}, name=name,
                    namespace="default")
    return {**made, "metadata": {**made["metadata"], "uid": uid}}


USER = pod("db", uid="u", nodeName="b-1")
DISK = {"gcePersistentDisk": {"pdName": "pd"}}
EPHEMERAL = {"ephemeral": {"volumeClaimTemplate": {"spec": {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}}}}}}
TWO = [{"name": name, "persistentVolumeClaim": {"claimName": name}}
       for name in ("data", "logs")]
TERMS = [{"matchLabelExpressions": [{"key": ZONE, "values": ["c"]}]}]

# The objects beside the nodes a-1 and b-1, the exit code, and a pattern of the
# output.
CASES: dict[str, tuple[list[dict], int, str]] = {
    "a volume in another zone":
        ([pod(nodeSelector={HOSTNAME: "a-1"}), claim(volume="disk"),
          volume(zone="b")], 1,
         r"a-1  VolumeBinding: claim data has its volume disk in zone b "
         r"\(b-1\), the node is in zone a\n"),
    "a volume in a zone without nodes":
        ([pod(), claim(volume="disk"), volume(zone="c")], 1,
         r"a-1, b-1  VolumeBinding: claim data has its volume disk in zone c, "
         r"and no node is there\n.*\n"
         rf"  one more node like a-1, with {ZONE}=c  → a-1-new"),
    "a local volume whose node is gone":
        ([pod(), claim(volume="disk"), volume(host="c-1")], 1,
         r"claim data has its volume disk on c-1, and no node is there\n"
         r"No single change was found"),
    "a volume that is bound":
        ([pod(), claim(volume="disk"), volume(zone="b")], 0,
         r"fits 1 of 2 nodes, and gets b-1"),
    "a claim for one pod":
        ([pod(), claim(ONE_POD, volume="disk"), volume(), USER], 1,
         r"a-1, b-1  VolumeRestrictions: the claim data "
         r"\(ReadWriteOncePod\) is in use by default/db on b-1\n.*\n"
         r"  the pod default/db, which uses the claim data "
         r"\(ReadWriteOncePod\), is deleted  → "),
    "a disk in use":
        ([pod(source=DISK, nodeSelector={HOSTNAME: "b-1"}),
          pod("db", DISK, "u", nodeName="b-1")], 1,
         r"b-1  VolumeRestrictions: the disk pd is in use by default/db\n"
         r"(.*\n)*  the pod default/db, which uses the disk pd, is deleted +→ "
         r"b-1"),
    "a claim that does not exist":
        ([pod(), volume()], 1,
         r"VolumeRestrictions: claim data does not exist\n"),
    "a claim with a typing error":
        ([pod(), claim(volume="disk", name="Data"), volume()], 1,
         r"claim data does not exist \(did you mean Data\?\)\n.*\n"
         r"  the pod uses the claim Data instead of data  → "),
    "a claim in another namespace":
        ([pod(), claim(namespace="prod")], 1,
         r"does not exist in the namespace default, only in prod\n"),
    "a class that does not exist":
        ([pod(), claim(FAST)], 1,
         r"VolumeBinding: claim data waits for a volume, and its class fast "
         r"does not exist\n"),
    "a claim that the controller can bind":
        ([pod(), claim(), volume(phase="Available", zone="b")], 1,
         r"claim data waits for the volume controller, which can bind it to "
         r"disk\n.*\n"
         r"  the volume controller binds the claim data to disk  → b-1"),
    "two claims that the controller can bind":
        ([pod(volumes=TWO), claim(), claim(name="logs", uid="d"),
          volume(phase="Available"), volume(phase="Available", name="other")],
         1, r"\n  the volume controller binds the claim data to disk and the "
         r"claim logs to other  → "),
    "two claims for one volume":
        ([pod(volumes=TWO), claim(), claim(name="logs", uid="d"),
          volume(phase="Available")], 1, r"No single change was found"),
    "a claim that no volume fits":
        ([pod(), claim(), volume(phase="Available", size="1Gi")], 1,
         r"claim data waits for a volume, and has no class: disk has 1Gi, not "
         r"5Gi\n"),
    "an immediate claim with a provisioner":
        ([pod(), claim(FAST), storage_class("x.io/disk", "Immediate")], 1,
         r"waits for a volume from x.io/disk, the provisioner of the class "
         r"fast\n"),
    "a lost claim":
        ([pod(), claim(volume="disk", phase="Lost")], 1,
         r"claim data has lost its volume disk, which does not exist\n"),
    "a deleted claim":
        ([pod(), claim(volume="disk", finalizers=["x.io/a"],
                       deletionTimestamp="2026-01-02T03:04:05Z"),
          volume(), USER], 1,
         r"claim data is being deleted, once default/db on b-1 has ended\n"),
    "an ephemeral volume without its claim":
        ([pod(source=EPHEMERAL)], 1,
         r"claim web-v is not created yet, by the ephemeral volume "
         r"controller\n"),
    "a delayed claim without volumes":
        ([pod(), claim(FAST), storage_class(STATIC, DELAYED)], 1,
         r": 2 node\(s\) didn't find available persistent volumes to bind\.(.*)"
         r"\n  a-1, b-1  VolumeBinding: claim data: its class fast has no "
         r"volumes\n"),
    "a delayed claim without a volume that fits":
        ([pod(), claim(FAST), storage_class(STATIC, DELAYED),
          volume(FAST, "Available", "1Gi"),
          volume(FAST, "Available", name="local", host="c-1")], 1,
         r"claim data: no volume of its class fast fits: disk has 1Gi, not "
         r"5Gi, local is on c-1\n"),
    "a delayed claim whose class excludes the nodes":
        ([pod(), claim(FAST),
          storage_class("x.io/disk", DELAYED, allowedTopologies=TERMS)], 1,
         r"claim data: its class fast makes volumes only in zone c\n"),
    "a delayed claim with a provisioner":
        ([pod(), claim(FAST), storage_class("x.io/disk", DELAYED)], 0,
         r"default/web fits 2 of 2 nodes"),
    "a delayed claim for which no node has enough storage":
        ([pod(), claim(FAST), storage_class("x.io", DELAYED),
          *storage_left("4Gi", "b-1")], 1,
         r": 2 node\(s\) did not have enough free storage\.(.*)\n"
         r"  a-1  VolumeBinding: claim data: its class fast has no storage here"
         r"\n  b-1  VolumeBinding: claim data: its class fast has 4Gi here, "
         r"not 5Gi\n"),
    "a delayed claim for which one node has enough storage":
        ([pod(), claim(FAST), storage_class("x.io", DELAYED),
          *storage_left("5Gi", "b-1")], 0,
         r"fits 1 of 2 nodes, and gets b-1"),
    "a new claim with a provisioner":
        ([pod(uid=""), claim(FAST), storage_class("x.io/disk", "Immediate")], 2,
         r"can't tell: claim data waits for a volume from x.io/disk, the "
         r"provisioner of the class fast, and controllers have had no time "),
}


def check_claims(directory: pathlib.Path) -> list[str]:
    found = []
    dump = directory / "dump"
    for title, (objects, code, pattern) in CASES.items():
        dump.write_text(listed(node("a-1", "a"), node("b-1", "b"), *objects))
        done = subprocess.run([EXPLAIN, "web", "-f", dump], check=False,
                              capture_output=True, text=True, timeout=PATIENCE)
        printed = done.stdout + done.stderr.rstrip()
        if done.returncode != code or not re.search(pattern, printed):
            found.append(f"{title}: exit code {done.returncode}: {printed}")
    return found
