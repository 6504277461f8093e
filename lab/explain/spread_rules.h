#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "lab/explain/node_states.h"
#include "minisched/api/labels.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// A constraint that a node violates.
struct SpreadViolation {
  // The position in the pod's topologySpreadConstraints.
  std::size_t constraint;
  std::string topology_key;
  int max_skew = 0;
  int skew = 0;  // with the pod; 0 if the node lacks the label
  // The domain with the fewest pods; "" if there is none.
  std::string smallest;
  bool lacks_label = false;
  // A label of the node that ends with "/" and the topology key; "" for none.
  std::string similar_label;
  // True if the domains have nodes whose taints the pod does not tolerate.
  bool counts_tainted_nodes = false;
};

// The constraints with DoNotSchedule that PodTopologySpread checks for a pod,
// and how many pods each domain has.
class SpreadRules {
 public:
  // Throws ParseError.
  SpreadRules(const Pod& pod, const NodeStates& nodes);

  // Returns why the constraints reject the node; empty if they don't.
  std::vector<std::string> CausesOf(const Node& node) const;
  std::vector<SpreadViolation> ViolationsOf(const Node& node) const;

 private:
  struct Constraint {
    std::size_t position;
    TopologySpreadConstraint rule;
    Selector selector;
    bool counts_itself;
    bool counts_tainted_nodes = false;
    std::map<std::string, int> counts;  // of pods, by domain

    // Returns the minimum from which the skew is measured.
    int Min() const;
    bool HasFewDomains() const;
    int CountIn(const std::string& domain) const;
    int SkewWith(const std::string& domain) const;
    // Returns "c 0, b 1, a 2".
    std::string Show() const;
    std::string CauseIn(const std::string& domain) const;
    int CountPods(const NodeState& node, const Pod& pod) const;
    // Returns the domain with the fewest pods, or "".
    std::string Smallest() const;
  };

  std::vector<Constraint> constraints_;
};

}  // namespace minisched::explain
