#include "lab/apiserver/kinds/pod_validation.h"

#include <set>

#include "lab/apiserver/kinds/names.h"
#include "lab/apiserver/kinds/volumes.h"
#include "minisched/api/quantity.h"

namespace minisched::apiserver {
namespace {

using Names = std::set<std::string>;

// True for Kubernetes' own resources, such as cpu. Their limits may be higher
// than the requests. The limit and the request of other resources must be
// equal.
bool IsNativeResource(const std::string& resource) {
  return resource.find('/') == resource.npos ||
         resource.find("kubernetes.io/") != resource.npos;
}

void ValidateResourceName(const std::string& name, const Field& field) {
  const auto messages = CheckLabelKey(name);
  for (const std::string& message : messages) field.Invalid(name, message);
  if (name.find('/') != name.npos) {
    if (!IsNativeResource(name) && !IsExtendedResource(name)) {
      field.Invalid(name, "doesn't follow extended resource name standard");
    }
  } else if (name != "cpu" && name != "memory" && name != "ephemeral-storage" &&
             !name.starts_with("hugepages-")) {
    if (name != "pods" && name != "storage" && messages.empty()) {
      field.Invalid(name,
                    "must be a standard resource type or fully qualified");
    }
    field.Invalid(name, "must be a standard resource for containers");
  }
}

// Validates a request against the limit of the same resource.
void ValidateRequest(const std::string& name, const Field& request,
                     const Field& resources) {
  const Field limit = resources["limits"][name];
  const bool overcommit = IsNativeResource(name);
  if (!limit.exists()) {
    if (overcommit) return;
    return resources["limits"].Required(
        "Limit must be set for non overcommitable resources");
  }
  const Quantity requested = Quantity::Parse(request.text());
  const Quantity most = Quantity::Parse(limit.text());
  if (overcommit ? requested <= most : requested == most) return;
  resources["requests"].Invalid(
      request.value(),
      (overcommit ? "must be less than or equal to " : "must be equal to ") +
          name + " limit of " + limit.text());
}

void ValidateResources(const Field& resources) {
  for (const char* list : {"limits", "requests"}) {
    for (const auto& [name, quantity] : resources[list].entries()) {
      ValidateResourceName(name, quantity);
      quantity.QuantityOf(name);
    }
  }
  for (const auto& [name, request] : resources["requests"].entries()) {
    ValidateRequest(name, request, resources);
  }
}

void ValidatePorts(const Field& ports) {
  for (const Field& port : ports.elements()) {
    if (port["containerPort"].number() == 0) {
      port["containerPort"].Required();
    } else {
      port["containerPort"].InRange(1, 65535);
    }
    port["hostPort"].InRange(1, 65535);
    port["protocol"].RequireOneOf({"SCTP", "TCP", "UDP"});
  }
}

void ValidateContainer(const Field& container, Names& names) {
  const Field name = container["name"];
  if (name.Require()) name.Conform(CheckDns1123Label);
  container["image"].Require();
  ValidatePorts(container["ports"]);
  container["imagePullPolicy"].RequireOneOf(
      {"Always", "IfNotPresent", "Never"});
  container["restartPolicy"].OneOf({"Always", "Never", "OnFailure"});
  ValidateResources(container["resources"]);
  if (!names.insert(name.text()).second) name.Duplicate(name.text());
}

void ValidateContainers(const Field& spec) {
  Names names;
  spec["containers"].Require();
  for (const char* list : {"containers", "initContainers"}) {
    for (const Field& container : spec[list].elements()) {
      ValidateContainer(container, names);
    }
  }
}

// On the host's network, a host port must be the same as the container's port.
void ValidateHostPorts(const Field& spec) {
  if (!GetBool(spec.value(), "hostNetwork")) return;
  for (const Field& container : spec["containers"].elements()) {
    for (const Field& port : container["ports"].elements()) {
      const Field host_port = port["hostPort"];
      if (host_port.number() == 0 ||
          host_port.number() == port["containerPort"].number()) {
        continue;
      }
      host_port.Invalid(
          "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

}  // namespace

void ValidatePodSpec(const Field& spec) {
  ValidatePodVolumes(spec["volumes"]);
  ValidateContainers(spec);
  ValidateHostPorts(spec);
  spec["restartPolicy"].RequireOneOf({"Always", "OnFailure", "Never"});
  ValidateScheduling(spec);
  if (spec["nodeName"].exists()) {
    spec["nodeName"].Conform(CheckDns1123Subdomain);
  }
  spec["preemptionPolicy"].OneOf({"PreemptLowerPriority", "Never"});
}

}  // namespace minisched::apiserver
