#include "fit_error.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace minisched {
namespace {

std::string Message(std::size_t num_all_nodes, const Diagnosis& diagnosis) {
  std::map<std::string, int> counts;
  for (const auto& [node, status] : diagnosis.node_to_status) {
    for (const std::string& reason : status.reasons()) ++counts[reason];
  }
  // In the order of the text, so that "10 …" comes before "2 …": as upstream.
  std::set<std::string> reasons;
  for (const auto& [reason, count] : counts) {
    reasons.insert(fmt::format("{} {}", count, reason));
  }
  auto text = fmt::format("0/{} nodes are available:", num_all_nodes);
  if (!reasons.empty()) text += fmt::format(" {}.", fmt::join(reasons, ", "));
  return text;
}

}  // namespace

FitError::FitError(std::size_t num_all_nodes, Diagnosis diagnosis)
    : Unschedulable(Message(num_all_nodes, diagnosis)),
      diagnosis_(std::move(diagnosis)) {}

}  // namespace minisched
