#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "minisched/api/api_resource.h"
#include "minisched/api/labels.h"
#include "minisched/api/meta.h"
#include "minisched/api/quantity.h"
#include "minisched/api/reference.h"
#include "minisched/api/time.h"

namespace minisched {

// The types of core/v1 for pods. See meta.h for absent fields.

// By resource name: "cpu", "memory", "ephemeral-storage", "nvidia.com/gpu".
using ResourceList = std::map<std::string, Quantity>;

struct ResourceRequirements {
  ResourceList requests;
  ResourceList limits;

  bool operator==(const ResourceRequirements&) const = default;
};

struct ContainerPort {
  std::string name;
  std::int32_t container_port = 0;
  std::int32_t host_port = 0;  // 0: none
  std::string host_ip;
  std::string protocol;  // "TCP", "UDP", "SCTP"

  bool operator==(const ContainerPort&) const = default;
};

struct Container {
  std::string name;
  std::string image;
  ResourceRequirements resources;
  std::vector<ContainerPort> ports;
  // "Always" makes an init container a sidecar.
  std::string restart_policy;

  bool operator==(const Container&) const = default;
};

struct Toleration {
  std::string key;        // empty, with Exists: every key
  std::string operation;  // "Equal" (also when empty), "Exists", "Lt", "Gt"
  std::string value;
  std::string effect;  // empty: every effect
  std::optional<std::int64_t> toleration_seconds;

  bool operator==(const Toleration&) const = default;
};

struct PodSchedulingGate {
  std::string name;

  bool operator==(const PodSchedulingGate&) const = default;
};

struct PersistentVolumeClaimVolumeSource {
  std::string claim_name;

  bool operator==(const PersistentVolumeClaimVolumeSource&) const = default;
};

// A claim that is created for the pod and deleted with it. ClaimName() of
// persistent_volume.h returns its name.
struct EphemeralVolumeSource {
  bool operator==(const EphemeralVolumeSource&) const = default;
};

// A volume with the files of an image.
struct ImageVolumeSource {
  std::string reference;  // the image's name

  bool operator==(const ImageVolumeSource&) const = default;
};

// Disks that the pod's spec names itself, without a claim.

struct GCEPersistentDiskVolumeSource {
  std::string pd_name;
  bool read_only = false;

  bool operator==(const GCEPersistentDiskVolumeSource&) const = default;
};

struct AWSElasticBlockStoreVolumeSource {
  std::string volume_id;

  bool operator==(const AWSElasticBlockStoreVolumeSource&) const = default;
};

struct ISCSIVolumeSource {
  std::string iqn;  // the name of the target
  bool read_only = false;

  bool operator==(const ISCSIVolumeSource&) const = default;
};

// An image of a Ceph cluster.
struct RBDVolumeSource {
  std::vector<std::string> monitors;
  std::string pool;
  std::string image;
  bool read_only = false;

  bool operator==(const RBDVolumeSource&) const = default;
};

// A volume. Only the kinds that matter for a pod's node are modelled.
struct Volume {
  std::string name;
  std::optional<PersistentVolumeClaimVolumeSource> persistent_volume_claim;
  std::optional<EphemeralVolumeSource> ephemeral;
  std::optional<ImageVolumeSource> image;
  std::optional<AWSElasticBlockStoreVolumeSource> aws_elastic_block_store;
  std::optional<GCEPersistentDiskVolumeSource> gce_persistent_disk;
  std::optional<ISCSIVolumeSource> iscsi;
  std::optional<RBDVolumeSource> rbd;

  bool operator==(const Volume&) const = default;
};

// A resource claim of the pod, such as for a device.
struct PodResourceClaim {
  std::string name;

  bool operator==(const PodResourceClaim&) const = default;
};

// A condition on one label or, in match_fields, on one field of a node.
struct NodeSelectorRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;

  bool operator==(const NodeSelectorRequirement&) const = default;
};

// Selects the nodes that satisfy all requirements. Without requirements,
// selects no node.
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;
  // For metadata.name, the only field, with In or NotIn and one value.
  std::vector<NodeSelectorRequirement> match_fields;

  bool operator==(const NodeSelectorTerm&) const = default;
};

// Selects the nodes that match any term.
struct NodeSelector {
  std::vector<NodeSelectorTerm> node_selector_terms;

  bool operator==(const NodeSelector&) const = default;
};

struct PreferredSchedulingTerm {
  std::int32_t weight = 0;  // 1 to 100
  NodeSelectorTerm preference;

  bool operator==(const PreferredSchedulingTerm&) const = default;
};

// Selects pods, and by their nodes the domains of a topology: the nodes with
// the same value of the label topology_key as a selected pod's node.
struct PodAffinityTerm {
  // Unset: selects no pods.
  std::optional<LabelSelector> label_selector;
  // The namespaces of the selected pods. If there are none, and no
  // namespace_selector: the pod's own namespace.
  std::vector<std::string> namespaces;
  std::string topology_key;
  // Selects further namespaces by their labels. Unset: none.
  std::optional<LabelSelector> namespace_selector;
  // The API server adds these labels to the selector of a new pod: with the
  // pod's own values, or with any other values.
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;

