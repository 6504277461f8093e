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

// The types of core/v1 about pods. See meta.h for what absent fields are.

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
  // "Always" makes an init container a sidecar; else empty.
  std::string restart_policy;
};

struct Toleration {
  std::string key;        // empty, with Exists: every taint
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

// A claim that is made for the pod and goes with it.
struct EphemeralVolumeSource {};

// Of all kinds of volumes, those that bear upon where a pod can run.
struct Volume {
  std::string name;
  std::optional<PersistentVolumeClaimVolumeSource> persistent_volume_claim;
  std::optional<EphemeralVolumeSource> ephemeral;
};

// A device, or the like, that the pod wants to have.
struct PodResourceClaim {
  std::string name;
};

struct PodAffinityTerm {
  std::string topology_key;
};

// PodAffinity and PodAntiAffinity upstream.
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
  // The scheduler that is to bind it.
  std::string scheduler_name;
  // While there are any, no scheduler may try the pod.
  std::vector<PodSchedulingGate> scheduling_gates;
  Labels node_selector;
  std::vector<Toleration> tolerations;
  std::optional<std::int32_t> priority;
  std::string priority_class_name;
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  // What it asks for as a whole: of these resources, the containers' own don't
  // count.
  ResourceRequirements resources;
  // What running the pod costs beyond its containers.
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

// Ties a pod to a node: posted to a pod's binding subresource. Its metadata
// name the pod, and with a uid only that very one, not a later namesake.
struct Binding {
  static constexpr ApiResource kResource{"", "v1", "bindings", "Binding", true};

  ObjectMeta metadata;
  ObjectReference target;
};

}  // namespace minisched
