#include "lab/explain/rules.h"

#include <utility>

#include "minisched/api/parse_error.h"

namespace minisched::explain {

Rules::Rules(const Pod& pod, const NodeStates& nodes,
             const NamespaceLabels& namespaces, VolumeObjects volume_objects)
    : volumes(pod, nodes, std::move(volume_objects)) {
  try {
    pods.emplace(pod, nodes, namespaces);
  } catch (const ParseError&) {
    pods.reset();  // the scheduler's message has the error
  }
  try {
    spread.emplace(pod, nodes);
  } catch (const ParseError&) {
    spread.reset();
  }
}

std::vector<std::string> Rules::CausesOf(const Node& node,
                                         const std::string& plugin) const {
  if (plugin == "InterPodAffinity" && pods) return pods->CausesOf(node);
  if (plugin == "PodTopologySpread" && spread) return spread->CausesOf(node);
  return volumes.CausesOf(node, plugin);
}

}  // namespace minisched::explain