  bool operator==(const PodAffinityTerm&) const = default;
};

struct WeightedPodAffinityTerm {
  std::int32_t weight = 0;  // 1 to 100
  PodAffinityTerm pod_affinity_term;

  bool operator==(const WeightedPodAffinityTerm&) const = default;
};

// Upstream's PodAffinity and PodAntiAffinity.
struct PodAffinity {
  // requiredDuringSchedulingIgnoredDuringExecution
  std::vector<PodAffinityTerm> required;
  // preferredDuringSchedulingIgnoredDuringExecution
  std::vector<WeightedPodAffinityTerm> preferred;

  bool operator==(const PodAffinity&) const = default;
};

struct Affinity {
  // Nested, so that the name is free for a plugin.
  struct NodeAffinity {
    // requiredDuringSchedulingIgnoredDuringExecution
    std::optional<NodeSelector> required;
    // preferredDuringSchedulingIgnoredDuringExecution
    std::vector<PreferredSchedulingTerm> preferred;

    bool operator==(const NodeAffinity&) const = default;
  };

  NodeAffinity node_affinity;
  PodAffinity pod_affinity;
  PodAffinity pod_anti_affinity;

  bool operator==(const Affinity&) const = default;
};

// Limits by how much the numbers of the selected pods in the domains of a
// topology may differ. The nodes with the same value of the label topology_key
// are one domain.
struct TopologySpreadConstraint {
  std::int32_t max_skew = 0;  // at least 1
  std::string topology_key;
  std::string when_unsatisfiable;  // "DoNotSchedule", "ScheduleAnyway"
  // Selects the pods that count, in the pod's namespace. Unset: none.
  std::optional<LabelSelector> label_selector;
  // With fewer domains than this, the smallest number counts as 0. Unset: 1.
  std::optional<std::int32_t> min_domains;
  // Whether nodes that the pod's node affinity or its tolerations rule out are
  // left out of the domains: "Honor" or "Ignore". Empty: Honor for the
  // affinity, Ignore for the taints.
  std::string node_affinity_policy;
  std::string node_taints_policy;
  // The selected pods must also have the pod's own values of these labels.
  // Labels that the pod doesn't have are left out.
  std::vector<std::string> match_label_keys;

  bool operator==(const TopologySpreadConstraint&) const = default;
};

struct PodSpec {
  // The node the pod is bound to; empty until a scheduler has bound it.
  std::string node_name;
  // The scheduler that is responsible for the pod.
  std::string scheduler_name;
  // Schedulers must not try a pod that has gates.
  std::vector<PodSchedulingGate> scheduling_gates;
  Labels node_selector;
  std::vector<Toleration> tolerations;
  std::optional<std::int32_t> priority;
  std::string priority_class_name;
  // "PreemptLowerPriority" (also when empty), or "Never".
  std::string preemption_policy;
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  // The requests of the pod as a whole. They replace the containers' requests
  // for the same resources.
  ResourceRequirements resources;
  // What the pod needs in addition to its containers.
  ResourceList overhead;
  Affinity affinity;
  std::vector<TopologySpreadConstraint> topology_spread_constraints;
  std::vector<Volume> volumes;
  std::vector<PodResourceClaim> resource_claims;

  bool operator==(const PodSpec&) const = default;
};

// What the kubelet reports about a container or an init container.
struct ContainerStatus {
  std::string name;
  // The resources that the running container has. While the kubelet resizes the
  // container, they differ from those in the spec.
  std::optional<ResourceRequirements> resources;
  // The requests that the node has set aside for the container.
  ResourceList allocated_resources;
};

struct PodStatus {
  std::string phase;  // "Pending", "Running", "Succeeded", "Failed"
  std::vector<Condition> conditions;
  // Where a scheduler has made room for the pod; empty: nowhere.
  std::string nominated_node_name;
  // When the kubelet began to start the pod.
  std::optional<Time> start_time;
  std::string message;
  std::string reason;
  std::vector<ContainerStatus> container_statuses;
  std::vector<ContainerStatus> init_container_statuses;
  // As in ContainerStatus, for the resources of the pod as a whole.
  std::optional<ResourceRequirements> resources;
  ResourceList allocated_resources;
};

struct Pod {
  static constexpr ApiResource kResource{"", "v1", "pods", "Pod", true};

  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;
  // The whole object, if InformerOptions::keep_json asked for it: see
  // FromJson(). A changed copy still has the JSON from the server.
  std::shared_ptr<const std::string> whole_json = nullptr;
};

// Binds a pod to a node; clients POST it to the pod's binding subresource. The
// name and namespace are the pod's. With a uid, the server binds only the pod
// with that uid.
struct Binding {
  static constexpr ApiResource kResource{"", "v1", "bindings", "Binding", true};

  ObjectMeta metadata;
  ObjectReference target;
};

}  // namespace minisched
