#include "framework/diagnosis.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace minisched {

std::string FitError(std::size_t num_all_nodes, const Diagnosis& diagnosis) {
  if (!diagnosis.pre_filter_message.empty()) {
    return fmt::format("0/{} nodes are available: {}.", num_all_nodes,
                       diagnosis.pre_filter_message);
  }
  const NodeToStatus& statuses = diagnosis.node_to_status;
  std::map<std::string, std::size_t> counts;
  for (const auto& [node, status] : statuses) {
    for (const std::string& reason : status.reasons()) ++counts[reason];
  }
  if (statuses.size() < num_all_nodes) {
    for (const auto& reason : statuses.absent_nodes_status().reasons()) {
      counts[reason] += num_all_nodes - statuses.size();
    }
  }
  return FitMessage(num_all_nodes, counts);
}

std::string FitMessage(std::size_t num_all_nodes, const ReasonCounts& counts) {
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
