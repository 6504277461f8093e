#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "minisched/api/pod.h"
#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// What one pod, or all pods of a node, take of a node.
struct Demand {
  using Port = std::tuple<std::int64_t, std::string, std::string>;

  ResourceList requests;
  std::set<Port> ports;  // number, protocol, IP ("0.0.0.0" for any)
  std::size_t pods = 0;

  static Demand Of(const Json& pod);

  Demand& operator+=(const Demand& other);
  Demand& operator-=(const Demand& other);
};

// As the status of the pod gives them.
struct Rejection {
  std::string reason;  // "OutOfcpu"
  std::string message;  // "Node didn't have enough resource: cpu, requested: …"
};

// Whether a kubelet would run a pod that asks for `demand` on a node whose pods
// take `used`. Follows pkg/kubelet/lifecycle/predicate.go.
std::optional<Rejection> Reject(const Json& pod, const Demand& demand,
                                const Json& node, const Demand& used);

// The first taint of that effect that the pod doesn't tolerate; null where it
// tolerates all.
const Json& FindUntoleratedTaint(const Json& node, const Json& pod,
                                 const std::string& effect);

// Follows ToleratesTaint() of k8s.io/component-helpers.
bool Tolerates(const Json& toleration, const Json& taint);

}  // namespace minisched::apiserver
