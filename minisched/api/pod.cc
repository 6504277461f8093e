#include "minisched/api/pod.h"

#include "minisched/api/codec.h"

namespace minisched {

template <class Visitor, MaybeConst<ContainerPort> T>
void VisitFields(Visitor& visit, T& port) {
  visit("name", port.name);
  visit("containerPort", port.container_port);
  visit("hostPort", port.host_port);
  visit("hostIP", port.host_ip);
  visit("protocol", port.protocol);
}

template <class Visitor, MaybeConst<Container> T>
void VisitFields(Visitor& visit, T& container) {
  visit("name", container.name);
  visit("image", container.image);
  visit("resources", container.resources);
  visit("ports", container.ports);
  visit("restartPolicy", container.restart_policy);
}

template <class Visitor, MaybeConst<Toleration> T>
void VisitFields(Visitor& visit, T& toleration) {
  visit("key", toleration.key);
  visit("operator", toleration.operation);
  visit("value", toleration.value);
  visit("effect", toleration.effect);
  visit("tolerationSeconds", toleration.toleration_seconds);
}

template <class Visitor, MaybeConst<PodSchedulingGate> T>
void VisitFields(Visitor& visit, T& gate) {
  visit("name", gate.name);
}

template <class Visitor, MaybeConst<PersistentVolumeClaimVolumeSource> T>
void VisitFields(Visitor& visit, T& source) {
  visit("claimName", source.claim_name);
}

template <class Visitor, MaybeConst<EphemeralVolumeSource> T>
void VisitFields(Visitor& /*visit*/, T& /*source*/) {}

template <class Visitor, MaybeConst<ImageVolumeSource> T>
void VisitFields(Visitor& visit, T& source) {
  visit("reference", source.reference);
}

template <class Visitor, MaybeConst<GCEPersistentDiskVolumeSource> T>
void VisitFields(Visitor& visit, T& source) {
  visit("pdName", source.pd_name);
  visit("readOnly", source.read_only);
}

template <class Visitor, MaybeConst<AWSElasticBlockStoreVolumeSource> T>
void VisitFields(Visitor& visit, T& source) {
  visit("volumeID", source.volume_id);
}

template <class Visitor, MaybeConst<ISCSIVolumeSource> T>
void VisitFields(Visitor& visit, T& source) {
  visit("iqn", source.iqn);
  visit("readOnly", source.read_only);
}

template <class Visitor, MaybeConst<RBDVolumeSource> T>
void VisitFields(Visitor& visit, T& source) {
  visit("monitors", source.monitors);
  visit("pool", source.pool);
  visit("image", source.image);
  visit("readOnly", source.read_only);
}

template <class Visitor, MaybeConst<Volume> T>
void VisitFields(Visitor& visit, T& volume) {
  visit("name", volume.name);
  visit("persistentVolumeClaim", volume.persistent_volume_claim);
  visit("ephemeral", volume.ephemeral);
  visit("image", volume.image);
  visit("awsElasticBlockStore", volume.aws_elastic_block_store);
  visit("gcePersistentDisk", volume.gce_persistent_disk);
  visit("iscsi", volume.iscsi);
  visit("rbd", volume.rbd);
}

template <class Visitor, MaybeConst<PodResourceClaim> T>
void VisitFields(Visitor& visit, T& claim) {
  visit("name", claim.name);
}

template <class Visitor, MaybeConst<PodAffinityTerm> T>
void VisitFields(Visitor& visit, T& term) {
  visit("labelSelector", term.label_selector);
  visit("namespaces", term.namespaces);
  visit("topologyKey", term.topology_key);
  visit("namespaceSelector", term.namespace_selector);
  visit("matchLabelKeys", term.match_label_keys);
  visit("mismatchLabelKeys", term.mismatch_label_keys);
}

template <class Visitor, MaybeConst<WeightedPodAffinityTerm> T>
void VisitFields(Visitor& visit, T& term) {
  visit("weight", term.weight);
  visit("podAffinityTerm", term.pod_affinity_term);
}

template <class Visitor, MaybeConst<PodAffinity> T>
void VisitFields(Visitor& visit, T& affinity) {
  visit("requiredDuringSchedulingIgnoredDuringExecution", affinity.required);
  visit("preferredDuringSchedulingIgnoredDuringExecution", affinity.preferred);
}

template <class Visitor, MaybeConst<Affinity> T>
void VisitFields(Visitor& visit, T& affinity) {
  visit("nodeAffinity", affinity.node_affinity);
  visit("podAffinity", affinity.pod_affinity);
  visit("podAntiAffinity", affinity.pod_anti_affinity);
}

template <class Visitor, MaybeConst<PodSpec> T>
void VisitFields(Visitor& visit, T& spec) {
  visit("nodeName", spec.node_name);
  visit("schedulerName", spec.scheduler_name);
  visit("schedulingGates", spec.scheduling_gates);
  visit("nodeSelector", spec.node_selector);
  visit("tolerations", spec.tolerations);
  visit("priority", spec.priority);
  visit("priorityClassName", spec.priority_class_name);
  visit("preemptionPolicy", spec.preemption_policy);
  visit("containers", spec.containers);
  visit("initContainers", spec.init_containers);
  visit("resources", spec.resources);
  visit("overhead", spec.overhead);
  visit("affinity", spec.affinity);
  visit("topologySpreadConstraints", spec.topology_spread_constraints);
  visit("volumes", spec.volumes);
  visit("resourceClaims", spec.resource_claims);
}

template <class Visitor, MaybeConst<ContainerStatus> T>
void VisitFields(Visitor& visit, T& status) {
  visit("name", status.name);
  visit("resources", status.resources);
  visit("allocatedResources", status.allocated_resources);
}

template <class Visitor, MaybeConst<PodStatus> T>
void VisitFields(Visitor& visit, T& status) {
  visit("phase", status.phase);
  visit("conditions", status.conditions);
  visit("nominatedNodeName", status.nominated_node_name);
  visit("startTime", status.start_time);
  visit("message", status.message);
  visit("reason", status.reason);
  visit("containerStatuses", status.container_statuses);
  visit("initContainerStatuses", status.init_container_statuses);
  visit("resources", status.resources);
  visit("allocatedResources", status.allocated_resources);
}

template <class Visitor, MaybeConst<Pod> T>
void VisitFields(Visitor& visit, T& pod) {
  visit("metadata", pod.metadata);
  visit("spec", pod.spec);
  visit("status", pod.status);
}

template <class Visitor, MaybeConst<Binding> T>
void VisitFields(Visitor& visit, T& binding) {
  visit("metadata", binding.metadata);
  visit("target", binding.target);
}

MINISCHED_CODEC(Pod);
MINISCHED_CODEC(Binding);

}  // namespace minisched
