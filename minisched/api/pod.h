#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "minisched/api/api_resource.h"
#include "minisched/api/labels.h"
#include "minisched/api/meta.h"
#include "minisched/api/quantity.h"
#include "minisched/api/reference.h"

namespace minisched {

// The types of core/v1 for pods. See meta.h for absent fields.

// By resource name: "cpu", "memory", "ephemeral-storage", "nvidia.com/gpu".
using ResourceList = std::map<std::string, Quantity>;

struct ResourceRequirements {
  ResourceList requests;
  ResourceList limits;
};

struct ContainerPort {
  std::string name;
  std::int32_t container_port = 0;
  std::int32_t host_port = 0;  // 0: none
  std::string host_ip;
  std::string protocol;  // "TCP", "UDP", "SCTP"
};

struct Container {
  std::string name;
  std::string image;
  ResourceRequirements resources;
  std::vector<ContainerPort> ports;
  // "Always" makes an init container a sidecar.
  std::string restart_policy;
};

struct Toleration {
  std::string key;        // empty, with Exists: every key
  std::string operation;  // "Equal" (also when empty), "Exists", "Lt", "Gt"
  std::string value;
  std::string effect;  // empty: every effect
  std::optional<std::int64_t> toleration_seconds;
};

struct PodSchedulingGate {
  std::string name;
};

struct PersistentVolumeClaimVolumeSource {
  std::string claim_name;
};

// A claim that is created for the pod and deleted with it.
struct EphemeralVolumeSource {};

// A volume. Only the kinds that limit where a pod can run are modelled.
struct Volume {
  std::string name;
  std::optional<PersistentVolumeClaimVolumeSource> persistent_volume_claim;
  std::optional<EphemeralVolumeSource> ephemeral;
};

// A resource claim of the pod, such as for a device.
struct PodResourceClaim {
  std::string name;
};

struct PodAffinityTerm {
  std::string topology_key;
};

// Upstream's PodAffinity and PodAntiAffinity.
struct PodAffinity {
  // requiredDuringSchedulingIgnoredDuringExecution
  std::vector<PodAffinityTerm> required;
};

struct Affinity {
  PodAffinity pod_affinity;
  PodAffinity pod_anti_affinity;
};

struct TopologySpreadConstraint {
  std::string topology_key;
  std::string when_unsatisfiable;  // "DoNotSchedule", "ScheduleAnyway"
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
};

struct PodStatus {
  std::string phase;  // "Pending", "Running", "Succeeded", "Failed"
  std::vector<Condition> conditions;
  std::string nominated_node_name;
  std::string message;
  std::string reason;
};

struct Pod {
  static constexpr ApiResource kResource{"", "v1", "pods", "Pod", true};

  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;
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
