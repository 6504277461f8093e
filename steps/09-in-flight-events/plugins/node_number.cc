#include "plugins/node_number.h"

#include <optional>

namespace minisched {
namespace {

struct PodNumber {
  int digit;
};

std::optional<int> LastDigit(const std::string& name) {
  if (name.empty() || name.back() < '0' || name.back() > '9') return {};
  return name.back() - '0';
}

}  // namespace

Status NodeNumber::PreScore(CycleState& state, const Pod& pod,
                            const Nodes& /*nodes*/) const {
  const auto digit = LastDigit(pod.metadata.name);
  if (!digit) return Code::kSkip;
  state.Write(PodNumber{*digit});
  return {};
}

Status NodeNumber::Score(const CycleState& state, const Pod& /*pod*/,
                         const NodeInfo& node, std::int64_t& score) const {
  const auto digit = LastDigit(node.node().metadata.name);
  if (digit == state.Read<PodNumber>().digit) score = kMaxNodeScore;
  return {};
}

}  // namespace minisched
