#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/explain/causes.h"
#include "lab/explain/change.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// Makes changes of one pod. Most fields of a pod can't be changed, so these
// changes delete the pod and create it again.
class PodChanges {
 public:
  // `json` is the pod.
  explicit PodChanges(std::string json) : json_(std::move(json)) {}

  Change WithTolerations(const std::vector<Taint>& taints) const;
  // Lowers the requests to what is free. Returns nullopt if nothing is free, or
  // if the containers' requests don't decide.
  std::optional<Change> WithRequests(
      const std::vector<Shortage>& shortages) const;
  // Removes what the node doesn't match from the node selector and from the
  // required node affinity.
  std::optional<Change> WithoutAffinity(const Pod& pod, const Node& node) const;

 private:
  std::string json_;
};

}  // namespace minisched::explain
