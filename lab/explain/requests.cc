#include "lab/explain/requests.h"

#include <fmt/format.h>

#include "lab/explain/amounts.h"
#include "minisched/api/pod_requests.h"
#include "minisched/api/resource.h"

namespace minisched::explain {
namespace {

constexpr Amount kMinMilli = 50;

Amount RequestOf(const Pod& pod, const std::string& resource) {
  return AmountOf(Resource(PodRequests(pod)), resource);
}

// Returns the requested cores, or 0 if their number is no integer.
Amount CoresOf(const Container& container) {
  const Amount milli = Resource(container.resources.requests).milli_cpu;
  return milli % 1000 == 0 ? milli / 1000 : 0;
}

}  // namespace

std::string DecidingInitContainer(const Pod& pod, const std::string& resource) {
  const Amount request = RequestOf(pod, resource);
  const auto is_sidecar = [](const Container& container) {
    return container.restart_policy == "Always";
  };
  // Returns the pod's request without its init containers, except this one.
  const auto request_with = [&](const Container* only) {
    Pod other = pod;
    other.spec.init_containers.clear();
    for (const Container& container : pod.spec.init_containers) {
      if (is_sidecar(container) || &container == only) {
        other.spec.init_containers.push_back(container);
      }
    }
    return RequestOf(other, resource);
  };
  if (request_with(nullptr) == request) return "";
  for (const Container& container : pod.spec.init_containers) {
    if (!is_sidecar(container) && request_with(&container) == request) {
      return container.name;
    }
  }
  return "";
}

std::string OriginOf(const Pod& pod, const std::string& resource) {
  std::string origin;
  const Resource whole(pod.spec.resources.requests);
  if (AmountOf(whole, resource) > 0) {
    origin = "the pod as a whole";
  } else if (const auto name = DecidingInitContainer(pod, resource);
             !name.empty()) {
    origin = "init container " + name;
  }
  const Amount overhead = AmountOf(Resource(pod.spec.overhead), resource);
  if (overhead > 0) {
    origin += fmt::format("{}{} overhead", origin.empty() ? "" : ", ",
                          ShowAmount(resource, overhead));
  }
  return origin;
}

bool LacksMilli(const Container& container, const NodeState& node) {
  const Amount cores = CoresOf(container);
  return cores >= kMinMilli && 1000 * cores > 2 * node.allocatable.milli_cpu;
}

std::string MilliHint(const Pod& pod, const NodeState& node) {
  for (const auto* containers :
       {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const Container& container : *containers) {
      if (!LacksMilli(container, node)) continue;
      return fmt::format("cpu: {0} means {0} cores: did you mean {0}m?",
                         CoresOf(container));
    }
  }
  return "";
}

}  // namespace minisched::explain
