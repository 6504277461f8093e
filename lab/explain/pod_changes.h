#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/explain/answer.h"
#include "lab/explain/causes.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// Makes changes of one pod. Most fields of a pod can't be changed, so these
// changes delete the pod and create it again.
class PodChanges {
 public:
  explicit PodChanges(nlohmann::json pod) : pod_(std::move(pod)) {}

  Change WithTolerations(const std::vector<Taint>& taints) const;
  // Lowers the requests to what is free. Returns nullopt if nothing is free, or
  // if the containers' requests don't decide.
  std::optional<Change> WithRequests(
      const std::vector<Shortage>& shortages) const;
  // Removes what the node doesn't match from the node selector and from the
  // required node affinity. `pod` is the same pod.
  std::optional<Change> WithoutAffinity(const Pod& pod, const Node& node) const;

 private:
  const nlohmann::json pod_;
};

}  // namespace minisched::explain
