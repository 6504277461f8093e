#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cache/snapshot.h"
#include "framework/status.h"
#include "minisched/api/node.h"
#include "minisched/api/node_affinity.h"
#include "minisched/api/pod.h"
#include "plugins/spread_constraint.h"
#include "plugins/topology_domains.h"

namespace minisched {

// The domains of a pod's spread constraints, and how many pods they have. A
// copy has its own counts, and shares the data that don't change. Const access
// is thread-safe. Follows preFilterState of
// plugins/podtopologyspread/filtering.go.
class SpreadCounts {
 public:
  // Counts the pods on all nodes.
  SpreadCounts(const Pod& pod, SpreadConstraints constraints,
               const Nodes& nodes);

  // Counts a pod that was added to the node (delta 1) or removed from it (-1).
  // `pod` is that of the constructor, or a newer version of it, here and below.
  void Update(const Pod& pod, const Pod& other, const Node& node, int delta);

  // Returns success if the pod may go to the node.
  Status Check(const Pod& pod, const Node& node) const;

  // The domains, by constraint.
  const std::vector<TopologyDomains>& domains() const { return domains_; }

 private:
  // Calls visit(i, domain) with the node's domain for each constraint i that
  // counts the node. Does nothing if the node lacks a topology key.
  template <class Visit>
  void ForEachDomain(const Pod& pod, const Node& node,
                     const Visit& visit) const;

  std::shared_ptr<const SpreadConstraints> constraints_;
  std::shared_ptr<const RequiredNodeAffinity> affinity_;
  std::vector<TopologyDomains> domains_;
};

}  // namespace minisched
