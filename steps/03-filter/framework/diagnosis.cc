#include "framework/diagnosis.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace minisched {

std::string FitError(std::size_t num_all_nodes, const Diagnosis& diagnosis) {
  std::map<std::string, int> counts;
  for (const auto& [node, status] : diagnosis.node_to_status) {
    for (const std::string& reason : status.reasons()) ++counts[reason];
  }
  // Sorted as texts, as upstream does: "10 …" comes before "2 …".
  std::set<std::string> reasons;
  for (const auto& [reason, count] : counts) {
    reasons.insert(fmt::format("{} {}", count, reason));
  }
  auto message = fmt::format("0/{} nodes are available:", num_all_nodes);
  if (!reasons.empty()) {
    message += fmt::format(" {}.", fmt::join(reasons, ", "));
  }
  return message;
}

}  // namespace minisched
